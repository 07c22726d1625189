"""The methods of fusion in the plainest Python, as the literature defines them."""

from __future__ import annotations

import math
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Scores: TypeAlias = dict[str, float]


def rank(scores: Scores) -> list[str]:
    """The documents in rank order: of equal scores, the larger id first."""
    return sorted(sorted(scores, reverse=True), key=lambda doc: -scores[doc])


def scale(scores: Scores, how: str, candidates: set[str]) -> Scores:
    """The scores of one query in one run on a common scale."""
    order, values = rank(scores), list(scores.values())
    low, high = min(values), max(values)
    if how == "none":
        return scores
    if how == "min_max":
        return {doc: (s - low) / (high - low) if high > low else 1.0 for doc, s in scores.items()}
    if how == "max":
        return {doc: score / high for doc, score in scores.items()}
    if how == "sum":
        total = sum(score - low for score in values)
        share = 1 / len(values)
        return {doc: (s - low) / total if high > low else share for doc, s in scores.items()}
    if how == "zmuv":
        mean, spread = fmean(values), pstdev(values)
        return {doc: (s - mean) / spread if high > low else 0.0 for doc, s in scores.items()}
    if how == "rank":
        return {doc: 1 - place / len(order) for place, doc in enumerate(order)}
    ranked = {doc: 1 - place / len(candidates) for place, doc in enumerate(order)}
    left = [1 - place / len(candidates) for place in range(len(order), len(candidates))]
    return ranked | {doc: fmean(left) for doc in candidates - set(order)}


def fuse(
    lists: Sequence[Scores],
    method: str,
    *,
    how: str = "min_max",
    weights: Sequence[float] | None = None,
    parameter: float = 0.0,
) -> Scores:
    """The fused score of each document of one query."""
    candidates = {doc for scores in lists for doc in scores}
    weighed = list(zip(lists, weights or [1.0] * len(lists), strict=True))
    hits = {doc: sum(doc in scores for scores in lists) for doc in candidates}

    def add(of_list: Sequence[Scores]) -> Scores:
        parts = zip(of_list, [weight for _, weight in weighed], strict=True)
        pairs = [(scores, weight) for scores, weight in parts]
        return {
            doc: math.fsum(weight * scores.get(doc, 0.0) for scores, weight in pairs)
            for doc in candidates
        }

    def by_rank(points: object) -> Scores:
        return add(
            [{doc: points(place) for place, doc in enumerate(rank(scores), 1)} for scores in lists]
        )

    if method == "rrf":
        return by_rank(lambda place: 1 / (parameter + place))
    if method == "rbc":
        return by_rank(lambda place: (1 - parameter) * parameter ** (place - 1))
    if method in {"isr", "log_isr"}:
        sums = by_rank(lambda place: 1 / place**2)
        times = (lambda n: n) if method == "isr" else (lambda n: math.log(n + parameter))
        return {doc: total * times(hits[doc]) for doc, total in sums.items()}
    if method == "borda":
        count = len(candidates)
        points = [scale(scores, "borda", candidates) for scores in lists if scores]
        return {
            doc: math.fsum(
                weight * count * scaled[doc]
                for scaled, (_, weight) in zip(
                    points, [pair for pair in weighed if pair[0]], strict=True
                )
            )
            for doc in candidates
        }
    scaled = [scale(scores, how, candidates) if scores else {} for scores in lists]
    has = {doc: [scores[doc] for scores in scaled if doc in scores] for doc in candidates}
    if method in {"combsum", "combmnz"}:
        sums = add(scaled)
        return {
            doc: total * (len(has[doc]) if method == "combmnz" else 1)
            for doc, total in sums.items()
        }
    of = {"combanz": fmean, "combmed": median, "combmax": max, "combmin": min}[method]
    return {doc: of(values) for doc, values in has.items()}
