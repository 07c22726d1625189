"""The text of a table: checked while it is read, and read again to say where it is wrong."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.doubles import code_of
from rankscope.errors import FormatError, InputError, LimitError
from rankscope.measures.spelling import NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from numpy.typing import NDArray

    from rankscope._inputs.files import OpenFile

BLOCK = 1 << 20
LONGEST_ROW = 128 << 20
"""A longer row is refused, because the whole row has to fit into memory."""
BOM = b"\xef\xbb\xbf"
DECIMAL = re.compile(NUMBER, re.ASCII)
NUMBER_ROLES = ("relevance", "score", "rank", "weight")
SHOWN = 120


@dataclass(frozen=True, slots=True)
class Lines:
    """The line numbers of the rows of a batch, from 1.

    Args:
        first: The line of the first row; the others follow, unless there is a function.
        find: Finds the lines of the first so many rows.
    """

    first: int
    find: Callable[[int], NDArray[np.int64]] | None = None

    def of_row(self, row: int) -> int:
        """Return the line of a row, whose index starts at 0."""
        return self.first + row if self.find is None else int(self.find(row + 1)[row])

    def of_rows(self, count: int) -> NDArray[np.int64]:
        """Return the lines of the first so many rows."""
        if self.find is None:
            return np.arange(self.first, self.first + count, dtype=np.int64)
        return self.find(count)


def add_note(notes: dict[str, tuple[int, int]], code: str, count: int, line: int) -> None:
    """Count something suspicious but legal, and keep the line where it was found first."""
    before, first = notes.get(code, (0, line))
    notes[code] = (before + count, first)


class Text(io.RawIOBase):
    """The text of a file from its beginning: unpacked, in UTF-8, without a byte order mark.

    Args:
        opened: The file.
        file: The file opened once more, if it is read another time.
        has_quoted_lines: Whether a blank line can be within quotes.

    Attributes:
        quotes: How many double quotes there were so far.
        has_exponents: Whether there was an `E+`, as in numbers of spreadsheets.
        notes: The byte order mark, and the lines that are blank.
        is_over: Whether nothing more is to be read. A thread of PyArrow that still read ahead when
            Python ends would abort the process.
    """

    def __init__(
        self, opened: OpenFile, file: BinaryIO | None = None, *, has_quoted_lines: bool = True
    ) -> None:
        super().__init__()
        self._has_quoted_lines = has_quoted_lines
        self.quotes = 0
        self.has_exponents = self.is_over = False
        self.notes: dict[str, tuple[int, int]] = {}
        self._source = opened.read_text(file)
        self._name = opened.name
        self._lines = 0
        self._rest = b""
        self._end = b"\n"
        self._is_first = True

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, fewer only at the end."""
        most = BLOCK if size < 0 else size
        while len(self._rest) < most and not self.is_over:
            more = self._check(self._source.read(BLOCK))
            if not more:
                break
            self._rest += more
        text, self._rest = self._rest[:most], self._rest[most:]
        return text

    def skip(self, lines: int) -> None:
        """Skip so many lines."""
        while lines and (text := self.read()):
            *skipped, rest = text.split(b"\n", lines)
            lines -= len(skipped)
            self._rest = self._rest if lines else rest + self._rest

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as io calls it
        """Read into a buffer."""
        text = self.read(len(buffer))
        buffer[: len(text)] = text
        return len(text)

    def _check(self, text: bytes) -> bytes:
        if self._is_first and text.startswith((b"\xff\xfe", b"\xfe\xff")):
            hint = "convert it: iconv -f UTF-16 -t UTF-8"
            raise self._refuse("UTF-8", "UTF-16", hint, "encoding", 1)
        if self._is_first and text.startswith(BOM):
            self.notes["bom"] = (1, 1)
            text = text[len(BOM) :] or self._source.read(BLOCK)
        self._is_first = False
        if (at := text.find(b"\0")) >= 0:
            line = self._lines + text.count(b"\n", 0, at) + 1
            hint = "the input is damaged or not text"
            raise self._refuse("text", "a NUL byte", hint, "nul_byte", line)
        self.quotes += text.count(b'"')
        self.has_exponents = self.has_exponents or b"E+" in text
        self._count_blank(text)
        self._lines += text.count(b"\n")
        return text

    def _count_blank(self, text: bytes) -> None:
        plain = (self._end + text).replace(b"\r\n", b"\n")
        self._end = text[-1:]
        if b"\n\n" not in plain or (self.quotes and self._has_quoted_lines):
            return
        is_end = np.frombuffer(plain, np.uint8) == ord("\n")
        is_blank = is_end[1:] & is_end[:-1]
        before = int(is_end[: int(is_blank.argmax()) + 1].sum())
        add_note(self.notes, "blank_lines", int(is_blank.sum()), self._lines + before)

    def _refuse(self, wanted: str, found: str, hint: str, code: str, line: int) -> FormatError:
        message = f"expected {wanted}, found {found}"
        return FormatError(message, hint=hint, code=code, file=self._name, line=line)


