"""Three losses that add up to 1 - nDCG."""

from __future__ import annotations

import math

from tests.reference.gain import dcg, discounted, gain_of, idcg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from tests.reference.gain import Discount, Gain
    from tests.reference.query import Query

    Sums: TypeAlias = Callable[[], float]

ROUNDING = 1e-15
"""The largest rounding error of a loss of 0, as a share of the ideal."""


def retrieval_loss(
    query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """Return the loss due to relevant documents that were not retrieved."""
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
    """Return the loss due to relevant documents that were retrieved below the cutoff."""

    def lost() -> float:
        best = _best_of_retrieved(query, k, gain, discount, ideal)
        return best - _best_of_shown(query, k, gain, discount)

    return _share(query, lost, k=k, gain=gain, discount=discount, ideal=ideal)


def ordering_loss(
    query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """Return the loss due to the order of the documents above the cutoff."""

    def lost() -> float:
        found = dcg(query, k=k, gain=gain, discount=discount)
        return _best_of_shown(query, k, gain, discount) - found

    return _share(query, lost, k=k, gain=gain, discount=discount, ideal=ideal)


def _share(
    query: Query, lost: Sums, *, k: int | None, gain: Gain, discount: Discount, ideal: str
) -> float:
    """Return the loss divided by the ideal, with negative rounding errors set to 0."""
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
    """Return the discounted gain of the best order of the retrieved documents."""
    depth = None if ideal == "whole" else k
    return idcg(query, k=depth, gain=gain, discount=discount, ideal="retrieved")


def _best_of_shown(query: Query, k: int | None, gain: Gain, discount: Discount) -> float:
    """Return the discounted gain of the best order of the documents above the cutoff."""
    gains = sorted((gain_of(query, grade, gain) for grade in query.ranking[:k]), reverse=True)
    total = 0.0
    for rank, value in enumerate(gains, start=1):
        total += discounted(value, rank, discount)
    return total
