"""A table of named columns, with exports to data frames."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.output.exports import Tabular
from rankscope.output.ids import TEXT
from rankscope.output.printed import Printed
from rankscope.output.text import format_value, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.settings.policy import Policy

    Cell = str | int | float | None
    ColumnValues: TypeAlias = Sequence[Cell] | NDArray[Any]
    Column: TypeAlias = ColumnValues | Callable[[], ColumnValues]


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
        self._written = frozenset(numbers)
        self._source = source
        self._given: dict[str, Column] = {
            name: tuple(column) if isinstance(column, list) else column
            for name, column in columns.items()
        }

    def __getstate__(self) -> dict[str, object]:
        # Columns that nobody has read are functions of what the table was made from.
        return {**self.__dict__, "_given": {name: self._read(name) for name in self._given}}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._given)

    @property
    def columns(self) -> dict[str, ColumnValues]:
        """The columns, by name."""
        return {name: self._give(name) for name in self._given}

    def column(self, name: str) -> tuple[Cell, ...]:
        """Return the cells of a column.

        Raises:
            KeyError: There is no such column.
        """
        held = self._give(name)
        return tuple(held.tolist() if hasattr(held, "tolist") else held)

    def array(self, name: str) -> NDArray[Any]:
        """Return a column as a NumPy array, without a copy if it is one.

        Raises:
            KeyError: There is no such column.
        """
        return np.asarray(self._give(name))

    def rows(self) -> list[tuple[Cell, ...]]:
        """Return the rows, in order."""
        return list(zip(*map(self.column, self.names), strict=True))

    def take(self, places: Sequence[int], names: Sequence[str] | None = None) -> Table:
        """Return a table with some of the rows, and of the columns if they are named."""
        columns = {name: self._cells(name) for name in (self.names if names is None else names)}
        taken = {name: [cells[place] for place in places] for name, cells in columns.items()}
        return Table(taken, source=self._source)

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
        named = ((self._source.column(name), name) for name in self._given)
        return {of.name if of else name: self._give(name) for of, name in named}

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.export()

    def __len__(self) -> int:
        held = [column for column in self._given.values() if not callable(column)]
        return len(held[0]) if held else len(next(iter(self.columns.values()), ()))

    def __str__(self) -> str:
        cells = list(zip(*map(self._cells, self.names), strict=True))
        rows = [tuple(map(show, self.names)), *(tuple(map(_show, row)) for row in cells)]
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
        from rankscope.output.html import FIRST_ROWS, MOST_ROWS, write_table  # noqa: PLC0415 - loads late

        left = len(self) - FIRST_ROWS if len(self) > MOST_ROWS else 0
        columns = [self._read(name)[: len(self) - left] for name in self.names]
        cells = [column.tolist() if hasattr(column, "tolist") else column for column in columns]
        is_text = [
            name not in self._written and any(isinstance(cell, str) for cell in column)
            for name, column in zip(self.names, cells, strict=True)
        ]
        rows = (tuple(map(_show, row)) for row in zip(*cells, strict=True))
        return write_table(self.names, rows, is_text, left=left)

    def _repr_html_(self) -> str:
        from rankscope.output.html import write_result  # noqa: PLC0415 - as above

        return write_result(self.write_html())

    def _give(self, name: str) -> ColumnValues:
        """Return a column, identifiers as the caller has them."""
        held, of = self._read(name), self._source.column(name)
        return held if of is None else of.restore_column(held)

    def _cells(self, name: str) -> Sequence[Cell]:
        """Return the cells of a column as they are printed, identifiers as text."""
        held = self._read(name)
        cells: Sequence[Cell] = held.tolist() if hasattr(held, "tolist") else held
        return cells

    def _read(self, name: str) -> ColumnValues:
        column = self._given[name]
        if callable(column):
            column = self._given[name] = column()
        return column


def name_rows(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table, each by the names of the columns."""
    return [dict(zip(table.names, row, strict=True)) for row in table.rows()]


def _show(cell: Cell) -> str:
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
