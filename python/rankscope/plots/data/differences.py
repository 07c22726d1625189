"""The difference between two runs for each query, sorted."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@record(frozen=True, slots=True)
class QueryDifferences:
    """The difference of a measure for each query, largest first.

    Args:
        measure: The measure.
        one: The run that the differences start from.
        other: The run that is better where a difference is above 0.
        query_ids: The queries.
        differences: The value of `other` less that of `one`, of each query.
    """

    measure: str
    one: str
    other: str
    query_ids: tuple[str, ...]
    differences: tuple[float, ...]

    @classmethod
    def of_values(
        cls, measure: str, one: str, other: str, differences: Mapping[str, float]
    ) -> QueryDifferences:
        """Sort the differences of queries; those that have none are left out.

        Args:
            measure: The measure.
            one: The run that the differences start from.
            other: The other run.
            differences: The difference of each query, NaN where it has none.

        Examples:
            >>> QueryDifferences.of_values("AP", "a", "b", {"q1": -0.5, "q2": 0.25}).query_ids
            ('q2', 'q1')
        """
        known = [item for item in differences.items() if item[1] == item[1]]
        known.sort(key=lambda item: -item[1])
        return cls(
            measure,
            one,
            other,
            tuple(query for query, _ in known),
            tuple(difference for _, difference in known),
        )

    @property
    def better(self) -> int:
        """How many queries are better in `other`."""
        return sum(difference > 0 for difference in self.differences)

    @property
    def equal(self) -> int:
        """How many queries have one value in both."""
        return len(self.differences) - self.better - self.worse

    @property
    def worse(self) -> int:
        """How many queries are worse in `other`."""
        return sum(difference < 0 for difference in self.differences)

    @property
    def mean(self) -> float:
        """The mean of the differences; 0 where there are none."""
        from math import fsum  # noqa: PLC0415 - only where it is drawn

        return fsum(self.differences) / max(len(self.differences), 1)
