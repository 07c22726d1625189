"""What values could be, whatever grades the unjudged documents have."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.table import Table
from rankscope.results.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.data.policy import Policy
    from rankscope.measures import Measure
    from rankscope.results.table import Column


@record(frozen=True, slots=True)
class BoundedMean:
    """A mean, and its lowest and highest possible value.

    Args:
        value: The mean, as it is evaluated.
        lower: The smallest that it could be.
        upper: The largest.
        queries: How many queries the value is over.
    """

    value: float
    lower: float
    upper: float
    queries: int


@record(frozen=True, slots=True)
class Openness:
    """How much is not judged.

    Args:
        queries: Queries with a value.
        open: Those of them that have unjudged documents.
        certain: Those whose value is the same whatever these are.
        unjudged: Unjudged documents in all.
    """

    queries: int
    open: int
    certain: int
    unjudged: int


class Bounds(Table):
    """The smallest and the largest value of each query, on a scale of grades; a table.

    The columns are `query_id`, `value`, `lower`, `upper` and `unjudged`, the number of unjudged
    documents in the list. The bounds are exact: some grades of these documents give them. The value
    lies between them, unless the policy removes unjudged documents or gives them a gain.

    Examples:
        >>> import rankscope as rs
        >>> ranked = rs.Rankings.from_lists([[1, float("nan"), 0, float("nan")], [0, 2]])
        >>> bounds = ranked.bounds(rs.nDCG @ 4, scale=[0, 1, 2])
        >>> print(bounds)
        nDCG@4  0.8155  between 0.6692 and 0.8155
        on the grades 0, 1, 2; unjudged documents: 2, in 1 of 2 queries
        1 of 2 queries are certain
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
    ) -> None:
        super().__init__(columns)
        self._measure = measure
        self._policy = policy
        self._scale = tuple(scale)
        self._mean = mean
        self._openness = openness
        self._is_difference = is_difference

    @property
    def measure(self) -> Measure:
        """The measure whose bounds they are."""
        return self._measure

    @property
    def policy(self) -> Policy:
        """The policy under which they were made."""
        return self._policy

    @property
    def scale(self) -> tuple[float, ...]:
        """The grades that unjudged documents may have."""
        return self._scale

    @property
    def mean(self) -> BoundedMean:
        """The mean and its bounds, which some grades of all unjudged documents give."""
        return self._mean

    @property
    def openness(self) -> Openness:
        """How much is not judged."""
        return self._openness

    @property
    def is_difference(self) -> bool:
        """Whether the values are differences between two rankings, first minus second."""
        return self._is_difference

    @property
    def verdict(self) -> str:
        """Which of two rankings is better: `"first"`, `"second"`, `"equal"` or `"open"`.

        It is open where the unjudged documents could decide otherwise. For one ranking alone it
        is empty.
        """
        if not self._is_difference:
            return ""
        if self._mean.lower > 0:
            return "first"
        if self._mean.upper < 0:
            return "second"
        return "equal" if self._mean.lower == self._mean.upper == 0 else "open"

    def __str__(self) -> str:
        mean, openness = self._mean, self._openness
        what = f"difference of {self._measure}" if self._is_difference else str(self._measure)
        ends = f"between {format_value(mean.lower)} and {format_value(mean.upper)}"
        grades = ", ".join(f"{grade:g}" for grade in self._scale)
        judged = (
            f"on the grades {grades}; unjudged documents: {openness.unjudged}, in "
            f"{openness.open} of {openness.queries} queries"
        )
        lines = [
            f"{what}  {format_value(mean.value)}  {ends}",
            *([VERDICTS[self.verdict]] if self._is_difference else []),
            judged,
            f"{openness.certain} of {openness.queries} queries are certain",
            f"policy: {self._policy}",
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        head, *rest = str(self).splitlines()
        lines = "".join(f"<div>{escape(line)}</div>" for line in rest)
        return f"<b>{escape(head)}</b><div style='font-size:smaller'>{lines}</div>"


VERDICTS = {
    "first": "the first is better, whatever the unjudged documents are",
    "second": "the second is better, whatever the unjudged documents are",
    "equal": "neither is better, whatever the unjudged documents are",
    "open": "which is better depends on the unjudged documents",
}
"""What a verdict means."""
