"""Files of columns: Parquet, and Arrow IPC as file or stream."""

from __future__ import annotations

import io

from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.files.blocks import Lines
from rankscope.adapters.files.opening import check_unchanged, facts_of
from rankscope.adapters.files.roles import ITEMS
from rankscope.errors import FormatError, InputError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from rankscope.adapters.files.opening import Progress
    from rankscope.adapters.files.roles import Wanted

BATCH = 1 << 17
BATCH_OF_LISTS = 1 << 10
BUFFER = 1 << 20
MOST_COLUMNS = 16_384
MOST_ROW_GROUPS = 100_000
WIDTH = 8
RATIO_FROM = 64 << 20
MOST_FROM_ONE_BYTE = 1000
IPC_MAGIC = b"ARROW1"


class ParquetFile:
    """A Parquet file, as batches of the wanted columns.

    Args:
        file: Where it is.
        name: What messages call it.
        wanted: What is wanted of it.
        progress: Called with the bytes read so far.

    Raises:
        InputError: It is no Parquet file, or has no such columns.
        FileError: The file cannot be read.
    """

    def __init__(
        self, file: BinaryIO, name: str, wanted: Wanted, progress: Progress = None
    ) -> None:
        self.name = name
        self.notes: dict[str, tuple[int, int]] = {}
        self._progress = progress
        self._file = file
        if not file.seekable():
            raise FormatError(
                "expected Parquet in a file, found it in a pipe",
                hint="its end comes first: write it to a file",
                code="parquet_invalid",
                file=name,
            )
        self._facts = facts_of(self._file)
        self._parquet = self._guard(self._open)
        self._size = self._file.seek(0, io.SEEK_END)
        self._check_limits()
        schema = self._parquet.schema_arrow
        names, inside = self._guard(lambda: names_of(schema))
        self.names = [*names, *(field for of in inside.values() for field in of)]
        self.columns = wanted.choose(names, inside, name)
        self.schema = load_arrow().schema(choose_fields(schema, self.columns))
        self._check_size()

    def _open(self) -> Any:  # noqa: ANN401 - PyArrow has no types
        return load_arrow("pyarrow.parquet").ParquetFile(
            self._file, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
        )

    def _guard(self, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - as above
        arrow = load_arrow()
        try:
            return act()
        except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise FormatError(
                f"expected a whole Parquet file, found something else ({_first_line(error)})",
                hint="fetch or write it again; nothing was taken from it",
                code="parquet_invalid",
                file=self.name,
            ) from error

    def _check_limits(self) -> None:
        facts = self._parquet.metadata
        for count, most, what in (
            (facts.num_columns, MOST_COLUMNS, "columns"),
            (facts.num_row_groups, MOST_ROW_GROUPS, "row groups"),
        ):
            if count > most:
                raise LimitError(
                    f"expected at most {most} {what}, found {count}",
                    hint="keep the columns that are needed"
                    if what == "columns"
                    else "write it with larger row groups",
                    code="columns" if what == "columns" else "row_groups",
                    file=self.name,
                )

    def _check_size(self) -> None:
        """Refuse what says that it is much more than such a file can mean."""
        facts = self._parquet.metadata
        width = WIDTH * len(self.schema)
        stored = sum(
            facts.row_group(number).total_byte_size for number in range(facts.num_row_groups)
        )
        logical = max(facts.num_rows * width, stored)
        if logical > RATIO_FROM and logical > MOST_FROM_ONE_BYTE * self._size:
            raise LimitError(
                f"expected at most {MOST_FROM_ONE_BYTE} bytes from one packed byte, "
                f"found {facts.num_rows} rows in {self._size} bytes",
                hint="write it anew without packing, if it can be trusted",
                code="decompressed_bytes",
                file=self.name,
            )

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        is_of_lists = any(map(_is_list, self.schema.types))
        batches = self._parquet.iter_batches(
            batch_size=BATCH_OF_LISTS if is_of_lists else BATCH,
            columns=[f"{name}" for name in self.schema.names],
            use_threads=True,
        )
        rows = 0
        total = max(self._parquet.metadata.num_rows, 1)
        while (batch := self._guard(lambda: next(batches, None))) is not None:
            yield batch.select(self.schema.names), Lines(rows + 1)
            rows += batch.num_rows
            if self._progress is not None:
                self._progress(min(rows * self._size // total, self._size))
        check_unchanged(self._file, self._facts, self.name)


class ArrowFile:
    """A file or stream of Arrow's own format, as batches of the wanted columns.

    Args:
        file: Where it is.
        name: What messages call it.
        wanted: What is wanted of it.
        progress: Called with the bytes read so far.

    Raises:
        InputError: It is none, or has no such columns.
        FileError: The file cannot be read.
    """

    def __init__(
        self, file: BinaryIO, name: str, wanted: Wanted, progress: Progress = None
    ) -> None:
        self.name = name
        self.notes: dict[str, tuple[int, int]] = {}
        self._progress = progress
        self._file = file
        self._facts = facts_of(self._file)
        self._reader = self._guard(self._open)
        schema = self._reader.schema
        names, inside = self._guard(lambda: names_of(schema))
        self.names = [*names, *(field for of in inside.values() for field in of)]
        self.columns = wanted.choose(names, inside, name)
        self.schema = load_arrow().schema(choose_fields(schema, self.columns))

    def _open(self) -> Any:  # noqa: ANN401 - as above
        ipc = load_arrow("pyarrow.ipc")
        is_file = False
        if self._file.seekable():
            is_file = self._file.read(len(IPC_MAGIC)) == IPC_MAGIC
            self._file.seek(0)
        return ipc.open_file(self._file) if is_file else ipc.open_stream(self._file)

    def _guard(self, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - as above
        arrow = load_arrow()
        try:
            return act()
        except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
            raise FormatError(
                f"expected a whole Arrow file or stream, found something else "
                f"({_first_line(error)})",
                hint="fetch or write it again; nothing was taken from it",
                code="arrow_invalid",
                file=self.name,
            ) from error

    def _batches(self) -> Iterator[Any]:
        count = getattr(self._reader, "num_record_batches", None)
        if count is None:
            while (batch := self._guard(self._read_next)) is not None:
                yield batch
            return
        for number in range(count):
            yield self._guard(lambda number=number: self._reader.get_batch(number))  # type: ignore[misc]

    def _read_next(self) -> Any:  # noqa: ANN401 - as above
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            return None

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        rows = 0
        step = BATCH_OF_LISTS if any(map(_is_list, self.schema.types)) else BATCH
        for whole in self._batches():
            batch = whole.select(self.schema.names)
            # Offsets of somebody else may point anywhere.
            self._guard(lambda batch=batch: batch.validate(full=True))  # type: ignore[misc]
            for start in range(0, batch.num_rows, step):
                yield batch.slice(start, step), Lines(rows + start + 1)
            rows += batch.num_rows
            if self._progress is not None and self._file.seekable():
                self._progress(self._file.tell())
        check_unchanged(self._file, self._facts, self.name)


def names_of(schema: Any) -> tuple[list[str], dict[str, list[str]]]:  # noqa: ANN401 - as above
    """Give the names of the columns, and of the fields of each list of objects."""
    arrow = load_arrow()
    return list(schema.names), {
        field.name: [inner.name for inner in field.type.value_type]
        for field in schema
        if field.name in ITEMS
        and _is_list(field.type)
        and arrow.types.is_struct(field.type.value_type)
    }


def choose_fields(schema: Any, columns: dict[str, str]) -> list[Any]:  # noqa: ANN401 - as above
    """Give the fields that have the columns; a list of objects is one."""
    arrow = load_arrow()
    names = [name if name in schema.names else name.rpartition(".")[0] for name in columns.values()]
    return [arrow.field(name, schema.field(name).type) for name in dict.fromkeys(names)]


def _is_list(kind: Any) -> bool:  # noqa: ANN401 - as above
    types = load_arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
