"""Delimited text with a header: CSV and TSV."""

from __future__ import annotations

import csv
import io
from itertools import chain

from rankscope._inputs.arrow import load_arrow, open_text
from rankscope._inputs.files.blocks import LONE_CR, Block, Blocks, Lines, add_note
from rankscope._inputs.files.cells import count_scientific, read_numbers
from rankscope._inputs.files.roles import ID_ROLES, NUMBER_ROLES, role_of
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError, InputError, LimitError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.paths import OpenFile, TextSource

    Positions = NDArray[np.int64]

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
        self._delimiter = DELIMITERS[opened.form]
        self._blocks = QuotedBlocks(opened.read_text(), LONGEST_ROW, self._delimiter.encode())
        self.notes = self._blocks.notes
        self._pieces = iter(self._blocks)
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

    def _read_header(self) -> Block:
        """Read the first non-blank row, and return the rest of its block."""
        for block in self._pieces:
            text = block.text
            rows = csv.reader(io.StringIO(text.decode(), newline="\n"), delimiter=self._delimiter)
            for row in rows:
                if not row:
                    continue
                self._header = [name.strip() for name in row]
                end = 0
                for _ in range(rows.line_num):
                    end = text.find(b"\n", end) + 1 or len(text)
                return Block(text[end:], block.first_line + rows.line_num, block.is_last)
        raise EmptyError(
            "expected a first line that names the columns, found none",
            hint="is the file empty?",
            code="empty_input",
            file=self.name,
        )

    def _check_header(self) -> None:
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
        for block in chain([self._body], self._pieces):
            yield from self._read(block)

    def _read(self, block: Block) -> Iterator[tuple[Any, Lines]]:
        text, line = block.text, block.first_line
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
            yield from self._read(Block(text[:start], line, is_last=False))
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


QUOTE, LF, CR = b'"\n\r'


@record(frozen=True, slots=True)
class Quoted:
    """Where quotes open and close in text. The last one may stay open.

    Args:
        opens: The positions of quotes after which a field is quoted.
        closes: The positions of quotes after which it is not.
    """

    opens: Positions
    closes: Positions

    @property
    def open_at(self) -> int | None:
        """The position of a quote that never closes, if there is one."""
        return int(self.opens[-1]) if len(self.opens) > len(self.closes) else None

    def is_inside(self, positions: Positions) -> NDArray[np.bool_]:
        """Check for each position whether it is inside quotes."""
        inside: NDArray[np.bool_] = self.opens.searchsorted(positions) > self.closes.searchsorted(
            positions
        )
        return inside


def find_quoted(text: bytes, delimiter: bytes) -> Quoted:
    """Find quoted fields. Quotes open where fields begin, and two inside are one."""
    characters = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(characters == QUOTE)
    opens, closes = quotes[0::2], quotes[1::2]
    # Two quotes in quotes close and open at once, so that they need no look of their own.
    before = characters[np.maximum(opens - 1, 0)]
    after = characters[np.minimum(closes + 1, len(text) - 1)]
    is_start = (opens == 0) | np.isin(before, [QUOTE, LF, *delimiter])
    is_end = (closes == len(text) - 1) | np.isin(after, [QUOTE, LF, CR, *delimiter])
    if is_start.all() and is_end.all():
        return Quoted(opens, closes)
    return _find_one_by_one(text, delimiter, quotes.tolist())


def _find_one_by_one(text: bytes, delimiter: bytes, quotes: list[int]) -> Quoted:
    """Find quoted fields in text that has quotes within fields, such as the sign for inches."""
    starts = {LF, *delimiter}
    opens: list[int] = []
    closes: list[int] = []
    skipped = -1
    for at in quotes:
        if at == skipped:
            continue
        if len(opens) == len(closes):
            if at == 0 or text[at - 1] in starts:
                opens.append(at)
        elif text[at + 1 : at + 2] == b'"':
            skipped = at + 1
        else:
            closes.append(at)
    return Quoted(np.array(opens, dtype=np.int64), np.array(closes, dtype=np.int64))


@record(frozen=True, slots=True)
class Records:
    """The records of text.

    Args:
        starts: Where those begin that are not blank.
        ends: Where all records end, blank ones as well; the last one need not have an end.
        newlines: Where all lines end, those in quotes as well.
        blank: How many records are blank.
    """

    starts: Positions
    ends: Positions
    newlines: Positions
    blank: int


