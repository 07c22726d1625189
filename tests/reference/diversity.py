"""Measures of diversity: how many subtopics the top of a list covers, and how early."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from tests.reference.logarithm import add, log2
from tests.reference.query import Query

Covered = frozenset[str]
"""The subtopics to which a document is relevant."""


def alpha_ndcg(query: Query, *, k: int | None, alpha: float, rel: float) -> float:
    """Return the discounted novelty of the list divided by that of the best list."""
    return _share_of_best(query, _log2, k=k, alpha=alpha, rel=rel)


def alpha_dcg(query: Query, *, k: int, alpha: float, rel: float) -> float:
    """Return the discounted novelty as a share of the highest that is possible."""
    return _share_of_any(query, _log2, k=k, alpha=alpha, rel=rel)


def nerr_ia(query: Query, *, k: int | None, rel: float) -> float:
    """Return the novelty discounted by rank, divided by that of the best list."""
    return _share_of_best(query, _reciprocal, k=k, alpha=0.5, rel=rel)


def err_ia(query: Query, *, k: int, rel: float) -> float:
    """Return the novelty discounted by rank as a share of the highest that is possible."""
    return _share_of_any(query, _reciprocal, k=k, alpha=0.5, rel=rel)


def nnrbp(query: Query, *, rel: float, alpha: float, beta: float) -> float:
    """Return the rank-biased novelty of the list divided by that of the best list."""
    return _share_of_best(query, _geometric(beta), k=None, alpha=alpha, rel=rel)


def nrbp(query: Query, *, rel: float, alpha: float, beta: float) -> float:
    """Return the rank-biased novelty as a share of the highest that is possible."""
    count = len(_covered_by_any(query, rel))
    if count == 0:
        return math.nan
    found = _novelty(_listed(query, rel), alpha, _geometric(beta))
    return found / (1 / (1 - (1 - alpha) * beta) * count)


def ap_ia(query: Query, *, rel: float) -> float:
    """Return the mean over subtopics of average precision."""
    subtopics = sorted(_covered_by_any(query, rel))
    if not subtopics:
        return math.nan
    total = 0.0
    for subtopic in subtopics:
        found = precisions = 0.0
        for rank, covered in enumerate(_listed(query, rel), start=1):
            if subtopic in covered:
                found += 1
                precisions += found / rank
        relevant = sum(subtopic in covered for covered in _judged(query, rel).values())
        total += precisions / relevant
    return total / len(subtopics)


def p_ia(query: Query, *, k: int, rel: float) -> float:
    """Return the mean over subtopics of precision."""
    count = len(_covered_by_any(query, rel))
    if count == 0:
        return math.nan
    return sum(len(covered) for covered in _listed(query, rel)[:k]) / (k * count)


def strecall(query: Query, *, k: int | None, rel: float) -> float:
    """Return the share of the subtopics that the first `k` documents cover."""
    subtopics = _covered_by_any(query, rel)
    if not subtopics:
        return math.nan
    return len(frozenset[str]().union(*_listed(query, rel)[:k])) / len(subtopics)


def _judged(query: Query, rel: float) -> dict[str, Covered]:
    """Return the subtopics that each judged document covers."""
    return {
        document: frozenset(subtopic for subtopic, grade in grades.items() if grade >= rel)
        for document, grades in query.subtopics.items()
    }


def _covered_by_any(query: Query, rel: float) -> Covered:
    return frozenset[str]().union(*_judged(query, rel).values())


def _listed(query: Query, rel: float) -> list[Covered]:
    """Return the subtopics that the document at each rank covers."""
    judged = _judged(query, rel)
    return [judged.get(document, frozenset()) for document in query.documents]


def _best(query: Query, alpha: float, rel: float) -> list[Covered]:
    """Return the greedy best list: of several documents, the one with the largest ID is next."""
    left = _judged(query, rel)
    worth = dict.fromkeys(_covered_by_any(query, rel), 1.0)
    listed = []
    while left:
        best = max(left, key=lambda document: (_sum(worth, left[document]), document.encode()))
        listed.append(left.pop(best))
        for subtopic in listed[-1]:
            worth[subtopic] *= 1 - alpha
    return listed


def _sum(worth: dict[str, float], covered: Covered) -> float:
    return add(worth[subtopic] for subtopic in sorted(covered, key=str.encode))


def _novelty(
    listed: Iterable[Covered], alpha: float, weigh: Callable[[float, int], float]
) -> float:
    """Return the sum of what documents are worth, where subtopics covered before count less."""
    worth: dict[str, float] = {}
    total = 0.0
    for rank, covered in enumerate(listed, start=1):
        for subtopic in covered:
            worth.setdefault(subtopic, 1.0)
        total += weigh(_sum(worth, covered), rank)
        for subtopic in covered:
            worth[subtopic] *= 1 - alpha
    return total


def _share_of_best(
    query: Query,
    weigh: Callable[[float, int], float],
    *,
    k: int | None,
    alpha: float,
    rel: float,
) -> float:
    if not _covered_by_any(query, rel):
        return math.nan
    best = _novelty(_best(query, alpha, rel)[:k], alpha, weigh)
    return _novelty(_listed(query, rel)[:k], alpha, weigh) / best


def _share_of_any(
    query: Query, weigh: Callable[[float, int], float], *, k: int, alpha: float, rel: float
) -> float:
    count = len(_covered_by_any(query, rel))
    if count == 0:
        return math.nan
    highest = _novelty([frozenset({"any"})] * k, alpha, weigh)
    return _novelty(_listed(query, rel)[:k], alpha, weigh) / (highest * count)


def _log2(gain: float, rank: int) -> float:
    return gain / log2(rank + 1)


def _reciprocal(gain: float, rank: int) -> float:
    return gain / rank


def _geometric(beta: float) -> Callable[[float, int], float]:
    def weigh(gain: float, rank: int) -> float:
        weight = 1.0
        for _ in range(1, rank):
            weight *= beta
        return gain * weight

    return weigh
