"""The ways out of a result into tables: one row a query, one column a measure."""

from __future__ import annotations

from importlib import import_module

from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import TypeAlias

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Rows: TypeAlias = dict[str, dict[str, float]]


def _load(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"expected {module} to be installed for this table",
            hint="pip install 'rankscope[tables]'",
            code="missing_extra",
        ) from error


def to_pandas(query_ids: Sequence[str], columns: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Make a pandas data frame.

    Raises:
        UsageError: pandas is not installed.
    """
    frame: pd.DataFrame = _load("pandas").DataFrame({"query_id": query_ids, **columns})
    return frame


def to_polars(query_ids: Sequence[str], columns: Mapping[str, Sequence[float]]) -> pl.DataFrame:
    """Make a Polars data frame.

    Raises:
        UsageError: Polars is not installed.
    """
    frame: pl.DataFrame = _load("polars").DataFrame({"query_id": query_ids, **columns})
    return frame


def to_arrow(query_ids: Sequence[str], columns: Mapping[str, Sequence[float]]) -> pa.Table:
    """Make an Arrow table.

    Raises:
        UsageError: pyarrow is not installed.
    """
    table: pa.Table = _load("pyarrow").table({"query_id": query_ids, **columns})
    return table
