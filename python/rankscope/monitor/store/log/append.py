"""Stores rankings and labels, each event once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select

from rankscope.monitor.events.bins import Bins, bin_content
from rankscope.monitor.events.outcome import STATUSES, Outcomes
from rankscope.monitor.store.log.blocks import damaged
from rankscope.monitor.store.log.ids import select_ids
from rankscope.monitor.store.log.writer import Columns
from rankscope.monitor.store.tables.schema import ids as stored_ids
from rankscope.monitor.store.tables.schema import pending, projects
from rankscope.monitor.store.tables.statements import Prepared, insert_rows, is_among
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from rankscope import _core


# Made once: making these statements takes as long as running them.
COUNT_PENDING = Prepared(
    select(projects.c.pending).where(projects.c.project_id == bindparam("project_id"))
)
SELECT_WAITING = Prepared(
    select(pending).where(
        pending.c.project_id == bindparam("project_id"), is_among(pending.c.ranking_id, "texts")
    )
)
DELETE_PENDING = Prepared(delete(pending).where(is_among(pending.c.seq, "seqs")))


def store_events(
    transaction: Transaction,
    project: str,
    batch: _core.EventBatch,
    rejected: Mapping[str, int],
) -> Outcomes:
    """Store the new events of a batch, and count all of them and those rejected before, by code."""
    project_id = transaction.project(project)
    outcomes = Outcomes(b"", b"")
    if len(batch):
        outcomes = _store_new(transaction, project_id, transaction.bins(project), batch)
    for place, status in enumerate(STATUSES):
        if count := outcomes.statuses.count(place):
            transaction.counts[project_id, status] += count
    for code, count in rejected.items():
        transaction.counts[project_id, code] += count
    return outcomes


def _store_new(
    transaction: Transaction, project_id: int, bins: Bins, batch: _core.EventBatch
) -> Outcomes:
    connection = transaction.connection
    ids = batch.hash_ids(project_id)
    rows = select_ids(connection, ids.highs())
    try:
        more = ids.more_highs(rows) if rows else []
        settled = ids.settle(rows + select_ids(connection, more), transaction.seq + 1)
    except ValueError as error:
        raise damaged("the ids of events", str(error)) from error
    statuses = settled.statuses()
    transaction.seq += statuses.count(0)
    insert_rows(connection, stored_ids, settled.ids())
    numbers = [
        0 if content is None else transaction.context(project_id, bin_content(content, bins))
        for content in settled.contexts()
    ]
    rankings = settled.rankings(numbers)
    waited = _take_waiting(transaction, project_id, settled.ranking_ids()) if rankings else []
    labels, waiting = settled.labels(waited)
    new: list[tuple[int, int, Columns]] = [*rankings, *labels]
    for start, environment, columns in new:
        transaction.log.add((project_id, start, environment), columns)
    insert_rows(connection, pending, [(seq, project_id, *rest) for seq, *rest in waiting])
    transaction.pending[project_id] += len(waiting)
    return Outcomes(statuses, bytes(settled.seqs()))


def _take_waiting(
    transaction: Transaction, project_id: int, ranking_ids: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Take the labels that wait for some rankings."""
    connection = transaction.connection
    ((stored,),) = COUNT_PENDING.fetch(connection, project_id=project_id)
    if not stored + transaction.pending[project_id]:
        return []
    rows = SELECT_WAITING.fetch(connection, project_id=project_id, texts=list(ranking_ids))
    DELETE_PENDING.run(connection, seqs=[seq for seq, *_ in rows])
    transaction.pending[project_id] -= len(rows)
    return [(seq, *rest) for seq, _, *rest in rows]
