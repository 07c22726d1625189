"""Tables of named columns, with identifiers as the caller has them; and how cells are printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from rankscope._names import check_choice
from rankscope._settings import Policy
from rankscope._show import Printed, Tabular
from rankscope.errors import UsageError

Rows: TypeAlias = dict[Any, dict[str, float]]
Shape: TypeAlias = Literal["wide", "long"]
Cell = str | int | float | None

if TYPE_CHECKING:
    from uuid import UUID

    from numpy.typing import NDArray

    from rankscope.measures import Measure

    Ids: TypeAlias = list[str] | list[int] | list[UUID]
    ColumnValues: TypeAlias = Sequence[Any] | NDArray[Any]
    Column: TypeAlias = ColumnValues | Callable[[], ColumnValues]


def format_value(value: float) -> str:
    """Return a value with four decimal places, like trec_eval."""
    return "nan" if value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN alone differs


def format_share(share: float) -> str:
    """Write a share as a percentage.

    Examples:
        >>> print(format_share(0.1234))
        12.3%
    """
    return f"{100 * share:.1f}%"


def show(text: str) -> str:
    r"""Return a text on one line, with escapes for characters that aren't printable.

    Examples:
        >>> print(show("a\tb\u202e"))
        a\tb\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


LONGEST_NAME = 60
"""Longer names are cut where they stand in a sentence."""


def show_name(name: str) -> str:
    r"""Return a name as part of a sentence, whose direction stays its own.

    Examples:
        >>> show_name("bm25"), show_name("\u05e9\u05dc") == "\u2068\u05e9\u05dc\u2069"
        ('bm25', True)
    """
    text = show(name)
    if len(text) > LONGEST_NAME:
        text = f"{text[: LONGEST_NAME - 1]}…"
    if text.isascii():
        return text
    from unicodedata import bidirectional

    is_right_to_left = not {"R", "AL"}.isdisjoint(map(bidirectional, text))
    return f"\u2068{text}\u2069" if is_right_to_left else text


def show_lines(text: str) -> str:
    """Return a text of several lines, each escaped like `show` does."""
    return "\n".join(map(show, text.split("\n")))


def finish(sentence: str) -> str:
    """Return a sentence with a capital and a full stop."""
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."


UUIDS = "uuid"
"""The type of a column of UUIDs. The core has their usual text, with hyphens."""
MISSING = "<missing>"
"""The text of an attribute that is null."""


def are_uuids(kinds: AbstractSet[type]) -> bool:
    """Check whether the types of objects are all Python's type of UUIDs."""
    uuid = sys.modules.get("uuid")  # which is there if there are such objects
    return bool(kinds) and uuid is not None and kinds == {uuid.UUID}


class IdColumn(NamedTuple):
    """A column of identifiers. The core knows them as text.

    `dtype` is the NumPy name of the type if they are integers, `uuid` if they are UUIDs, else
    empty.
    """

    name: str
    dtype: str = ""

    def restore(self, texts: list[str]) -> Ids:
        """Return identifiers as the caller has them."""
        ids = self._read(texts)
        return texts if ids is None else ids

    def restore_column(self, texts: ColumnValues) -> ColumnValues:
        """Return the cells of a column, of which some may be `None`, as the caller has them."""
        import numpy as np

        ids = self._read([str(text) for text in texts if text is not None])
        if ids is None:
            return texts
        if len(ids) < len(texts):
            rest = iter(ids)
            return [None if text is None else next(rest) for text in texts]
        return ids if self.dtype == UUIDS else np.array(ids, dtype=self.dtype)

    def _read(self, texts: list[str]) -> list[int] | list[UUID] | None:
        """Return integers or UUIDs; `None` if the caller has text, or one of them is another text.

        A document of a run can be one that no judgments of integers have.
        """
        if not self.dtype:
            return None
        from uuid import UUID

        read: Callable[[str], Any] = UUID if self.dtype == UUIDS else int
        try:
            ids = list(map(read, texts))
        except ValueError:
            return None
        return ids if list(map(str, ids)) == texts else None


