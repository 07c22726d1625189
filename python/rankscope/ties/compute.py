"""The audit of ties, with scores as given and as narrower types would round them."""

from __future__ import annotations

import math

from rankscope._core import audit_ties as audit_spreads
from rankscope._evaluate.refusals import check_averaged, refuse_items
from rankscope._evaluate.settings import Settings, read_policy
from rankscope.deferred import np
from rankscope.measures.reading import read_measure
from rankscope.output.table import Table
from rankscope.records import record
from rankscope.settings.policy import Policy
from rankscope.settings.reading import count_threads
from rankscope.ties.result import TieAudit, TieSummary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope._evaluate.rankings import Rankings
    from rankscope.measures import Measure


def audit_ties(
    rankings: Rankings,
    measure: Measure | str,
    *,
    policy: Policy | str | None,
    threads: int | None,
) -> TieAudit:
    """Audit the ties of rankings. `Rankings.ties` documents the arguments."""
    asked = read_measure(measure)
    chosen = read_policy(policy, Policy(ties=rankings.tie_policy))
    values, given = spread_ties(rankings, asked, chosen, threads)
    precision = find_precision(rankings.scores, rankings.offsets)
    rows = {"as given": given}
    for name in NARROW.get(precision, ()):
        rounded = round_scores(rankings.scores, name)
        _, rows[name] = spread_ties(rankings, asked, chosen, threads, values=values, scores=rounded)
    return TieAudit(
        {
            "query_id": lambda: rankings.query_texts,
            "value": values,
            "expected": given.expected,
            "lower": given.lower,
            "upper": given.upper,
            "variance": given.variance,
            "tied": given.tied,
        },
        measure=asked,
        policy=chosen,
        source=rankings.source,
        summary=_summarise(values, given, precision),
        by_precision=Table(
            {
                "scores": list(rows),
                "tied documents": [int(each.tied.sum()) for each in rows.values()],
                "tied queries": [int((each.tied > 0).sum()) for each in rows.values()],
                "expected": [_mean(each.expected, values) for each in rows.values()],
                "lower": [_mean(each.lower, values) for each in rows.values()],
                "upper": [_mean(each.upper, values) for each in rows.values()],
            }
        ),
    )


@record(frozen=True, slots=True)
class Spread:
    """The values of queries over all orders of their ties.

    Args:
        expected: Their means.
        lower: The smallest.
        upper: The largest.
        variance: Their variances.
        tied: How many documents of each query share their score with another.
    """

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


def _summarise(values: NDArray[np.float64], found: Spread, precision: str) -> TieSummary:
    is_there = ~np.isnan(values)
    queries = int(is_there.sum())
    variance = math.fsum(found.variance[is_there].tolist())
    return TieSummary(
        value=_mean(values, values),
        expected=_mean(found.expected, values),
        lower=_mean(found.lower, values),
        upper=_mean(found.upper, values),
        deviation=math.sqrt(variance) / queries if queries else math.nan,
        queries=queries,
        tied=int((found.tied > 0).sum()),
        touched=int((found.lower < found.upper).sum()),
        documents=int(found.tied.sum()),
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
