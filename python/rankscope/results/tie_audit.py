"""What the order of tied documents decides, for each query and for the mean."""

from __future__ import annotations

import math

from rankscope.records import record
from rankscope.results.table import Table
from rankscope.results.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.data.policy import Policy
    from rankscope.measures import Measure
    from rankscope.results.table import Column


@record(frozen=True, slots=True)
class TieSummary:
    """What ties do to a mean.

    Args:
        value: The mean, as it is evaluated.
        expected: Its expected value over all orders of the ties.
        lower: The smallest that it could be.
        upper: The largest.
        deviation: The standard deviation of the mean over all orders of the ties.
        queries: How many queries it is over.
        tied: Those of them with documents of one score.
        touched: Those whose value depends on the order of such documents.
        documents: How many documents share their score with another.
        precision: The narrowest type that holds every score: `"float16"`, `"bfloat16"`,
            `"float32"` or `"float64"`, or `"ranks"` where scores are ranks.
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


class TieAudit(Table):
    """The values of each query over all orders of its ties; a table.

    The columns are `query_id`, `value`, `expected`, `lower`, `upper`, `variance` and `tied`, the
    number of documents that share their score with another. What is not known of a measure is NaN.

    The formula of the variance is ours: ties are independent, and a tie of m documents adds the
    product of the squared deviations of its gains and of its discounts, divided by m - 1. The
    expected value is that of McSherry and Najork, *Computing information retrieval performance
    measures efficiently in the presence of tied scores*, 2008.

    Examples:
        >>> import rankscope as rs
        >>> tied = rs.Rankings.from_arrays([[3, 0, 1], [1, 0, 0]], [[0.5, 0.5, 0.1], [3, 2, 1]])
        >>> print(tied.ties(rs.nDCG @ 3))
        nDCG@3  0.9057  expected 0.9057, between 0.8295 and 0.9820, standard deviation 0.0762
        2 documents are tied, in 1 of 2 queries; the values of 1 depend on their order
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
    ) -> None:
        super().__init__(columns)
        self._measure = measure
        self._policy = policy
        self._summary = summary
        self._by_precision = by_precision

    @property
    def measure(self) -> Measure:
        """The measure whose values they are."""
        return self._measure

    @property
    def policy(self) -> Policy:
        """The policy under which they were made."""
        return self._policy

    @property
    def summary(self) -> TieSummary:
        """What ties do to the mean."""
        return self._summary

    @property
    def by_precision(self) -> Table:
        """The same where scores are rounded: to the types that are narrower than the scores.

        The row `as given` has the ties that are there; the others have those and the ties that
        rounding to this type would make, as a ranker that scores in it does.
        """
        return self._by_precision

    def __str__(self) -> str:
        found = self._summary
        ends = (
            f"expected {format_value(found.expected)}, between {format_value(found.lower)} and "
            f"{format_value(found.upper)}"
        )
        if not math.isnan(found.deviation):
            ends += f", standard deviation {format_value(found.deviation)}"
        tied = (
            f"{found.documents} documents are tied, in {found.tied} of {found.queries} queries; "
            f"the values of {found.touched} depend on their order"
        )
        lines = [
            f"{self._measure}  {format_value(found.value)}  {ends}",
            tied,
            _say_precision(found),
            "",
            str(self._by_precision),
            f"policy: {self._policy}",
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        head, *rest = str(self).partition("\n\n")[0].splitlines()
        lines = "".join(f"<div>{escape(line)}</div>" for line in rest)
        return f"<b>{escape(head)}</b>{lines}{self._by_precision._repr_html_()}"


def _say_precision(found: TieSummary) -> str:
    if found.precision == "ranks":
        return "scores are ranks"
    if found.precision == "float64":
        return "scores need float64"
    doubt = ", so that rounding may have made the ties" if found.documents else ""
    return f"scores fit in {found.precision}{doubt}"
