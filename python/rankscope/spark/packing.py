"""Packs the rows of a query into one row of bytes, which Spark moves, and unpacks them.

Spark moves and sorts rows one by one, at a cost per row that is far above that of evaluating it. So
the rows of a query that lie together in a partition become one row: the numbers of its documents
end to end in one column each, and the texts of its documents end to end in another.
"""

from __future__ import annotations

from rankscope.adapters import tables
from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.columns import read_typed_values
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.adapters.columns import IdColumn

MOST_ROWS = 1 << 20
MOST_BYTES = 1 << 26
"""How much of a partition is packed at once."""
MOST_PACKED = 1 << 9
"""How many rows of a query become one row, so that a batch of packed rows is never too large."""
FEW_TOGETHER = 8
"""With fewer rows than this together, on average, rows are sorted before they are packed."""
MOST_NUMBERS = 3
"""How many columns of numbers rows can have."""


@record(frozen=True, slots=True, kw_only=True)
class Rows:
    """What the rows of a data frame hold.

    Args:
        side: What they are: `judged`, `retrieved`, or `joined` for both.
        columns: The names of all columns, in order.
        names: By role, the names of the columns.
        has_integer_queries: Whether queries are integers.
        has_integer_docs: Whether documents are integers.
        attributes: The columns of what belongs to the query.
    """

    side: str
    columns: tuple[str, ...]
    names: Mapping[str, str]
    has_integer_queries: bool
    has_integer_docs: bool
    attributes: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of rows.

    Args:
        queries: The query of each row.
        docs: The document of each row, if rows have one.
        numbers: Grades, scores and ranks, as far as rows have them.
        attributes: What belongs to the query of each row.
    """

    queries: IdColumn
    docs: IdColumn | None
    numbers: tuple[NDArray[Any], ...]
    attributes: tuple[IdColumn, ...] = ()


def describe_packed(attributes: int) -> str:
    """Return the schema of packed rows, as Spark writes it."""
    numbers = (f"n{at} binary" for at in range(MOST_NUMBERS))
    others = (f"a{at} string" for at in range(attributes))
    fixed = ("side string", "folded string", "query string", "size int", "lengths binary")
    return ", ".join([*fixed, "docs binary", *numbers, *others])


def pack(batches: Iterable[Any], rows: Rows) -> Iterator[Any]:
    """Pack the record batches of a partition.

    Raises:
        InputError: A column holds invalid values.
    """
    held: list[Any] = []
    count = size = 0
    for batch in batches:
        held.append(batch)
        count, size = count + batch.num_rows, size + batch.nbytes
        if count >= MOST_ROWS or size >= MOST_BYTES:
            yield _pack_batches(held, rows)
            held, count, size = [], 0, 0
    if count:
        yield _pack_batches(held, rows)


def _pack_batches(batches: list[Any], rows: Rows) -> Any:  # noqa: ANN401 - PyArrow has no types
    table = load_arrow().Table.from_batches(batches)
    return pack_table(table.rename_columns(list(rows.columns)), rows)


def pack_table(table: Any, rows: Rows) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Pack the rows of an Arrow table into a record batch.

    Raises:
        InputError: A column holds invalid values.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    columns = read_columns(table, rows)
    count = len(columns.numbers[0])
    keys = [_to_texts(key) for key in (columns.queries, *columns.attributes)]
    starts = _find_starts(keys, count)
    if len(starts) * FEW_TOGETHER > count:
        order = _sort(keys)
        columns, keys = _take(columns, order), [key.take(load_arrow().array(order)) for key in keys]
        starts = _find_starts(keys, count)
    starts = _split_long(starts, count)
    return _make_batch(columns, keys, starts, np.append(starts, count), rows.side)


def read_columns(table: Any, rows: Rows) -> Columns:  # noqa: ANN401 - as above
    """Read the rows of an Arrow table, as the local engine does.

    Raises:
        InputError: A column holds invalid values.
    """
    if rows.side == "joined":
        read = tables.read_table(table, rows.names, rows.attributes)
        ranks = () if read.ranks is None else (read.ranks,)
        numbers = (read.relevance, read.scores, *ranks)
        return Columns(
            queries=read.queries,
            docs=read.docs,
            numbers=numbers,
            attributes=tuple(values for _, values in read.attributes),
        )
    if rows.side == "retrieved":
        queries, docs, scores, _ = tables.read_retrieved(table, rows.names)
        return Columns(queries=queries, docs=docs, numbers=(scores,))
    attributes = tuple(read_typed_values(table.column(name), name) for name in rows.attributes)
    judged = table.select([name for name in table.column_names if name not in rows.attributes])
    queries, docs, grades, _, _ = tables.read_judged(judged, rows.names)
    return Columns(
        queries=queries,
        docs=docs,
        numbers=(grades,),
        attributes=tuple(values for values, _ in attributes),
    )


def unpack(packed: Any, rows: Rows) -> Columns:  # noqa: ANN401 - as above
    """Unpack rows that were packed.

    Args:
        packed: An Arrow table of packed rows.
        rows: What the rows hold.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    sizes = packed.column("size").to_numpy()
    places = np.repeat(np.arange(len(sizes)), sizes)
    has_docs = "doc" in rows.names
    docs: IdColumn | None = None
    if has_docs and rows.has_integer_docs:
        docs = _join(packed.column("docs"), np.int64)
    elif has_docs:
        lengths = _join(packed.column("lengths"), np.uint32)
        docs = (_count_offsets(lengths), _join(packed.column("docs"), np.uint8))
    count = sum(role in rows.names for role in ("relevance", "score", "rank"))
    if rows.side == "judged":
        count = 1
    numbers = tuple(_join(packed.column(f"n{at}"), np.float64) for at in range(count))
    attributes = tuple(
        _repeat(packed.column(f"a{at}"), places) for at in range(len(rows.attributes))
    )
    texts = packed.column("query")
    if rows.has_integer_queries:
        queries: IdColumn = texts.cast(load_arrow().int64()).to_numpy()[places]
    else:
        queries = _repeat(texts, places)
    return Columns(queries=queries, docs=docs, numbers=numbers, attributes=attributes)


