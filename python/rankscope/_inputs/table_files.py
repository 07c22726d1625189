"""A table in one or more files: batches of the wanted columns, and the place of each row."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

from rankscope._file import FORMATS
from rankscope._inputs.column_names import (
    ID_ROLES,
    SPLIT,
    SYNONYMS,
    Selection,
    explain_users,
    role_of,
    tags_of,
    without_tags,
)
from rankscope._inputs.columnar import Batches, BatchFile
from rankscope._inputs.columns import is_list, name_id_type, normalise
from rankscope._inputs.files import (
    OpenFile,
    Progress,
    close,
    copy_pipe,
    facts_of,
    list_files,
    open_binary,
    read_partitions,
    size_of,
)
from rankscope._inputs.lists import RANK, ListChecks, explode
from rankscope._inputs.recognition import Input, describe_value
from rankscope._inputs.tables import MemoryTable
from rankscope._inputs.text import Lines, Reader, add_note
from rankscope._settings import Reading
from rankscope._show.table import IdColumn, SourceIds
from rankscope.errors import DuplicateError, FormatError, RankscopeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope._inputs.reading import Note


# What a row has many of, if it holds a whole ranking.
IN_LISTS = ("doc", "relevance", "score", "rank")
# How the core ends the message about two grades of a document.
TWO_LINES = re.compile(r"in line (\d+) and (\S+) in line (\d+)\Z")
# What evaluating a row takes beside its values, by whether it has a document.
BYTES_OF_ROW = {False: 64, True: 96}
GROWTH = {"csv": 6, "tsv": 6, "arrow": 5}
# How many bytes of memory the rows of a byte of a file take.
USUAL_GROWTH = 3
# The memory that a cell takes.
BYTES_OF_CELL = 16
PACKED = (".gz", ".zst", ".bz2")
GROWTH_OF_PACKED = 4


def open_reader(opened: OpenFile) -> Reader:
    """Return the reader that the table of formats names for an open file."""
    module, _, name = FORMATS[opened.form].reader.partition(":")
    # A reader loads with the first file of its format: some take longer than a small file.
    reader: Reader = getattr(import_module(f"rankscope._inputs.{module}"), name)(opened)
    return reader


class TableFile:
    """A table in one or more files, read once, batch by batch.

    `columns` has, by role, the name of its column, and further columns by their own names. Batches
    have the columns by their own names: ids are text or integers of 64 bits, numbers are float64,
    and what is neither is as it was. `empty_lists` counts the rows so far that held an empty list,
    which is no row of a batch; `checks` is what may say that a query has several lists.
    """

    def __init__(
        self, source: Input, selection: Selection, reading: Reading, progress: Progress = None
    ) -> None:
        files = list_files(source.value) if isinstance(source.value, str) else []
        self.name = source.name
        self.is_text = source.format in {"csv", "tsv"}
        self.empty_lists = 0
        self.checks = ListChecks()
        self.schema: Any = None
        self._files: Sequence[Any] = files or [source.value]
        self._selection = selection
        cells = (cell for path in files for cell in read_partitions(path).items())
        counts = Counter(name for name, _ in {*cells})
        self._varying = [name for name, count in counts.items() if count > 1]
        self._form = source.format
        self._encoding = reading.encoding
        self._ignores_same = reading.ignore_same and "score" in selection.roles
        self._progress = progress
        self._before = 0
        self._spans: list[RowSpan] = []
        self._rows = 0
        self._notes: dict[str, tuple[int, int]] = {}
        self._id_types: dict[str, str] = {}
        self._ahead: list[Any] = []
        self._batches = self._read()
        self._handle: BinaryIO | None = None
        self._copy: BinaryIO | None = None
        try:
            self._current = self._open(self._files[0])
            self._is_ranked = self._is_in_rank_order()
            self.columns = without_tags(self._current.columns)
            if self._is_ranked:
                self.columns["rank"] = RANK
            selection.require(self.columns, self._current.names, self._current.name)
            self.schema = self._schema_of(self._current)
        except RankscopeError as error:
            self.__exit__()
            error.file = error.file or self.name
            if error.code == "columns" and not self._form:
                error.message += f" in {describe_value(source.value)}"
            raise

    def __iter__(self) -> Iterator[Any]:
        self._ahead.reverse()
        while self._ahead:
            yield self._ahead.pop()
        yield from self._batches

    def read_ahead(self, most: int) -> bool:
        """Read batches that come first in the next iteration, up to a limit of memory."""
        size = 0
        try:
            for batch in self._batches:
                self._ahead.append(batch)
                size += 2 * batch.nbytes + BYTES_OF_ROW["doc" in self.columns] * batch.num_rows
                if size > most:
                    return True
        except BaseException:
            self.__exit__()
            raise
        return False

    def exceeds(self, most: int) -> bool:
        """Check whether all rows and their evaluation take more memory than so many bytes.

        Where nobody knows the size, rows are read ahead.
        """
        size = self.estimate_memory()
        return size > most if size > 0 else self.read_ahead(most)

    def _read(self) -> Iterator[Any]:
        for number, source in enumerate(self._files):
            if number > 0:
                self._current = self._open(source)
            file = self._current
            try:
                if (schema := self._schema_of(file)) != self.schema:
                    raise self._other_schema(schema, file.name)
                for batch, lines in file:
                    yield self._finish(batch, lines, file.name)
            finally:
                self.close()
            for code, (count, line) in file.notes.items():
                add_note(self._notes, code, count, line)
            self._before += size_of(source)
            if self._progress is not None:
                self._progress(self._before)
        if (error := self.checks.find_second_list()) is not None:
            raise self.place(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self._copy is not None:
            self._copy.close()

    def close(self) -> None:
        """Close the open file, if reading hasn't reached its end."""
        if self._handle is not None and self._handle is not self._copy:
            close(self._handle)

    @property
    def names(self) -> list[str]:
        """The names of all columns of the file."""
        return self._current.names

    @property
    def notes(self) -> list[Note]:
        """Diagnostics of what was read: code, count, first line.

        The line is 0 where lines mean nothing, as in several files.
        """
        has_lines = len(self._files) == 1
        return [
            *((code, count, line * has_lines) for code, (count, line) in self._notes.items()),
            *self.checks.notes(self.name, self.columns.get("query", "")),
            *([("empty_lists", self.empty_lists, 0)] if self.empty_lists else []),
        ]

    def describe_ids(self) -> SourceIds:
        """Return the names and types that the columns of ids have in the files read so far.

        A field of objects in lists has its own name alone.
        """
        plain, types = (
            self._current.schema.names,
            getattr(self._current, "id_types", self._id_types),
        )
        names = {role: self.columns.get(role, f"{role}_id") for role in ID_ROLES}
        query, doc = (
            IdColumn(name if name in plain else name.rpartition(".")[2], types.get(role, ""))
            for role, name in names.items()
        )
        roles = [role for role in SYNONYMS if not self._selection.roles.get(role)]
        usual = {role: name for role in roles if (name := self.columns.get(role)) in self.names}
        return SourceIds(query, doc, usual=usual)

    def estimate_memory(self) -> int:
        """Estimate the bytes of memory that all rows and their evaluation take."""
        stored = sum(map(size_of, self._files))
        rows = getattr(self._current, "rows", 0)
        if rows:  # which Parquet says, of the first file
            share = stored / max(size_of(self._files[0]), 1)
            width = BYTES_OF_ROW["doc" in self.columns] + BYTES_OF_CELL * len(self.schema)
            return max(int(rows * width * share), USUAL_GROWTH * stored)
        growth = GROWTH.get(self._form, USUAL_GROWTH)
        is_packed = isinstance(self._files[0], str) and self._files[0].endswith(PACKED)
        return stored * growth * (GROWTH_OF_PACKED if is_packed else 1)

    def find_line(self, row: int) -> tuple[str, int]:
        """Return the file and the line of a row, or the row number in a file without lines."""
        span = next(span for span in reversed(self._spans) if span.first < row)
        return span.file, span.find_line(row)

    def count_lines(self) -> NDArray[np.int64] | None:
        """Return how many lines are before each row of a text; `None` where rows have no lines."""
        import numpy as np

        if len(self._files) > 1 or not (self._form and FORMATS[self._form].is_text):
            return None
        ends = [*(span.first for span in self._spans[1:]), self._rows]
        lines = [
            span.find_lines(end - span.first) for span, end in zip(self._spans, ends, strict=False)
        ]
        return np.concatenate([np.empty(0, np.int64), *lines]) - 1

    def place(self, error: RankscopeError) -> RankscopeError:
        """Add the file and line to an error in a row of the batches."""
        if self._selection.roles.get("query") is None:
            explain_users(error, self.names, self.columns.get("query"))
        runs = self.checks.find_runs() if "relevance" in self.columns else ""
        if isinstance(error, DuplicateError) and runs:
            error.hint = f"the column {runs!r} names several runs: write runs={runs!r}, or keep one"
        if error.line is None or error.line > self._rows:
            error.file = self.name
        else:
            error.file, error.line = self.find_line(error.line)
            error.message = TWO_LINES.sub(self._write_lines, error.message)
        return error

    def _write_lines(self, rows: re.Match[str]) -> str:
        """Write the lines of two rows that the core counted, and their files if there are two."""
        (file, first), (other, later) = (self.find_line(int(row)) for row in rows.group(1, 3))
        place = f" of {file}" if file != other else ""
        return f"in line {first}{place} and {rows[2]} in line {later}"

    def _open(self, source: Any) -> Reader:  # noqa: ANN401 - of another library, or a file
        if not isinstance(source, str | bytes):
            opened = OpenFile(io.BytesIO(), source, self.name, None, selection=self._selection)
            return BatchFile(opened) if isinstance(source, Batches) else MemoryTable(opened)
        name = source if isinstance(source, str) and len(self._files) > 1 else self.name
        before = self._before
        watch = self._progress and (lambda done: self._progress(before + done))  # type: ignore[misc]
        self._handle = open_binary(source, name)
        partitions = read_partitions(source) if isinstance(source, str) else {}
        if not self._handle.seekable():
            pipe, self._handle = self._handle, copy_pipe(self._handle)
            self._copy, source = self._handle, self._handle.name
            close(pipe)
        # What all files share is only found by the names that the caller gives: a file in `rank=1/`
        # has no ranks.
        usable = {*self._selection.others, *self._selection.roles.values(), *self._varying}
        opened = OpenFile(
            file=self._handle,
            source=source,
            name=name,
            facts=facts_of(self._handle),
            form=self._form,
            selection=self._selection,
            encoding=self._encoding,
            progress=watch,
            partitions={name: partitions[name] for name in partitions if name in usable},
        )
        try:
            return open_reader(opened)
        except BaseException:
            self.__exit__()
            raise

    def _lists_of(self, file: Reader) -> set[str]:
        """Return the list columns if rows hold whole rankings. Otherwise a list holds labels."""
        lists = {field.name for field in file.schema if is_list(field.type)}
        inner = {role: file.columns[role] for role in IN_LISTS if role in file.columns}
        listed = {role for role, name in inner.items() if {name, name.rpartition(".")[0]} & lists}
        for role, other in (("doc", "score"), ("doc", "rank"), ("score", "doc"), ("rank", "doc")):
            if role in listed and other in inner and other not in listed:
                both = f"{inner[other]}, as in {inner[role]}"
                message = f"expected a list in every row of {both}, found one value"
                hint = "every document needs a value of its own"
                raise FormatError(message, hint=hint, code="missing_list", file=file.name)
        return lists if listed else set()

    def _is_in_rank_order(self) -> bool:
        """Check whether lists define the rank order because there are no ranks or scores."""
        is_ordered = {"rank", "score"} & self._current.columns.keys() or (
            "rank" not in self._selection.roles
        )
        return not is_ordered and bool(self._lists_of(self._current))

    def _schema_of(self, file: Reader) -> Any:  # noqa: ANN401 - PyArrow has no types
        import pyarrow as pa

        arrays = [pa.nulls(0, kind) for kind in file.schema.types]
        batch = pa.RecordBatch.from_arrays(arrays, schema=file.schema)
        try:
            columns, _ = self._explode(batch.drop_columns(tags_of(file.columns)))
            plain = self._normalise(columns)
        except FormatError as error:
            error.file = file.name
            raise
        for role in ID_ROLES:
            if self.columns.get(role) in columns:
                kind = name_id_type(columns[self.columns[role]].type)
                if self._id_types.setdefault(role, kind) != kind:
                    self._id_types[role] = "int64"
        return pa.schema((name, column.type) for name, column in plain.items())

    def _normalise(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return columns as batches have them; null in place of other types that checks read."""
        import pyarrow as pa

        plain = {
            name: normalise(column, name, role_of(name, self.columns))
            for name, column in columns.items()
        }
        if self.schema is None:
            return plain
        roles = (*self._current.columns.items(), *self.columns.items())
        splits = {name for role, name in roles if role.startswith(SPLIT)}
        rows = len(next(iter(plain.values())))
        ordered: dict[str, Any] = {}
        for field in self.schema:
            column = plain.pop(field.name, None)
            if field.name in splits and (column is None or column.type != field.type):
                column = pa.nulls(rows, field.type)
            ordered |= {} if column is None else {field.name: column}
        return ordered | {name: column for name, column in plain.items() if name not in splits}

    def _explode(self, batch: Any) -> tuple[dict[str, Any], NDArray[np.int64] | None]:  # noqa: ANN401 - as above
        """Return the columns with a row per document, and where the rows of each list end."""
        lists = self._lists_of(self._current)
        if not lists:
            return dict(zip(batch.schema.names, batch.columns, strict=True)), None
        columns = without_tags(self._current.columns)
        exploded, ends = explode(batch, columns, lists, is_ranked=self._is_ranked)
        self.empty_lists += batch.num_rows - len({*ends.tolist()} - {0})
        return exploded, ends

    def _finish(self, batch: Any, lines: Lines, file: str) -> Any:  # noqa: ANN401 - as above
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        ends = None
        try:
            batch = self.checks.take_tags(batch, tags_of(self._current.columns))
            columns, ends = self._explode(batch)
            finished, are_lists = pa.record_batch(self._normalise(columns)), ends is not None
        except RankscopeError as error:
            error.file = file
            error.line = error.line and RowSpan(0, file, lines, ends).find_line(error.line)
            raise
        if self._ignores_same:
            query, doc = (finished[self.columns[role]].cast(pa.large_string()) for role in ID_ROLES)
            other = pc.fill_null(pc.not_equal(query, doc), True)
            finished = finished.filter(other)
            kept = np.append(0, np.cumsum(other))
            ends = kept[1:] if ends is None else kept[ends]
        if finished.schema != self.schema:
            raise self._other_schema(finished.schema, file)
        self._spans.append(RowSpan(self._rows, file, lines, ends))
        if ends is not None and are_lists and self._selection.is_ranked:
            self.checks.add_lists(finished.column(self.columns["query"]), ends, self._rows)
        self._rows += finished.num_rows
        return finished

    def _other_schema(self, other: Any, file: str) -> FormatError:  # noqa: ANN401 - as above
        expected, shown = (
            ", ".join(f"{field.name} {field.type}" for field in schema)
            for schema in (self.schema, other)
        )
        hint = "write the files alike, or name one of them"
        message = f"expected the columns that {self._files[0]!s} has, {expected}; found {shown}"
        return FormatError(message, hint=hint, code="schema_mismatch", file=file)


class RowSpan(NamedTuple):
    """A range of rows that come from one file, after so many rows of all batches.

    `ends` says where the rows of each list end, where rows of the file held lists.
    """

    first: int
    file: str
    lines: Lines
    ends: NDArray[np.int64] | None

    def find_line(self, row: int) -> int:
        """Return the line of a row, counted from 1 through all batches."""
        return int(self.find_lines(row - self.first)[-1])

    def find_lines(self, count: int) -> NDArray[np.int64]:
        """Return the lines of the first so many rows."""
        import numpy as np

        at = np.arange(count)
        at = at if self.ends is None else self.ends.searchsorted(at, side="right")
        return self.lines.of_rows(int(at[-1]) + 1)[at] if count else at