class AttributeColumn(NamedTuple):
    """A column of an attribute of queries. The core knows its values as text.

    `dtype` is the NumPy name of a type of integers, `bool`, `float64`, `date` or `datetime`; empty
    for text.
    """

    name: str
    dtype: str = ""

    def restore_column(self, texts: list[str]) -> ColumnValues:
        """Return values as the caller has them, `None` where there is none."""
        import numpy as np

        try:
            values = [None if text == MISSING else self._read(text) for text in texts]
        except ValueError:
            return texts
        if self.dtype in {"", "date", "datetime"} or None in values:
            return values
        return np.array(values, dtype=self.dtype)

    def _read(self, text: str) -> object:
        if self.dtype in {"date", "datetime"}:
            import datetime as dt

            return getattr(dt, self.dtype).fromisoformat(text)
        if self.dtype == "bool":
            return {"true": True, "false": False}[text]
        if self.dtype == "float64":
            return float(text)
        return int(text) if self.dtype else text


class SourceIds(NamedTuple):
    """The columns of queries, documents and attributes as the caller has them.

    `usual` has, by role, the columns that were recognized by their usual names.
    """

    query: IdColumn = IdColumn("query_id")
    doc: IdColumn = IdColumn("doc_id")
    attributes: tuple[AttributeColumn, ...] = ()
    usual: Mapping[str, str] = {}

    def attribute(self, name: str) -> AttributeColumn:
        """Return the column of an attribute."""
        return next((of for of in self.attributes if of.name == name), AttributeColumn(name))

    def column(self, name: str) -> IdColumn | None:
        """Return the column of a result as the caller has it, if it holds identifiers."""
        if name == "query_id":
            return self.query
        if name in {"doc_id", "other_doc_id"}:
            return IdColumn(name.removesuffix("doc_id") + self.doc.name, self.doc.dtype)
        return None


TEXT = SourceIds()
"""Identifiers of files and arrays."""


def lay_out(
    keys: Sequence[tuple[str, ColumnValues]], values: Mapping[str, list[float]], shape: Shape
) -> dict[str, ColumnValues]:
    """Return the columns of a frame."""
    check_choice("shape", shape, ("wide", "long"))
    if shape == "wide":
        return name_columns([*keys, *values.items()])
    columns: list[tuple[str, ColumnValues]] = [
        (name, join([cells] * len(values))) for name, cells in keys
    ]
    columns.append(("measure", [name for name, cells in values.items() for _ in cells]))
    columns.append(("value", [value for cells in values.values() for value in cells]))
    return name_columns(columns)


def name_columns(columns: Sequence[tuple[str, ColumnValues]]) -> dict[str, ColumnValues]:
    """Return columns by name."""
    names = [name for name, _ in columns]
    doubled = [name for name in dict(columns) if names.count(name) > 1]
    if doubled:
        raise UsageError(
            f"expected columns with names of their own, found {doubled[0]!r} twice",
            hint="rename the column in the input",
            code="bad_parameter",
        )
    return dict(columns)


def join(columns: Sequence[ColumnValues]) -> ColumnValues:
    """Return columns one after another: an array if all of them are."""
    import numpy as np

    if columns and all(hasattr(column, "dtype") for column in columns):
        return np.concatenate([np.asarray(column) for column in columns])
    cells: list[Any] = []
    for column in columns:
        cells += _list(column)
    return cells


def _list(column: ColumnValues) -> Sequence[Any]:
    """Return the cells of a column as objects of Python."""
    cells: Sequence[Any] = column.tolist() if hasattr(column, "tolist") else column
    return cells


