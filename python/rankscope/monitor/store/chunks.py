"""Makes chunks of the columns of blocks, and events of chunks."""

from __future__ import annotations

from itertools import pairwise

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.events.event import LABEL_KINDS, Items, Label, Ranking
from rankscope.monitor.store.records import Chunk, ItemColumns, LabelColumns, require_ids
from rankscope.monitor.store.tables.statements import parse_stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._core import Column
    from rankscope.monitor.arrays import Texts
    from rankscope.monitor.store.records import Context


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
