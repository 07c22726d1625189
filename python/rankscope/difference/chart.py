"""The data of a plot of the difference between two runs for each query."""

from __future__ import annotations

from math import fsum, isnan

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.difference.result import RunDifference
    from rankscope.measures.direction import Direction


@record(frozen=True, slots=True)
class QueryDifferences:
    """The data of a plot of the difference between two runs for each query, largest first.

    Args:
        measure: The measure.
        one: The name of the first run.
        other: The name of the second run.
        query_ids: The queries.
        differences: The value of `other` minus the value of `one`, for each query.
        wins: The number of queries for which `other` is better, or has the higher value if neither
            higher nor lower values are better.
        losses: The same of `one`.
        direction: Which values are better.
    """

    measure: str
    one: str
    other: str
    query_ids: tuple[str, ...]
    differences: tuple[float, ...]
    wins: int
    losses: int
    direction: Direction = "higher"

    @classmethod
    def of(cls, difference: RunDifference) -> QueryDifferences:
        """Return the data from the difference between two runs.

        Args:
            difference: The result of `diff`.

        Examples:
            >>> import rankscope as rs
            >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
            >>> old = {"q1": {"a": 2.0}, "q2": {"x": 2.0, "a": 1.0}}
            >>> new = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 2.0}}
            >>> found = QueryDifferences.of(rs.diff(qrels, old, new, "RR"))
            >>> found.query_ids, found.differences
            (('q2', 'q1'), (0.5, -0.5))
        """
        queries = difference.queries
        values = queries.array("difference").tolist()
        known = [
            item
            for item in zip(map(str, queries.column("query_id")), values, strict=True)
            if not isnan(item[1])
        ]
        known.sort(key=lambda item: -item[1])
        return cls(
            str(difference.measure),
            *difference.names,
            tuple(query for query, _ in known),
            tuple(value for _, value in known),
            difference.wins,
            difference.losses,
            difference.measure.better,
        )

    @property
    def ties(self) -> int:
        """The number of queries with equal values, except for rounding."""
        return len(self.differences) - self.wins - self.losses

    @property
    def mean(self) -> float:
        """The mean of the differences, or 0 if there are none."""
        return fsum(self.differences) / max(len(self.differences), 1)
