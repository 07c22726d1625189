"""Delimited text with a header: CSV and TSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from rankscope._inputs.column_names import ID_ROLES
from rankscope._inputs.columns import are_finite
from rankscope._inputs.numbers import Foreign
from rankscope._inputs.text import (
    CLOSE,
    Lines,
    Reader,
    Text,
    add_note,
    long_row,
    name_mistake,
    no_rows,
    raise_first,
    read_lines,
    refuse_break,
)
from rankscope.errors import FormatError, InputError, LimitError

Row = tuple[int, list[str]]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# So many bytes are parsed at once, so that no row can be longer.
LONGEST = 4 << 20
MOST_COLUMNS = 1024
DELIMITERS = {"csv": ",", "tsv": "\t"}
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
# What Python says, and how it is called here.
MISTAKES = (
    ("end of data", "unterminated_quote", "no closing quote", CLOSE),
    ("new-line", "line_ending", "carriage returns alone", r"convert line ends: tr '\r' '\n'"),
    ("", "field_count", "something else", CLOSE),
)
DELIMITER_IN_FIELD = (
    "a field of TSV can't contain a tab: remove it, or write CSV",
    "quote a field that has the delimiter in it",
)
# How spreadsheets write long integers.
SCIENTIFIC = r"^[0-9](\.[0-9]+)?E\+[0-9]+$"


class DelimitedFile(Reader):
    """A file of delimited text."""

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names in the header."""
        self._delimiter = DELIMITERS[self.opened.form]
        self._places: Iterator[int] | None = None
        self._passed = 0
        self._has_quotes = self.opened.form == "csv"
        self._header_line, header = next(self._read_rows(), (1, []))
        if header and header[0].startswith('"'):
            self._has_quotes = True  # as in TSV of tools that write all texts in quotes
            self._header_line, header = next(self._read_rows(), (1, []))
        names = [name.strip() for name in header]
        if not names:
            raise no_rows("a first line that names the columns")
        if len(names) > MOST_COLUMNS:
            message = f"at most {MOST_COLUMNS} columns, found {len(names)}"
            raise self._refuse_header(message, "keep the columns that are needed", LimitError)
        for other, name in NAMES.items() if len(names) == 1 else ():
            if other != self._delimiter and other in names[0]:
                hint = "say format='tsv'" if other == "\t" else "write it anew with commas"
                message = f"columns with {NAMES[self._delimiter]} between, found one: {names[0]!r}"
                raise self._refuse_header(message, f"it has {name}: {hint}")
        self._header = names
        return names, {}

    def infer_schema(self, names: Sequence[str]) -> Foreign:
        """Return numbers and texts."""
        header, hint = self._header, "write query_id, doc_id and score or relevance there"
        if not names:
            if len(header) > 1 and not any(name.isdecimal() for name in header):
                first, second = header[:2]
                hint += (
                    f", or name your columns, such as File(path, columns={{'query': {first!r}, "
                    f"'doc': {second!r}}}), or --col query={first} --col doc={second}"
                )
            message = f"a first line that names the columns, found {', '.join(header)}"
            raise self._refuse_header(message, hint)
        self._ids = [name for role in ID_ROLES if (name := self.columns.get(role)) in names]
        return super().infer_schema(names)

    def _refuse_header(
        self, message: str, hint: str, kind: type[InputError] = FormatError
    ) -> InputError:
        return kind(f"expected {message}", hint=hint, code="columns", line=self._header_line)

    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Read batches of about the size of a block."""
        import pyarrow as pa

        text, rows = Text(self.opened, self.notes, has_quotes=self._has_quotes), 0
        try:
            for batch in self._open(text):
                lines = Lines(self._header_line + 1 + rows)
                if text.quotes or "blank_lines" in self.notes:
                    lines = Lines(0, partial(self._find_lines, rows))
                # PyArrow takes NaN and what is too large for numbers.
                if not all(are_finite(batch.column(name)) for name in self.numbers):
                    raise pa.ArrowInvalid("not finite")  # noqa: TRY301 - as PyArrow does
                for name in self._ids if text.quotes else ():
                    refuse_break(batch.column(name), name, lines)
                if text.has_exponents:
                    self._note_exponents(batch, lines)
                rows += batch.num_rows
                yield batch, lines
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise_first(islice(self._read_rows(strict=True), 1, None), self._check_row)
                raise
            for line in self._find_lines(rows, 1):  # none if there is only a header
                raise long_row(line, LONGEST) from error
        finally:
            text.is_over = True
        if text.quotes % 2:
            self._check_quotes()

    def _check_quotes(self) -> None:
        """Refuse a quote that never closes, after which PyArrow takes all rows for a field."""
        try:
            for _ in self._read_rows(strict=True):
                pass
        except FormatError as error:
            if error.code == "unterminated_quote":
                raise

    def _open(self, text: Text) -> Foreign:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        return arrow_csv.open_csv(
            pa.PythonFile(text, mode="r"),
            arrow_csv.ReadOptions(
                block_size=LONGEST,
                column_names=self._header,
                skip_rows_after_names=self._header_line,
            ),
            arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char=self._has_quotes and '"',
                newlines_in_values=self._has_quotes,
            ),
            arrow_csv.ConvertOptions(
                column_types=self.inner,
                null_values=[""],
                strings_can_be_null=True,
                include_columns=self.inner.names,
            ),
        )

    def _read_rows(self, *, strict: bool = False) -> Iterator[Row]:
        """Read the rows that aren't blank with Python, each with the line where it begins."""
        lines = read_lines(self.opened, 2 * LONGEST)
        rows = csv.reader(
            (text for _, text in lines),
            delimiter=self._delimiter,
            quoting=csv.QUOTE_MINIMAL if self._has_quotes else csv.QUOTE_NONE,
            strict=strict,
        )
        before = 0
        try:
            while (row := _read_row(rows)) is not None:
                if row:
                    yield before + 1, row
                before = rows.line_num
        except csv.Error as error:
            if "field limit" in str(error):
                raise long_row(before + 1, LONGEST) from None
            code, problem, hint = next(row for sign, *row in MISTAKES if sign in str(error))
            message = f"expected delimited text, found {problem} ({error})"
            raise FormatError(message, hint=hint, code=code, line=before + 1) from None

    def _find_lines(self, before: int, count: int) -> NDArray[np.int64]:
        """Find the lines of rows where a row may be several lines, and lines may be no row."""
        import numpy as np

        if self._places is None or self._passed > before + 1:
            self._places, self._passed = (line for line, _ in self._read_rows()), 0
        skipped = before + 1 - self._passed
        lines = np.fromiter(islice(self._places, skipped, skipped + count), np.int64)
        self._passed = before + 1 + count
        return lines

    def _note_exponents(self, batch: Foreign, lines: Lines) -> None:
        """Note IDs that a spreadsheet has shortened."""
        import pyarrow.compute as pc

        for name in self._ids:
            is_odd = pc.match_substring_regex(batch.column(name), SCIENTIFIC)
            if count := pc.sum(is_odd).as_py():
                first = lines.of_row(is_odd.index(True).as_py())
                add_note(self.notes, "id_looks_scientific", count, first)

    def _check_row(self, row: list[str]) -> InputError | None:
        if sum(map(len, row)) + len(row) > LONGEST:
            return long_row(0, LONGEST)
        if len(row) != len(self._header):
            hint = f"{DELIMITER_IN_FIELD[self._has_quotes]}; is the file cut off?"
            message = f"expected {len(self._header)} fields, as the header has, found {len(row)}"
            return FormatError(message, hint=hint, code="field_count")
        cells = ((row[self._header.index(name)], role) for name, role in self.numbers.items())
        return next(filter(None, (name_mistake(*cell) for cell in cells if cell[0])), None)


def _read_row(rows: Iterator[list[str]]) -> list[str] | None:
    """Read a row with Python, with a field as long as PyArrow can read at most."""
    limit = csv.field_size_limit(2 * LONGEST)  # which holds for the whole process
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(limit)
