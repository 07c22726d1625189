"""How much values depend on the order of tied documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankscope._core import audit_ties as audit_spreads
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.refusals import check_averaged, refuse_items
from rankscope._evaluate.settings import Settings, read_policy
from rankscope._settings import Policy, count_threads
from rankscope._show.table import TEXT, MeasuredTable, SourceIds, Table, format_value
from rankscope.measures import Measure
from rankscope.measures.parse import read_measure

if TYPE_CHECKING:
    from rankscope._show.table import Column


@dataclass(frozen=True, slots=True)
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
        ties = self._summary
        value, expected, lower, upper = map(
            format_value, (ties.value, ties.expected, ties.lower, ties.upper)
        )
        head = f"{self._measure}  {value}  expected {expected}, between {lower} and {upper}"
        if not math.isnan(ties.deviation):
            head += f", standard deviation {format_value(ties.deviation)}"
        tied = (
            f"tied documents: {ties.documents}, in {ties.tied} of {ties.queries} queries; "
            f"values that depend on their order: {ties.touched}"
        )
        precision, policy = _describe_precision(ties), f"policy: {self._policy}"
        return [head, tied, precision, "", self._by_precision, policy]


def _describe_precision(ties: TieSummary) -> str:
    if ties.precision == "ranks":
        return "scores are ranks"
    if ties.precision == "float64":
        return "scores need float64"
    doubt = ", so the ties may be caused by rounding" if ties.documents else ""
    return f"scores fit in {ties.precision}{doubt}"


def audit_ties(
    rankings: Rankings, measure: Measure | str, *, policy: Policy | str | None, threads: int | None
) -> TieAudit:
    """Audit the ties of rankings. `Rankings.ties` documents the arguments."""
    measure = read_measure(measure)
    policy = read_policy(policy, Policy(ties=rankings.tie_policy))
    values, spread = spread_ties(rankings, measure, policy, threads)
    precision = find_precision(rankings.scores, rankings.offsets)
    rows = {"as given": spread}
    for name in NARROW.get(precision, ()):
        rounded = round_scores(rankings.scores, name)
        _, rows[name] = spread_ties(
            rankings, measure, policy, threads, values=values, scores=rounded
        )
    columns = {name: getattr(spread, name) for name in (*ENDS, "variance", "tied")}
    means = {name: [_mean(getattr(row, name), values) for row in rows.values()] for name in ENDS}
    return TieAudit(
        {"query_id": lambda: rankings.query_texts, "value": values, **columns},
        measure=measure,
        policy=policy,
        source=rankings.source,
        summary=_summarise(values, spread, precision),
        by_precision=Table(
            {
                "scores": list(rows),
                "tied documents": [int(row.tied.sum()) for row in rows.values()],
                "tied queries": [int((row.tied > 0).sum()) for row in rows.values()],
                **means,
            }
        ),
    )


ENDS = ("expected", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of queries over all orders of their ties, and the number of tied documents."""

    expected: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    variance: NDArray[np.float64]
    tied: NDArray[np.uint32]


def spread_ties(
    rankings: Rankings,
    measure: Measure,
    policy: Policy,
    threads: int | None,
    *,
    values: NDArray[np.float64] | None = None,
    scores: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], Spread]:
    """Return the value of each query, and its spread over all orders of tied documents."""
    refuse_items(measure, "value over the orders of tied documents")
    check_averaged(measure, policy)
    if values is None:
        evaluation = rankings.evaluate(measure, policy=policy, threads=threads)
        values = evaluation.per_query(measure)
    request = Settings(measures=measure, policy=policy).request(grades=rankings.grades)
    plan = request.plan(rankings.tie_policy)
    core = rankings._core  # noqa: SLF001 - a part of it
    expected, lower, upper, variance, tied = (
        np.frombuffer(memoryview(column), dtype=np.dtype(column.typecode))
        for column in audit_spreads(core, plan, scores, count_threads(threads))
    )
    # Where a measure is undefined, its value is that of the policy in every order.
    is_undefined = np.isnan(lower)
    expected, lower, upper = (
        np.where(is_undefined, values, column) for column in (expected, lower, upper)
    )
    variance = np.where(is_undefined, 0 * values, variance)
    return values, Spread(expected, lower, upper, variance, tied)


def _summarise(values: NDArray[np.float64], spread: Spread, precision: str) -> TieSummary:
    is_there = ~np.isnan(values)
    queries = int(is_there.sum())
    variance = math.fsum(spread.variance[is_there].tolist())
    return TieSummary(
        value=_mean(values, values),
        expected=_mean(spread.expected, values),
        lower=_mean(spread.lower, values),
        upper=_mean(spread.upper, values),
        deviation=math.sqrt(variance) / queries if queries else math.nan,
        queries=queries,
        tied=int((spread.tied > 0).sum()),
        touched=int((spread.lower < spread.upper).sum()),
        documents=int(spread.tied.sum()),
        precision=precision,
    )


def _mean(column: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return the mean of a column over the queries that have a value."""
    counted = column[values == values].tolist()  # noqa: PLR0124 - NaN alone differs
    return math.fsum(counted) / len(counted) if counted else math.nan


NARROW = {
    "float64": ("float32", "bfloat16", "float16"),
    "float32": ("bfloat16", "float16"),
    "bfloat16": ("float16",),
    "float16": ("bfloat16",),
}
"""The types that may lose some of the scores of a type."""


def round_scores(scores: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Round scores to a type.

    Examples:
        >>> import numpy as np
        >>> round_scores(np.array([0.1, 1 / 3]), "bfloat16")
        array([0.10009766, 0.33398438])
    """
    with np.errstate(over="ignore"):  # beyond the largest number all are infinite, and tied
        if name == "bfloat16":
            # The upper half of a float32: adding almost half a unit carries what is more than half.
            bits = scores.astype(np.float32).view(np.uint32)
            up = 0x7FFF + (bits >> 16 & 1)
            rounded = (bits + up) & 0xFFFF0000
            return np.asarray(rounded.astype(np.uint32).view(np.float32).astype(np.float64))
        return np.asarray(scores.astype(name).astype(np.float64))


def find_precision(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> str:
    """Find the narrowest type that holds every score, `"ranks"` if scores are ranks.

    Those are whole numbers that fall by one.
    """
    steps = np.diff(scores)
    firsts = offsets[1:-1]
    firsts = firsts[(firsts > 0) & (firsts < len(scores))]
    steps[firsts - 1] = -1
    if (steps == -1).all() and (scores == np.rint(scores)).all():
        return "ranks"
    for name in ("float16", "bfloat16", "float32"):
        if np.array_equal(round_scores(scores, name), scores):
            return name
    return "float64"
