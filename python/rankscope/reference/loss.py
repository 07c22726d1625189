"""Where 1 - nDCG comes from, in three parts that add up to it."""

from __future__ import annotations

import math

from rankscope.reference.gain import dcg, discounted, gain_of, idcg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from rankscope.reference.gain import Discount, Gain
    from rankscope.reference.query import Query

    Sums: TypeAlias = Callable[[], float]

ROUNDING = 1e-15
"""Rounding may take so much of the ideal from a loss of 0."""


def retrieval_loss(
    query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """What is lost by relevant documents that were not retrieved."""
    if ideal == "retrieved":
        return _share(query, lambda: 0.0, k=k, gain=gain, discount=discount, ideal=ideal)

    def lost() -> float:
        judged = "whole" if ideal == "whole" else "judged"
        best = idcg(query, k=k, gain=gain, discount=discount, ideal=judged)
        return best - _best_of_retrieved(query, k, gain, discount, ideal)

    return _share(query, lost, k=k, gain=gain, discount=discount, ideal=ideal)


def truncation_loss(
    query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """What is lost by relevant documents that were retrieved below the cutoff."""

    def lost() -> float:
        best = _best_of_retrieved(query, k, gain, discount, ideal)
        return best - _best_of_shown(query, k, gain, discount)

    return _share(query, lost, k=k, gain=gain, discount=discount, ideal=ideal)


def ordering_loss(
    query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """What is lost by the order of the documents down to the cutoff."""

    def lost() -> float:
        found = dcg(query, k=k, gain=gain, discount=discount)
        return _best_of_shown(query, k, gain, discount) - found

    return _share(query, lost, k=k, gain=gain, discount=discount, ideal=ideal)


def _share(
    query: Query, lost: Sums, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """Divide what is lost by the ideal; less than 0 by rounding is 0."""
    if ideal == "slots" and all(gain_of(query, grade, gain) <= 0 for grade in query.judged):
        return math.nan
    best = idcg(query, k=k, gain=gain, discount=discount, ideal=ideal)
    if best <= 0:
        return math.nan
    value = lost()
    return 0.0 if -ROUNDING * best <= value < 0 else value / best


def _best_of_retrieved(
    query: Query, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """Add up the discounted gains of the best order of the retrieved documents."""
    depth = None if ideal == "whole" else k
    return idcg(query, k=depth, gain=gain, discount=discount, ideal="retrieved")


def _best_of_shown(query: Query, k: int | None, gain: Gain, discount: Discount) -> float:
    """Add up the discounted gains of the best order of the documents down to the cutoff."""
    gains = sorted((gain_of(query, grade, gain) for grade in query.ranking[:k]), reverse=True)
    total = 0.0
    for rank, value in enumerate(gains, start=1):
        total += discounted(value, rank, discount)
    return total
