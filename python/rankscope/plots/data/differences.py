"""The difference between two runs for each query, sorted."""

from __future__ import annotations

from math import fsum, isnan

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.run_difference import RunDifference


@record(frozen=True, slots=True)
class QueryDifferences:
    """The difference of a measure for each query, largest first.

    Args:
        measure: The measure.
        one: The run that the differences start from.
        other: The run that is better where a difference is above 0.
        query_ids: The queries.
        differences: The value of `other` less that of `one`, of each query.
        wins: How many queries are better in `other`.
        losses: How many are worse.
    """

    measure: str
    one: str
    other: str
    query_ids: tuple[str, ...]
    differences: tuple[float, ...]
    wins: int
    losses: int

    @classmethod
    def of(cls, difference: RunDifference) -> QueryDifferences:
        """Take them from the difference between two runs.

        Args:
            difference: What `diff` gives.

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
            difference.losses_,
        )

    @property
    def ties(self) -> int:
        """How many queries have one value in both, but for rounding."""
        return len(self.differences) - self.wins - self.losses

    @property
    def mean(self) -> float:
        """The mean of the differences; 0 where there are none."""
        return fsum(self.differences) / max(len(self.differences), 1)
