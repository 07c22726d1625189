"""Measures that model a user who reads from the top and may stop at each document."""

from __future__ import annotations

import math

from tests.reference.query import Query


def err(query: Query, *, k: int | None, max_grade: float) -> float:
    """Return the sum of reciprocal ranks, weighted by the probability of stopping there."""
    if max(query.judged, default=0) <= 0:
        return math.nan
    reads_on = 1.0
    total = 0.0
    for rank, grade in enumerate(query.ranking[:k], start=1):
        if grade is not None and grade > 0:
            stops = (math.exp2(grade) - 1) / math.exp2(max_grade)
            total += reads_on * stops / rank
            reads_on *= 1 - stops
    return total


def rbp(
    query: Query,
    *,
    k: int | None,
    p: float,
    rel: float,
    graded: bool,
    max_grade: float | str | None,
) -> float:
    """Return the sum of gains, weighted by the probability of reading this far."""
    top = max([1.0, *query.judged]) if isinstance(max_grade, str) else max_grade

    def gain(grade: float | None) -> float:
        if grade is None:
            return 0.0
        return max(grade, 0) / (top or 1) if graded else float(grade >= rel)

    if max(map(gain, query.judged), default=0) <= 0:
        return math.nan
    weight = 1.0
    total = 0.0
    for grade in query.ranking[:k]:
        total += gain(grade) * weight
        weight *= p
    return total * (1 - p)


def rbp_residual(query: Query, *, k: int | None, p: float) -> float:
    """Return what unjudged documents and ranks below the list could contribute."""
    weight = 1.0
    unjudged = 0.0
    for grade in query.ranking[:k]:
        if grade is None or grade < 0:
            unjudged += weight
        weight *= p
    return weight + (1 - p) * unjudged
