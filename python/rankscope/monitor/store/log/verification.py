"""Reads the whole log, and compares it with what the store says of it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import func, select

from rankscope.monitor.arrays import Texts
from rankscope.monitor.events.batch import digest
from rankscope.monitor.events.event import ENVIRONMENTS
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.chunks import buffer_texts, list_texts, to_integers
from rankscope.monitor.store.log.blocks import (
    LABELS,
    Block,
    damaged,
    open_labels,
    open_rankings,
    select_blocks,
)
from rankscope.monitor.store.log.ids import EVENT, RANKING, Ids, shorten
from rankscope.monitor.store.log.reading import make_waiting
from rankscope.monitor.store.log.writer import Columns, make_block
from rankscope.monitor.store.tables.schema import contexts, ids, pending, projects
from rankscope.monitor.store.tables.versions import RankingSpan, read_contexts_of

Named: TypeAlias = tuple[str, int, int, int]
"""An id, the number of its event, the time of a ranking, and the role."""

if TYPE_CHECKING:
    from sqlalchemy import Connection


def check_log(connection: Connection) -> None:
    """Read all blocks, and compare their events with the ids, counts and contexts."""
    expected = sum(
        _check_ids(connection, block, _read_block(connection, block))
        for block in select_blocks(connection)
    )
    expected += _check_pending(connection)
    count = connection.execute(select(func.count()).select_from(ids)).scalar_one()
    if count != expected:
        raise damaged("ids", f"{count:,} instead of {expected:,}")
    wrong = find_wrong_count(connection)
    if wrong is not None:
        raise damaged("counts", wrong)


def _read_block(connection: Connection, block: Block) -> list[Named]:
    """Return the ids in a block: each with its number, the time of a ranking, and its role."""
    if block.kind == LABELS:
        (columns,) = open_labels(connection, [block])
        _check_block(block, columns)
        return _name_labels(buffer_texts(columns.event_ids()), to_integers(columns.seqs()).tolist())
    (rankings,) = open_rankings(connection, [block])
    _check_block(block, rankings)
    contexts_of = read_contexts_of(connection, block.project_id)
    if any(
        number not in contexts_of
        or ENVIRONMENTS.index(contexts_of[number].environment) != block.environment
        for number in block.spans
    ):
        raise damaged("the contexts of a block", "wrong")
    texts = buffer_texts(rankings.ranking_ids()), buffer_texts(rankings.event_ids())
    seqs, times = to_integers(rankings.seqs()).tolist(), to_integers(rankings.times()).tolist()
    return _name_rankings(*texts, seqs, times)


def _check_block(block: Block, columns: Columns) -> None:
    """Compare the row of a block with its columns."""
    expected = make_block((block.project_id, block.start, block.environment), columns)
    is_same = expected._replace(size=block.size, checksum=block.checksum) == block
    if not is_same or {block.first // HOUR, block.last // HOUR} != {block.start // HOUR}:
        raise damaged("the row of a block", "wrong")


def _name_rankings(
    ranking_ids: Texts, event_ids: Texts, seqs: list[int], times: list[int]
) -> list[Named]:
    named: list[Named] = []
    for own, event_id, seq, time in zip(
        list_texts(ranking_ids), list_texts(event_ids), seqs, times, strict=True
    ):
        if own == event_id:
            named.append((own, seq, time, EVENT | RANKING))
        else:
            named += [(own, seq, time, RANKING), (event_id, seq, time, EVENT)]
    return named


def _name_labels(event_ids: Texts, seqs: list[int]) -> list[Named]:
    return [(name, seq, 0, EVENT) for name, seq in zip(list_texts(event_ids), seqs, strict=True)]


def _check_ids(connection: Connection, block: Block, named: list[Named]) -> int:
    """Compare the ids of a block with those that are stored, and return how many they are."""
    stored = Ids(connection, block.project_id, [name for name, *_ in named])
    for name, seq, time, role in named:
        entry = stored.find(name, role)
        if (
            entry is None
            or (entry.seq, entry.time, entry.role & (EVENT | RANKING)) != (seq, time, role)
            or (role & RANKING and entry.environment != block.environment)
        ):
            raise damaged("the ids of events", "missing or wrong")
    return len(named)


def _check_pending(connection: Connection) -> int:
    """Compare the labels that wait with their digests, and return how many they are."""
    rows = connection.execute(select(pending)).all()
    for row in rows:
        entry = Ids(connection, row.project_id, [row.event_id]).find(row.event_id, EVENT)
        content = digest(make_waiting(row))
        if (
            content != bytes(row.digest)
            or entry is None
            or ((entry.seq, entry.digest) != (row.seq, shorten(content)))
        ):
            raise damaged("the labels that wait", "damaged")
    return len(rows)


def find_wrong_count(connection: Connection) -> str | None:
    """Compare the counts that are kept with the blocks, and return what differs, if anything."""
    spans: dict[int, RankingSpan] = {}
    for block in select_blocks(connection):
        for context, span in block.spans.items():
            before = spans.get(context)
            spans[context] = span if before is None else before.merge(span)
    kept = select(contexts.c.context_id, contexts.c.rankings, contexts.c.first, contexts.c.last)
    stored = connection.execute(kept.where(contexts.c.rankings != 0))
    if {context_id: RankingSpan(*span) for context_id, *span in stored} != spans:
        return "the number of rankings is wrong"
    waiting = select(projects.c.project_id, projects.c.pending).where(projects.c.pending != 0)
    counted = select(pending.c.project_id, func.count()).group_by(pending.c.project_id)
    if set(map(tuple, connection.execute(waiting))) != set(map(tuple, connection.execute(counted))):
        return "the number of labels that wait is wrong"
    return None
