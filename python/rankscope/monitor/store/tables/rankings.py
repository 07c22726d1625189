"""Finds single rankings with their labels, and the times that have new events."""

from __future__ import annotations

from sqlalchemy import bindparam, exists, func, select, union

from rankscope.deferred import np
from rankscope.monitor.events.event import LABEL_KINDS, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.records import Context, LabelCount
from rankscope.monitor.store.tables.documents import unpack, unpack_ids
from rankscope.monitor.store.tables.moves import leave_out, leave_out_labels, list_all_moves
from rankscope.monitor.store.tables.schema import (
    contexts,
    events,
    history_contexts,
    history_labels,
    labels,
    lakes,
    projects,
    rankings,
)
from rankscope.monitor.store.tables.statements import (
    FIRST,
    LAST,
    fetch_rows,
    floor_time,
    in_project,
    look_up,
    parse_stored,
)
from rankscope.monitor.store.tables.versions import RankingSpan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection, Executable

    from rankscope.monitor.store.tables.moves import Move


RETRACTION = LABEL_KINDS.index("retraction")
EVENT_ID = func.coalesce(events.c.event_id, rankings.c.ranking_id)
"""The id by which a ranking is known when it is sent again."""

SELECT_DOCUMENTS = look_up(
    rankings.c.project_id, rankings.c.ranking_id, rankings.c.ranking_id, rankings.c.packed
)
SELECT_PROJECT = select(projects.c.project_id).where(projects.c.name == bindparam("name"))


def read_contexts(connection: Connection, project: str) -> dict[int, Context]:
    """Return the contexts of a project by their numbers."""
    return _select_contexts(connection, in_project(contexts.c.project_id, project))


def read_contexts_of(connection: Connection, project_id: int) -> dict[int, Context]:
    """Return the contexts of the project with a number, by their own numbers."""
    return _select_contexts(connection, contexts.c.project_id == project_id)


def _select_contexts(connection: Connection, is_theirs: ColumnElement[bool]) -> dict[int, Context]:
    rows = connection.execute(select(contexts).where(is_theirs))
    return {row.context_id: _to_context(row) for row in rows}


def find_ranking(connection: Connection, project: str, ranking_id: str) -> Ranking | None:
    """Find a ranking by its id."""
    wanted = (
        select(rankings, EVENT_ID.label("event_id"), contexts)
        .join(events, events.c.seq == rankings.c.seq)
        .join(contexts, contexts.c.context_id == rankings.c.context_id)
        .where(in_project(rankings.c.project_id, project), rankings.c.ranking_id == ranking_id)
    )
    row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    context = _to_context(row)
    return Ranking(
        row.event_id,
        row.ranking_id,
        row.time,
        unpack(row.packed),
        row.query_key,
        row.user_id,
        context.model,
        context.version,
        context.environment,
        context.attributes,
    )