class QuotedBlocks(Blocks):
    """Reads delimited text block by block.

    Args:
        source: The text.
        longest: The most bytes that a record may have.
        delimiter: What separates its fields.
    """

    def __init__(self, source: TextSource, longest: int, delimiter: bytes) -> None:
        super().__init__(source, longest)
        self._delimiter = delimiter
        self._last: tuple[bytes, Quoted | None, Records | None] = (b"", None, None)

    def find_quoted(self, text: bytes) -> Quoted | None:
        """Find quoted fields, if there are any."""
        # One text is asked about again and again, while it is looked at.
        if self._last[0] is not text:
            quoted = find_quoted(text, self._delimiter) if b'"' in text else None
            self._last = (text, quoted, None)
        return self._last[1]

    def find_end(self, text: bytes) -> int:
        """Find where the last whole record ends, 0 if there is none."""
        quoted = self.find_quoted(text)
        end = text.rfind(b"\n")
        while quoted is not None and end >= 0:
            number = int(quoted.closes.searchsorted(end))
            if number == len(quoted.opens) or quoted.opens[number] > end:
                break
            end = text.rfind(b"\n", 0, int(quoted.opens[number]))
        return end + 1

    def find_lines(self, text: bytes, first_line: int, rows: int) -> tuple[Lines, int]:
        """Find the line of each non-blank record, and count the blank ones."""
        is_ended = text.endswith(b"\n")
        if b'"' not in text and text.count(b"\n") + (not is_ended) == rows:
            return Lines(first_line), 0
        records = self.find_records(text)
        starts = records.newlines.searchsorted(records.starts)
        if len(starts) == len(records.newlines) + (not is_ended):
            return Lines(first_line), 0
        return Lines(first_line, starts), records.blank

    def find_records(self, text: bytes) -> Records:
        """Find where each non-blank record begins."""
        quoted = self.find_quoted(text)
        if self._last[2] is not None:
            return self._last[2]
        characters = np.frombuffer(text, dtype=np.uint8)
        newlines = np.flatnonzero(characters == LF)
        ends = newlines if quoted is None else newlines[~quoted.is_inside(newlines)]
        starts = np.concatenate([[0], ends + 1])
        starts = starts[starts < len(text)]
        following = characters[np.minimum(starts + 1, len(text) - 1)]
        first = characters[starts]
        is_blank = (first == LF) | ((first == CR) & (following == LF))
        records = Records(starts[~is_blank], ends, newlines, int(is_blank.sum()))
        self._last = (text, quoted, records)
        return records

    def count_fields(self, text: bytes) -> Positions:
        """Count the fields of each non-blank record."""
        delimiters = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord(self._delimiter))
        quoted = self.find_quoted(text)
        if quoted is not None:
            delimiters = delimiters[~quoted.is_inside(delimiters)]
        starts = delimiters.searchsorted(self.find_records(text).starts)
        return np.diff(starts, append=len(delimiters)) + 1

    def find_long(self, text: bytes) -> int:
        """Find the first record that is too long, -1 if there is none."""
        if b'"' not in text:
            return super().find_long(text)

        records = self.find_records(text)
        ends = np.append(records.ends, len(text))
        starts = records.starts
        is_long = ends[ends.searchsorted(starts)] - starts > self._longest
        return int(starts[is_long.argmax()]) if is_long.any() else -1

    def find_lone_cr(self, text: bytes) -> int:
        """Find the first carriage return outside quotes that isn't followed by a newline."""
        if b"\r" not in text:
            return -1
        found = np.array([match.start() for match in LONE_CR.finditer(text)], dtype=np.int64)
        quoted = self.find_quoted(text)
        if len(found) and quoted is not None:
            found = found[~quoted.is_inside(found)]
        return int(found[0]) if len(found) else -1

    def refuse_long(self, text: bytes, line: int) -> InputError:
        """Return the error for a record that is too long."""
        wrong = super().refuse_long(text, line)
        quoted = self.find_quoted(text)
        if wrong.code != "line_length" or quoted is None or quoted.open_at is None:
            return wrong
        return self.unterminated(text, quoted.open_at, line)

    def unterminated(self, text: bytes, at: int, line: int) -> InputError:
        """Return the error for a quote that never closes."""
        wrong = FormatError(
            "expected a quoted field to end, found no closing quote",
            hint='close it, or write a quote that is meant as such as "" in quotes',
            code="unterminated_quote",
        )
        return self.place(wrong, text, at, line)
