"""Measures of how far the order of a list agrees with the best one."""

from __future__ import annotations

import math
from itertools import accumulate

from tests.reference.logarithm import add
from tests.reference.query import Query


def accuracy(query: Query, *, k: int | None, rel: float) -> float:
    """Return how often a relevant document ranks above a non-relevant one."""
    ranks = query.relevant_ranks(rel, k)
    others = len(query.ranking[:k]) - len(ranks)
    if not ranks:
        return math.nan
    above = sum(rank - found for found, rank in enumerate(ranks, start=1))
    return 1 - above / (others * len(ranks)) if others else 1.0


def compat(query: Query, *, p: float, normalize: bool) -> float:
    """Return the rank-biased overlap with the ideal list that is most similar."""
    best = sorted((grade for grade in query.judged if grade > 0), reverse=True)
    if not best:
        return math.nan
    depth = max(len(query.ranking), len(best))
    overlaps, weights = _sums(p, depth)
    taken: dict[float, int] = {}
    total = 0.0
    for rank, grade in enumerate(query.ranking, start=1):
        if grade is None or grade <= 0:
            continue
        taken[grade] = taken.get(grade, 0) + 1
        ideal_rank = sum(other > grade for other in best) + taken[grade]
        total += overlaps[depth] - overlaps[max(rank, ideal_rank) - 1]
    if not normalize:
        return total / weights[depth]
    return total / add(overlaps[depth] - overlaps[rank] for rank in range(len(best)))


def _sums(p: float, depth: int) -> tuple[list[float], list[float]]:
    """Return the sums of p^(i - 1) / i and of p^(i - 1) over the ranks i down to each depth."""
    powers = list(accumulate([1.0] + [p] * (depth - 1), lambda power, p: power * p))
    overlaps = accumulate((power / rank for rank, power in enumerate(powers, 1)), initial=0.0)
    return list(overlaps), list(accumulate(powers, initial=0.0))