def fold(queries: Any) -> Any:  # noqa: ANN401 - as above
    """Return texts that are equal for queries that differ only by case or Unicode form.

    Such queries are noted, so they have to meet.
    """
    compute = load_arrow("pyarrow.compute")
    return compute.utf8_lower(compute.utf8_normalize(queries, "NFC"))


def read_packed(packed: Any, name: str) -> list[str]:  # noqa: ANN401 - as above
    """Return a column of texts of packed rows."""
    return list(packed.column(name).to_pylist())


def _to_texts(ids: IdColumn) -> Any:  # noqa: ANN401 - as above
    """Return ids as an Arrow array of texts."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    if isinstance(ids, tuple):
        offsets, texts = (pa.py_buffer(np.ascontiguousarray(part)) for part in ids)
        return pa.LargeStringArray.from_buffers(len(ids[0]) - 1, offsets, texts)
    return pa.array(ids)


def _find_starts(keys: list[Any], count: int) -> NDArray[np.int64]:
    """Return the rows that differ from the row before them, and row 0."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    compute = load_arrow("pyarrow.compute")
    differs = np.zeros(count, dtype=bool)
    differs[:1] = True
    for key in keys:
        changes = compute.not_equal(key.slice(1), key.slice(0, count - 1))
        differs[1:] |= changes.to_numpy(zero_copy_only=False)
    return np.flatnonzero(differs)


