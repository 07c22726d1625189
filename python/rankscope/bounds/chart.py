"""The data of a plot of values with bounds."""

from __future__ import annotations

from math import isnan

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.bounds.result import Bounds


@record(frozen=True, slots=True)
class Range:
    """A value with its bounds.

    Args:
        name: The run or the query.
        value: The value.
        lower: The lowest possible value.
        upper: The highest possible value.
    """

    name: str
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True)
class BoundsChart:
    """The data of a plot of values with their bounds.

    Args:
        measure: The measure.
        by: What each row shows: `run` or `query`.
        ranges: The values, in order.
    """

    measure: str
    by: str
    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, bounds: Bounds) -> BoundsChart:
        """Return the data for the queries of one run, or of two runs, highest value first.

        Args:
            bounds: The result of `Rankings.bounds`. Queries without a value are left out.

        Examples:
            >>> import rankscope as rs
            >>> lists = rs.Rankings.from_lists([[1, float("nan")], [1, 0]])
            >>> found = BoundsChart.of(lists.bounds(rs.P @ 2, scale=[0, 1]))
            >>> [(each.lower, each.upper) for each in found.ranges]
            [(0.5, 1.0), (0.5, 0.5)]
        """
        columns = (bounds.array(name).tolist() for name in ("value", "lower", "upper"))
        rows = zip(map(str, bounds.column("query_id")), *columns, strict=True)
        ranges = [Range(*row) for row in rows if not isnan(row[1])]
        ranges.sort(key=lambda each: -each.value)
        return cls(_name(bounds), "query", tuple(ranges))

    @classmethod
    def of_runs(cls, bounds: Mapping[str, Bounds]) -> BoundsChart:
        """Return the data for the means of several runs, in their order.

        Args:
            bounds: The result of `Rankings.bounds` for each run.

        Raises:
            UsageError: The results are for different measures.
        """
        first = next(iter(bounds.values()))
        for each in bounds.values():
            if _name(each) != _name(first):
                raise UsageError(
                    f"expected bounds of {_name(first)}, found bounds of {_name(each)}",
                    hint="draw them in separate plots",
                    code="not_alike",
                )
        ranges = tuple(
            Range(name, each.mean.value, each.mean.lower, each.mean.upper)
            for name, each in bounds.items()
        )
        return cls(_name(first), "run", ranges)


def _name(bounds: Bounds) -> str:
    return f"difference of {bounds.measure}" if bounds.is_difference else str(bounds.measure)
