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
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from rankscope._evaluate.settings import Settings
from rankscope._settings import Empty, Negative, Ties
from rankscope.array.space import Array, Padded, Ranked, Space, Values, rank_batch
from rankscope.errors import MeasureError
from rankscope.measures import Measure

MOST_SLOTS = 10_000_000
"""The largest cutoff with an ideal list that has a document at each rank, as in the core."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """What to compute of lists, in which type, and whether to look for mistakes."""

    measures: Sequence[Measure]
    ties: Ties
    empty: Empty
    negative: Negative
    dtype: Literal["float64", "float32"] | None = field(compare=False)
    check: bool | None = field(compare=False)


def evaluate(space: Space, batch: Padded, settings: BatchSettings) -> list[Values]:
    """Return the values of measures."""
    real = space.real(settings.dtype)
    ranked = rank_batch(space, batch, settings.ties, settings.negative, real)
    return [
        _of_gains(ranked, measure)
        if measure.row.kernel in {"ndcg", "dcg"}
        else _of_relevance(ranked, measure)
        for measure in settings.measures
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
    gain: Any = measure.parameters["gain"]
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
    ranked: Ranked, grades: Array, counts: Array, table: Sequence[tuple[float, float]]
) -> tuple[Array, Array]:
    space, xp = ranked.space, ranked.space.xp
    gains, has_gain = xp.zeros_like(grades), xp.zeros_like(counts)
    for grade, gain in table:
        is_grade = grades == grade
        gains = space.where(is_grade, gain, gains)
        has_gain = has_gain | is_grade
    return space.where(counts, gains, 0.0), xp.any(counts & ~has_gain, axis=-1)


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
        message = (
            f"expected a cutoff of at most {MOST_SLOTS} where every rank counts, found {count}"
        )
        raise MeasureError(message, hint="write nDCG@10", code="bad_parameter")
    plan = Settings(measures=measure(gain="linear")).request().plan()
    return plan.discounted(0, [1.0] * count, range(1, count + 1)) or []


@dataclass(frozen=True, slots=True)
class Relevant:
    """Where the relevant documents are.

    `count` says how many there are in the tie of each rank, `before` how many before that tie,
    `size` how many documents that tie has, `above` how many of its ranks are before each rank, and
    `total` how many relevant documents each row has.
    """

    count: Array
    before: Array
    size: Array | float
    above: Array | float
    total: Array


def _of_relevance(ranked: Ranked, measure: Measure) -> Values:
    """Return the values of AP, RR, P, R or Success."""
    xp = ranked.space.xp
    rel: Any = measure.parameters["rel"]
    relevant = _find(ranked, rel)
    k = min(measure.k or ranked.columns, ranked.columns)
    kernel = measure.row.kernel
    if kernel == "rr":
        values = _sum_first(ranked, _first_chances(ranked, relevant) / _ranks(ranked), k)
    elif kernel == "success":
        values = _success(ranked, relevant, k)
    else:
        terms = _precisions(ranked, relevant) if kernel == "ap" else relevant.count / relevant.size
        values = _divide(ranked, measure, relevant, _sum_first(ranked, terms, k))
    is_undefined = relevant.total == 0
    values = ranked.space.where(is_undefined, 0.0, values)
    return Values(values, is_undefined, ranked.is_bad | ~xp.isfinite(values))


def _find(ranked: Ranked, rel: float) -> Relevant:
    space = ranked.space
    is_relevant = ranked.number(ranked.grades >= rel)
    up_to = space.add_up(is_relevant)
    total, before = up_to[:, -1], up_to - is_relevant
    if ranked.start is None or ranked.end is None:
        return Relevant(is_relevant, before, 1.0, 0.0, total)
    before = space.pick(before, ranked.start)
    count = space.pick(up_to, ranked.end) - before
    above = ranked.number(ranked.places - ranked.start)
    return Relevant(count, before, ranked.size(), above, total)


def _ranks(ranked: Ranked) -> Array:
    return ranked.number(ranked.places + 1)


def _sum_first(ranked: Ranked, terms: Array, k: int) -> Array:
    return ranked.space.xp.sum(terms[:, :k], axis=-1)


def _precisions(ranked: Ranked, relevant: Relevant) -> Array:
    """Return the precision at each rank, times the chance of a relevant document there."""
    if ranked.start is None:
        return relevant.count * (relevant.before + 1) / _ranks(ranked)
    space, xp = ranked.space, ranked.space.xp
    # Given one relevant document, how likely each other one of the tie is, too.
    others = (relevant.count - 1) / xp.maximum(relevant.size - 1, xp.ones_like(relevant.count))
    expected = relevant.count / relevant.size * (relevant.before + 1 + relevant.above * others)
    return space.where(relevant.count > 0, expected / _ranks(ranked), 0.0)


def _first_chances(ranked: Ranked, relevant: Relevant) -> Array:
    """Return how likely the first relevant document is at each rank."""
    space, xp = ranked.space, ranked.space.xp
    is_first = (relevant.count > 0) & (relevant.before == 0)
    if ranked.start is None:
        return ranked.number(is_first)
    # Of the documents from a rank on, how many are there, and how many are not relevant?
    left = relevant.size - relevant.above
    others = xp.maximum(left - relevant.count, xp.zeros_like(relevant.count))
    none_here = space.where(is_first, others / left, 1.0)
    none_up_to = space.multiply_up(none_here)
    none_above = xp.concat([xp.ones_like(none_up_to[:, :1]), none_up_to[:, :-1]], axis=-1)
    is_possible = is_first & (relevant.above <= relevant.size - relevant.count)
    return space.where(is_possible, none_above * relevant.count / left, 0.0)


def _success(ranked: Ranked, relevant: Relevant, k: int) -> Array:
    xp = ranked.space.xp
    chance = _sum_first(ranked, _first_chances(ranked, relevant), k)
    if ranked.start is None or ranked.end is None:
        return chance
    is_certain = (relevant.count > 0) & (ranked.end < k)
    return ranked.space.where(xp.any(is_certain, axis=-1), 1.0, chance)


def _divide(ranked: Ranked, measure: Measure, relevant: Relevant, total: Array) -> Array:
    space, xp = ranked.space, ranked.space.xp
    by = measure.parameters["denominator"]
    if by == "cutoff":
        return total / float(measure.k or 0)
    number = ranked.retrieved if by == "retrieved" else relevant.total
    if by in {"retrieved", "reachable"} and measure.k is not None:
        number = xp.minimum(number, xp.full_like(number, float(measure.k)))
    return space.where(number == 0, 0.0, total / space.where(number == 0, 1.0, number))
