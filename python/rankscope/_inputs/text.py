"""Readers of tables, and their text: checked while it is read, and again to find mistakes."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.doubles import code_of
from rankscope._inputs.files import FETCH_AGAIN, TextSource, damaged, first_line, open_file
from rankscope._inputs.roles import CHECKS, NUMBER_ROLES
from rankscope.deferred import pa, pc
from rankscope.errors import EmptyError, FormatError, LimitError, OutOfMemoryError, RankscopeError
from rankscope.measures.spelling import NUMBER
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.doubles import Foreign
    from rankscope._inputs.files import OpenFile
    from rankscope.errors import InputError

    Notes: TypeAlias = dict[str, tuple[int, int]]

BLOCK = 1 << 20
LONGEST_ROW = 128 << 20
"""A longer row is refused, because the whole row has to fit into memory."""
BOM = b"\xef\xbb\xbf"
DECIMAL = re.compile(NUMBER, re.ASCII)
SHOWN = 120
CLOSE = 'close it, or write a quote that is meant as such as "" in quotes'
ROOM = 4 << 20
"""What has to be left at each batch: with less, PyArrow may end the process."""
COMPUTED = "input_type", "compute it without rankscope to see the whole message"
"""The code and the hint of the error for a table that another library can't compute."""


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
        return int(self.of_rows(row + 1)[row])

    def of_rows(self, count: int) -> NDArray[np.int64]:
        """Return the lines of the first so many rows."""
        return np.arange(self.first, self.first + count) if self.find is None else self.find(count)


def add_note(notes: Notes, code: str, count: int, line: int) -> None:
    """Count something suspicious but legal, and keep the line where it was found first."""
    before, first = notes.get(code, (0, line))
    notes[code] = (before + count, first)


class Reader(ABC):
    """A file of rows, as batches of the wanted columns.

    Args:
        opened: The file.

    Attributes:
        name: The name for messages.
        names: The names of its columns, and of those that its folders name.
        columns: The columns that are wanted, by role.
        schema: The schema of its batches.
        notes: What was suspicious but legal: count and first line, by code.

    Raises:
        InputError: It isn't of its format, or has no such columns.
        FileError: It can't be read.
    """

    what, code, hint = "table", "field_count", FETCH_AGAIN

    def __init__(self, opened: OpenFile) -> None:
        self.name, self.opened = opened.name, opened
        self.schema = pa.schema([])  # says what to install if PyArrow is missing
        self.notes: Notes = {}
        with self.placed_errors():
            names, inside = self.read_names()
            inside = {} if opened.wanted.is_flat else inside
            # A column in the file comes first.
            beside = {name: text for name, text in opened.partitions.items() if name not in names}
            self.names = [*names, *(field for of in inside.values() for field in of), *beside]
            self.columns = opened.wanted.choose([*names, *beside], inside, self.name)
            wanted = dict.fromkeys(self.columns.values())
            inner = self.infer_schema([name for name in wanted if name not in beside])
            self.inner = self._drop_lists(inner)
            text = pa.large_string()
            fields = [pa.field(name, text) for name in wanted if name in beside]
            self.schema = pa.schema([*self.inner, *fields])
            self._cells = [(field, pa.scalar(beside[field.name], text)) for field in fields]

    def _drop_lists(self, schema: Foreign) -> Foreign:
        """Return a schema without lists and objects that only checks need."""
        for role, name in [*self.columns.items()]:
            at = schema.get_field_index(name) if role.startswith(CHECKS) else -1
            if at >= 0 and pa.types.is_nested(schema.types[at]):
                del self.columns[role]
                schema = schema.remove(at)
        return schema

    @abstractmethod
    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names of the columns, and of the fields of each list of objects."""

    def infer_schema(self, names: Sequence[str]) -> Foreign:
        """Return the types of some columns: numbers for the roles that are such, and texts."""
        self.numbers = {name: role for role, name in self.columns.items() if role in NUMBER_ROLES}
        return pa.schema(
            (name, pa.float64() if name in self.numbers else pa.string()) for name in names
        )

    @abstractmethod
    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Read batches of the inner schema, and the lines of their rows."""

    def __iter__(self) -> Iterator[tuple[Foreign, Lines]]:
        with self.placed_errors():
            # Nothing holds a batch while the next one is read.
            yield from map(self._add_cells, self.read_batches())

    def _add_cells(self, rows: tuple[Foreign, Lines]) -> tuple[Foreign, Lines]:
        batch, lines = rows
        np.empty(ROOM, np.uint8)
        for field, cell in self._cells:
            batch = batch.append_column(field, pa.repeat(cell, len(batch)))
        return batch, lines

    @contextmanager
    def placed_errors(self) -> Iterator[None]:
        """Turn what PyArrow raises into errors of this file."""
        try:
            np.empty(ROOM, np.uint8)
            yield
        except RankscopeError as error:
            error.file = error.file or self.name
            raise
        except MemoryError as error:
            raise OutOfMemoryError(
                f"not enough memory to read this {self.what} ({first_line(error)})",
                hint="read it in parts, or raise the memory limit of the process; is it whole?",
                code="memory",
                file=self.name,
            ) from error
        except Exception as error:
            raise damaged(self.what, error, self.code, self.name, self.hint) from error


