"""Columnar files: Parquet, and Arrow IPC as a file or stream."""

from __future__ import annotations

import io
import math
import re
from contextlib import suppress

from rankscope._core import ParquetRows
from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.files.blocks import Lines
from rankscope._inputs.files.checked_parquet import read_footer, read_from, read_metadata
from rankscope._inputs.files.lists import is_list
from rankscope._inputs.files.logical import AT_ONCE, WIDTH, Allowance, cut, measure
from rankscope._inputs.files.roles import ITEMS
from rankscope._inputs.paths import check_unchanged, facts_of
from rankscope.errors import FormatError, LimitError, OutOfMemoryError, RankscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, BinaryIO

    from rankscope._core import ParquetFooter
    from rankscope._inputs.paths import OpenFile

BATCH = 1 << 17
BATCH_OF_LISTS = 1 << 10
BUFFER = 1 << 20
MOST_COLUMNS = 16_384
MOST_ROW_GROUPS = 100_000
SHORT_TEXT = 64
"""The bytes of a text that may be in lists any number of times."""
MOST_PROBED = 256
"""So many row groups are looked at to find long texts; of more, all are taken to have some."""

SIMPLE = {"string", "large_string", "int8", "int16", "int32", "int64", "float", "double"}
"""The types that the core reads itself."""

IPC_MAGIC = b"ARROW1"
FAILURES = (
    *(ArithmeticError, LookupError, MemoryError, NotImplementedError, OSError, TypeError),
    ValueError,
)
"""What PyArrow raises at damaged files, beside its own exceptions."""


