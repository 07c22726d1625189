"""Reads blocks of columns: rankings in the order of a store, with their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.store.chunks import make_chunk, split, to_integers
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.log.blocks import LABELS, RANKINGS, Block, open_labels, open_rankings
from rankscope.monitor.store.records import Chunk

C = TypeVar("C", _core.RankingBlock, _core.LabelBlock)

if TYPE_CHECKING:
    from sqlalchemy import Connection


AT_ONCE = 20_000
"""About how many rankings are sorted at once: those of a part of an hour, or of several hours."""
PARTS = 3_600
"""In how many parts of equal length a span is divided to find out where its rankings are."""


def read_blocks(
    connection: Connection,
    blocks: Sequence[Block],
    since: int | None,
    until: int | None,
    size: int,
    *,
    event_ids: bool,
) -> Iterator[Chunk]:
    """Read rankings with their labels from blocks of columns."""
    blocks = [block for block in blocks if block.overlaps(since, until)]
    for first, last in divide([block for block in blocks if block.kind == RANKINGS]):
        check_deadline()
        start = first if since is None else max(first, since)
        end = last if until is None else min(last, until)
        overlapping = [block for block in blocks if start < end and block.overlaps(start, end)]
        chunk = _read_span(connection, overlapping, start, end, event_ids=event_ids)
        if chunk is not None:
            yield from split(chunk, size)


def open_columns(
    connection: Connection, block: Block
) -> tuple[_core.RankingBlock | _core.LabelBlock, NDArray[np.int64]]:
    """Read the columns of a block, and the times of their rankings."""
    if block.kind == RANKINGS:
        (rankings,) = open_rankings(connection, [block])
        return rankings, to_integers(rankings.times())
    (labels,) = open_labels(connection, [block])
    return labels, to_integers(labels.shown())


def divide(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Divide the time of blocks into spans of about as many rankings as are sorted at once.

    Blocks say when their first and last rankings were shown; between these they count as evenly
    spread. A block is read for each span that it reaches into, which are few where rankings come
    in about the order of their times.
    """
    if not blocks:
        return
    first = min(block.first for block in blocks)
    end = max(block.last for block in blocks) + 1
    if sum(block.rankings for block in blocks) <= AT_ONCE:
        yield first, end
        return
    starts = np.array([block.first for block in blocks])
    lengths = np.array([block.last + 1 for block in blocks]) - starts
    counts = np.array([block.rankings for block in blocks])
    edges = np.unique(np.linspace(first, end, PARTS + 1).astype(np.int64))
    before = np.zeros(len(edges))
    for start, length, count in zip(starts, lengths, counts, strict=True):
        before += np.clip((edges - start) / length, 0, 1) * count
    at = 0
    while at < len(edges) - 1:
        until = int(np.searchsorted(before, before[at] + AT_ONCE, side="right")) - 1
        until = min(max(until, at + 1), len(edges) - 1)
        yield int(edges[at]), int(edges[until])
        at = until


def _read_span(
    connection: Connection, blocks: Sequence[Block], since: int, until: int, *, event_ids: bool
) -> Chunk | None:
    ranking_blocks = [block for block in blocks if block.kind == RANKINGS]
    rankings = _join(
        _core.RankingBlock,
        open_rankings(connection, ranking_blocks),
        lambda columns: columns.times(),
        since,
        until,
    )
    if not len(rankings):
        return None
    label_blocks = [block for block in blocks if block.kind == LABELS]
    labels = _join(
        _core.LabelBlock,
        open_labels(connection, label_blocks),
        lambda columns: columns.shown(),
        since,
        until,
    )
    return make_chunk(rankings, labels, event_ids=event_ids)


def _join(
    kind: Any,  # noqa: ANN401 - one of two classes
    parts: list[C],
    get_times: Callable[[C], Any],
    since: int,
    until: int,
) -> C:
    """Join the rows of blocks that are of a span."""
    kept: list[C] = []
    for part in parts:
        start, end = np.searchsorted(to_integers(get_times(part)), (since, until)).tolist()
        if start == 0 and end == len(part):
            kept.append(part)
        elif start < end:
            kept.append(part.take(np.arange(start, end)))
    joined: C = kept[0] if len(kept) == 1 else kind.join(kept)
    return joined