def _sort(keys: list[Any]) -> NDArray[np.int64]:
    """Return an order in which equal rows are together, and otherwise stay in order."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    codes = [key.dictionary_encode().indices.to_numpy() for key in keys]
    return np.lexsort(codes[::-1])


def _take(columns: Columns, order: NDArray[np.int64]) -> Columns:
    def take(ids: IdColumn | None) -> IdColumn | None:
        if not isinstance(ids, tuple):
            return None if ids is None else ids[order]
        return _repeat(_to_texts(ids), order)

    return Columns(
        queries=columns.queries,  # which the keys have
        docs=take(columns.docs),
        numbers=tuple(column[order] for column in columns.numbers),
    )


def _split_long(starts: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Add starts where a query has more rows than one packed row may hold."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if count <= MOST_PACKED or np.diff(starts, append=count).max() <= MOST_PACKED:
        return starts
    ends = np.append(starts[1:], count)
    parts = [np.arange(start, end, MOST_PACKED) for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(parts)


def _make_batch(
    columns: Columns, keys: list[Any], starts: NDArray[Any], ends: NDArray[Any], side: str
) -> Any:  # noqa: ANN401 - as above
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    firsts = pa.array(starts)
    texts = [key.take(firsts).cast(pa.string()) for key in keys]
    nothing = pa.nulls(len(starts), pa.binary())
    lengths = docs = nothing
    if isinstance(columns.docs, tuple):
        offsets, bytes_of = columns.docs
        lengths = _cut(np.diff(offsets).astype(np.uint32), ends)
        docs = _binary(bytes_of, offsets[ends])
    elif columns.docs is not None:
        docs = _cut(columns.docs, ends)
    numbers = [_cut(np.asarray(column, dtype=np.float64), ends) for column in columns.numbers]
    numbers += [nothing] * (MOST_NUMBERS - len(numbers))
    arrays = [
        pa.array([side] * len(starts)),
        fold(texts[0]),
        texts[0],
        pa.array(np.diff(ends).astype(np.int32)),
        lengths,
        docs,
        *numbers,
        *texts[1:],
    ]
    names = ["side", "folded", "query", "size", "lengths", "docs"]
    names += [f"n{at}" for at in range(MOST_NUMBERS)] + [f"a{at}" for at in range(len(keys) - 1)]
    return pa.RecordBatch.from_arrays(arrays, names)


def _cut(values: NDArray[Any], ends: NDArray[Any]) -> Any:  # noqa: ANN401 - as above
    """Return the bytes of values from each end to the next."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    values = np.ascontiguousarray(values)
    return _binary(values.view(np.uint8), ends * values.itemsize)


def _binary(values: NDArray[np.uint8], ends: NDArray[Any]) -> Any:  # noqa: ANN401 - as above
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    first = int(ends[0])
    offsets = (ends - first).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values[first : int(ends[-1])])]
    return pa.BinaryArray.from_buffers(pa.binary(), len(ends) - 1, buffers)


def _join(column: Any, dtype: type) -> NDArray[Any]:  # noqa: ANN401 - as above
    """Return the values of a column of bytes end to end."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    parts = []
    for chunk in column.chunks:
        held = chunk.cast(pa.large_binary())
        _, offsets, values = held.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[held.offset :][: len(held) + 1]
        if len(held) and values is not None:
            parts.append(np.frombuffer(values, dtype=np.uint8)[ends[0] : ends[-1]])
    # A copy, which is aligned.
    joined = np.concatenate([*parts, np.empty(0, dtype=np.uint8)])
    return joined.view(dtype)


def _repeat(texts: Any, places: NDArray[Any]) -> IdColumn:  # noqa: ANN401 - as above
    """Return the texts at places, as offsets and the texts end to end."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    taken = texts.cast(pa.large_string()).take(pa.array(places))
    if hasattr(taken, "combine_chunks"):
        taken = taken.combine_chunks()
    if hasattr(taken, "chunks"):
        taken = pa.concat_arrays(taken.chunks) if taken.num_chunks else pa.array([], taken.type)
    _, offsets, values = taken.buffers()
    ends = np.frombuffer(offsets or bytes(8), dtype=np.int64)[taken.offset :][: len(taken) + 1]
    return ends, np.frombuffer(values or b"", dtype=np.uint8)


def _count_offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