def read_lines(opened: OpenFile, most: int = LONGEST_ROW) -> Iterator[tuple[int, str]]:
    """Read the lines of text, one by one, each with its number."""
    with opened.open_again() as file:
        buffered = io.BufferedReader(Text(opened, file), BLOCK)
        for number in count(1):
            line = buffered.readline(most + 1)
            if not line:
                return
            if len(line) > most:
                raise long_row(opened.name, number, most)
            yield number, _decode(line, opened.name, number)


def _decode(text: bytes, file: str, line: int) -> str:
    """Decode lines of text, the first of which has this number."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        at = error.start
        raise FormatError(
            f"expected UTF-8, found the byte 0x{text[at]:02x}",
            hint='convert the file, or say encoding="latin-1" if it is that',
            code="encoding",
            file=file,
            line=line + text.count(b"\n", 0, at),
            column=at - text.rfind(b"\n", 0, at),
        ) from None


def read_blocks(opened: OpenFile, text: Text) -> Iterator[tuple[bytes, int]]:
    """Read whole lines of UTF-8, about a megabyte at once, with the number of the first one."""
    line, size = 1, 0
    parts: list[bytes] = []
    while block := text.read(BLOCK):
        head, end, tail = block.rpartition(b"\n")
        parts.append(head + end or tail)
        size += len(block)
        if end:
            whole = b"".join(parts)
            _decode(whole, opened.name, line)
            yield whole, line
            line += whole.count(b"\n")
            parts, size = [tail], len(tail)
        if size > LONGEST_ROW:
            raise long_row(opened.name, line)
    if size:
        whole = b"".join(parts)
        _decode(whole, opened.name, line)
        yield whole, line


def long_row(file: str, line: int | None = None, most: int = LONGEST_ROW) -> LimitError:
    """Return the error for a row that is too long."""
    return LimitError(
        f"expected rows of at most {most >> 20} MB, found a longer one",
        hint="check that the file has line ends, and that all quotes close",
        code="line_length",
        file=file,
        line=line,
    )


def find_first(
    opened: OpenFile, find: Callable[[], InputError | None], otherwise: Exception, code: str
) -> InputError:
    """Return the first mistake in a text that PyArrow refused, or what PyArrow says."""
    try:
        error = find()
    except InputError as wrong:
        error = wrong
    reason = (str(otherwise).splitlines() or [""])[0]
    error = error or FormatError(
        f"expected a whole table, found something else ({reason:.200})",
        hint="fetch or write it again; nothing was taken from it",
        code=code,
    )
    error.file = opened.name
    return error


def name_mistake(text: str, role: str) -> FormatError | None:
    """Return why text is not a number, `None` if it is one."""
    is_number = DECIMAL.fullmatch(text) is not None
    if is_number and abs(float(text)) != float("inf"):
        return None
    word = text.strip().lstrip("+-").lower()
    shown = text if text.isprintable() else ascii(text)[1:-1]
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
    wanted = {"relevance": "grade"}.get(role, role)
    kind, hint = "text", f"name the column that holds the {wanted}s, if this is another"
    if is_number or word in {"inf", "infinity"}:
        kind, hint = "infinite", NOT_FINITE["infinite"]
    elif word.startswith("nan"):
        kind, hint = "nan", NOT_FINITE["nan"]
    elif DECIMAL.fullmatch(text.strip("%$€£ ").replace(",", ".")):
        hint = "write it with digits and a decimal point only, as 0.5"
    elif word in {"true", "false"} and role == "relevance":
        hint = "write grades as 1 and 0: a text file doesn't say what its words mean"
    finite = "" if kind == "text" else "finite "
    return FormatError(
        f"expected a {finite}{wanted}, found `{shown}`",
        hint=hint,
        code=code_of(kind, role),
        value=shown,
    )


NOT_FINITE = {
    "nan": "NaN has no place in an order: leave the row out or give it a number",
    "infinite": "only numbers that double precision can hold are accepted",
}
"""How to mend what is no finite number."""
