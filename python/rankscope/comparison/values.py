"""Compare runs by values of queries that were computed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankscope.comparison.compute import compare_columns
from rankscope.comparison.query_axis import Axis
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.measures.direction import DIRECTIONS
from rankscope.settings.policy import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from rankscope.comparison.compute import Testing
    from rankscope.comparison.query_axis import Attribute
    from rankscope.comparison.result import Comparison
    from rankscope.measures.direction import Direction


def compare_values(
    values: object,
    *,
    runs: Sequence[str] | None = None,
    measure: str = "value",
    range: tuple[float, float] | None = (0.0, 1.0),  # noqa: A002 - what the measure has
    better: Direction = "higher",
    query: str | None = None,
    by: Attribute | Sequence[str] | None = None,
    cluster: Attribute | None = None,
    attributes: object = None,
    encoding: str = "utf-8",
    **testing: Unpack[Testing],
) -> Comparison:
    """Compare runs by a table that has the value of each query under each run.

    Args:
        values: A table with one row per query and one column per run (a path, a data frame, or a
            mapping of column name to values; without a column of queries, each row is one), or a
            mapping of run to the values of its queries:
            `{"old": {"q1": 0.5, …}, "new": {"q1": 0.7, …}}`. Null and NaN mean no value.
        runs: The columns of the runs (default: all columns that aren't the query or an attribute).
        measure: What the values are called.
        range: The lowest and the highest value that the measure can have, `None` if it has no
            bounds. Intervals never leave it.
        better: Which values are better: `"higher"`, `"lower"`, or `"neither"`.
        query: The column of queries (default: found by its usual names).
        by: As in `compare`. A column of the table, too.
        cluster: As in `compare`. A column of the table, too.
        attributes: As in `compare`.
        encoding: The encoding of text files.
        **testing: As in `compare`.

    Raises:
        UsageError: An argument is invalid.
        InputError: A column is missing, holds invalid values, or a value is out of range.
        FileError: A file can't be read.

    Examples:
        >>> values = {"query_id": [f"q{n}" for n in range(12)], "old": [0.2, 0.4, 0.6] * 4}
        >>> values["new"] = [value + 0.1 for value in values["old"]]
        >>> values["user"] = ["ann", "bob", "cat", "dan"] * 3
        >>> found = compare_values(values, measure="nDCG@10", cluster="user")
        >>> compared = found["nDCG@10", "new"]
        >>> round(compared.difference, 4), compared.clusters
        (0.1, 4)
    """
    from rankscope.comparison.estimates import MeasureValues  # noqa: PLC0415 - loads NumPy

    check_choice("better", better, DIRECTIONS)
    named = [each for each in (by, cluster) if isinstance(each, str)]
    named += [*by] if isinstance(by, Sequence) and not isinstance(by, str) else []
    if isinstance(values, Mapping) and all(isinstance(each, Mapping) for each in values.values()):
        query_ids, columns = _align(values)
        axis = Axis.read(query_ids, attributes, by, cluster, encoding=encoding)
    else:
        from rankscope.inputs.query_table import read_query_table  # noqa: PLC0415 - loads late

        own = [] if attributes is not None else list(dict.fromkeys(named))
        table = read_query_table(values, query=query, texts=own, numbers=runs, encoding=encoding)
        query_ids, columns = table.query_ids, dict(table.numbers)
        held = table if own else attributes
        axis = Axis.read(query_ids, held, by, cluster, encoding=encoding)
    if len(columns) < 2:
        raise UsageError(
            f"expected the values of two or more runs, found {', '.join(columns) or 'none'}",
            hint="give one column of values for each run: runs=['old', 'new']",
            code="bad_parameter",
        )
    _check_lengths(columns)
    low, high = _check_range(columns, range)

    made = MeasureValues(
        name=measure,
        low=low,
        high=high,
        values=np.stack([*columns.values()])[:, axis.order],
        direction=better,
    )
    return compare_columns([made], runs=tuple(columns), axis=axis, testing=testing, policy=None)


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
    if not low < high:
        raise UsageError(
            f"expected a range with the lower end first, found {given!r}",
            hint="write range=(0, 1)",
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
