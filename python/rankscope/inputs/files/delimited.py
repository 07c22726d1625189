"""Delimited text with a header: CSV and TSV."""

from __future__ import annotations

import csv
import io

from rankscope.errors import EmptyError, FormatError, InputError, LimitError
from rankscope.inputs.arrow import load_arrow, open_text
from rankscope.inputs.files.blocks import add_note
from rankscope.inputs.files.cells import count_scientific, read_numbers
from rankscope.inputs.files.quotes import QuotedBlocks
from rankscope.inputs.files.roles import ID_ROLES, NUMBER_ROLES, role_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from rankscope.inputs.files.blocks import Lines
    from rankscope.inputs.files.opening import OpenFile

LONGEST_ROW = 1 << 20
MOST_COLUMNS = 1024
DELIMITERS = {"csv": ",", "tsv": "\t"}
NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


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
        self._delimiter = DELIMITERS[opened.form]
        self._blocks = QuotedBlocks(opened.read_text(), LONGEST_ROW, self._delimiter.encode())
        self._pieces = self._cut()
        self._body = self._read_header()
        self._check_header()
        self.names = self._header
        self.columns = opened.wanted.choose(self.names, {}, self.name)
        if not self.columns:
            raise self._no_header()
        arrow = load_arrow()
        numbers = {name for role, name in self.columns.items() if role in NUMBER_ROLES}
        self.schema = arrow.schema(
            (name, arrow.float64() if name in numbers else arrow.large_string())
            for name in dict.fromkeys(self.columns.values())
        )

    def _cut(self) -> Iterator[tuple[bytes, int]]:
        for block in self._blocks:
            yield block.text, block.first_line

    def _read_header(self) -> tuple[bytes, int]:
        """Read the first non-blank row, and return the rest and its line number."""
        for text, line in self._pieces:
            rows = csv.reader(io.StringIO(text.decode(), newline="\n"), delimiter=self._delimiter)
            for row in rows:
                if not row:
                    continue
                self._header = [name.strip() for name in row]
                end = 0
                for _ in range(rows.line_num):
                    end = text.find(b"\n", end) + 1 or len(text)
                return text[end:], line + rows.line_num
        raise EmptyError(
            "expected a first line that names the columns, found none",
            hint="is the file empty?",
            code="empty_input",
            file=self.name,
        )

    def _check_header(self) -> None:
        if self._blocks.has_bom:
            self.notes["bom"] = (1, 1)
        if len(self._header) > MOST_COLUMNS:
            raise LimitError(
                f"expected at most {MOST_COLUMNS} columns, found {len(self._header)}",
                hint="keep the columns that are needed",
                code="columns",
                file=self.name,
                line=1,
            )
        if len(self._header) > 1:
            return
        for other, name in NAMES.items():
            if other != self._delimiter and other in self._header[0]:
                raise FormatError(
                    f"expected columns with {NAMES[self._delimiter]} between, "
                    f"found one: {self._header[0]!r}",
                    hint=f"it has {name}: "
                    + ("say format='tsv'" if other == "\t" else "write it anew with commas"),
                    code="columns",
                    file=self.name,
                    line=1,
                )

    def _no_header(self) -> FormatError:
        names = self._header
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
            line=1,
        )

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        text, line = self._body
        yield from self._read(text, line)
        for text, line in self._pieces:
            yield from self._read(text, line)

    def _read(self, text: bytes, line: int) -> Iterator[tuple[Any, Lines]]:
        if not text.strip(b"\r\n"):
            if text:
                add_note(self.notes, "blank_lines", text.count(b"\n"), line)
            return
        arrow = load_arrow()
        quoted = self._blocks.find_quoted(text)
        try:
            table = self._parse(text)
        except arrow.ArrowInvalid:
            table = None
        if table is None or (quoted is not None and quoted.open_at is not None):
            start, wrong = self._explain(text, line)
            # What comes first is refused first.
            yield from self._read(text[:start], line)
            raise wrong
        lines, blank = self._blocks.find_lines(text, line, table.num_rows)
        if blank:
            add_note(self.notes, "blank_lines", blank, line)
        columns = {name: table.column(name).combine_chunks() for name in self.schema.names}
        self._note_scientific(columns, lines, text)
        self._read_numbers(columns, lines)
        yield arrow.RecordBatch.from_arrays(list(columns.values()), schema=self.schema), lines

    def _read_numbers(self, columns: dict[str, Any], lines: Lines) -> None:
        """Convert text columns that hold numbers."""
        mistakes = []
        for name, cells in columns.items():
            role = role_of(name, self.columns)
            if role in NUMBER_ROLES:
                columns[name], mistake = read_numbers(cells, role)
                if mistake is not None:
                    mistakes.append(mistake)
        if mistakes:
            row, error = min(mistakes, key=lambda mistake: mistake[0])
            error.file, error.line = self.name, lines.of_row(row)
            raise error

    def _note_scientific(self, columns: dict[str, Any], lines: Lines, text: bytes) -> None:
        if b"E+" not in text:
            return
        for name, cells in columns.items():
            if role_of(name, self.columns) in ID_ROLES:
                count, row = count_scientific(cells)
                if count:
                    add_note(self.notes, "id_looks_scientific", count, lines.of_row(row))

    def _parse(self, text: bytes) -> Any:  # noqa: ANN401 - PyArrow has no types
        arrow, reader = load_arrow(), load_arrow("pyarrow.csv")
        wanted = self.schema.names
        # Cells stay text: which of them are numbers or missing is for us to say.
        return reader.read_csv(
            open_text(text),
            read_options=reader.ReadOptions(column_names=self._header, block_size=2 * LONGEST_ROW),
            parse_options=reader.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=b'"' in text
            ),
            convert_options=reader.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, arrow.large_string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _explain(self, text: bytes, line: int) -> tuple[int, InputError]:
        """Find the first invalid record: where it begins, and what is wrong with it."""
        wanted = len(self._header)
        records = self._blocks.find_records(text)
        counts = self._blocks.count_fields(text)
        quoted = self._blocks.find_quoted(text)
        others = (counts != wanted).nonzero()[0].tolist()
        last = len(records.starts) - 1
        # A field that is open may hold any number of them.
        if quoted is not None and quoted.open_at is not None and others in ([], [last]):
            start = int(records.starts[last])
            return start, self._blocks.unterminated(text, quoted.open_at, line)
        row = others[0] if others else last
        start = int(records.starts[row])
        is_cut = row == last and not text.endswith(b"\n")
        wrong = FormatError(
            f"expected {wanted} fields, as the header has, found {counts[row]}",
            hint="the last line has no end: is the file cut off?"
            if is_cut
            else "quote a field that has the delimiter in it",
            code="field_count",
        )
        return start, self._blocks.place(wrong, text, start, line)