def list_documents(
    connection: Connection, project: str, ranking_ids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the documents of the rankings that are in the tables, by the ids of the rankings."""
    project_id = connection.execute(SELECT_PROJECT, {"name": project}).scalar()
    asked = {"project_id": project_id, "texts": [*ranking_ids]}
    rows = fetch_rows(connection.execute(SELECT_DOCUMENTS, asked))
    return {name: unpack_ids(packed) for name, packed in rows if name is not None}


def find_labels(
    connection: Connection, project: str, ranking_id: str, moves: Sequence[Move] = ()
) -> list[Label]:
    """Find the labels of a ranking, in the order in which they count, but those that are moved."""
    wanted = (
        select(labels)
        .where(in_project(labels.c.project_id, project), labels.c.ranking_id == ranking_id)
        .order_by(labels.c.time, labels.c.event_id)
    )
    wanted = leave_out_labels(wanted, moves)
    return [
        Label(
            row.event_id,
            row.ranking_id,
            row.doc_id,
            row.time,
            tuple(parse_stored(row.labels)),
            row.value,
            LABEL_KINDS[row.kind],
        )
        for row in connection.execute(wanted)
    ]


def list_hours(
    connection: Connection, project: str, since: int | None, until: int | None
) -> list[int]:
    """List the starts of the hours that have rankings in a span, ascending."""
    start = floor_time(rankings.c.time, HOUR)
    times = FIRST if since is None else since, LAST if until is None else until - 1
    wanted = select(start).where(
        in_project(rankings.c.project_id, project), rankings.c.time.between(*times)
    )
    return sorted(connection.execute(wanted.distinct()).scalars())


def find_changes(
    connection: Connection, project: str, after: int, length: int
) -> NDArray[np.int64]:
    """Find the starts of the windows of a length that have rankings or labels after an event."""
    start = floor_time(rankings.c.time, length)
    if after <= 0:
        # All rankings, and so all that have labels: the index by time has them.
        wanted: Executable = (
            select(start).where(in_project(rankings.c.project_id, project)).distinct()
        )
    else:
        # With + 0, no index of all events of the project is used, but the one of their numbers.
        new = select(start).where(
            in_project(rankings.c.project_id + 0, project), rankings.c.seq > after
        )
        labelled = (
            select(start)
            .join(
                labels,
                (labels.c.project_id == rankings.c.project_id)
                & (labels.c.ranking_id == rankings.c.ranking_id),
            )
            .where(in_project(labels.c.project_id + 0, project), labels.c.seq > after)
        )
        wanted = union(new, labelled)
    times = connection.execute(wanted).scalars().all()
    return np.unique(np.array(times, dtype=np.int64))


def count_labels(
    connection: Connection,
    project: str,
    since: int,
    until: int,
    *,
    window: int,
    moves: Sequence[Move] = (),
) -> list[LabelCount]:
    """Count the labels of the rankings of production from one time to before another."""
    is_grade = labels.c.value.is_not(None)
    keys = (contexts.c.model, labels.c.labels, is_grade)
    wanted = (
        select(*keys, func.count())
        .select_from(rankings)
        .join(contexts, contexts.c.context_id == rankings.c.context_id)
        .join(
            labels,
            (labels.c.project_id == rankings.c.project_id)
            & (labels.c.ranking_id == rankings.c.ranking_id),
        )
        .where(
            in_project(rankings.c.project_id, project),
            rankings.c.time.between(since, until - 1),
            contexts.c.environment == "production",
            labels.c.kind != RETRACTION,
            labels.c.time - rankings.c.time < window,
        )
        .group_by(*keys)
        .order_by(*keys)
    )
    return [
        LabelCount(model, tuple(parse_stored(names)), bool(graded), count)
        for model, names, graded, count in connection.execute(leave_out(wanted, moves))
    ]


def has_labels(
    connection: Connection,
    project: str,
    since: int,
    until: int,
    before: int,
    *,
    moves: Sequence[Move] = (),
) -> bool:
    """Return whether a ranking of production in a span has a label from before a time.

    Rankings that are moved don't count.
    """
    is_labelled = (
        select(rankings.c.seq)
        .join(contexts, contexts.c.context_id == rankings.c.context_id)
        .where(
            in_project(rankings.c.project_id, project),
            rankings.c.time.between(since, until - 1),
            contexts.c.environment == "production",
            exists().where(
                labels.c.project_id == rankings.c.project_id,
                labels.c.ranking_id == rankings.c.ranking_id,
                labels.c.time < before,
            ),
        )
        .limit(1)
    )
    return connection.execute(leave_out(is_labelled, moves)).first() is not None


def is_pending() -> ColumnElement[bool]:
    """Select the labels whose ranking is not stored, neither in the tables nor in a file."""
    is_ranked = exists().where(
        rankings.c.project_id == labels.c.project_id, rankings.c.ranking_id == labels.c.ranking_id
    )
    return ~is_ranked & ~exists().where(history_labels.c.seq == labels.c.seq)


def find_wrong_count(connection: Connection) -> str | None:
    """Compare the counts that are kept with the rows, and return what differs, if anything.

    Those of projects that read a lake are of its files, and not of the rows here.
    """
    theirs = select(lakes.c.project_id)
    times = rankings.c.time
    counted = select(rankings.c.context_id, func.count(), func.min(times), func.max(times))
    archived = select(
        history_contexts.c.context_id,
        func.sum(history_contexts.c.rankings),
        func.min(history_contexts.c.first),
        func.max(history_contexts.c.last),
    )
    kept = select(contexts.c.context_id, contexts.c.rankings, contexts.c.first, contexts.c.last)
    spans: dict[int, RankingSpan] = {}
    counted = leave_out(counted, list_all_moves(connection))
    for found in (
        counted.group_by(rankings.c.context_id),
        archived.group_by(history_contexts.c.context_id),
    ):
        for context_id, count, first, last in connection.execute(found):
            new, before = RankingSpan(int(count), first, last), spans.get(context_id)
            spans[context_id] = new if before is None else before.merge(new)
    of_rows = contexts.c.project_id.not_in(theirs)
    stored = connection.execute(kept.where(contexts.c.rankings != 0, of_rows))
    if {context_id: RankingSpan(*span) for context_id, *span in stored} != spans:
        return "the number of rankings is wrong"
    waiting = select(projects.c.project_id, projects.c.pending).where(
        projects.c.pending != 0, projects.c.project_id.not_in(theirs)
    )
    pending = select(labels.c.project_id, func.count()).where(is_pending())
    if set(map(tuple, connection.execute(waiting))) != set(
        map(tuple, connection.execute(pending.group_by(labels.c.project_id)))
    ):
        return "the number of labels that wait is wrong"
    return None


def _to_context(row: Any) -> Context:  # noqa: ANN401 - a row of any statement with its columns
    attributes = tuple(sorted(parse_stored(row.attributes).items()))
    return Context(row.model, row.version, row.environment, attributes)
