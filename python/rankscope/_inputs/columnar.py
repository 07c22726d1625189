"""Columnar files: Parquet, and Arrow IPC as a file or stream."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rankscope._inputs.column_names import ITEMS
from rankscope._inputs.columns import is_list
from rankscope._inputs.files import check_ratio
from rankscope._inputs.numbers import Foreign, check_batch
from rankscope._inputs.recognition import is_of
from rankscope._inputs.text import COMPUTED, Lines, Reader

BATCH = 1 << 15
BATCH_OF_LISTS = 1 << 10
# Batches of fewer rows are joined: each takes as much time and memory as thousands of rows.
FEWEST = 1 << 13
BUFFER = 1 << 20
# The bytes of a number, of the place of a text, or of a null.
WIDTH = 8
MOST_FROM_ONE_BYTE = 1000


class ColumnarFile(Reader):
    """A file of Parquet or of Arrow."""

    rows = 0

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names in the schema."""
        self._file = self.opened.file
        self._size = self._file.seek(0, io.SEEK_END)
        self._file.seek(0)
        self._stored, self._read = self._open()
        return names_of(self._stored)

    def infer_schema(self, names: Sequence[str]) -> Foreign:
        """Return the types that the file has."""
        import pyarrow as pa

        # A field of objects in a list is in the column of the list.
        stored = self._stored
        outer = (name if name in stored.names else name.rpartition(".")[0] for name in names)
        return pa.schema((name, stored.field(name).type) for name in dict.fromkeys(outer))

    @abstractmethod
    def _open(self) -> tuple[Foreign, Callable[[int], Iterable[Foreign]]]:
        """Return the schema, and what reads batches of so many rows, if possible."""

    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Read batches of a size that suits their types."""
        most = rows_of_batch(self.inner)
        self._check_ratio(self.rows * WIDTH * len(self.inner))
        yield from regroup(self._check(self._read(most)), most)
        self.opened.check_unchanged()

    def _check_ratio(self, unpacked: int) -> None:
        if self._size:  # which batches of another library don't have
            check_ratio(unpacked, self._size, MOST_FROM_ONE_BYTE)

    def _check(self, batches: Iterable[Foreign]) -> Iterator[Foreign]:
        unpacked = 0
        for whole in batches:
            batch = whole.select(self.inner.names)
            # Damage, or somebody else, can make offsets point anywhere, and bytes be no text.
            if self.opened.checks_text:
                check_batch(batch)
            size = sum(map(_size_of, batch.columns))
            unpacked += max(size, WIDTH * batch.num_rows * batch.num_columns)
            self._check_ratio(unpacked)
            yield batch
            if self.opened.progress is not None:
                self.opened.progress(self._file.tell())


class ParquetFile(ColumnarFile):
    """A Parquet file."""

    what, code = "Parquet file", "parquet_invalid"

    def _open(self) -> tuple[Foreign, Callable[[int], Iterable[Foreign]]]:
        import pyarrow.parquet as pq

        parquet = pq.ParquetFile(
            self._file, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
        )
        # Statistics aren't touched: at damaged ones, PyArrow ends the process.
        self.rows = parquet.metadata.num_rows
        return parquet.schema_arrow, lambda most: parquet.iter_batches(
            most, columns=self.inner.names, use_threads=True
        )


class ArrowFile(ColumnarFile):
    """An Arrow IPC file or stream, whose batches are read as they were written."""

    what, code = "Arrow file or stream", "arrow_invalid"

    def _open(self) -> tuple[Foreign, Callable[[int], Iterable[Foreign]]]:
        import pyarrow as pa

        is_file = self._file.read(6) == b"ARROW1"
        self._file.seek(0)
        if not is_file:
            stream = pa.ipc.open_stream(self._file)
            return stream.schema, lambda _: stream
        file = pa.ipc.open_file(self._file)
        return file.schema, lambda _: map(file.get_batch, range(file.num_record_batches))


def rows_of_batch(schema: Foreign) -> int:
    """Return how many rows a batch may have."""
    return BATCH_OF_LISTS if any(map(is_list, schema.types)) else BATCH


def regroup(batches: Iterable[Foreign], most: int) -> Iterator[tuple[Foreign, Lines]]:
    """Join small batches and cut large ones, and yield them with the numbers of their rows."""
    first, parts, count = 1, [], 0
    for batch in chain(batches, [None]):
        if batch is not None:
            parts.append(batch)
            count += batch.num_rows
            if count < min(most, FEWEST):
                continue
        for part in _join(parts):
            for start in range(0, part.num_rows, most):
                yield part.slice(start, most), Lines(first + start)
            first += part.num_rows
        parts, count = [], 0


def _join(parts: list[Foreign]) -> list[Foreign]:
    """Join batches, unless their dictionaries are too many for one."""
    import pyarrow as pa

    try:
        return parts if len(parts) <= 1 else [pa.concat_batches(parts)]
    except pa.ArrowException:
        return parts


def names_of(schema: Foreign) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the columns, and of the fields of each list of objects."""
    import pyarrow as pa

    return list(schema.names), {
        field.name: [inner.name for inner in field.type.value_type]
        for field in schema
        if field.name in ITEMS and is_list(field.type) and pa.types.is_struct(field.type.value_type)
    }


