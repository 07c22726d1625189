"""The columns of an archived hour, and how a chunk of rankings is written to them.

Rankings are one per row, in the order of time, then of `ranking_id`. Their labels are a list in the
row, in the order in which they count. `docs/history-files.md` describes the columns.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.arrays import write_numbers, write_texts, write_times
from rankscope.monitor.store.columns import MAKERS, write_contexts, write_kinds, write_names
from rankscope.monitor.store.merging import concatenate
from rankscope.monitor.store.records import require_ids
from rankscope.monitor.store.tables.versions import RankingSpan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.store.records import Chunk, Context, ItemColumns

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

FORMAT = "1"
"""The version of the columns, which each file has as `rankscope.history` in its metadata."""
GROUP = 10_000
"""The number of rankings in a row group, of which a chunk is read at once."""
TABLED = (
    "query_key",
    "user_id",
    *MAKERS,
    "attributes.key_value.key",
    "attributes.key_value.value",
    "labels.list.element.kind",
    "labels.list.element.labels.list.element",
    "labels.list.element.value",
    "documents",
)
"""The columns with few different values, which are written with a dictionary."""
ENCODINGS = {
    "seq": "DELTA_BINARY_PACKED",
    "time": "DELTA_BINARY_PACKED",
    "doc_id.list.element": "DELTA_BYTE_ARRAY",
    "rank.list.element": "DELTA_BINARY_PACKED",
    "score.list.element": "BYTE_STREAM_SPLIT",
    "relevance.list.element": "BYTE_STREAM_SPLIT",
    "labels.list.element.time": "DELTA_BINARY_PACKED",
    "labels.list.element.seq": "DELTA_BINARY_PACKED",
}


class Written(NamedTuple):
    """What was written to the file of an hour.

    Args:
        rankings: The number of rankings.
        labels: The number of labels.
        first_seq: The smallest number of an event.
        last_seq: The largest number of an event.
        contexts: The rankings of each context.
    """

    rankings: int
    labels: int
    first_seq: int
    last_seq: int
    contexts: dict[int, RankingSpan]


def describe_hour() -> Foreign:
    """Return the schema of the file of an hour."""
    pa = load_arrow()
    text, time = pa.large_string(), pa.timestamp("us", "UTC")
    label = pa.struct(
        [
            ("position", pa.int32()),
            ("doc_id", text),
            ("kind", pa.string()),
            ("labels", pa.list_(pa.string())),
            ("value", pa.float64()),
            ("time", time),
            ("event_id", text),
            ("seq", pa.int64()),
        ]
    )
    return pa.schema(
        [
            ("seq", pa.int64()),
            ("event_id", text),
            ("ranking_id", text),
            ("time", time),
            ("query_key", text),
            ("user_id", text),
            ("context", pa.int32()),
            *((name, text) for name in MAKERS),
            ("attributes", pa.map_(pa.string(), pa.string())),
            ("doc_id", pa.large_list(text)),
            ("rank", pa.large_list(pa.int64())),
            ("score", pa.large_list(pa.float64())),
            ("relevance", pa.large_list(pa.float64())),
            ("labels", pa.large_list(label)),
            ("documents", pa.int32()),
            ("tied", pa.bool_()),
        ],
        metadata={"rankscope.history": FORMAT},
    )


def write_hour(path: Path, chunks: Iterable[Chunk], contexts: Mapping[int, Context]) -> Written:
    """Write rankings with their labels to a file."""
    parquet = load_arrow("pyarrow.parquet")
    count = labels = last = 0
    first: int | None = None
    spans: dict[int, RankingSpan] = {}
    with parquet.ParquetWriter(
        path,
        describe_hour(),
        compression="zstd",
        use_dictionary=list(TABLED),
        column_encoding=ENCODINGS,
        write_page_checksum=True,
    ) as writer:
        for chunk in _group(chunks):
            writer.write_batch(write_rows(chunk, contexts), row_group_size=len(chunk.seqs))
            count += len(chunk.seqs)
            labels += len(chunk.labels.codes)
            numbers = [*_ends(chunk.seqs), *_ends(require_ids(chunk.labels.seqs))]
            first = min(numbers) if first is None else min(first, *numbers)
            last = max(last, *numbers)
            _count_contexts(chunk, spans)
    return Written(count, labels, first or 0, last, spans)


def _group(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Join chunks until they have the size of a row group."""
    kept: list[Chunk] = []
    for chunk in chunks:
        kept.append(chunk)
        if sum(len(part.seqs) for part in kept) >= GROUP:
            yield concatenate(kept)
            kept = []
    if kept:
        yield concatenate(kept)


