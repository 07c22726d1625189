"""Readers of tables, and their text: checked while it is read, and again to find mistakes."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rankscope._inputs.column_names import CHECKS, NUMBER_ROLES
from rankscope._inputs.columns import are_finite
from rankscope._inputs.files import (
    FETCH_AGAIN,
    OpenFile,
    TextSource,
    damaged,
    first_line,
    open_file,
)
from rankscope._inputs.numbers import Foreign, code_of
from rankscope._names import quote
from rankscope.errors import (
    EmptyError,
    FormatError,
    InputError,
    LimitError,
    OutOfMemoryError,
    RankscopeError,
)
from rankscope.measures.domains import SPELLED_NUMBER

Notes: TypeAlias = dict[str, tuple[int, int]]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BLOCK = 1 << 20
# A longer row is refused, because the whole row has to fit into memory.
LONGEST_ROW = 128 << 20
BOM = b"\xef\xbb\xbf"
DECIMAL = re.compile(SPELLED_NUMBER, re.ASCII)
SHOWN = 120
CLOSE = 'close it, or write a quote that is meant as such as "" in quotes'
# What has to be left at each batch: with less, PyArrow may end the process.
ROOM = 4 << 20
# The code and the hint of the error for a table that another library can't compute.
COMPUTED = "input_type", "compute it without rankscope to see the whole message"


class Lines(NamedTuple):
    """The line numbers of the rows of a batch, from 1.

    Those after the first row follow, unless `find` finds the lines of the first so many rows.
    """

    first: int
    find: Callable[[int], NDArray[np.int64]] | None = None

    def of_row(self, row: int) -> int:
        """Return the line of a row, whose index starts at 0."""
        return int(self.of_rows(row + 1)[row])

    def of_rows(self, count: int) -> NDArray[np.int64]:
        """Return the lines of the first so many rows."""
        import numpy as np

        return np.arange(self.first, self.first + count) if self.find is None else self.find(count)


def add_note(notes: Notes, code: str, count: int, line: int) -> None:
    """Count something suspicious but legal, and keep the line where it was found first."""
    before, first = notes.get(code, (0, line))
    notes[code] = (before + count, first)


class Reader(ABC):
    """A file of rows, as batches of the selected columns.

    `names` are those of its columns and of those that its folders name; `columns` are the selected
    ones by role, and `schema` is that of the batches. `notes` has what was suspicious but legal:
    count and first line, by code.
    """

    what, code, hint = "table", "field_count", FETCH_AGAIN

    def __init__(self, opened: OpenFile) -> None:
        import pyarrow as pa

        self.name, self.opened = opened.name, opened
        self.schema = pa.schema([])  # says what to install if PyArrow is missing
        self.notes: Notes = {}
        with self.placed_errors():
            names, inside = self.read_names()
            inside = {} if opened.selection.is_flat else inside
            # A column in the file comes first.
            beside = {name: text for name, text in opened.partitions.items() if name not in names}
            self.names = [*names, *(field for of in inside.values() for field in of), *beside]
            self.columns = opened.selection.choose([*names, *beside], inside, self.name)
            chosen = dict.fromkeys(self.columns.values())
            inner = self.infer_schema([name for name in chosen if name not in beside])
            for role, name in [*self.columns.items()]:
                # Lists and objects that only checks need are left out.
                at = inner.get_field_index(name) if role.startswith(CHECKS) else -1
                if at >= 0 and pa.types.is_nested(inner.types[at]):
                    del self.columns[role]
                    inner = inner.remove(at)
            self.inner, text = inner, pa.large_string()
            self._cells = {name: pa.scalar(beside[name], text) for name in chosen if name in beside}
            self.schema = pa.schema([*inner, *((name, text) for name in self._cells)])

    @abstractmethod
    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names of the columns, and of the fields of each list of objects."""

    def infer_schema(self, names: Sequence[str]) -> Foreign:
        """Return the types of some columns: numbers for the roles that are such, and texts."""
        import pyarrow as pa

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
        import numpy as np
        import pyarrow as pa

        batch, lines = rows
        np.empty(ROOM, np.uint8)
        for name, cell in self._cells.items():
            batch = batch.append_column(name, pa.repeat(cell, len(batch)))
        return batch, lines

    @contextmanager
    def placed_errors(self) -> Iterator[None]:
        """Turn what PyArrow raises into errors of this file."""
        import numpy as np

        try:
            np.empty(ROOM, np.uint8)
            yield
        except RankscopeError as error:
            error.file = error.file or self.name
            raise
        except MemoryError as error:
            message = f"not enough memory to read this {self.what} ({first_line(error)})"
            hint = "read it in parts, or raise the memory limit of the process; is it whole?"
            raise OutOfMemoryError(message, hint=hint, code="memory", file=self.name) from error
        except Exception as error:
            raise damaged(self.what, error, self.code, self.name, self.hint) from error


