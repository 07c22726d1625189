"""Blocks of delimited text, in which quoted fields may contain line breaks."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import FormatError, InputError
from rankscope.inputs.files.blocks import LONE_CR, Blocks, Lines
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.inputs.files.opening import TextSource

    Positions = NDArray[np.int64]

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
