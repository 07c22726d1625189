"""Export of columns to data frames of other libraries, and the columns of a frame of queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.names import check_choice
from rankscope.output.documents import write_csv
from rankscope.output.ids import are_uuids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any, Literal, TypeAlias

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    ColumnValues: TypeAlias = Sequence[object] | NDArray[Any]
    Rows: TypeAlias = dict[Any, dict[str, float]]
    Shape: TypeAlias = Literal["wide", "long"]


def _load(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"this table needs {module}, which is not installed",
            hint=f"install it: pip install {module}",
            code="missing_extra",
        ) from error


def to_pandas(columns: Mapping[str, ColumnValues]) -> pd.DataFrame:
    """Return a pandas data frame."""
    frame: pd.DataFrame = _load("pandas").DataFrame(dict(columns))
    return frame


def to_polars(columns: Mapping[str, ColumnValues]) -> pl.DataFrame:
    """Return a Polars data frame."""
    held = {name: _spell(column) for name, column in columns.items()}
    frame: pl.DataFrame = _load("polars").DataFrame(held)
    return frame


def _spell(column: ColumnValues) -> ColumnValues:
    """Return UUIDs as texts. Polars has no type for them, and can't join on objects."""
    is_of_uuids = are_uuids({type(cell) for cell in column[:1]})
    return [cell and str(cell) for cell in column] if is_of_uuids else column


def to_arrow(columns: Mapping[str, ColumnValues]) -> pa.Table:
    """Return an Arrow table."""
    table: pa.Table = _load("pyarrow").table(
        # Arrays are passed on; pyarrow would read a tuple as a single value.
        {
            name: column if hasattr(column, "dtype") else list(column)
            for name, column in columns.items()
        }
    )
    return table


class Tabular(ABC):
    """A result that leaves as a table of pandas, Polars or Arrow."""

    __slots__ = ()

    @abstractmethod
    def _tabulate(self) -> Mapping[str, ColumnValues]:
        """Return the columns of the table, by name."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas data frame.

        Raises:
            UsageError: pandas is not installed.
        """
        return to_pandas(self._tabulate())

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a Polars data frame.

        Raises:
            UsageError: Polars is not installed.
        """
        return to_polars(self._tabulate())

    def to_arrow(self) -> pa.Table:
        """Return the table as an Arrow table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return to_arrow(self._tabulate())

    def to_csv(self) -> str:
        """Return the table as CSV, with a ' before text that a spreadsheet would run."""
        columns = self._tabulate()
        rows = zip(*columns.values(), strict=True)
        return write_csv([[*columns], *(map(_empty, row) for row in rows)])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _empty(cell: Any) -> str | float | None:  # noqa: ANN401 - of a column
    """Return a cell, `None` for NaN."""
    return None if cell != cell else cell  # noqa: PLR0124 - NaN alone differs


def lay_out(
    keys: Sequence[tuple[str, ColumnValues]], values: Mapping[str, list[float]], shape: Shape
) -> dict[str, ColumnValues]:
    """Return the columns of a frame."""
    check_choice("shape", shape, ("wide", "long"))
    columns: list[tuple[str, ColumnValues]] = [*keys]
    if shape == "wide":
        columns += values.items()
    else:
        columns = [(name, repeat(cells, len(values))) for name, cells in keys]
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


def repeat(cells: ColumnValues, times: int) -> ColumnValues:
    """Return a column several times, one after another."""
    return join([cells] * times)


def join(columns: Sequence[ColumnValues]) -> ColumnValues:
    """Return columns one after another: an array if all of them are."""
    if columns and all(hasattr(column, "dtype") for column in columns):
        return np.concatenate([np.asarray(column) for column in columns])
    cells: list[Any] = []
    for column in columns:
        cells += column.tolist() if hasattr(column, "tolist") else column
    return cells