class Text(TextSource):
    """The text of a table from its beginning, without a byte order mark, of which notes are made.

    Where double quotes enclose fields, which can be several lines, `quotes` counts them.
    `has_exponents` says whether there was an `E+`, as in numbers of spreadsheets. Nothing more is
    read once it `is_over`: a thread of PyArrow that still read ahead when Python ends would abort
    the process.
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
            hint, line = "the input is damaged or not text", text.count(b"\n", 0, at) + 1
            message = "expected text, found a NUL byte"
            raise FormatError(message, hint=hint, code="nul_byte", line=self._lines + line)
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
    with open_file(opened.source, opened.name) as again:
        for block, first in read_blocks(Text(opened._replace(file=again.file), {}), most):
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
    message = f"expected rows of at most {most >> 20} MB, found a longer one"
    hint = "check that the file has line ends, and that all quotes close"
    return LimitError(message, hint=hint, code="line_length", line=line)


def raise_first(rows: Iterable[Any], check: Callable[[Any], InputError | None]) -> None:
    """Raise the first mistake in rows with lines, which are read again one by one."""
    for line, row in rows:
        if (error := check(row)) is not None:
            error.line = line
            raise error


def refuse_break(ids: Foreign, name: str, lines: Lines) -> None:
    """Raise an error for an ID with a line break, as after a quote that isn't closed."""
    import pyarrow.compute as pc

    for end in "\n\r":
        if (row := pc.match_substring(ids, end).index(True).as_py()) >= 0:
            problem = f"a line break in quotes: {quote(ids[row].as_py())}"
            message, line = f"expected {name} on one line, found {problem}", lines.of_row(row)
            raise FormatError(message, hint=CLOSE, code="unterminated_quote", line=line)


def no_rows(what: str) -> EmptyError:
    """Return the error for a file without anything in it."""
    hint = "is the file empty?"
    return EmptyError(f"expected {what}, found none", hint=hint, code="empty_input")


def shorten(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def parse_numbers(cells: Foreign, role: str) -> Foreign:
    """Read texts as finite numbers; an error has the row as its line."""
    import pyarrow as pa

    with suppress(pa.ArrowInvalid):
        numbers = cells.cast(pa.float64())
        if are_finite(numbers):
            return numbers
    for row, text in enumerate(cells.to_pylist(), start=1):
        if text is not None and (error := name_mistake(text, role)) is not None:
            error.line = row
            raise error
    return pa.array(
        [None if text is None else float(text) for text in cells.to_pylist()], pa.float64()
    )


def name_mistake(text: str, role: str) -> FormatError | None:
    """Return why text is not a number, `None` if it is one."""
    is_number = DECIMAL.fullmatch(text) is not None
    if is_number and abs(float(text)) != float("inf"):
        return None
    word = text.strip().lstrip("+-").lower()
    shown = shorten(text if text.isprintable() else ascii(text)[1:-1])
    noun = {"relevance": "grade"}.get(role, role)
    kind, hint = "text", f"name the column that holds the {noun}s, if this is another"
    if is_number or word in {"inf", "infinity"}:
        kind, hint = "infinite", "only numbers that double precision can hold are accepted"
    elif word.startswith("nan"):
        kind, hint = "nan", "NaN has no place in an order: leave the row out or give it a number"
    elif DECIMAL.fullmatch(text.strip("%$€£ ").replace(",", ".")):
        hint = "write it with digits and a decimal point only, as 0.5"
    elif word in {"true", "false"} and role == "relevance":
        hint = "write grades as 1 and 0: a text file doesn't say what its words mean"
    message = f"expected a {'' if kind == 'text' else 'finite '}{noun}, found `{shown}`"
    return FormatError(message, hint=hint, code=code_of(kind, role), value=shown)
