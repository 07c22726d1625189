"""The values of queries in one frame, wide or long."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.settings.policy import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    from rankscope.output.exports import ColumnValues

    Shape: TypeAlias = Literal["wide", "long"]


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
