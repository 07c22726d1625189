"""Compare runs by the values of queries that were computed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.pairs import compare_columns, rename
from rankscope._compare.promise import MeasureValues
from rankscope._compare.ranges import Axis
from rankscope._compare.result import Comparison
from rankscope._evaluate.query_values import bad_parameter
from rankscope._evaluate.settings import Settings
from rankscope._names import check_choice, is_real
from rankscope._settings import Reading
from rankscope.errors import MeasureError
from rankscope.measures import Measure, parse
from rankscope.measures.spec import DIRECTIONS, Direction

Range: TypeAlias = tuple[float, float] | Literal["measure"] | None


def compare_computed(
    table: object,
    measure: object,
    settings: Settings,
    reading: Reading,
    *,
    runs: Sequence[str] | None,
    names: Sequence[str] | None,
    value_range: Range,
    better: Direction | None,
    testing: Mapping[str, Any],
) -> Comparison:
    """Compare runs by a table or a mapping of the values of queries; see `compare`."""
    own = _read_measure(measure)
    if better is not None:
        check_choice("better", better, DIRECTIONS)
    if isinstance(table, Mapping) and all(isinstance(run, Mapping) for run in table.values()):
        query_ids, columns = _align(table)
    else:
        attributes = [] if settings.attributes is not None else settings.list_attributes()
        query = reading.columns.get("query")
        from rankscope._inputs.tabular import read_query_table

        rows = read_query_table(table, reading, query=query, texts=attributes, numbers=runs)
        query_ids, columns = rows.query_ids, dict(rows.numbers)
        settings = replace(settings, attributes=rows) if attributes else settings
    axis = Axis.read(query_ids, settings, reading)
    if len(columns) < 2:
        raise bad_parameter(
            f"expected the values of two or more runs, found {', '.join(columns) or 'none'}",
            "give one column of values for each run: values=['old', 'new']",
        )
    _check_lengths(columns)
    if value_range == "measure":
        value_range = own.row.value_range if isinstance(own, Measure) else (0.0, 1.0)
    low, high = _check_range(columns, value_range)
    columns = rename(columns, names)
    values = MeasureValues(
        name=str(own),
        low=low,
        high=high,
        values=np.stack([*columns.values()])[:, axis.order],
        direction=better or (own.better if isinstance(own, Measure) else "higher"),
    )
    return compare_columns([values], tuple(columns), axis, testing, reading)


def _read_measure(measure: object) -> Measure | str:
    """Return the measure of the values, or the name that they have."""
    if measure is None:
        return "value"
    names = [measure] if isinstance(measure, str | Measure) else measure
    if not isinstance(names, list | tuple) or len(names) != 1:
        raise bad_parameter(
            f"expected the name of one measure, that of the values, found {measure!r}",
            "write compare(table, 'nDCG@10', values=['old', 'new'])",
        )
    try:
        return parse(names[0]) if isinstance(names[0], str) else names[0]
    except MeasureError:
        return str(names[0])


def _align(
    values: Mapping[str, Mapping[str, float]],
) -> tuple[list[str], dict[str, NDArray[np.float64]]]:
    """Return all queries, and the values of each run in their order."""
    query_ids = list(dict.fromkeys(str(query) for of in values.values() for query in of))
    columns = {}
    for run, of in values.items():
        own = {str(query): value for query, value in of.items()}
        columns[str(run)] = np.array([float(own.get(query, math.nan)) for query in query_ids])
    return query_ids, columns


def _check_lengths(columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Refuse columns of different lengths."""
    (first, values), *others = columns.items()
    for run, column in others:
        if len(column) != len(values):
            raise bad_parameter(
                f"expected as many values of {run} as of {first}, {len(values)}, found "
                f"{len(column)}",
                "give one value for each query, NaN where there is none",
            )


def _check_range(
    columns: Mapping[str, NDArray[np.float64]], value_range: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """Return the range of values, which all values must be in."""
    if value_range is None:
        return None, None
    low, high = value_range
    if not (is_real(low) and is_real(high) and low < high):
        raise bad_parameter(
            f"expected a range with the lower end first, found {value_range!r}",
            "write range=(0, 1), or range=None if values have no bounds",
        )
    for run, values in columns.items():
        is_outside = (values < low - 1e-9) | (values > high + 1e-9)
        if is_outside.any():
            raise bad_parameter(
                f"expected values from {low:g} to {high:g}, found {values[is_outside][0]:g} in "
                f"{run}",
                "pass range=(0, 100) for percentages, the range of another measure, or "
                "range=None if it has no bounds",
            )
    return low, high
