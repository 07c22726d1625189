"""A table that a result returns: named columns, and four ways out."""

from __future__ import annotations

from rankscope.results import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Cell = str | int | float


class Table:
    """Named columns of one length; immutable.

    Examples:
        >>> table = Table({"country": ["de", "at"], "queries": [2, 1], "nDCG@10": [0.5, 1.0]})
        >>> print(table)
        country  queries  nDCG@10
        de             2   0.5000
        at             1   1.0000
        >>> table.to_dict()["at"]
        {'queries': 1, 'nDCG@10': 1.0}
    """

    def __init__(self, columns: Mapping[str, Sequence[Cell]]) -> None:
        self._columns = {name: tuple(column) for name, column in columns.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def column(self, name: str) -> tuple[Cell, ...]:
        """Give a column.

        Raises:
            KeyError: There is none of this name.
        """
        return self._columns[name]

    def rows(self) -> list[tuple[Cell, ...]]:
        """Give the rows, in order."""
        return list(zip(*self._columns.values(), strict=True))

    def to_dict(self) -> dict[str, dict[str, Cell]]:
        """Give a mapping of the first column's texts to the other columns' values."""
        names = self.names[1:]
        return {str(key): dict(zip(names, rest, strict=True)) for key, *rest in self.rows()}

    def to_pandas(self) -> pd.DataFrame:
        """Give a pandas data frame.

        Raises:
            UsageError: pandas is not installed.
        """
        return tables.to_pandas(self._columns)

    def to_polars(self) -> pl.DataFrame:
        """Give a Polars data frame.

        Raises:
            UsageError: Polars is not installed.
        """
        return tables.to_polars(self._columns)

    def to_arrow(self) -> pa.Table:
        """Give an Arrow table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return tables.to_arrow(self._columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __str__(self) -> str:
        rows = [self.names, *(tuple(map(_show, row)) for row in self.rows())]
        is_text = [not column or isinstance(column[0], str) for column in self._columns.values()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, is_text, strict=True)
            ).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        head = "".join(f"<th>{escape(name)}</th>" for name in self.names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_show(cell))}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _show(cell: Cell) -> str:
    if isinstance(cell, float):
        return "nan" if cell != cell else f"{cell:.4f}"  # noqa: PLR0124 - NaN alone differs
    return str(cell)