class Table(Tabular):
    """An immutable table of named columns.

    A cell is a text, a number, or `None`. A column can be an array, or a function that is only
    called when the column is first read, so that creating a large table costs nothing.

    Args:
        columns: The cells of each column, by its name.
        numbers: The names of columns whose texts are numbers, which notebooks align on the right.
        source: The columns of identifiers as the caller has them. In the table they are called
            `query_id` and `doc_id`. Exports have the names and types of the caller.

    Examples:
        >>> table = Table({"country": ["de", "at"], "queries": [2, 1], "nDCG@10": [0.5, 1.0]})
        >>> print(table)
        country  queries  nDCG@10
        de             2   0.5000
        at             1   1.0000
        >>> table.to_dict()["at"]
        {'queries': 1, 'nDCG@10': 1.0}
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        numbers: Collection[str] = (),
        source: SourceIds = TEXT,
    ) -> None:
        self._numbers = frozenset(numbers)
        self._source = source
        self._columns: dict[str, Column] = {
            name: tuple(column) if isinstance(column, list) else column
            for name, column in columns.items()
        }

    def __getstate__(self) -> dict[str, object]:
        # Columns that nobody has read are functions of what the table was made from.
        return {**self.__dict__, "_columns": {name: self._read(name) for name in self._columns}}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    @property
    def columns(self) -> dict[str, ColumnValues]:
        """The columns, by name."""
        return {name: self._restore(name) for name in self._columns}

    def column(self, name: str) -> tuple[Cell, ...]:
        """Return the cells of a column.

        Raises:
            KeyError: There is no such column.
        """
        return tuple(_list(self._restore(name)))

    def array(self, name: str) -> NDArray[Any]:
        """Return a column as a NumPy array, without a copy if it is one.

        Raises:
            KeyError: There is no such column.
        """
        import numpy as np

        return np.asarray(self._restore(name))

    def rows(self) -> list[tuple[Cell, ...]]:
        """Return the rows, in order."""
        return list(zip(*map(self.column, self.names), strict=True))

    def take(self, places: Sequence[int], names: Sequence[str] | None = None) -> Table:
        """Return a table with some of the rows, and of the columns if they are named."""
        columns: dict[str, Column] = {}
        for name in self.names if names is None else names:
            cells = _list(self._read(name))
            columns[name] = [cells[place] for place in places]
        return Table(columns, source=self._source)

    def to_dict(self) -> dict[Any, dict[str, Cell]]:
        """Return the other columns of each row by the text in its first column, as nested dicts.

        Identifiers that are integers in the input are integers here.
        """
        first, *names = self.names
        keys = self.column(first)
        if self._source.column(first) is None:
            keys = tuple(map(str, keys))
        rows = zip(keys, self.rows(), strict=True)
        return {key: dict(zip(names, rest, strict=True)) for key, (_, *rest) in rows}

    def export(self) -> dict[str, ColumnValues]:
        """Return the columns with the names and the types of the caller's table."""
        named = ((self._source.column(name), name) for name in self._columns)
        return {of.name if of else name: self._restore(name) for of, name in named}

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.export()

    def __len__(self) -> int:
        read = [column for column in self._columns.values() if not callable(column)]
        return len(read[0]) if read else len(next(iter(self.columns.values()), ()))

    def __str__(self) -> str:
        cells = list(zip(*(_list(self._read(name)) for name in self.names), strict=True))
        rows = [tuple(map(show, self.names)), *(tuple(map(_format, row)) for row in cells)]
        is_text = (
            [isinstance(cell, str) for cell in cells[0]] if cells else [True] * len(self.names)
        )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, is_text, strict=True)
            ).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def write_html(self) -> str:
        """Return the table as HTML, without a style: the first rows if there are very many."""
        from rankscope._show.html import FIRST_ROWS, MOST_ROWS, write_table

        left = len(self) - FIRST_ROWS if len(self) > MOST_ROWS else 0
        cells = [_list(self._read(name)[: len(self) - left]) for name in self.names]
        is_text = [
            name not in self._numbers and any(isinstance(cell, str) for cell in column)
            for name, column in zip(self.names, cells, strict=True)
        ]
        rows = (tuple(map(_format, row)) for row in zip(*cells, strict=True))
        return write_table(self.names, rows, is_text, left=left)

    def _repr_html_(self) -> str:
        from rankscope._show.html import write_result

        return write_result(self.write_html())

    def _restore(self, name: str) -> ColumnValues:
        """Return a column, identifiers as the caller has them."""
        cells, of = self._read(name), self._source.column(name)
        return cells if of is None else of.restore_column(cells)

    def _read(self, name: str) -> ColumnValues:
        column = self._columns[name]
        if callable(column):
            column = self._columns[name] = column()
        return column


def name_rows(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table, each by the names of the columns."""
    return [dict(zip(table.names, row, strict=True)) for row in table.rows()]


def _format(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return format_value(cell)
    return show(cell) if isinstance(cell, str) else str(cell)


class MeasuredTable(Printed, Table):
    """A table about one measure under one policy, which prints with what belongs to it."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, source=source)
        self._measure = measure
        self._policy = policy

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self._measure

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._policy

    __repr__ = Printed.__str__
