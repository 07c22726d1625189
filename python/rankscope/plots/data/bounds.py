"""Values with the bounds between which they lie, whatever is still unknown."""

from __future__ import annotations

from math import isnan

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.results.bounds import Bounds


@record(frozen=True, slots=True)
class Range:
    """A value and its bounds.

    Args:
        name: The run or the query.
        value: The value.
        lower: The least that it can be.
        upper: The most that it can be.
    """

    name: str
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True)
class BoundsChart:
    """Values with their bounds.

    Args:
        measure: The measure.
        by: What a row is: `run` or `query`.
        ranges: The values, in order.
    """

    measure: str
    by: str
    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, bounds: Bounds) -> BoundsChart:
        """Take the queries of one run, or of a pair of runs, the largest value first.

        Args:
            bounds: What `Rankings.bounds` gives; queries without a value are left out.

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
        """Take the means of runs, in their order.

        Args:
            bounds: By run, what `Rankings.bounds` gives.

        Raises:
            UsageError: They are not of one measure.
        """
        first = next(iter(bounds.values()))
        for each in bounds.values():
            if _name(each) != _name(first):
                raise UsageError(
                    f"expected bounds of {_name(first)}, found those of {_name(each)}",
                    hint="draw them apart",
                    code="not_alike",
                )
        ranges = tuple(
            Range(name, each.mean.value, each.mean.lower, each.mean.upper)
            for name, each in bounds.items()
        )
        return cls(_name(first), "run", ranges)


def _name(bounds: Bounds) -> str:
    return f"difference of {bounds.measure}" if bounds.is_difference else str(bounds.measure)
