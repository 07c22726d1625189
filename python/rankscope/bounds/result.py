"""Bounds of values over all possible grades of unjudged documents."""

from __future__ import annotations

from rankscope.output.ids import TEXT
from rankscope.output.table import MeasuredTable
from rankscope.output.text import format_value
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.output.table import Column
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True)
class BoundedMean:
    """A mean with its bounds.

    Args:
        value: The mean as evaluated.
        lower: The lowest possible mean.
        upper: The highest possible mean.
        queries: The number of queries in the mean.
    """

    value: float
    lower: float
    upper: float
    queries: int


@record(frozen=True, slots=True)
class Openness:
    """The number of unjudged documents, and of queries they affect.

    Args:
        queries: The number of queries with a value.
        open: The number of these queries that have unjudged documents.
        certain: The number of these queries whose value doesn't depend on unjudged documents.
        unjudged: The total number of unjudged documents.
    """

    queries: int
    open: int
    certain: int
    unjudged: int


class Bounds(MeasuredTable):
    """A table with the lowest and the highest possible value of each query.

    The columns are `query_id`, `value`, `lower`, `upper` and `unjudged`, the number of unjudged
    documents in the list. The bounds are exact: there are grades for which the value reaches them.
    For differences of AP in very long lists they can be wider; see `is_exact`. The value lies
    between the bounds, unless the policy removes unjudged documents or sets a gain for them.

    Examples:
        >>> import rankscope as rs
        >>> ranked = rs.Rankings.from_lists([[1, float("nan"), 0, float("nan")], [0, 2]])
        >>> bounds = ranked.bounds(rs.nDCG @ 4, scale=[0, 1, 2])
        >>> print(bounds)
        nDCG@4  0.8155  between 0.6692 and 0.8155
        unjudged documents: 2, in 1 of 2 queries; possible grades: 0, 1, 2
        certain despite unjudged documents: 1 of 2 queries
        policy: ties=input,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        scale: Sequence[float],
        mean: BoundedMean,
        openness: Openness,
        is_difference: bool = False,
        is_exact: bool = True,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, measure=measure, policy=policy, source=source)
        self._scale = tuple(scale)
        self._mean = mean
        self._openness = openness
        self._is_difference = is_difference
        self._is_exact = is_exact

    @property
    def scale(self) -> tuple[float, ...]:
        """The grades that unjudged documents can have."""
        return self._scale

    @property
    def mean(self) -> BoundedMean:
        """The mean and its bounds."""
        return self._mean

    @property
    def openness(self) -> Openness:
        """The number of unjudged documents, and of queries they affect."""
        return self._openness

    @property
    def is_difference(self) -> bool:
        """Whether values are differences of two rankings, the first minus the second."""
        return self._is_difference

    @property
    def is_exact(self) -> bool:
        """Whether there are grades for which each query reaches its bounds.

        They always are, except for differences of AP if both lists have several hundred unjudged
        documents in common. The bounds are valid then, but the true ones can be closer together.
        """
        return self._is_exact

    @property
    def verdict(self) -> str:
        """Which of two rankings is better: `"first"`, `"second"`, `"equal"` or `"open"`.

        It is `"open"` if it depends on the unjudged documents, and empty for a single ranking.
        """
        if not self._is_difference:
            return ""
        if self._mean.lower > 0:
            return "first"
        if self._mean.upper < 0:
            return "second"
        return "equal" if self._mean.lower == self._mean.upper == 0 else "open"

    def _parts(self) -> list[str]:
        mean, openness = self._mean, self._openness
        what = f"difference of {self._measure}" if self._is_difference else str(self._measure)
        ends = f"between {format_value(mean.lower)} and {format_value(mean.upper)}"
        grades = ", ".join(f"{grade:g}" for grade in self._scale)
        judged = (
            f"unjudged documents: {openness.unjudged}, in {openness.open} of {openness.queries} "
            f"queries; possible grades: {grades}"
        )
        return [
            f"{what}  {format_value(mean.value)}  {ends}",
            *([VERDICTS[self.verdict]] if self._is_difference else []),
            judged,
            f"certain despite unjudged documents: {openness.certain} of {openness.queries} queries",
            f"policy: {self._policy}",
        ]


VERDICTS = {
    "first": "the first is better, whatever the grades of unjudged documents",
    "second": "the second is better, whatever the grades of unjudged documents",
    "equal": "neither is better, whatever the grades of unjudged documents",
    "open": "which is better depends on the unjudged documents",
}
"""The sentence for each verdict."""
