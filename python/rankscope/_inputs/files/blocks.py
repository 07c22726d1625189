"""Splits text into blocks of whole records, checks their bytes, and tracks line numbers."""

from __future__ import annotations

import re

from rankscope.errors import FormatError, InputError, LimitError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from rankscope._inputs.paths import TextSource

BLOCK = 2 << 20
BOM = b"\xef\xbb\xbf"
LONE_CR = re.compile(rb"\r(?!\n|\Z)")


@record(frozen=True, slots=True)
class Lines:
    """The line numbers of the rows of a block.

    Args:
        first: The line of the first row.
        starts: How many lines after it each row stands; none where each row is one line.
    """

    first: int
    starts: NDArray[np.int64] | None = None

    def of_row(self, row: int) -> int:
        """Return the 1-based line number of a row, whose index starts at 0."""
        return self.first + (row if self.starts is None else int(self.starts[row]))


@record(frozen=True, slots=True)
class Block:
    """Some whole records of text.

    Args:
        text: Their bytes, which are UTF-8.
        first_line: The 1-based line on which they begin.
        is_last: Whether the text ends with them.
    """

    text: bytes
    first_line: int
    is_last: bool


class Blocks:
    """Reads text whose records are lines, block by block.

    Args:
        source: The text.
        longest: The most bytes that a record may have.
    """

    def __init__(self, source: TextSource, longest: int) -> None:
        self.name = source.name
        self.notes: dict[str, tuple[int, int]] = {}
        self._source = source
        self._longest = longest

    def __iter__(self) -> Iterator[Block]:
        line = 1
        rest = b""
        is_first = True
        while True:
            more = self._source.read(BLOCK)
            text = rest + more if rest else more
            if is_first:
                text, is_first = self._without_bom(text), False
            end = self.find_end(text) if more else len(text)
            whole, rest = text[:end], text[end:]
            if whole:
                wrong = self.check(whole, line)
                if wrong is not None:
                    # What comes first is refused first, however the text is cut.
                    start = self.find_end(whole[: find_line(whole, wrong, line)])
                    if start > 0:
                        yield Block(whole[:start], line, is_last=False)
                    raise wrong
                yield Block(whole, line, not more)
                line += whole.count(b"\n")
            if not more:
                return
            if len(rest) > self._longest:
                raise self.refuse_long(rest, line)

    def find_end(self, text: bytes) -> int:
        """Find where the last whole record ends, 0 if there is none."""
        return text.rfind(b"\n") + 1

    def check(self, text: bytes, line: int) -> InputError | None:
        """Find bytes that are not valid in text: NUL, a lone carriage return, invalid UTF-8."""
        found: list[tuple[int, Callable[[int], InputError]]]
        found = [(text.find(b"\0"), self._nul), (self.find_lone_cr(text), self._lone_cr)]
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                found.append((error.start, self._not_utf8))
        if len(text) > self._longest:
            found.append((self.find_long(text), self._too_long))
        wrong = [(at, say) for at, say in found if at >= 0]
        if not wrong:
            return None
        at, say = min(wrong, key=lambda pair: pair[0])
        return self.place(say(text[at]), text, at, line)

    def find_long(self, text: bytes) -> int:
        """Find the first record that is too long, -1 if there is none."""
        step = self._longest // 2
        at = 0
        # A line that is too long has no end in one of these steps.
        while at + step < len(text) and text.find(b"\n", at, at + step) >= 0:
            at += step
        if at + step >= len(text):
            return -1
        start = 0
        while (end := text.find(b"\n", start)) >= 0 and end - start <= self._longest:
            start = end + 1
        is_long = len(text) - start > self._longest
        return start if is_long else -1

    def find_lone_cr(self, text: bytes) -> int:
        """Find the first carriage return without a newline, -1 if there is none."""
        found = LONE_CR.search(text) if b"\r" in text else None
        return -1 if found is None else found.start()

    def refuse_long(self, text: bytes, line: int) -> InputError:
        """Return the error for a record that is too long."""
        # What was cut off at the limit may end within a character.
        wrong = self.check(text[: self._longest].decode(errors="ignore").encode(), line)
        return wrong or self.place(self._too_long(0), text, 0, line)

    def _too_long(self, _: int) -> LimitError:
        return LimitError(
            f"expected rows of at most {self._longest} bytes, found a longer one",
            hint="check that the file has line ends",
            code="line_length",
        )

    def _nul(self, _: int) -> FormatError:
        return FormatError(
            "expected text, found a NUL byte",
            hint="the input is damaged or not text",
            code="nul_byte",
        )

    def _lone_cr(self, _: int) -> FormatError:
        return FormatError(
            "expected lines ended by LF or CRLF, found a lone CR",
            hint=r"convert the line ends: tr '\r' '\n'",
            code="line_ending",
        )

    def _not_utf8(self, byte: int) -> FormatError:
        return FormatError(
            f"expected UTF-8, found the byte 0x{byte:02x}",
            hint='convert the file, or say encoding="latin-1" if it is that',
            code="encoding",
        )

    def place(self, error: InputError, text: bytes, at: int, line: int) -> InputError:
        """Add the line and column of a byte offset to an error."""
        error.file = self.name
        error.line = line + text.count(b"\n", 0, at)
        error.column = at - text.rfind(b"\n", 0, at)
        return error

    def _without_bom(self, text: bytes) -> bytes:
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            wrong = FormatError(
                "expected UTF-8, found UTF-16",
                hint="convert it: iconv -f UTF-16 -t UTF-8",
                code="encoding",
            )
            raise self.place(wrong, text, 0, 1)
        if text.startswith(BOM):
            self.notes["bom"] = (1, 1)
        return text.removeprefix(BOM)


def add_note(notes: dict[str, tuple[int, int]], code: str, count: int, line: int) -> None:
    """Count something suspicious but legal, and keep the line where it was found first."""
    before, first = notes.get(code, (0, line))
    notes[code] = (before + count, first)


def find_line(text: bytes, error: InputError, first_line: int) -> int:
    """Find where the line with an error begins."""
    at = 0
    for _ in range((error.line or first_line) - first_line):
        at = text.find(b"\n", at) + 1
    return at
