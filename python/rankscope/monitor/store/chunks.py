"""Makes chunks of the columns of blocks, smaller chunks of chunks, and events of chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope._core import Column
from rankscope.monitor.arrays import Texts, take_texts
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.store.records import Chunk, Context, ItemColumns, LabelColumns, require_ids
from rankscope.monitor.store.tables.statements import parse_stored

Places: TypeAlias = slice | NDArray[np.int64]


OF_RANKINGS = ("seqs", "times", "contexts", "ranking_ids", "query_keys", "user_ids", "event_ids")
OF_ITEMS = ("doc_ids", "ranks", "scores", "relevance")
OF_LABELS = ("doc_ids", "times", "kinds", "codes", "values", "event_ids", "seqs")
"""The columns with a value for each ranking, document and label; texts are pairs."""


def make_chunk(rankings: _core.RankingBlock, labels: _core.LabelBlock, *, event_ids: bool) -> Chunk:
    """Make a chunk of rankings, and of those labels that are theirs."""
    seqs, times, contexts, *texts, offsets, docs, doc_bytes, ranks, scores, relevance = (
        rankings.columns()
    )
    ranking_ids, own_ids, query_keys, user_ids = map(to_texts, texts[::2], texts[1::2])
    return Chunk(
        to_integers(seqs),
        to_integers(times),
        to_integers(contexts),
        ranking_ids,
        query_keys,
        user_ids,
        ItemColumns(
            to_integers(offsets),
            to_texts(docs, doc_bytes),
            to_integers(ranks),
            _to_numbers(scores),
            _to_numbers(relevance),
        ),
        make_labels(
            labels, *map(to_integers, _core.join_labels(rankings, labels)), event_ids=event_ids
        ),
        own_ids if event_ids else None,
    )


def make_labels(
    labels: _core.LabelBlock,
    positions: NDArray[np.int64],
    rows: NDArray[np.int64],
    *,
    event_ids: bool,
) -> LabelColumns:
    """Make columns of some rows of labels, whose rankings have some positions."""
    seqs, _, times, kinds, _, _, ids, id_bytes, docs, doc_bytes, names, codes, values = labels.take(
        rows
    ).columns()
    return LabelColumns(
        positions,
        to_texts(docs, doc_bytes),
        to_integers(times),
        np.frombuffer(memoryview(kinds), np.int8),
        tuple(tuple(parse_stored(name)) for name in names),
        to_integers(codes),
        _to_numbers(values),
        to_texts(ids, id_bytes) if event_ids else None,
        to_integers(seqs) if event_ids else None,
    )


def to_integers(column: Column) -> NDArray[np.int64]:
    """Return a column of the core as an array, without a copy."""
    return np.frombuffer(memoryview(column), np.int64)


def _to_numbers(column: Column) -> NDArray[np.float64]:
    return np.frombuffer(memoryview(column), np.float64)


def to_texts(offsets: Column, text: Column) -> Texts:
    """Return a column of texts of the core as arrays, without a copy."""
    return to_integers(offsets), np.frombuffer(memoryview(text), np.uint8)


def buffer_texts(column: tuple[Column, Column]) -> Texts:
    """Return a column of texts of the core as arrays, likewise."""
    return to_texts(*column)


def make_ranking(chunk: Chunk, place: int, contexts: Mapping[int, Context]) -> Ranking:
    """Make an event of a ranking of a chunk that has the ids of events."""
    items = chunk.items
    start, end = items.offsets[place : place + 2].tolist()
    context = contexts[int(chunk.contexts[place])]
    scores, relevance = (
        _list_numbers(column[start:end]) for column in (items.scores, items.relevance)
    )
    doc_ids = tuple(text_at(items.doc_ids, at) for at in range(start, end))
    return Ranking(
        text_at(require_ids(chunk.event_ids), place),
        text_at(chunk.ranking_ids, place),
        int(chunk.times[place]),
        Items(doc_ids, tuple(items.ranks[start:end].tolist()), scores, relevance),
        text_at(chunk.query_keys, place),
        text_at(chunk.user_ids, place),
        context.model,
        context.version,
        context.environment,
        context.attributes,
    )


def make_label_events(chunk: Chunk, place: int) -> Iterator[tuple[int, Label]]:
    """Make events of the labels of a ranking of a chunk, with their numbers."""
    labels = chunk.labels
    ranking_id = text_at(chunk.ranking_ids, place)
    seqs = require_ids(labels.seqs)
    start, end = np.searchsorted(labels.rankings, (place, place + 1)).tolist()
    for at in range(start, end):
        (value,) = _list_numbers(labels.values[at : at + 1]) or (None,)
        kind: Any = LABEL_KINDS[labels.kinds[at]]
        yield (
            int(seqs[at]),
            Label(
                text_at(require_ids(labels.event_ids), at),
                ranking_id,
                text_at(labels.doc_ids, at),
                int(labels.times[at]),
                labels.names[labels.codes[at]],
                value,
                kind,
            ),
        )


def text_at(column: Texts, place: int) -> str:
    """Return the text at a place of a column."""
    starts, text = column
    return text[starts[place] : starts[place + 1]].tobytes().decode()


def list_texts(column: Texts) -> list[str]:
    """Return the texts of a column."""
    starts, text = column
    whole, bounds = text.tobytes(), starts.tolist()
    return [whole[start:end].decode() for start, end in pairwise(bounds)]


def _list_numbers(column: NDArray[np.float64]) -> tuple[float | None, ...]:
    """Return numbers with `None` for NaN, and nothing where all of them are."""
    numbers = [None if value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN alone differs from itself
    return () if numbers.count(None) == len(numbers) else tuple(numbers)


def split(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Cut a chunk into chunks of at most some size."""
    count = len(chunk.seqs)
    for start in range(0, count, size):
        yield take(chunk, start, min(start + size, count))


