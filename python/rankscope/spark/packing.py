"""Packs rows into buckets by a hash of their query, which Spark moves in place of the rows.

Spark moves, sorts and converts rows one by one, at a cost per row that is far above that of
evaluating it. So the rows of a partition that have one hash become a few rows of bytes: a piece of
an Arrow table each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._core import hash_texts
from rankscope._inputs.columns import read_ids, to_arrow
from rankscope.spark.files import Table
from rankscope.spark.frames import Rows

if TYPE_CHECKING:
    from rankscope._inputs.columns import IdColumn

MOST_ROWS = 1 << 19
MOST_BYTES = 1 << 26
"""How much of a partition is packed at once: the more, the larger its pieces."""
MOST_PACKED = 1 << 16
"""How many bytes a row that is moved has, about, so that a batch of them is never too large."""
ROWS_OF_BUCKET = 1 << 17
MOST_BUCKETS = 1 << 14
SOME_BUCKETS = 1 << 10
"""The number of buckets where the number of rows isn't known."""
PACKED = "bucket int, side string, size int, rows binary"
SPREAD = 0x9E3779B97F4A7C15
"""An odd number that spreads the bits of what it multiplies: 2⁶⁴ divided by the golden ratio."""


INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


def count_buckets(rows: int | None, partitions: int) -> int:
    """Return a number of buckets: several for each partition, each small enough to hold."""
    buckets = SOME_BUCKETS if rows is None else rows // ROWS_OF_BUCKET
    return min(max(buckets, 4 * partitions), MOST_BUCKETS)


def pack(
    batches: Iterable[Any], rows: Rows, buckets: int, *, by_text: bool = False
) -> Iterator[Any]:
    """Pack the record batches of a partition, spread over some number of buckets."""
    kept: list[Any] = []
    count = size = 0
    for batch in chain(batches, [None]):
        if batch is not None:
            kept.append(batch.rename_columns(rows.schema.names))
            count, size = count + batch.num_rows, size + batch.nbytes
        if count and (batch is None or count >= MOST_ROWS or size >= MOST_BYTES):
            yield _pack_table(pa.Table.from_batches(kept), rows, buckets, by_text=by_text)
            kept, count, size = [], 0, 0


def _pack_table(table: Table, rows: Rows, buckets: int, *, by_text: bool) -> Table:
    """Pack the rows of an Arrow table, which has some, into a record batch."""
    packed = []
    for bucket, part in _split(table, rows, buckets, by_text=by_text):
        at_once = max(1, MOST_PACKED * part.num_rows // max(part.nbytes, 1))
        for start in range(0, part.num_rows, at_once):
            piece = part.slice(start, at_once)
            packed.append((bucket, rows.side, piece.num_rows, write_table(piece)))
    return make_packed(packed)


def make_packed(rows: Iterable[tuple[int, str, int, bytes]]) -> Table:
    """Return packed rows: the bucket, the side, the number and the bytes of the rows in each."""
    kinds = (pa.int32(), pa.string(), pa.int32(), pa.binary())
    columns = map(pa.array, zip(*rows, strict=True), kinds)
    return pa.RecordBatch.from_arrays([*columns], ["bucket", "side", "size", "rows"])


def write_table(table: Table) -> bytes:
    """Return a table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _split(table: Table, rows: Rows, buckets: int, *, by_text: bool) -> Iterator[tuple[int, Any]]:
    """Split an Arrow table into the rows of each bucket.

    Raises:
        InputError: A row has no query, or none that is an id.
    """
    name = rows.names["query"]
    numbers = number_queries(read_ids(table.column(name), name), by_text=by_text)
    spread = numbers.view(np.uint64) * np.uint64(SPREAD) >> np.uint64(33)
    places = (spread % np.uint64(buckets)).astype(np.uint16)
    order = np.argsort(places, kind="stable")
    taken = _narrow(table.combine_chunks()).take(pa.array(order))
    counts = np.bincount(places, minlength=buckets)
    ends = np.cumsum(counts)
    for bucket in np.flatnonzero(counts).tolist():
        count = int(counts[bucket])
        yield bucket, taken.slice(int(ends[bucket]) - count, count)


def _narrow(table: Table) -> Table:
    """Return a table with the smallest types that hold its integers, as they are to be moved."""
    for at, field in enumerate(table.schema):
        if not pa.types.is_signed_integer(field.type):
            continue
        least, most = pc.min_max(table.column(at)).as_py().values()
        bits = 1 + max(-(least or 0) - 1, most or 0).bit_length()
        kind = next(kind for kind in INTEGERS if bits <= kind.bit_width)
        if kind.bit_width < field.type.bit_width:
            table = table.set_column(at, field.name, table.column(at).cast(kind))
    return table


def unpack(packed: Table, rows: Rows) -> Table:
    """Return the rows of a side that were packed, as an Arrow table."""
    equal = pc.equal(packed.column("side"), rows.side)
    parts = [
        pa.ipc.open_stream(rows_of_piece.as_buffer()).read_all()
        for chunk in packed.column("rows").filter(equal).chunks
        for rows_of_piece in chunk
    ]
    if not parts:
        return rows.schema.empty_table()
    table = pa.concat_tables(parts, promote_options="permissive")
    for at, field in enumerate(rows.schema):
        if table.schema.field(at).type != field.type and pa.types.is_signed_integer(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type))
    return table


def number_queries(queries: IdColumn, *, by_text: bool = False) -> NDArray[np.int64]:
    """Return a number for each query, the same for those that differ only by case or Unicode form.

    Such queries are noted, so they have to meet. Texts have a hash, and integers are themselves
    unless `by_text`.
    """
    if not isinstance(queries, tuple) and not by_text:
        return queries
    coded = to_arrow(queries).dictionary_encode()
    texts = coded.dictionary.cast(pa.large_string())
    if len(texts) == 0:
        return np.zeros(0, np.int64)
    folded = pc.utf8_lower(pc.utf8_normalize(texts, "NFC"))
    _, offsets, data = folded.buffers()
    columns = (np.frombuffer(offsets, np.int64), np.frombuffer(data or b"", np.uint8))
    hashes = hash_texts([(b"", columns)], np.arange(len(folded)))
    numbers: NDArray[np.int64] = np.frombuffer(memoryview(hashes), np.int64)
    places: NDArray[np.int32] = np.asarray(coded.indices)
    return numbers[places]
