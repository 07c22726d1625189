"""Delimited text with a header: CSV and TSV."""

from __future__ import annotations

import csv
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.columns import are_finite
from rankscope._inputs.roles import ID_ROLES, role_of
from rankscope._inputs.text import (
    NUMBER_ROLES,
    Lines,
    Text,
    add_note,
    find_first,
    long_row,
    name_mistake,
    read_lines,
)
from rankscope.deferred import arrow_csv, pa, pc
from rankscope.errors import EmptyError, FormatError, InputError, LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.files import OpenFile

    Row = tuple[int, list[str]]

LONGEST = 4 << 20
"""So many bytes are parsed at once, so that no row can be longer."""
MOST_COLUMNS = 1024
DELIMITERS = {"csv": ",", "tsv": "\t"}
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
SCIENTIFIC = r"^[0-9](\.[0-9]+)?E\+[0-9]+$"
"""How spreadsheets write long integers."""


class DelimitedFile:
    """A file of delimited text, as batches of the wanted columns.

    Args:
        opened: The file.

    Raises:
        InputError: It has no header with the columns.
    """

    def __init__(self, opened: OpenFile) -> None:
        self.name = opened.name
        self.notes: dict[str, tuple[int, int]] = {}
        self._opened = opened
        self._delimiter = DELIMITERS[opened.form]
        self._places: Iterator[int] | None = None
        self._passed = 0
        header = next(self._read_rows(), None)
        if header is None:
            raise EmptyError(
                "expected a first line that names the columns, found none",
                hint="is the file empty?",
                code="empty_input",
                file=self.name,
            )
        self._header_line, names = header
        self.names = [name.strip() for name in names]
        self._check_header()
        self.columns = opened.wanted.choose(self.names, {}, self.name)
        if not self.columns:
            raise self._no_header()
        numbers = {name for role, name in self.columns.items() if role in NUMBER_ROLES}
        self.schema = pa.schema(
            (name, pa.float64() if name in numbers else pa.string())
            for name in dict.fromkeys(self.columns.values())
        )

    def _read_rows(self, *, strict: bool = False) -> Iterator[Row]:
        """Read the rows that aren't blank with Python, each with the line where it begins."""
        lines = read_lines(self._opened, 2 * LONGEST)
        rows = csv.reader((text for _, text in lines), delimiter=self._delimiter, strict=strict)
        before = 0
        try:
            while (row := _read_row(rows)) is not None:
                if row:
                    yield before + 1, row
                before = rows.line_num
        except csv.Error as error:
            if "field limit" in str(error):
                raise long_row(self.name, before + 1, LONGEST) from None
            is_open = "end of data" in str(error)
            raise FormatError(
                "expected a quoted field to end, found no closing quote"
                if is_open
                else f"expected delimited text, found something else ({error})",
                hint='close it, or write a quote that is meant as such as "" in quotes',
                code="unterminated_quote" if is_open else "field_count",
                file=self.name,
                line=before + 1,
            ) from None

    def _check_header(self) -> None:
        if len(self.names) > MOST_COLUMNS:
            raise LimitError(
                f"expected at most {MOST_COLUMNS} columns, found {len(self.names)}",
                hint="keep the columns that are needed",
                code="columns",
                file=self.name,
                line=self._header_line,
            )
        for other, name in NAMES.items() if len(self.names) == 1 else ():
            if other != self._delimiter and other in self.names[0]:
                raise FormatError(
                    f"expected columns with {NAMES[self._delimiter]} between, "
                    f"found one: {self.names[0]!r}",
                    hint=f"it has {name}: "
                    + ("say format='tsv'" if other == "\t" else "write it anew with commas"),
                    code="columns",
                    file=self.name,
                    line=self._header_line,
                )

    def _no_header(self) -> FormatError:
        names = self.names
        hint = "write query_id, doc_id and score or relevance there"
        if len(names) > 1 and not any(name.isdecimal() for name in names):
            first, second = names[:2]
            hint += (
                f", or name your columns, such as File(path, columns={{'query': {first!r}, 'doc': "
                f"{second!r}}}), or --col query={first} --col doc={second}"
            )
        return FormatError(
            f"expected a first line that names the columns, found {', '.join(names)}",
            hint=hint,
            code="columns",
            file=self.name,
            line=self._header_line,
        )

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        text, rows = Text(self._opened), 0
        text.skip(self._header_line)
        try:
            for batch in self._open(text):
                lines = Lines(self._header_line + 1 + rows)
                if text.quotes or "blank_lines" in text.notes:
                    lines = Lines(0, partial(self._find_lines, rows))
                self._check(batch)
                if text.has_exponents:
                    self._note_exponents(batch, lines)
                rows += batch.num_rows
                yield batch, lines
        except pa.ArrowInvalid as error:
            if "straddling" in str(error):
                line = int(self._find_lines(rows, 1)[0])
                raise long_row(self.name, line, LONGEST) from error
            if "Empty CSV" in str(error):
                return
            raise find_first(self._opened, self._find_mistake, error, "field_count") from error
        finally:
            text.is_over = True
        for code, (count, first) in text.notes.items():
            add_note(self.notes, code, count, first)
        if text.quotes % 2 and (mistake := self._find_open_quote()):
            raise mistake

    def _find_lines(self, before: int, count: int) -> NDArray[np.int64]:
        """Find the lines of rows where a row may be several lines, and lines may be no row."""
        if self._places is None or self._passed > before + 1:
            self._places, self._passed = (line for line, _ in self._read_rows()), 0
        skipped = before + 1 - self._passed
        lines = np.fromiter(islice(self._places, skipped, skipped + count), np.int64)
        self._passed = before + 1 + count
        return lines

    def _open(self, text: Text) -> Iterator[Any]:
        wanted = self.schema.names
        reader = arrow_csv.open_csv(
            pa.PythonFile(text, mode="r"),
            read_options=arrow_csv.ReadOptions(column_names=self.names, block_size=LONGEST),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=self.schema,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return iter(reader)

    def _check(self, batch: Any) -> None:  # noqa: ANN401 - of PyArrow
        """Refuse what PyArrow takes for a number."""
        for name in batch.schema.names:
            cells = batch.column(name)
            if role_of(name, self.columns) in NUMBER_ROLES and not are_finite(cells):
                raise find_first(self._opened, self._find_mistake, ValueError(), "field_count")

    def _note_exponents(self, batch: Any, lines: Lines) -> None:  # noqa: ANN401 - as above
        """Note IDs that a spreadsheet has shortened."""
        for name in batch.schema.names:
            if role_of(name, self.columns) in ID_ROLES:
                is_odd = pc.match_substring_regex(batch.column(name), SCIENTIFIC)
                if count := pc.sum(is_odd).as_py():
                    first = lines.of_row(is_odd.index(True).as_py())
                    add_note(self.notes, "id_looks_scientific", count, first)

    def _find_mistake(self) -> InputError | None:
        """Find the first row that is wrong."""
        places = {self.names.index(name): role for role, name in self.columns.items()}
        for line, row in self._read_rows(strict=True):
            error: InputError | None = None
            if sum(map(len, row)) + len(row) > LONGEST:
                error = long_row(self.name, line, LONGEST)
            elif len(row) != len(self.names):
                error = FormatError(
                    f"expected {len(self.names)} fields, as the header has, found {len(row)}",
                    hint="quote a field that has the delimiter in it; is the file cut off?",
                    code="field_count",
                )
            elif line > self._header_line:
                numbers = (at for at, role in places.items() if role in NUMBER_ROLES and row[at])
                found = (name_mistake(row[at], places[at]) for at in numbers)
                error = next((mistake for mistake in found if mistake), None)
            if error is not None:
                error.line = line
                return error
        return None

    def _find_open_quote(self) -> InputError | None:
        """Find a quote that never closes, which PyArrow takes for a field up to the end."""
        try:
            for _ in self._read_rows(strict=True):
                pass
        except FormatError as error:
            return error if error.code == "unterminated_quote" else None
        return None


def _read_row(rows: Iterator[list[str]]) -> list[str] | None:
    """Read a row with Python, with a field as long as PyArrow can read at most."""
    limit = csv.field_size_limit(2 * LONGEST)  # which holds for the whole process
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(limit)