def write_rows(chunk: Chunk, contexts: Mapping[int, Context]) -> Foreign:
    """Return the rankings of a chunk, with their labels, as a record batch."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    items = chunk.items
    sizes = np.diff(items.offsets)
    places = np.arange(len(items.ranks)) - np.repeat(items.offsets[:-1], sizes) + 1
    event_ids = write_texts(require_ids(chunk.event_ids))
    ranking_ids = write_texts(chunk.ranking_ids)
    columns = [
        pa.array(chunk.seqs),
        # Most events have no id of their own, and that of a ranking is the id of the ranking then.
        compute.if_else(compute.equal(event_ids, ranking_ids), None, event_ids),
        ranking_ids,
        write_times(chunk.times),
        write_texts(chunk.query_keys),
        write_texts(chunk.user_ids),
        pa.array(chunk.contexts, pa.int32()),
        *write_contexts(chunk.contexts, contexts),
        pa.LargeListArray.from_arrays(pa.array(items.offsets), write_texts(items.doc_ids)),
        _write_lists(items.offsets, items.ranks, items.ranks != places),
        _write_lists(items.offsets, items.scores, ~np.isnan(items.scores)),
        _write_lists(items.offsets, items.relevance, ~np.isnan(items.relevance)),
        _write_labels(chunk),
        pa.array(sizes.astype(np.int32)),
        pa.array(find_tied(items)),
    ]
    return pa.record_batch(columns, schema=describe_hour())


def find_tied(items: ItemColumns) -> NDArray[np.bool_]:
    """Find the rankings in which neighboring documents have one score."""
    # NaN, which is no score, equals nothing.
    is_same = items.scores[1:] == items.scores[:-1]
    before = np.concatenate([[0], np.cumsum(is_same)])
    firsts, lasts = items.offsets[:-1], items.offsets[1:] - 1
    is_tied: NDArray[np.bool_] = np.zeros(len(firsts), dtype=np.bool_)
    several = np.flatnonzero(lasts > firsts)
    is_tied[several] = before[lasts[several]] > before[firsts[several]]
    return is_tied


def _write_lists(
    offsets: NDArray[np.int64], values: NDArray[Any], is_worth: NDArray[np.bool_]
) -> Foreign:
    """Return lists of numbers, and none where no number of a list is worth it."""
    pa = load_arrow()
    sizes = np.diff(offsets)
    before = np.concatenate([[0], np.cumsum(is_worth)])
    is_given = before[offsets[1:]] > before[offsets[:-1]]
    starts = np.concatenate([[0], np.cumsum(np.where(is_given, sizes, 0))])
    return pa.LargeListArray.from_arrays(
        pa.array(starts),
        write_numbers(values[np.repeat(is_given, sizes)]),
        mask=pa.array(~is_given),
    )


def _write_labels(chunk: Chunk) -> Foreign:
    """Return the labels of each ranking; the documents that were shown are named by position."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    labels = chunk.labels
    positions = _find_positions(chunk)
    is_shown = positions > 0
    columns = {
        "position": pa.array(positions.astype(np.int32), mask=~is_shown),
        "doc_id": compute.if_else(pa.array(is_shown), None, write_texts(labels.doc_ids)),
        "kind": write_kinds(labels.kinds),
        "labels": write_names(labels),
        "value": write_numbers(labels.values),
        "time": write_times(labels.times),
        "event_id": write_texts(require_ids(labels.event_ids)),
        "seq": pa.array(require_ids(labels.seqs)),
    }
    offsets = np.searchsorted(labels.rankings, np.arange(len(chunk.seqs) + 1))
    kind = describe_hour().field("labels").type.value_type
    struct = pa.StructArray.from_arrays(
        [column.cast(kind.field(name).type) for name, column in columns.items()],
        fields=list(kind),
    )
    return pa.LargeListArray.from_arrays(pa.array(offsets), struct)


def _find_positions(chunk: Chunk) -> NDArray[np.int64]:
    """Find the position of the document of each label in its ranking, 0 where it is not there."""
    pa = load_arrow()
    items, labels = chunk.items, chunk.labels
    texts = pa.chunked_array([write_texts(items.doc_ids), write_texts(labels.doc_ids)])
    codes = texts.combine_chunks().dictionary_encode().indices.to_numpy()
    shown, wanted = codes[: len(items.ranks)], codes[len(items.ranks) :]
    starts = items.offsets[labels.rankings]
    sizes = items.offsets[labels.rankings + 1] - starts
    # Each label is compared with every document of its ranking.
    owners = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_same = shown[starts[owners] + places] == wanted[owners]
    positions = np.zeros(len(sizes), dtype=np.int64)
    positions[owners[is_same]] = places[is_same] + 1
    return positions


def _count_contexts(chunk: Chunk, spans: dict[int, RankingSpan]) -> None:
    """Add the rankings of a chunk to those of each context."""
    for number, count in Counter(chunk.contexts.tolist()).items():
        times = chunk.times[np.flatnonzero(chunk.contexts == number)]
        new, before = RankingSpan(count, int(times[0]), int(times[-1])), spans.get(number)
        spans[number] = new if before is None else before.merge(new)


def _ends(numbers: NDArray[np.int64]) -> list[int]:
    return [int(numbers.min()), int(numbers.max())] if len(numbers) else []
