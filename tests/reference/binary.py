"""Measures with binary relevance: a document is either relevant or not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.reference.logarithm import add
from tests.reference.query import Query


def ap(query: Query, *, k: int | None, rel: float, denominator: str) -> float:
    """Return the mean precision at the ranks of the relevant documents."""
    return divide(query, precisions(query, rel, k), denominator, k=k, rel=rel)


def rr(query: Query, *, k: int | None, rel: float) -> float:
    """Return 1 divided by the rank of the first relevant document."""
    if query.relevant(rel) == 0:
        return math.nan
    ranks = query.relevant_ranks(rel, k)
    return 1 / ranks[0] if ranks else 0.0


def precision(query: Query, *, k: int, rel: float, denominator: str) -> float:
    """Return the number of relevant documents in the first `k`, by default divided by `k`."""
    return divide(query, len(query.relevant_ranks(rel, k)), denominator, k=k, rel=rel)


def recall(query: Query, *, k: int, rel: float, denominator: str) -> float:
    """Return the relevant documents in the first `k`, by default divided by all relevant ones."""
    return divide(query, len(query.relevant_ranks(rel, k)), denominator, k=k, rel=rel)


def rprec(query: Query, *, rel: float, multiple: float) -> float:
    """Return the precision at a multiple of the number of relevant documents."""
    if query.relevant(rel) == 0:
        return math.nan
    rank = round_up(multiple * query.relevant(rel))
    return len(query.relevant_ranks(rel, rank)) / rank if rank else 0.0


def success(query: Query, *, k: int | None, rel: float) -> float:
    """Return 1 if there is a relevant document in the first `k` (of all without one), else 0."""
    return float(bool(query.relevant_ranks(rel, k))) if query.relevant(rel) else math.nan


def f(query: Query, *, k: int, rel: float, beta: float) -> float:
    """Return the weighted harmonic mean of precision and recall."""
    return harmonic(
        precision(query, k=k, rel=rel, denominator="cutoff"),
        recall(query, k=k, rel=rel, denominator="relevant"),
        beta,
    )


def iprec(query: Query, *, recall: float, rel: float, rounding: str) -> float:
    """Return the highest precision at any rank by which enough relevant documents are found."""
    relevant = query.relevant(rel)
    if relevant == 0:
        return math.nan
    enough = (round_up if rounding == "up" else round_nearest)(recall * relevant)
    found = enumerate(query.relevant_ranks(rel), start=1)
    return max((count / rank for count, rank in found if count >= enough), default=0.0)


def interpolated_ap(query: Query, *, levels: Sequence[float], rel: float, rounding: str) -> float:
    """Return the mean of interpolated precision over levels of recall."""
    found = (iprec(query, recall=one, rel=rel, rounding=rounding) for one in reversed(levels))
    return add(found) / len(levels)


def yaap(query: Query, *, rel: float) -> float:
    """Return the logarithm of the smoothed odds of average precision."""
    total = precisions(query, rel)
    return math.log((1 + total) / (1 + query.relevant(rel) - total))


def precisions(query: Query, rel: float, k: int | None = None) -> float:
    """Return the sum of the precision at the ranks of the relevant documents."""
    return add(found / rank for found, rank in enumerate(query.relevant_ranks(rel, k), start=1))


def round_up(number: float) -> int:
    """Return a number rounded up, unless it exceeds a whole one by less than a tenth."""
    return int(number + 0.9)


def round_nearest(number: float) -> int:
    """Return the nearest whole number, and the larger one of two."""
    whole = int(number)
    return whole + (number - whole >= 0.5)


def divide(query: Query, total: float, by: str, *, k: int | None, rel: float) -> float:
    """Return a sum divided by a denominator; NaN without relevant documents, 0 if it is 0."""
    relevant = query.relevant(rel)
    if relevant == 0:
        return math.nan
    numbers = {
        "relevant": relevant,
        "reachable": relevant if k is None else min(k, relevant),
        "cutoff": k,
        "retrieved": len(query.ranking[:k]),
        "found": len(query.relevant_ranks(rel, k)),
    }
    number = numbers[by]
    return total / number if number else 0.0


def share(part: float, relevant: int) -> float:
    """Return a sum divided by the number of relevant documents, or NaN if there are none."""
    return part / relevant if relevant else math.nan


def harmonic(precision: float, recall: float, beta: float) -> float:
    """Return the weighted harmonic mean, or 0 if precision and recall are 0."""
    weight = beta * beta
    if precision + recall == 0:
        return 0.0
    return (1 + weight) * precision * recall / (weight * precision + recall)
