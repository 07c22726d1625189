"""Some rows of a table or a column, as the same kind of table or column."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.tables import open_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.int64]
    Foreign: TypeAlias = Any  # a table or a column of a library


def hold_table(table: Foreign) -> Foreign:
    """Return a table in memory: a mapping, a data frame of pandas or Polars, or an Arrow table."""
    narwhals, polars, pandas = map(sys.modules.get, ("narwhals", "polars", "pandas"))
    if narwhals is not None and isinstance(table, narwhals.DataFrame | narwhals.LazyFrame):
        table = table.to_native()
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.collect()
    frames = tuple(each.DataFrame for each in (polars, pandas) if each is not None)
    if isinstance(table, (Mapping, *frames)):
        return table
    return load_arrow().table(dict(open_table(table).columns))


def take_rows(table: Foreign, rows: Rows, *, without: str = "") -> Foreign:
    """Return rows of what `hold_table` returns, and all columns but one."""
    if isinstance(table, Mapping):
        columns = {name: column for name, column in table.items() if str(name) != without}
        return {name: take_cells(column, rows) for name, column in columns.items()}
    if hasattr(table, "iloc"):  # of pandas
        kept = [at for at, name in enumerate(table.columns) if str(name) != without]
        return table.iloc[rows, kept]
    if hasattr(table, "get_column"):  # of Polars
        return table[rows].drop([without] if without else [])
    taken = table.take(rows)
    return taken.drop_columns([without]) if without else taken


def take_cells(column: Foreign, rows: Rows) -> Foreign:
    """Return some cells of a column."""
    if isinstance(column, list | tuple):
        return type(column)([column[row] for row in rows.tolist()])
    if hasattr(column, "iloc"):  # of pandas
        return column.iloc[rows]
    # Columns of Arrow have no index of several places.
    return column.take(rows) if hasattr(column, "to_pylist") else column[rows]


def spell_rows(columns: Iterable[Foreign], rows: Rows) -> list[str]:
    """Return the cells of each row as one text."""
    held = [_listed(take_cells(column, rows)) for column in columns]
    return [repr(cells) for cells in zip(*held, strict=True)] if held else [""] * len(rows)


def _listed(column: Foreign) -> list[object]:
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)
