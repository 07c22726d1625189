"""Merges chunks of rankings that come from several places into the one order of a store."""

from __future__ import annotations

from bisect import bisect_right

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.arrays import take_texts, write_texts
from rankscope.monitor.store.records import Chunk, ItemColumns, LabelColumns
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.arrays import Texts

    Place: TypeAlias = tuple[int, bytes]


def merge_chunks(streams: Sequence[Iterator[Chunk]], size: int) -> Iterator[Chunk]:
    """Merge streams of chunks by the times of rankings, then by their ids."""
    coming = list(streams)
    heads: list[Chunk] = []
    while True:
        # Every stream that goes on has a chunk here, so that nothing earlier can come.
        for stream in list(coming[len(heads) :]):
            chunk = next((one for one in stream if len(one.seqs)), None)
            if chunk is None:
                coming.remove(stream)
            else:
                heads.append(chunk)
        if not heads:
            return
        end = min(_place(chunk, len(chunk.seqs) - 1) for chunk in heads)
        counts = [_count_until(chunk, end) for chunk in heads]
        found = concatenate(
            [take(chunk, 0, count) for chunk, count in zip(heads, counts, strict=True)]
        )
        yield from split(sort(found), size)
        rest = [
            (stream, take(chunk, count, len(chunk.seqs)))
            for stream, chunk, count in zip(coming, heads, counts, strict=True)
        ]
        going = [one for one in rest if len(one[1].seqs)]
        coming = [
            *(stream for stream, _ in going),
            *(stream for stream, chunk in rest if not len(chunk.seqs)),
        ]
        heads = [chunk for _, chunk in going]


