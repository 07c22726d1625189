"""Measures of padded batches, computed with the functions of any array library.

Nothing here depends on a value: no number is read on the host, and every shape follows from the
shapes of the arrays. So it runs on any device without waiting for it, and can be traced.

Over ties, the values are expected ones. A tie of documents at ranks a to b gives each of them the
mean of the discounts of these ranks; what the other measures take is in McSherry and Najork,
*Computing information retrieval performance measures efficiently in the presence of tied scores*,
2008.
"""

from __future__ import annotations

import math
from functools import lru_cache

from rankscope._evaluate.settings import Settings as EvaluateSettings
from rankscope.array import binary
from rankscope.array.ranked import Padded, Values, rank_batch
from rankscope.deferred import np
from rankscope.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.array.ranked import Ranked
    from rankscope.array.space import Array, Space
    from rankscope.array.values import Settings
    from rankscope.measures import Measure

MOST_SLOTS = 10_000_000
"""The largest cutoff with an ideal list that has a document at each rank, as in the core."""


def evaluate(space: Space, batch: Padded, asked: Settings) -> list[Values]:
    """Return the values of measures."""
    ranked = rank_batch(space, batch, asked.ties, asked.negative, space.real(asked.dtype))
    return [
        _of_gains(ranked, measure)
        if measure.row.kernel in {"ndcg", "dcg"}
        else binary.evaluate(ranked, measure)
        for measure in asked.measures
    ]


def _of_gains(ranked: Ranked, measure: Measure) -> Values:
    space, xp = ranked.space, ranked.space.xp
    gains, is_bad = _gains(ranked, measure)
    k = measure.k or ranked.columns
    weights = _weights(measure, ranked.columns)
    sums = xp.sum(gains * _discounts(ranked, weights, k), axis=-1)
    is_bad = ranked.is_bad | is_bad
    if measure.row.kernel == "dcg":
        return Values(sums, xp.zeros_like(is_bad), is_bad | ~xp.isfinite(sums))
    positive = space.where(gains > 0, gains, 0.0)
    ideal = measure.parameters.get("ideal")
    if ideal == "slots":
        slots = math.fsum(_weights(measure, k))
        best = space.where(xp.any(positive > 0, axis=-1), xp.full_like(sums, slots), 0.0)
    else:
        depth = ranked.columns if ideal == "whole" else min(k, ranked.columns)
        top = space.largest(positive, depth)
        best = xp.sum(top * space.make(weights[:depth], ranked.real), axis=-1)
    is_undefined = best <= 0
    values = space.where(is_undefined, 0.0, sums / space.where(is_undefined, 1.0, best))
    return Values(values, is_undefined, is_bad | ~xp.isfinite(sums) | ~xp.isfinite(best))


def _gains(ranked: Ranked, measure: Measure) -> tuple[Array, Array]:
    """Return the gain at each rank, and the rows with grades that have none."""
    space, xp = ranked.space, ranked.space.xp
    gain = measure.parameters["gain"]
    counts = ~xp.isnan(ranked.grades)
    if ranked.negative != "gain":
        counts = counts & (ranked.grades >= 0)
    grades = space.where(counts, ranked.grades, 0.0)
    if gain == "linear":
        gains = grades
    elif gain == "exp2":
        gains = xp.pow(xp.full_like(grades, 2.0), grades) - 1.0
    elif gain == "binary":
        gains = space.cast(grades > 0, ranked.real)
    else:
        return _gains_of_table(ranked, grades, counts, gain)
    is_beyond = xp.isinf(gains)
    return space.where(is_beyond, 0.0, gains), xp.any(is_beyond, axis=-1)


def _gains_of_table(
    ranked: Ranked, grades: Array, counts: Array, table: object
) -> tuple[Array, Array]:
    space, xp = ranked.space, ranked.space.xp
    gains, is_known = xp.zeros_like(grades), xp.zeros_like(counts)
    pairs = table if isinstance(table, tuple) else ()
    for grade, gain in pairs:
        is_grade = grades == grade
        gains = space.where(is_grade, gain, gains)
        is_known = is_known | is_grade
    return space.where(counts, gains, 0.0), xp.any(counts & ~is_known, axis=-1)


def _discounts(ranked: Ranked, weights: list[float], k: int) -> Array:
    """Return the discount of each rank, or over a tie, the mean discount of its ranks."""
    space = ranked.space
    cut = [weight if at < k else 0.0 for at, weight in enumerate(weights)]
    own = space.make([cut], ranked.real)
    if ranked.start is None or ranked.end is None:
        return own
    total = _total_between(ranked, cut, ranked.start, ranked.end + 1)
    return space.where(ranked.start == ranked.end, own + 0 * total, total / ranked.size())


def _total_between(ranked: Ranked, weights: list[float], start: Array, end: Array) -> Array:
    """Return the sum of the weights from one column up to another.

    It is the difference of two sums from the first rank on. In single precision, such sums are
    kept as two numbers each, since few digits of the difference would be left.
    """
    space = ranked.space
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    if ranked.real != space.xp.float32:
        table = space.make(sums, ranked.real)
        return space.look_up(table, end) - space.look_up(table, start)
    high = sums.astype(np.float32)
    low = (sums - high).astype(np.float32)
    parts = [space.make(part, ranked.real) for part in (high, low)]
    differences = [space.look_up(part, end) - space.look_up(part, start) for part in parts]
    return differences[0] + differences[1]


@lru_cache(maxsize=64)
def _weights(measure: Measure, count: int) -> list[float]:
    """Return the discounts of the first ranks, without a cutoff.

    Raises:
        MeasureError: There would be too many.
    """
    if count > MOST_SLOTS:
        raise MeasureError(
            f"expected a cutoff of at most {MOST_SLOTS} where every rank counts, found {count}",
            hint="write nDCG@10",
            code="bad_parameter",
        )
    plan = EvaluateSettings(measures=measure(gain="linear")).request().plan()
    return plan.discounted(0, [1.0] * count, range(1, count + 1)) or []