class _ColumnarFile:
    """What both formats have."""

    what = ""
    code = ""

    def __init__(self, opened: OpenFile) -> None:
        self.name = opened.name
        self.notes: dict[str, tuple[int, int]] = {}
        self._progress = opened.progress
        self._wanted = opened.wanted
        self._file = opened.file
        self._facts = facts_of(opened.file)
        self._size = _size_of(opened.file)
        self._allowance = Allowance(opened.name, self._size)

    def _guard(self, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - PyArrow has no types
        return guard(act, self.what, self.code, self._allowance)

    def _choose(self, schema: Any) -> None:  # noqa: ANN401 - as above
        """Choose the columns that are wanted."""
        names, inside = self._guard(lambda: names_of(schema))
        self.names = [*names, *(field for of in inside.values() for field in of)]
        self.columns = self._wanted.choose(names, inside, self.name)
        self.schema = load_arrow().schema(choose_fields(schema, self.columns))
        self._most_rows = BATCH_OF_LISTS if any(map(is_list, self.schema.types)) else BATCH


class ParquetFile(_ColumnarFile):
    """A Parquet file, as batches of the wanted columns.

    Args:
        opened: The file.

    Raises:
        InputError: It is no Parquet file, or has no such columns.
        FileError: The file can't be read.
    """

    what, code = "Parquet file", "parquet_invalid"

    def __init__(self, opened: OpenFile) -> None:
        file, name = opened.file, opened.name
        if not file.seekable():
            raise FormatError(
                "expected Parquet in a file, found it in a pipe",
                hint="its end comes first: write it to a file",
                code=self.code,
                file=name,
            )
        super().__init__(opened)
        self._footer: ParquetFooter = self._guard(lambda: read_footer(file, name))
        self._check_limits()
        self._metadata = self._guard(lambda: read_metadata(self._footer))
        self._parquet = self._guard(self._open)
        self._choose(self._parquet.schema_arrow)
        self._check_size()

    def _open(self, dictionaries: Sequence[str] = ()) -> Any:  # noqa: ANN401 - as above
        """Open the file. Columns at the given paths keep their dictionary encoding."""
        return load_arrow("pyarrow.parquet").ParquetFile(
            self._file,
            metadata=self._metadata,
            buffer_size=BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,
            read_dictionary=list(dictionaries) or None,
        )

    def _find_swelling(self) -> list[str]:
        """Find text columns that could exceed the limit once their dictionaries are decoded.

        Keeping dictionaries is slow where most texts differ, so only these are read that way.
        PyArrow can't do so for pages that share the beginnings of texts: of these, fewer rows are
        read at once.
        """
        texts = self._footer.check_pages(read_from(self._file), self.schema.names)
        longest = max((longest for *_, longest in texts), default=0)
        if longest:
            self._most_rows = max(1, min(self._most_rows, self._allowance.most // longest))
        grown = {
            path: most
            for path, most, longest in texts
            if not longest and ".key_value." not in path  # PyArrow has no maps of dictionaries
        }
        paths = list(grown)
        if sum(grown.values()) <= self._allowance.most:
            return []
        facts = self._metadata
        if facts.num_row_groups > MOST_PROBED:
            return paths
        probe = self._open(paths)
        worst = 0
        for number in range(facts.num_row_groups):
            rows = facts.row_group(number).num_rows
            # A dictionary comes whole, with the first row.
            first = probe.iter_batches(
                batch_size=1, row_groups=[number], columns=paths, use_threads=False
            )
            try:
                batch = next(first, None)
            except NotImplementedError:  # a list has texts of several dictionaries
                return paths
            for column in [] if batch is None else batch.columns:
                found = list(_find_dictionaries(column))
                if not _is_nested(column):
                    worst += sum(rows * _longest_of(one) for one in found)
                    continue
                # How many texts are in lists is not known, but as many numbers are read, too, so
                # that texts that are little larger than numbers are not what exceeds memory.
                lengths = [_longest_of(one) if len(one.dictionary) else math.inf for one in found]
                if max(lengths, default=0) > SHORT_TEXT:
                    return paths
        return paths if worst > self._allowance.most else []

    def estimate(self) -> tuple[int, int]:
        """Estimate the number of rows, counting each value of a list, and their bytes in memory."""
        return self._footer.estimate(self.schema.names)

    def read_plain(
        self,
        columns: Sequence[tuple[str, str]],
        at_once: int,
        take: Callable[[ParquetRows], bool | None],
        *,
        in_any_order: bool,
    ) -> ParquetRows | None:
        """Let the core decode columns itself; return `None` if they aren't simple.

        Each column comes with its kind: `ids`, `numbered` (IDs that the core numbers), `grades` or
        `scores`. `take` gets the rows, about so many at once, until it returns nothing. Where
        something is wrong in the file, or not simple after all, the core only says that it is: then
        all rows have to be read as others are.
        """
        if not {name for name, _ in columns} <= set(self.schema.names):
            return None  # fields of objects in a list
        types = {_decoded(self.schema.field(name).type) for name, _ in columns}
        if not types <= SIMPLE:
            return None
        read, most = read_from(self._file), self._allowance.most
        rows = ParquetRows.open(self._footer, read, columns, most, at_once, in_any_order)
        while rows is not None and take(rows):
            self._tell(rows.rows)
        check_unchanged(self._file, self._facts, self.name)
        return rows

    def _tell(self, rows: int) -> None:
        """Tell the progress after so many rows."""
        if self._progress is not None:
            total = max(self._footer.rows, 1)
            self._progress(min(rows * self._size // total, self._size))

    def _check_limits(self) -> None:
        for count, most, what in (
            (self._footer.columns, MOST_COLUMNS, "columns"),
            (self._footer.row_groups, MOST_ROW_GROUPS, "row groups"),
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
        """Raise an error if the metadata claims more than a file of this size can hold."""
        rows = self._footer.rows
        width = WIDTH * len(self.schema)
        self._allowance.check(max(rows * width, self._footer.unpacked), rows)

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        swelling = self._guard(self._find_swelling)
        batches = self._read_batches(swelling)
        rows = logical = 0
        while (batch := self._guard(lambda: next(batches, None))) is not None:
            found = batch.select(self.schema.names)
            self._guard(found.validate)
            size = self._guard(lambda found=found: sum(map(measure, found.columns)))  # type: ignore[misc]
            logical += size
            self._allowance.check(logical, rows + batch.num_rows)
            for start, part in cut(found, size):
                plain = self._guard(lambda part=part: self._write_out(part))  # type: ignore[misc]
                yield plain, Lines(rows + start + 1)
            rows += batch.num_rows
            self._tell(rows)
        check_unchanged(self._file, self._facts, self.name)

    def _read_batches(self, swelling: Sequence[str]) -> Iterator[Any]:
        """Read batches, dictionary-encoded where decoding could exceed the limit."""
        settings: dict[str, Any] = {
            "batch_size": self._most_rows,
            "columns": list(self.schema.names),
            "use_threads": True,
        }
        if not swelling:
            yield from self._parquet.iter_batches(**settings)
            return
        coded = self._open(swelling)
        if not any(map(is_list, self.schema.types)):
            yield from coded.iter_batches(**settings)
            return
        for number in range(self._footer.row_groups):
            rows = 0
            try:
                for batch in coded.iter_batches(row_groups=[number], **settings):
                    yield batch
                    rows += batch.num_rows
            except NotImplementedError:
                # PyArrow cannot put lists together whose texts have several dictionaries.
                rest = self._parquet.iter_batches(row_groups=[number], **settings)
                yield from _skip(rest, rows)

    def _write_out(self, batch: Any) -> Any:  # noqa: ANN401 - as above
        """Decode dictionaries that were requested only to save memory."""
        if batch.schema.types == self.schema.types:
            return batch
        columns = [
            column if column.type == kind else column.cast(kind)
            for column, kind in zip(batch.columns, self.schema.types, strict=True)
        ]
        return load_arrow().RecordBatch.from_arrays(columns, names=self.schema.names)


class ArrowFile(_ColumnarFile):
    """An Arrow IPC file or stream, as batches of the wanted columns.

    Args:
        opened: The file.

    Raises:
        InputError: It is none, or has no such columns.
        FileError: The file can't be read.
    """

    what, code = "Arrow file or stream", "arrow_invalid"

    def __init__(self, opened: OpenFile) -> None:
        super().__init__(opened)
        self._received = 0
        self._reader = self._guard(self._open)
        self._choose(self._reader.schema)

    def _open(self) -> Any:  # noqa: ANN401 - as above
        ipc = load_arrow("pyarrow.ipc")
        is_file = False
        if self._file.seekable():
            is_file = self._file.read(len(IPC_MAGIC)) == IPC_MAGIC
            self._file.seek(0)
        return ipc.open_file(self._file) if is_file else ipc.open_stream(self._file)

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
        rows = logical = 0
        step = self._most_rows
        for batch in self._join(step):
            for start in range(0, batch.num_rows, step):
                some = batch.slice(start, step)
                size = self._guard(lambda some=some: sum(map(measure, some.columns)))  # type: ignore[misc]
                logical += size
                self._allow(logical, rows + start + some.num_rows)
                for within, part in cut(some, size):
                    yield part, Lines(rows + start + within + 1)
            rows += batch.num_rows
            if self._progress is not None and self._file.seekable():
                self._progress(self._file.tell())
        check_unchanged(self._file, self._facts, self.name)

    def _join(self, most: int) -> Iterator[Any]:
        """Join small batches: each costs as much as thousands of rows."""
        kept: list[Any] = []
        rows = size = logical = total = 0
        for whole in self._batches():
            batch = whole.select(self.schema.names)
            stored = whole.get_total_buffer_size()
            if kept and (rows + batch.num_rows > most or size + stored > AT_ONCE):
                yield from self._put_together(kept, logical, total)
                kept, rows, size = [], 0, 0
            kept.append(batch)
            rows += batch.num_rows
            size += stored
            self._received += stored
            total += batch.num_rows
            logical += WIDTH * batch.num_rows * max(batch.num_columns, 1)
        if kept:
            yield from self._put_together(kept, logical, total)

    def _put_together(self, batches: list[Any], logical: int, rows: int) -> list[Any]:
        # A length of somebody else may be any number.
        self._allow(logical, rows)
        arrow = load_arrow()
        table = arrow.Table.from_batches(batches)
        # Offsets of somebody else may point anywhere.
        for name, column in zip(table.column_names, table.columns, strict=True):
            self._guard(lambda name=name, column=column: _validate(column, name))  # type: ignore[misc]
        if len(batches) > 1:
            with suppress(arrow.ArrowException):  # not every type can be put together
                return list(table.combine_chunks().to_batches())
        return batches

    def _allow(self, logical: int, rows: int) -> None:
        """Raise an error for more logical bytes than a file of this size can hold."""
        Allowance(self.name, self._size or self._received).check(logical, rows)


def guard(act: Callable[[], Any], what: str, code: str, allowance: Allowance) -> Any:  # noqa: ANN401 - as above
    """Read something with PyArrow, and raise a typed error if the file cannot be read."""
    arrow = load_arrow()
    try:
        return act()
    except RankscopeError as error:
        error.file = error.file or allowance.name
        raise
    except (arrow.ArrowException, *FAILURES) as error:
        wanted = re.search(r"of size (\d+) failed", str(error))
        if isinstance(error, MemoryError) and (wanted is None or int(wanted[1]) <= allowance.most):
            raise OutOfMemoryError(
                f"not enough memory to read this {what} ({first_line(error)})",
                hint="read it in parts, or raise the memory limit of the process",
                code="memory",
                file=allowance.name,
            ) from error
        raise FormatError(
            f"expected a whole {what}, found something else ({first_line(error)})",
            hint="fetch or write it again; nothing was taken from it",
            code=code,
            file=allowance.name,
        ) from error


def _validate(column: Any, name: str) -> None:  # noqa: ANN401 - as above
    try:
        column.validate(full=True)
    except load_arrow().ArrowInvalid as error:
        error.args = (f"in column {name}: {error}",)
        raise


def _skip(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Skip the first rows of batches."""
    for batch in batches:
        if rows < batch.num_rows:
            yield batch.slice(rows)
        rows = max(0, rows - batch.num_rows)


def _decoded(kind: Any) -> str:  # noqa: ANN401 - as above
    """Name a type, or that of the values of a dictionary."""
    return str(kind.value_type if load_arrow().types.is_dictionary(kind) else kind)


def _is_nested(column: Any) -> bool:  # noqa: ANN401 - as above
    return bool(load_arrow().types.is_nested(column.type))


def _find_dictionaries(column: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Find the arrays of texts with a dictionary in an array of any type."""
    types, kind = load_arrow().types, column.type
    if types.is_dictionary(kind):
        yield column
    elif types.is_map(kind):
        yield from _find_dictionaries(column.keys)
        yield from _find_dictionaries(column.items)
    elif types.is_struct(kind):
        for at in range(kind.num_fields):
            yield from _find_dictionaries(column.field(at))
    elif hasattr(column, "values"):  # lists of every kind
        yield from _find_dictionaries(column.values)


def _longest_of(column: Any) -> int:  # noqa: ANN401 - as above
    """Return the length in bytes of the longest text of a dictionary."""
    compute = load_arrow("pyarrow.compute")
    return int(compute.max(compute.binary_length(column.dictionary)).as_py() or 0)


def _size_of(file: BinaryIO) -> int:
    """Return the size of a file in bytes, 0 for a pipe."""
    if not file.seekable():
        return 0
    start = file.tell()
    size = file.seek(0, io.SEEK_END)
    file.seek(start)
    return size


def names_of(schema: Any) -> tuple[list[str], dict[str, list[str]]]:  # noqa: ANN401 - as above
    """Return the names of the columns, and of the fields of each list of objects."""
    arrow = load_arrow()
    return list(schema.names), {
        field.name: [inner.name for inner in field.type.value_type]
        for field in schema
        if field.name in ITEMS
        and is_list(field.type)
        and arrow.types.is_struct(field.type.value_type)
    }


def choose_fields(schema: Any, columns: dict[str, str]) -> list[Any]:  # noqa: ANN401 - as above
    """Return the schema fields that hold the chosen columns."""
    arrow = load_arrow()
    names = [name if name in schema.names else name.rpartition(".")[0] for name in columns.values()]
    return [arrow.field(name, schema.field(name).type) for name in dict.fromkeys(names)]


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