class Text(TextSource):
    """The text of a table from its beginning, without a byte order mark.

    Args:
        opened: The file.
        notes: Where the byte order mark and the lines that are blank are noted.
        has_quotes: Whether double quotes enclose fields, which can be several lines.

    Attributes:
        quotes: How many such quotes there were so far.
        has_exponents: Whether there was an `E+`, as in numbers of spreadsheets.
        is_over: Whether nothing more is to be read. A thread of PyArrow that still read ahead when
            Python ends would abort the process.
    """

    def __init__(self, opened: OpenFile, notes: Notes, *, has_quotes: bool = False) -> None:
        opened.file.seek(0)
        super().__init__(opened)
        self.quotes = 0
        self._has_quotes = has_quotes
        self.has_exponents = self.is_over = False
        self._notes = notes
        self._lines = 0
        self._end = b""

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, another count only at the beginning, at the end and of Latin-1."""
        text = b"" if self.is_over else super().read(size)
        if not self._end:
            if text.startswith((b"\xff\xfe", b"\xfe\xff")):
                hint = "convert it: iconv -f UTF-16 -t UTF-8"
                raise FormatError(
                    "expected UTF-8, found UTF-16", hint=hint, code="encoding", line=1
                )
            if text.startswith(BOM):
                self._notes["bom"] = (1, 1)
                text = text[len(BOM) :] or super().read(size)
        if (at := text.find(b"\0")) >= 0:
            raise FormatError(
                "expected text, found a NUL byte",
                hint="the input is damaged or not text",
                code="nul_byte",
                line=self._lines + text.count(b"\n", 0, at) + 1,
            )
        self.quotes += text.count(b'"') if self._has_quotes else 0
        self.has_exponents = self.has_exponents or b"E+" in text
        plain = ((self._end or b"\n") + text).replace(b"\r\n", b"\n")
        if b"\n\n" in plain and not self.quotes:  # it can be within them
            before = self._lines + plain.count(b"\n", 0, plain.index(b"\n\n") + 1)
            add_note(self._notes, "blank_lines", plain.split(b"\n")[1:-1].count(b""), before)
        self._end = text[-1:] or self._end
        self._lines += text.count(b"\n")
        return text


def read_blocks(text: Text, most: int = LONGEST_ROW) -> Iterator[tuple[bytes, int]]:
    """Read whole lines, about a megabyte at once, with the number of the first one."""
    line, rest = 1, b""
    for block in iter(lambda: text.read(BLOCK), b""):
        head, end, tail = block.rpartition(b"\n")
        if end:
            yield rest + head + end, line
            line += block.count(b"\n")
            rest = b""
        rest += tail
        if len(rest) > most:
            raise long_row(line, most)
    if rest:
        yield rest, line


def read_lines(opened: OpenFile, most: int = LONGEST_ROW) -> Iterator[tuple[int, str]]:
    """Read the lines of text, one by one, each with its number."""
    with open_file(opened.given, opened.name) as again:
        for block, first in read_blocks(Text(replace(opened, file=again.file), {}), most):
            for line, text in enumerate(io.BytesIO(block), first):
                yield line, decode(text, line)


def decode(text: bytes, line: int) -> str:
    """Decode lines of text, the first of which has this number."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        at = error.start
        raise FormatError(
            f"expected UTF-8, found the byte 0x{text[at]:02x}",
            hint='convert the file, or say encoding="latin-1" if it is that',
            code="encoding",
            line=line + text.count(b"\n", 0, at),
            column=at - text.rfind(b"\n", 0, at),
        ) from None


def long_row(line: int, most: int = LONGEST_ROW) -> LimitError:
    """Return the error for a row that is too long."""
    return LimitError(
        f"expected rows of at most {most >> 20} MB, found a longer one",
        hint="check that the file has line ends, and that all quotes close",
        code="line_length",
        line=line,
    )


def raise_first(rows: Iterable[Any], check: Callable[[Any], InputError | None]) -> None:
    """Raise the first mistake in rows with lines, which are read again one by one."""
    for line, row in rows:
        if (error := check(row)) is not None:
            error.line = line
            raise error


def refuse_break(ids: Foreign, name: str, lines: Lines) -> None:
    """Raise an error for an ID with a line break, as after a quote that isn't closed."""
    for end in "\n\r":
        if (row := pc.match_substring(ids, end).index(True).as_py()) >= 0:
            raise FormatError(
                f"expected {name} on one line, found a line break in quotes: "
                f"{shorten(repr(ids[row].as_py()))}",
                hint=CLOSE,
                code="unterminated_quote",
                line=lines.of_row(row),
            )


def no_rows(what: str) -> EmptyError:
    """Return the error for a file without anything in it."""
    hint = "is the file empty?"
    return EmptyError(f"expected {what}, found none", hint=hint, code="empty_input")


def shorten(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def name_mistake(text: str, role: str) -> FormatError | None:
    """Return why text is not a number, `None` if it is one."""
    is_number = DECIMAL.fullmatch(text) is not None
    if is_number and abs(float(text)) != float("inf"):
        return None
    word = text.strip().lstrip("+-").lower()
    shown = shorten(text if text.isprintable() else ascii(text)[1:-1])
    wanted = {"relevance": "grade"}.get(role, role)
    kind, hint = "text", f"name the column that holds the {wanted}s, if this is another"
    if is_number or word in {"inf", "infinity"}:
        kind, hint = "infinite", "only numbers that double precision can hold are accepted"
    elif word.startswith("nan"):
        kind, hint = "nan", "NaN has no place in an order: leave the row out or give it a number"
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