def take(chunk: Chunk, start: int, end: int) -> Chunk:
    """Return the rankings of a chunk from one position to before another, without a copy."""
    if start == 0 and end == len(chunk.seqs):
        return chunk
    offsets, labels = chunk.items.offsets, chunk.labels
    first, last = (int(offsets[at]) for at in (start, end))
    begin, until = np.searchsorted(labels.rankings, (start, end)).tolist()
    return _take_rows(
        chunk,
        slice(start, end),
        slice(first, last),
        offsets=offsets[start : end + 1] - first,
        labels=replace(
            choose_labels(labels, slice(begin, until)),
            rankings=labels.rankings[begin:until] - start,
        ),
    )


def choose(chunk: Chunk, places: NDArray[np.int64]) -> Chunk:
    """Return the rankings at some positions of a chunk, in the order of the positions."""
    labels = chunk.labels
    offsets, elements = _spread(chunk.items.offsets, places)
    bounds = np.searchsorted(labels.rankings, np.arange(len(chunk.seqs) + 1))
    label_offsets, chosen = _spread(bounds, places)
    rankings = np.repeat(np.arange(len(places)), np.diff(label_offsets))
    return _take_rows(
        chunk,
        places,
        elements,
        offsets=offsets,
        labels=replace(choose_labels(labels, chosen), rankings=rankings),
    )


def _take_rows(
    chunk: Chunk,
    rows: Places,
    elements: Places,
    *,
    offsets: NDArray[np.int64],
    labels: LabelColumns,
) -> Chunk:
    items = chunk.items
    return replace(
        chunk,
        items=replace(
            items,
            offsets=offsets,
            **{name: _pick(getattr(items, name), elements) for name in OF_ITEMS},
        ),
        labels=labels,
        **{name: _pick(getattr(chunk, name), rows) for name in OF_RANKINGS},
    )


def choose_labels(labels: LabelColumns, places: Places) -> LabelColumns:
    """Return the labels at some positions, in the order of the positions."""
    chosen = {name: _pick(getattr(labels, name), places) for name in ("rankings", *OF_LABELS)}
    return replace(labels, **chosen)


def _cut(column: Texts, start: int, end: int) -> Texts:
    starts, text = column
    offsets = starts[start : end + 1]
    first = offsets[0]
    return offsets - first, text[first : offsets[-1]]


def _pick(column: Any, places: Places) -> Any:  # noqa: ANN401 - an array, texts or nothing
    if column is None:
        return None
    if not isinstance(column, tuple):
        return column[places]
    if isinstance(places, slice):
        return _cut(column, places.start, places.stop)
    return take_texts(column, places)


def _spread(
    offsets: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of the runs at some places, and the positions of their elements."""
    sizes = np.diff(offsets)[places]
    found = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    shifts = np.repeat(offsets[places] - found[:-1], sizes)
    return found, np.arange(found[-1]) + shifts


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of runs of some sizes, and the end of the last."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