def _size_of(column: Foreign) -> int:
    """Return the bytes of a column whose texts are written out, as they will be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    if texts is column or not str(texts.type).endswith(("string", "binary")):
        return int(column.nbytes)
    return pc.sum(pc.binary_length(texts).take(column.indices)).as_py() or 0


@dataclass(frozen=True, slots=True)
class Batches:
    """A table of another library, to read batch by batch.

    `schema` returns its Arrow schema, and `read` its rows in batches that have at least the columns
    of some names. `is_once` says that it can be read only once.
    """

    schema: Callable[[], Foreign]
    read: Callable[[list[str]], Iterable[Foreign]]
    is_once: bool = False


def find_batches(table: Foreign) -> Batches | None:
    """Return how to read a table batch by batch, `None` for one that is held in memory."""
    import pyarrow as pa

    native = table.to_native() if is_of(table, "narwhals", "LazyFrame") else table
    if is_of(native, "duckdb", "DuckDBPyRelation"):
        return _of_relation(native)
    if is_of(native, "polars", "LazyFrame"):
        # Older versions can only collect it.
        return _of_frame(native) if hasattr(native, "collect_batches") else None
    if is_of(native, "pyarrow.dataset", "Dataset"):
        return Batches(lambda: native.schema, lambda names: native.to_batches(columns=names))
    if isinstance(native, pa.RecordBatchReader):
        return Batches(lambda: native.schema, lambda _: native, is_once=True)
    return None


def _of_relation(relation: Foreign) -> Batches:
    def read_schema() -> Foreign:
        first = relation.limit(0)
        # Versions before 1.4 have other names.
        return (getattr(first, "to_arrow_table", None) or first.arrow)().schema

    def read(names: list[str]) -> Foreign:
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        chosen = relation.project(", ".join(quoted))
        return (getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch)(BATCH)

    return Batches(read_schema, read)


def _of_frame(frame: Foreign) -> Batches:
    def read(names: list[str]) -> Iterator[Foreign]:
        for some in frame.select(names).collect_batches(chunk_size=BATCH, engine="streaming"):
            yield from some.to_arrow().to_batches()

    return Batches(lambda: frame.limit(0).collect().to_arrow().schema, read)


class BatchFile(ColumnarFile):
    """Batches in place of a file."""

    what, code, hint = "table", *COMPUTED

    def _open(self) -> tuple[Foreign, Callable[[int], Iterable[Foreign]]]:
        batches = self.opened.source
        return batches.schema(), lambda _: batches.read(self.inner.names)
