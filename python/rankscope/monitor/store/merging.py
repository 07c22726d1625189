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
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.arrays import Texts

    Place: TypeAlias = tuple[int, bytes]
    Places: TypeAlias = slice | NDArray[np.int64]
    from numpy.typing import NDArray

OF_RANKINGS = ("seqs", "times", "contexts", "ranking_ids", "query_keys", "user_ids", "event_ids")
OF_ITEMS = ("doc_ids", "ranks", "scores", "relevance")
OF_LABELS = ("doc_ids", "times", "kinds", "codes", "values", "event_ids", "seqs", "positions")
"""The columns with a value for each ranking, document and label; texts are pairs."""


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
        ready = [take(chunk, 0, count) for chunk, count in zip(heads, counts, strict=True)]
        yield from split(sort(concatenate(ready)), size)
        rest = [
            (stream, take(chunk, count, len(chunk.seqs)))
            for stream, chunk, count in zip(coming, heads, counts, strict=True)
        ]
        rest.sort(key=lambda pair: not len(pair[1].seqs))
        coming = [stream for stream, _ in rest]
        heads = [chunk for _, chunk in rest if len(chunk.seqs)]


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
            is_tied=_pick(items.is_tied, rows),
            **{name: _pick(getattr(items, name), elements) for name in OF_ITEMS},
        ),
        labels=labels,
        **{name: _pick(getattr(chunk, name), rows) for name in OF_RANKINGS},
    )


def choose_labels(labels: LabelColumns, places: Places) -> LabelColumns:
    """Return the labels at some positions, in the order of the positions."""
    chosen = {name: _pick(getattr(labels, name), places) for name in ("rankings", *OF_LABELS)}
    return replace(labels, **chosen)


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
    starts = np.cumsum([0, *(len(chunk.seqs) for chunk in chunks)])
    return Chunk(
        items=ItemColumns(
            offsets=_join_offsets([item.offsets for item in items]),
            **_join_columns(items, (*OF_ITEMS, "is_tied")),
        ),
        labels=concatenate_labels([chunk.labels for chunk in chunks], starts[:-1].tolist()),
        **_join_columns(chunks, OF_RANKINGS),
    )


def concatenate_labels(pieces: Sequence[LabelColumns], starts: Sequence[int]) -> LabelColumns:
    """Join labels end to end."""
    places: dict[tuple[str, ...], int] = {}
    moved = []
    for piece, start in zip(pieces, starts, strict=True):
        known = [places.setdefault(name, len(places)) for name in piece.names]
        codes = np.array(known, dtype=np.int64)[piece.codes] if known else piece.codes
        moved.append(replace(piece, rankings=piece.rankings + start, codes=codes))
    return LabelColumns(names=tuple(places), **_join_columns(moved, ("rankings", *OF_LABELS)))


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


def _pick(column: Any, places: Places) -> Any:  # noqa: ANN401 - an array, texts or nothing
    if column is None:
        return None
    if not isinstance(column, tuple):
        return column[places]
    if isinstance(places, slice):
        return _cut(column, places.start, places.stop)
    return take_texts(column, places)


def _join_columns(pieces: Sequence[object], names: Iterable[str]) -> dict[str, Any]:
    """Join the columns with some names that all pieces have."""
    columns = {name: [getattr(piece, name) for piece in pieces] for name in names}
    return {name: _join(parts) for name, parts in columns.items()}


def _join(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - as above
    if any(part is None for part in parts):
        return None
    if not isinstance(parts[0], tuple):
        return np.concatenate(parts)
    return (
        _join_offsets([starts for starts, _ in parts]),
        np.concatenate([text[: starts[-1]] for starts, text in parts]),
    )


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


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of runs of some sizes, and the end of the last."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
