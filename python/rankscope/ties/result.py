"""The effect of tied documents on each query and on the mean."""

from __future__ import annotations

import math

from rankscope.output.ids import TEXT
from rankscope.output.table import MeasuredTable
from rankscope.output.text import format_value
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.output.table import Column, Table
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True)
class TieSummary:
    """The effect of ties on a mean.

    Args:
        value: The mean as evaluated.
        expected: The expected value over all orders of tied documents.
        lower: The lowest possible mean.
        upper: The highest possible mean.
        deviation: The standard deviation of the mean over all orders of tied documents.
        queries: The number of queries in the mean.
        tied: The number of these queries with tied documents.
        touched: The number of these queries whose value depends on the order of tied documents.
        documents: The number of documents that have the same score as another one.
        precision: The narrowest type that can hold every score: `"float16"`, `"bfloat16"`,
            `"float32"` or `"float64"`, or `"ranks"` if scores are ranks.
    """

    value: float
    expected: float
    lower: float
    upper: float
    deviation: float
    queries: int
    tied: int
    touched: int
    documents: int
    precision: str


class TieAudit(MeasuredTable):
    """A table with the range of each query's value over all orders of its tied documents.

    The columns are `query_id`, `value`, `expected`, `lower`, `upper`, `variance` and `tied`, the
    number of documents that have the same score as another one. Numbers that are unknown for a
    measure are NaN.

    Ties are independent of each other. To the variance, a tie of m documents adds the product of
    the sums of squared deviations of its gains and of its discounts, divided by m - 1. The expected
    value is that of McSherry and Najork, *Computing information retrieval performance
    measures efficiently in the presence of tied scores*, 2008.

    Examples:
        >>> import rankscope as rs
        >>> tied = rs.Rankings.from_arrays([[3, 0, 1], [1, 0, 0]], [[0.5, 0.5, 0.1], [3, 2, 1]])
        >>> print(tied.ties(rs.nDCG @ 3))
        nDCG@3  0.9057  expected 0.9057, between 0.8295 and 0.9820, standard deviation 0.0762
        tied documents: 2, in 1 of 2 queries; values that depend on their order: 1
        scores need float64
        <BLANKLINE>
        scores    tied documents  tied queries  expected   lower   upper
        as given               2             1    0.9057  0.8295  0.9820
        float32                2             1    0.9057  0.8295  0.9820
        bfloat16               2             1    0.9057  0.8295  0.9820
        float16                2             1    0.9057  0.8295  0.9820
        policy: ties=average,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        summary: TieSummary,
        by_precision: Table,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, measure=measure, policy=policy, source=source)
        self._summary = summary
        self._by_precision = by_precision

    @property
    def summary(self) -> TieSummary:
        """The effect of ties on the mean."""
        return self._summary

    @property
    def by_precision(self) -> Table:
        """A table with the effect of ties if the scores are rounded to narrower types.

        The row `as given` has the existing ties. The other rows also have the ties that rounding
        to this type creates, as in a ranker that computes scores in it.
        """
        return self._by_precision

    def _parts(self) -> list[str | Table]:
        found = self._summary
        ends = (
            f"expected {format_value(found.expected)}, between {format_value(found.lower)} and "
            f"{format_value(found.upper)}"
        )
        if not math.isnan(found.deviation):
            ends += f", standard deviation {format_value(found.deviation)}"
        tied = (
            f"tied documents: {found.documents}, in {found.tied} of {found.queries} queries; "
            f"values that depend on their order: {found.touched}"
        )
        return [
            f"{self._measure}  {format_value(found.value)}  {ends}",
            tied,
            _say_precision(found),
            "",
            self._by_precision,
            f"policy: {self._policy}",
        ]


def _say_precision(found: TieSummary) -> str:
    if found.precision == "ranks":
        return "scores are ranks"
    if found.precision == "float64":
        return "scores need float64"
    doubt = ", so the ties may be caused by rounding" if found.documents else ""
    return f"scores fit in {found.precision}{doubt}"
