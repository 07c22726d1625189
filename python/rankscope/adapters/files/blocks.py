"""Cuts a text into blocks of whole records, checks their bytes, and knows the lines of rows."""

from __future__ import annotations

import re

from rankscope.errors import FormatError, InputError, LimitError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.adapters.files.opening import TextSource

BLOCK = 8 << 20
BOM = b"\xef\xbb\xbf"
LONE_CR = re.compile(rb"\r(?!\n|\Z)")


@record(frozen=True, slots=True)
class Lines:
    """The lines of the rows of a block.

    Args:
        first: The line of the first row.
        starts: How many lines after it each row stands; none where each row is one line.
    """

    first: int
    starts: NDArray[np.int64] | None = None

    def of_row(self, row: int) -> int:
        """The 1-based line of a row of the block, counted from 0."""
        return self.first + (row if self.starts is None else int(self.starts[row]))


@record(frozen=True, slots=True)
class Block:
    """Some whole records of a text.

    Args:
        text: Their bytes, which are UTF-8.
        first_line: The 1-based line on which they begin.
        is_last: Whether the text ends with them.
    """

    text: bytes
    first_line: int
    is_last: bool


class Blocks:
    """The blocks of a text whose records are lines, one after another.

    Args:
        source: The text.
        longest: The most bytes that a record may have.
    """

    def __init__(self, source: TextSource, longest: int) -> None:
        self.name = source.name
        self.has_bom = False
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
                self.check(whole, line)
                yield Block(whole, line, not more)
                line += whole.count(b"\n")
            if not more:
                return
            if len(rest) > self._longest:
                raise self.refuse_long(rest, line)

    def find_end(self, text: bytes) -> int:
        """Find where the last whole record ends; 0 where there is none."""
        return text.rfind(b"\n") + 1

    def check(self, text: bytes, line: int) -> None:
        """Refuse bytes that no text has.

        Raises:
            FormatError: A NUL byte, a carriage return alone, or bytes that are not UTF-8.
        """
        self.check_nul(text, line)
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError as error:
                wrong = FormatError(
                    f"expected UTF-8, found the byte 0x{text[error.start]:02x}",
                    hint='convert the file, or say encoding="latin-1" if it is that',
                    code="encoding",
                )
                raise self.place(wrong, text, error.start, line) from error
        if b"\r" in text:
            self.check_line_ends(text, line)

    def check_nul(self, text: bytes, line: int) -> None:
        """Refuse NUL bytes.

        Raises:
            FormatError: There is one.
        """
        at = text.find(b"\0")
        if at >= 0:
            wrong = FormatError(
                "expected text, found a NUL byte",
                hint="the input is damaged or not text",
                code="nul_byte",
            )
            raise self.place(wrong, text, at, line)

    def check_line_ends(self, text: bytes, line: int) -> None:
        """Refuse carriage returns that no newline follows.

        Raises:
            FormatError: There is one.
        """
        found = LONE_CR.search(text)
        if found is not None:
            raise self.lone_cr(text, found.start(), line)

    def lone_cr(self, text: bytes, at: int, line: int) -> InputError:
        """Say that there is a carriage return that no newline follows."""
        wrong = FormatError(
            "expected lines ended by LF or CRLF, found a lone CR",
            hint=r"convert the line ends: tr '\r' '\n'",
            code="line_ending",
        )
        return self.place(wrong, text, at, line)

    def refuse_long(self, text: bytes, line: int) -> InputError:
        """Say what is wrong with a record that is too long."""
        self.check_nul(text, line)
        if b"\r" in text:
            self.check_line_ends(text, line)
        wrong = LimitError(
            f"expected rows of at most {self._longest} bytes, found a longer one",
            hint="check that the file has line ends",
            code="line_length",
        )
        return self.place(wrong, text, 0, line)

    def place(self, error: InputError, text: bytes, at: int, line: int) -> InputError:
        """Say where an error was found: at a byte of a block that begins on a line."""
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
        self.has_bom = text.startswith(BOM)
        return text[len(BOM) :] if self.has_bom else text
