"""The losses of a list by their definition, in the plainest words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def discounted(gains: Iterable[float]) -> float:
    """DCG of gains in rank order."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def best(gains: Iterable[float], k: int | None) -> float:
    """DCG of the best order of gains, down to a cutoff."""
    return discounted(sorted(gains, reverse=True)[:k])


def ledger(
    ranking: Sequence[float | None], judged: Sequence[float], k: int | None
) -> tuple[float, float, float, float]:
    """DCG, and what it lacks by retrieval, truncation and ordering.

    Args:
        ranking: The grades in rank order, `None` where unjudged.
        judged: All judged grades, those of the list among them.
        k: The cutoff.
    """
    gains = [grade or 0.0 for grade in ranking]
    shown = gains[:k]
    steps = best(judged, k), best(gains, k), best(shown, k), discounted(shown)
    return steps[3], steps[0] - steps[1], steps[1] - steps[2], steps[2] - steps[3]
