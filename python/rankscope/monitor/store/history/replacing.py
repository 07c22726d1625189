"""Replaces an hour of the history in one short transaction: its file in the manifest.

The rows that are in the file leave the tables afterwards, in transactions of their own.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from sqlalchemy import delete, func, select

from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.values import find_values
from rankscope.monitor.store.tables.moves import begin_move, find_move, list_moves, remove_rows
from rankscope.monitor.store.tables.schema import counters, events, history_labels, labels
from rankscope.monitor.store.tables.sets import ERASED, mark_hours
from rankscope.monitor.store.tables.versions import subtract_rankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.history.files import ArchivedHour, ArchivedValues
    from rankscope.monitor.store.history.writing import Writer
    from rankscope.monitor.store.records import Deleted
    from rankscope.monitor.store.tables.transaction import Transaction
    from rankscope.monitor.store.tables.versions import RankingSpan

DELETED = ("deleted_rankings", "deleted_labels")
"""The counters that change whenever events are deleted."""


class NewHour(NamedTuple):
    """What is to take the place of an hour.

    Args:
        start: When the hour begins, in microseconds since 1970.
        hour: What the manifest will have; `None` if nothing is left of the hour.
        spans: The rankings of each context in the file.
        replaced: What the manifest had at the moment the hour was read; `None` for a new hour.
        values: The values that the manifest had at that moment.
        seq: The number of the last event at that moment.
        deletions: How many events had been deleted by that moment.
        keys: Some keys of ids that are listed for the hour already.
        is_erased: Whether the windows of the hour are computed again without what was deleted.
        deleted: What was deleted.
        contexts: How many rankings of each context were deleted.
    """

    start: int
    hour: ArchivedHour | None
    spans: dict[int, RankingSpan]
    replaced: ArchivedHour | None
    values: ArchivedValues | None
    seq: int
    deletions: int
    keys: list[int]
    is_erased: bool
    deleted: Deleted
    contexts: dict[int, int]


def count_deletions(connection: Connection, project_id: int) -> int:
    """Count the events of a project that were deleted so far."""
    wanted = select(func.coalesce(func.sum(counters.c.count), 0)).where(
        counters.c.project_id == project_id, counters.c.reason.in_(DELETED)
    )
    return int(connection.execute(wanted).scalar_one())


def put_hour(transaction: Transaction, project: str, new: NewHour, *, has_rankings: bool) -> bool:
    """Put an hour into the manifest in place of what it had there."""
    connection = transaction.connection
    project_id = transaction.project(project)
    replaced, seq = new.replaced, new.seq
    if _has_changed(transaction, project_id, new, has_rankings=has_rankings):
        return False
    if not has_rankings and replaced is not None:
        _remove_late(connection, replaced.hour_id, seq)
    if new.hour is not None:
        hour_id = manifest.write_hour(connection, project_id, new.hour, new.spans)
        if has_rankings:
            begin_move(connection, hour_id, seq)
    elif replaced is not None:
        manifest.drop_hour(connection, replaced.hour_id)
    _count_deleted(transaction, project_id, new)
    return True


def _has_changed(
    transaction: Transaction, project_id: int, new: NewHour, *, has_rankings: bool
) -> bool:
    """Return whether an hour, or what its file has, may have changed since it was read."""
    connection, replaced = transaction.connection, new.replaced
    if manifest.find_hour(connection, project_id, new.start) != replaced:
        return True
    if replaced is not None and find_values(connection, replaced.hour_id) != new.values:
        return True  # the file of these values would not be removed
    if not manifest.has_ids(connection, new.start, new.keys):
        return True  # a deletion has removed the ids of what was not in the manifest
    if has_rankings:
        now = sum(transaction.counts[project_id, reason] for reason in DELETED)
        return count_deletions(connection, project_id) + now != new.deletions
    if replaced is None:
        return False
    if find_move(connection, replaced.hour_id) is not None:
        return True  # the tables have some of its rankings, too
    # Labels that came later may be of rankings that are deleted.
    return bool(new.deleted.rankings) and manifest.has_late_labels(connection, replaced, new.seq)


def finish_moves(store: Writer, project: str) -> None:
    """Remove from the tables what files have, in small transactions."""
    while moves := store.query(partial(list_moves, project=project)):
        for move in moves:
            while store.transact(partial(remove_rows, move=move)).result():
                pass


def _count_deleted(transaction: Transaction, project_id: int, new: NewHour) -> None:
    """Count what was deleted with an hour."""
    if new.is_erased:
        mark_hours(transaction.connection, project_id, [new.start])
        transaction.counts[project_id, ERASED] += new.deleted.rankings
    if new.contexts:
        subtract_rankings(transaction.connection, new.contexts)
    for reason, count in zip(DELETED, (new.deleted.rankings, new.deleted.labels), strict=True):
        if count:
            transaction.counts[project_id, reason] += count


def _remove_late(connection: Connection, hour_id: int, seq: int) -> None:
    """Remove labels of archived rankings up to the number of an event."""
    late = select(history_labels.c.seq).where(
        history_labels.c.hour_id == hour_id, history_labels.c.seq <= seq
    )
    for table in (events, labels, history_labels):
        connection.execute(delete(table).where(table.c.seq.in_(late)))
