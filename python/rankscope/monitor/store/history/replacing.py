"""Replaces an hour of the history in one transaction: its file in the manifest, and its rows."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, func, insert, literal, select

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.tables.schema import (
    contexts,
    events,
    history_labels,
    labels,
    rankings,
)
from rankscope.monitor.store.tables.sets import ERASED, mark_hours
from rankscope.monitor.store.tables.versions import subtract_rankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from rankscope.monitor.store.history.files import ArchivedHour
    from rankscope.monitor.store.tables.transaction import Transaction
    from rankscope.monitor.store.tables.versions import RankingSpan


class HotRows(NamedTuple):
    """How many rows of an hour a moment has in the tables.

    Args:
        rankings: The number of rankings of production.
        labels: The number of labels of these rankings.
        late: The number of labels of rankings that are archived.
    """

    rankings: int
    labels: int
    late: int


class NewHour(NamedTuple):
    """What is to take the place of an hour.

    Args:
        start: When the hour begins, in microseconds since 1970.
        hour: What the manifest will have; `None` if nothing is left of the hour.
        spans: The rankings of each context in the file.
        replaced: What the manifest had at the moment the hour was read; `None` for a new hour.
        rows: How many rows of the tables are in the file, or deleted with it.
        seq: The number of the last event at that moment.
        keys: Some keys of ids that are listed for the hour already.
        is_erased: Whether the windows of the hour are computed again without what was deleted.
        deleted: What was deleted.
        contexts: How many rankings of each context were deleted.
    """

    start: int
    hour: ArchivedHour | None
    spans: dict[int, RankingSpan]
    replaced: ArchivedHour | None
    rows: HotRows
    seq: int
    keys: list[int]
    is_erased: bool = False
    deleted: Deleted = Deleted(0, 0)
    contexts: dict[int, int] = {}  # noqa: RUF012 - nothing changes it


def count_rows(
    connection: Connection,
    project_id: int,
    start: int,
    replaced: ArchivedHour | None,
    seq: int,
    *,
    has_rankings: bool,
) -> HotRows:
    """Count the rows of an hour up to the number of an event.

    Args:
        connection: A connection.
        project_id: The number of the project.
        start: When the hour begins.
        replaced: The hour in the manifest, if it is there.
        seq: The number of the last event that counts.
        has_rankings: Whether to count rankings and their labels, and not only late labels.
    """
    count = func.count()
    late = 0
    if replaced is not None:
        theirs = _select_late(replaced.hour_id, seq).subquery()
        late = connection.execute(select(count).select_from(theirs)).scalar_one()
    if not has_rankings:
        return HotRows(0, 0, late)
    ranked = connection.execute(
        select(count).select_from(rankings).where(_is_hot(project_id, start, seq))
    ).scalar_one()
    labelled = connection.execute(
        select(count)
        .select_from(labels)
        .where(_is_of_hot(project_id, start, seq), labels.c.seq <= seq)
    ).scalar_one()
    return HotRows(ranked, labelled, late)


def put_hour(transaction: Transaction, project: str, new: NewHour, *, has_rankings: bool) -> bool:
    """Put an hour into the manifest, and remove from the tables what is in its file.

    Args:
        transaction: The transaction.
        project: The name of the project.
        new: The hour; its file is durable.
        has_rankings: Whether the file has the rankings that were in the tables.

    Returns:
        Whether it was done: not if the hour has changed since it was read.
    """
    connection = transaction.connection
    project_id = transaction.project(project)
    replaced, seq, start = new.replaced, new.seq, new.start
    if manifest.find_hour(connection, project_id, start) != replaced:
        return False
    rows = count_rows(connection, project_id, start, replaced, seq, has_rankings=has_rankings)
    if rows != new.rows:
        return False
    if not manifest.has_ids(connection, start, new.keys):
        return False  # a deletion has removed the ids of what was not in the manifest
    if new.deleted.rankings and manifest.has_late_labels(connection, replaced, seq):
        return False  # they may be labels of rankings that are deleted
    if replaced is not None:
        late = _select_late(replaced.hour_id, seq)
        connection.execute(delete(events).where(events.c.seq.in_(late)))
        connection.execute(delete(labels).where(labels.c.seq.in_(late)))
        connection.execute(
            delete(history_labels).where(
                history_labels.c.hour_id == replaced.hour_id, history_labels.c.seq <= seq
            )
        )
    if new.hour is not None:
        hour_id = manifest.write_hour(connection, project_id, new.hour, new.spans)
        if has_rankings:
            _remove_rankings(connection, project_id, start, seq, hour_id)
    elif replaced is not None:
        manifest.drop_hour(connection, replaced.hour_id)
    _count_deleted(transaction, project_id, new)
    return True


def _count_deleted(transaction: Transaction, project_id: int, new: NewHour) -> None:
    """Count what was deleted with an hour."""
    if new.is_erased:
        mark_hours(transaction.connection, project_id, [new.start])
        transaction.counts[project_id, ERASED] += new.deleted.rankings
    if new.contexts:
        subtract_rankings(transaction.connection, new.contexts)
    for reason, count in (
        ("deleted_rankings", new.deleted.rankings),
        ("deleted_labels", new.deleted.labels),
    ):
        if count:
            transaction.counts[project_id, reason] += count


def _remove_rankings(
    connection: Connection, project_id: int, start: int, seq: int, hour_id: int
) -> None:
    """Remove the rankings of an hour with their labels; later labels wait for the next time."""
    theirs = _is_of_hot(project_id, start, seq)
    connection.execute(
        insert(history_labels).from_select(
            ["seq", "hour_id"],
            select(labels.c.seq, literal(hour_id)).where(theirs, labels.c.seq > seq),
        )
    )
    archived = select(labels.c.seq).where(theirs, labels.c.seq <= seq)
    connection.execute(delete(events).where(events.c.seq.in_(archived)))
    connection.execute(delete(labels).where(theirs, labels.c.seq <= seq))
    hot = _is_hot(project_id, start, seq)
    connection.execute(delete(events).where(events.c.seq.in_(select(rankings.c.seq).where(hot))))
    connection.execute(delete(rankings).where(hot))


def _is_hot(project_id: int, start: int, seq: int) -> ColumnElement[bool]:
    """Select the rankings of production of an hour up to the number of an event."""
    production = select(contexts.c.context_id).where(
        contexts.c.project_id == project_id, contexts.c.environment == "production"
    )
    return (
        (rankings.c.project_id == project_id)
        & rankings.c.time.between(start, start + HOUR - 1)
        & (rankings.c.seq <= seq)
        & rankings.c.context_id.in_(production)
    )


def _is_of_hot(project_id: int, start: int, seq: int) -> ColumnElement[bool]:
    """Select the labels of these rankings."""
    ranked = select(rankings.c.ranking_id).where(_is_hot(project_id, start, seq))
    return (labels.c.project_id == project_id) & labels.c.ranking_id.in_(ranked)


def _select_late(hour_id: int, seq: int) -> Select[tuple[int]]:
    """Select the labels of archived rankings of an hour up to the number of an event."""
    return select(history_labels.c.seq).where(
        history_labels.c.hour_id == hour_id, history_labels.c.seq <= seq
    )
