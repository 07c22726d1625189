"""Compare runs by the values of queries that were computed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankscope._compare.cases import MeasureValues
from rankscope._compare.compute import compare_columns, name_anew
from rankscope._compare.query_axis import Axis
from rankscope.deferred import np
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import Measure, parse
from rankscope.measures.direction import DIRECTIONS
from rankscope.names import check_choice, is_real
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._compare.compute import Range
    from rankscope._compare.result import Comparison
    from rankscope._evaluate.settings import Settings
    from rankscope.measures.direction import Direction
    from rankscope.settings.reading import Reading


def compare_computed(
    given: object,
    measure: object,
    asked: Settings,
    reading: Reading,
    *,
    runs: Sequence[str] | None,
    names: Sequence[str] | None,
    value_range: Range,
    better: Direction | None,
    testing: Mapping[str, Any],
) -> Comparison:
    """Compare runs by a table or a mapping of the values of queries; see `compare`."""
    known = _read_measure(measure)
    if better is not None:
        check_choice("better", better, DIRECTIONS)
    if isinstance(given, Mapping) and all(isinstance(each, Mapping) for each in given.values()):
        query_ids, columns = _align(given)
    else:
        own = [] if asked.attributes is not None else asked.list_attributes()
        query = reading.columns.get("query")
        from rankscope._inputs.query_table import read_query_table  # noqa: PLC0415 - needs PyArrow

        table = read_query_table(given, reading, query=query, texts=own, numbers=runs)
        query_ids, columns = table.query_ids, dict(table.numbers)
        asked = replace(asked, attributes=table) if own else asked
    axis = Axis.read(query_ids, asked, reading)
    if len(columns) < 2:
        raise UsageError(
            f"expected the values of two or more runs, found {', '.join(columns) or 'none'}",
            hint="give one column of values for each run: values=['old', 'new']",
            code="bad_parameter",
        )
    _check_lengths(columns)
    if value_range == "measure":
        value_range = known.row.value_range if isinstance(known, Measure) else (0.0, 1.0)
    low, high = _check_range(columns, value_range)
    columns = name_anew(columns, names)
    direction = known.better if isinstance(known, Measure) else "higher"
    made = MeasureValues(
        name=str(known),
        low=low,
        high=high,
        values=np.stack([*columns.values()])[:, axis.order],
        direction=better or direction,
    )
    return compare_columns(
        [made], runs=tuple(columns), axis=axis, testing=testing, reading=reading, policy=None
    )


def _read_measure(given: object) -> Measure | str:
    """Return the measure of the values, or the name that they have."""
    if given is None:
        return "value"
    names = [given] if isinstance(given, str | Measure) else given
    if not isinstance(names, list | tuple) or len(names) != 1:
        raise UsageError(
            f"expected the name of one measure, that of the values, found {given!r}",
            hint="write compare(table, 'nDCG@10', values=['old', 'new'])",
            code="bad_parameter",
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
    for run, each in others:
        if len(each) != len(values):
            raise UsageError(
                f"expected as many values of {run} as of {first}, {len(values)}, found {len(each)}",
                hint="give one value for each query, NaN where there is none",
                code="bad_parameter",
            )


def _check_range(
    columns: Mapping[str, NDArray[np.float64]], given: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """Return the range of values, which all values must be in."""
    if given is None:
        return None, None
    low, high = given
    if not (is_real(low) and is_real(high) and low < high):
        raise UsageError(
            f"expected a range with the lower end first, found {given!r}",
            hint="write range=(0, 1), or range=None if values have no bounds",
            code="bad_parameter",
        )
    for run, values in columns.items():
        is_outside = (values < low - 1e-9) | (values > high + 1e-9)
        if is_outside.any():
            found = values[is_outside][0]
            raise UsageError(
                f"expected values from {low:g} to {high:g}, found {found:g} in {run}",
                hint="pass range=(0, 100) for percentages, the range of another measure, or "
                "range=None if it has no bounds",
                code="bad_parameter",
            )
    return low, high