def split(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Cut a chunk into chunks of at most some size."""
    count = len(chunk.seqs)
    for start in range(0, count, size):
        yield take(chunk, start, min(start + size, count))


def take(chunk: Chunk, start: int, end: int) -> Chunk:
    """Return the rankings of a chunk from one position to before another, without a copy."""
    if start == 0 and end == len(chunk.seqs):
        return chunk
    items, labels = chunk.items, chunk.labels
    first, last = (int(items.offsets[at]) for at in (start, end))
    begin, until = np.searchsorted(labels.rankings, (start, end)).tolist()
    return Chunk(
        chunk.seqs[start:end],
        chunk.times[start:end],
        chunk.contexts[start:end],
        _cut(chunk.ranking_ids, start, end),
        _cut(chunk.query_keys, start, end),
        _cut(chunk.user_ids, start, end),
        ItemColumns(
            items.offsets[start : end + 1] - first,
            _cut(items.doc_ids, first, last),
            items.ranks[first:last],
            items.scores[first:last],
            items.relevance[first:last],
            None if items.is_tied is None else items.is_tied[start:end],
        ),
        LabelColumns(
            labels.rankings[begin:until] - start,
            _cut(labels.doc_ids, begin, until),
            labels.times[begin:until],
            labels.kinds[begin:until],
            labels.names,
            labels.codes[begin:until],
            labels.values[begin:until],
            None if labels.event_ids is None else _cut(labels.event_ids, begin, until),
            None if labels.seqs is None else labels.seqs[begin:until],
            None if labels.positions is None else labels.positions[begin:until],
        ),
        None if chunk.event_ids is None else _cut(chunk.event_ids, start, end),
    )


def choose(chunk: Chunk, places: NDArray[np.int64]) -> Chunk:
    """Return the rankings at some positions of a chunk, in the order of the positions."""
    items, labels = chunk.items, chunk.labels
    offsets, elements = _spread(items.offsets, places)
    bounds = np.searchsorted(labels.rankings, np.arange(len(chunk.seqs) + 1))
    label_offsets, chosen = _spread(bounds, places)
    return Chunk(
        chunk.seqs[places],
        chunk.times[places],
        chunk.contexts[places],
        take_texts(chunk.ranking_ids, places),
        take_texts(chunk.query_keys, places),
        take_texts(chunk.user_ids, places),
        ItemColumns(
            offsets,
            take_texts(items.doc_ids, elements),
            items.ranks[elements],
            items.scores[elements],
            items.relevance[elements],
            None if items.is_tied is None else items.is_tied[places],
        ),
        replace(
            choose_labels(labels, chosen),
            rankings=np.repeat(np.arange(len(places)), np.diff(label_offsets)),
        ),
        None if chunk.event_ids is None else take_texts(chunk.event_ids, places),
    )


def choose_labels(labels: LabelColumns, places: NDArray[np.int64]) -> LabelColumns:
    """Return the labels at some positions, in the order of the positions."""
    return LabelColumns(
        labels.rankings[places],
        take_texts(labels.doc_ids, places),
        labels.times[places],
        labels.kinds[places],
        labels.names,
        labels.codes[places],
        labels.values[places],
        None if labels.event_ids is None else take_texts(labels.event_ids, places),
        None if labels.seqs is None else labels.seqs[places],
        None if labels.positions is None else labels.positions[places],
    )


def sort(chunk: Chunk) -> Chunk:
    """Sort the rankings of a chunk by time, then by their ids."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    table = pa.table({"time": chunk.times, "id": write_texts(chunk.ranking_ids)})
    order = compute.sort_indices(table, [("time", "ascending"), ("id", "ascending")])
    return choose(chunk, order.to_numpy().astype("int64"))


def sort_labels(labels: LabelColumns) -> LabelColumns:
    """Sort labels that have the ids of events into the order in which they count."""
    if labels.event_ids is None:
        raise TypeError("the ids of events were not asked for")
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    keys = {
        "ranking": labels.rankings,
        "time": labels.times,
        "id": write_texts(labels.event_ids),
    }
    order = compute.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    return choose_labels(labels, order.to_numpy().astype("int64"))


def concatenate(chunks: Sequence[Chunk]) -> Chunk:
    """Join chunks, at least one, end to end."""
    if len(chunks) == 1:
        return chunks[0]
    items = [chunk.items for chunk in chunks]
    sizes = [len(chunk.seqs) for chunk in chunks]
    starts = np.cumsum([0, *sizes])
    labels = concatenate_labels([chunk.labels for chunk in chunks], starts[:-1].tolist())
    event_ids = [chunk.event_ids for chunk in chunks]
    return Chunk(
        np.concatenate([chunk.seqs for chunk in chunks]),
        np.concatenate([chunk.times for chunk in chunks]),
        np.concatenate([chunk.contexts for chunk in chunks]),
        _join([chunk.ranking_ids for chunk in chunks]),
        _join([chunk.query_keys for chunk in chunks]),
        _join([chunk.user_ids for chunk in chunks]),
        ItemColumns(
            _join_offsets([item.offsets for item in items]),
            _join([item.doc_ids for item in items]),
            np.concatenate([item.ranks for item in items]),
            np.concatenate([item.scores for item in items]),
            np.concatenate([item.relevance for item in items]),
            _concatenate_all([item.is_tied for item in items]),
        ),
        labels,
        _join_all(event_ids),
    )


def concatenate_labels(pieces: Sequence[LabelColumns], starts: Sequence[int]) -> LabelColumns:
    """Join labels end to end."""
    places: dict[tuple[str, ...], int] = {}
    codes = []
    for piece in pieces:
        known = [places.setdefault(name, len(places)) for name in piece.names]
        codes.append(np.array(known, dtype=np.int64)[piece.codes] if known else piece.codes)
    return LabelColumns(
        np.concatenate([one.rankings + start for one, start in zip(pieces, starts, strict=True)]),
        _join([piece.doc_ids for piece in pieces]),
        np.concatenate([piece.times for piece in pieces]),
        np.concatenate([piece.kinds for piece in pieces]),
        tuple(places),
        np.concatenate(codes),
        np.concatenate([piece.values for piece in pieces]),
        _join_all([piece.event_ids for piece in pieces]),
        _concatenate_all([piece.seqs for piece in pieces]),
        _concatenate_all([piece.positions for piece in pieces]),
    )


def _place(chunk: Chunk, at: int) -> Place:
    starts, text = chunk.ranking_ids
    return int(chunk.times[at]), text[starts[at] : starts[at + 1]].tobytes()


def _count_until(chunk: Chunk, end: Place) -> int:
    """Count the rankings of a chunk up to a place in the order."""
    return bisect_right(range(len(chunk.seqs)), end, key=lambda at: _place(chunk, at))


def _cut(column: Texts, start: int, end: int) -> Texts:
    starts, text = column
    offsets = starts[start : end + 1]
    first = offsets[0]
    return offsets - first, text[first : offsets[-1]]


def _join(columns: Sequence[Texts]) -> Texts:

    return (
        _join_offsets([starts for starts, _ in columns]),
        np.concatenate([text[: starts[-1]] for starts, text in columns]),
    )


def _join_all(columns: Sequence[Texts | None]) -> Texts | None:
    """Join columns that all chunks have, or none."""
    there = [column for column in columns if column is not None]
    return _join(there) if len(there) == len(columns) else None


def _concatenate_all(columns: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Join arrays that all chunks have, or none."""
    there = [column for column in columns if column is not None]
    return np.concatenate(there) if len(there) == len(columns) else None


def _join_offsets(pieces: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:

    sizes = [np.diff(offsets) for offsets in pieces]
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(sizes))])


def _spread(
    offsets: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of the runs at some places, and the positions of their elements."""
    sizes = np.diff(offsets)[places]
    found = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    shifts = np.repeat(offsets[places] - found[:-1], sizes)
    return found, np.arange(found[-1]) + shifts
