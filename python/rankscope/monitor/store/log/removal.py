"""Removes rankings from the columns of blocks, with all their labels, in small transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, delete, select, update

from rankscope import _core
from rankscope.errors import UsageError
from rankscope.monitor.arrays import find_texts
from rankscope.monitor.events.event import ENVIRONMENTS
from rankscope.monitor.events.rejection import show
from rankscope.monitor.store.chunks import buffer_texts, list_texts, to_integers
from rankscope.monitor.store.log.append import store_events
from rankscope.monitor.store.log.blocks import (
    LABELS,
    RANKINGS,
    Block,
    are_there,
    is_of,
    list_blocks,
    open_labels,
    open_rankings,
    remove_blocks,
    select_blocks,
)
from rankscope.monitor.store.log.ids import remove_ids
from rankscope.monitor.store.log.spans import open_columns
from rankscope.monitor.store.log.writer import write_columns
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.tables.projects import ERASED_RANKINGS, REPLACED_RANKINGS
from rankscope.monitor.store.tables.schema import blocks, contexts, pending, projects
from rankscope.monitor.store.tables.statements import FIRST, LAST, fetch_rows
from rankscope.monitor.store.tables.windows import mark_hours
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy import Connection


AT_ONCE = 500
"""How many labels without a ranking a transaction removes."""
SUBTRACT = (
    update(contexts)
    .where(contexts.c.context_id == bindparam("context"))
    .values(
        rankings=contexts.c.rankings - bindparam("count"),
        first=bindparam("new_first"),
        last=bindparam("new_last"),
    )
)


class Removed(NamedTuple):
    """What was removed from blocks.

    Args:
        deleted: The numbers of rankings and labels.
        contexts: The rankings by context.
        ids: The ids of the events, with their numbers.
    """

    deleted: Deleted
    contexts: Counter[int]
    ids: list[tuple[str, int]]

    def add(self, more: Removed) -> Removed:
        """Return both together."""
        deleted = self.deleted.add(more.deleted)
        return Removed(deleted, self.contexts + more.contexts, self.ids + more.ids)


def mark_deleted(transaction: Transaction, project: str, time: int) -> None:
    """Record that events before a time are incomplete, before the first of them is deleted."""
    earlier = projects.c.deleted_before.is_(None) | (projects.c.deleted_before < time)
    number = projects.c.project_id == transaction.project(project)
    transaction.connection.execute(
        update(projects).where(number, earlier).values(deleted_before=time)
    )


def delete_pending(
    transaction: Transaction,
    project: str,
    *,
    before: int = LAST,
    ranking_ids: Sequence[str] | None = None,
) -> Deleted:
    """Delete some of the labels that have no ranking: earlier ones, or those for some rankings."""
    connection = transaction.connection
    project_id = transaction.project(project)
    chosen = select(pending.c.seq, pending.c.event_id).where(
        pending.c.project_id == project_id, pending.c.time < before
    )
    if ranking_ids is not None:
        chosen = chosen.where(pending.c.ranking_id.in_(ranking_ids))
    rows = fetch_rows(connection.execute(chosen.limit(AT_ONCE)))
    connection.execute(delete(pending).where(pending.c.seq.in_([seq for seq, _ in rows])))
    transaction.pending[project_id] -= len(rows)
    ids = [(event_id, seq) for seq, event_id in rows]
    return record_removed(transaction, project_id, Removed(Deleted(0, len(rows)), Counter(), ids))


def delete_blocks(transaction: Transaction, project: str, time: int, most: int) -> Deleted | None:
    """Delete what is before a time from some blocks; `None` if nothing is there."""
    transaction.log.settle()
    connection = transaction.connection
    project_id = transaction.project(project)
    listed = select_blocks(
        connection,
        is_of(project_id),
        blocks.c.first < time,
        most=most,
    )
    if not listed:
        return None
    removed = Removed(Deleted(0, 0), Counter(), [])
    for block in listed:
        columns, times = open_columns(connection, block)
        removed = removed.add(_cut(transaction, block, columns, times < time))
    return record_removed(transaction, project_id, removed)


def find_chosen(connection: Connection, project: str, chosen: Chosen) -> list[Block]:
    """Find the blocks that have some of the chosen rankings."""
    return [
        block
        for block in list_blocks(connection, project, chosen.since, chosen.until, (RANKINGS,))
        if block.overlaps(chosen.since, chosen.until)
        and any(_find_fitting(part, chosen).any() for part in open_rankings(connection, [block]))
    ]


def erase_block(transaction: Transaction, project: str, block: Block, chosen: Chosen) -> Deleted:
    """Delete the chosen rankings of a block with all their labels, and mark their hour."""
    transaction.log.settle()
    connection = transaction.connection
    if not are_there(connection, [block]):
        return Deleted(0, 0)
    project_id = transaction.project(project)
    (rankings,) = open_rankings(connection, [block])
    is_chosen = _find_fitting(rankings, chosen)
    gone = rankings.take(np.flatnonzero(is_chosen))
    removed = _cut(transaction, block, rankings, is_chosen)
    names = list_texts(buffer_texts(gone.ranking_ids()))
    times = to_integers(gone.times()).tolist()
    for label_block in list_blocks(connection, project_id, block.start, block.start + 1, (LABELS,)):
        if label_block.environment == block.environment and label_block.overlaps(
            int(times[0]), int(times[-1]) + 1
        ):
            (labels,) = open_labels(connection, [label_block])
            is_removed = find_texts(buffer_texts(labels.ranking_ids()), names)
            if is_removed.any():
                removed = removed.add(_cut(transaction, label_block, labels, is_removed))
    mark_hours(connection, project_id, [block.start])
    return record_removed(transaction, project_id, removed, is_erased=True)


def _find_fitting(rankings: _core.RankingBlock, chosen: Chosen) -> NDArray[np.bool_]:
    """Return which rankings are chosen, by their times and ids."""
    times = to_integers(rankings.times())
    fits: NDArray[np.bool_] = np.ones(len(times), dtype=np.bool_)
    if chosen.since is not None:
        fits &= times >= chosen.since
    if chosen.until is not None:
        fits &= times < chosen.until
    if chosen.user_id is not None:
        fits &= find_texts(buffer_texts(rankings.user_ids()), [chosen.user_id])
    if chosen.ranking_ids is not None:
        fits &= find_texts(buffer_texts(rankings.ranking_ids()), chosen.ranking_ids)
    return fits


def _cut(
    transaction: Transaction,
    block: Block,
    columns: _core.RankingBlock | _core.LabelBlock,
    is_gone: NDArray[np.bool_],
) -> Removed:
    """Remove some rows of a block."""
    gone = columns.take(np.flatnonzero(is_gone))
    remove_blocks(transaction, [block])
    if not is_gone.all():
        rest = columns.take(np.flatnonzero(~is_gone))
        hour = block.project_id, block.start, block.environment
        write_columns(transaction, hour, rest)
    seqs = to_integers(gone.seqs()).tolist()
    ids = list(zip(list_texts(buffer_texts(gone.event_ids())), seqs, strict=True))
    if isinstance(gone, _core.LabelBlock):
        return Removed(Deleted(0, len(gone)), Counter(), ids)
    ids += zip(list_texts(buffer_texts(gone.ranking_ids())), seqs, strict=True)
    return Removed(Deleted(len(gone), 0), Counter(to_integers(gone.contexts()).tolist()), ids)


def record_removed(
    transaction: Transaction, project_id: int, removed: Removed, *, is_erased: bool = False
) -> Deleted:
    """Remove the ids of what was removed, count it, and subtract it from its contexts."""
    remove_ids(transaction, project_id, removed.ids)
    deleted = removed.deleted
    counts = {"deleted_rankings": deleted.rankings, "deleted_labels": deleted.labels}
    if is_erased:
        counts[ERASED_RANKINGS] = deleted.rankings
    for reason, count in counts.items():
        if count:
            transaction.counts[project_id, reason] += count
    _subtract_rankings(transaction, project_id, removed.contexts)
    return deleted


def _subtract_rankings(
    transaction: Transaction, project_id: int, removed: Mapping[int, int]
) -> None:
    """Subtract removed rankings from the counts of their contexts."""
    if not removed:
        return
    transaction.flush_rankings()
    connection = transaction.connection
    firsts = _find_edges(connection, project_id, set(removed), is_last=False)
    lasts = _find_edges(connection, project_id, set(removed), is_last=True)
    rows = [
        {
            "context": context,
            "count": count,
            "new_first": firsts.get(context),
            "new_last": lasts.get(context),
        }
        for context, count in removed.items()
    ]
    connection.execute(SUBTRACT, rows)


def _find_edges(
    connection: Connection, project_id: int, wanted: set[int], *, is_last: bool
) -> dict[int, int]:
    """Find the time of the first or the last ranking of some contexts."""
    order = blocks.c.start.desc() if is_last else blocks.c.start
    counted = select(contexts.c.context_id, contexts.c.rankings).where(
        contexts.c.project_id == project_id
    )
    left = wanted & {number for number, count in connection.execute(counted) if count}
    edges: dict[int, int] = {}
    hour = None
    listed = select(blocks).where(is_of(project_id), blocks.c.kind == RANKINGS).order_by(order)
    # Closed although not all is read: PostgreSQL keeps a cursor for it.
    with connection.execute(listed, execution_options={"stream_results": True}) as rows:
        for row in rows:
            block = Block(*row)
            if hour != block.start:
                # All blocks of an hour are looked at: any can have the first or last ranking.
                hour, left = block.start, left - edges.keys()
                if not left:
                    break
            for context, span in block.spans.items():
                if context in left:
                    edge = span.last if is_last else span.first
                    before = edges.get(context, edge)
                    edges[context] = max(before, edge) if is_last else min(before, edge)
    return edges


def replace_set(
    transaction: Transaction,
    project: str,
    environment: str,
    batch: _core.EventBatch,
    rejected: Mapping[str, int],
) -> Deleted:
    """Delete the rankings of a set with all their labels, and store others in their place."""
    transaction.log.settle()
    connection = transaction.connection
    project_id = transaction.project(project)
    listed = select_blocks(
        connection,
        is_of(project_id),
        blocks.c.environment == ENVIRONMENTS.index(environment),
    )
    mark_hours(connection, project_id, sorted({block.start for block in listed}))
    removed = Removed(Deleted(0, 0), Counter(), [])
    for block in listed:
        columns, times = open_columns(connection, block)
        removed = removed.add(_cut(transaction, block, columns, times >= FIRST))
    remove_ids(transaction, project_id, removed.ids)
    _subtract_rankings(transaction, project_id, removed.contexts)
    if removed.deleted.rankings:
        transaction.counts[project_id, REPLACED_RANKINGS] += removed.deleted.rankings
    for at, outcome in enumerate(store_events(transaction, project, batch, rejected)):
        if outcome.status != "accepted":
            raise UsageError(
                f"expected ids that nothing outside the {environment} set has, "
                f"found {show(batch.event_id(at))}; the set stays as it was",
                hint="give the rankings of a set ids of their own",
                code="set_conflict",
            )
    return removed.deleted
