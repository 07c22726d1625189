"""How much attention a rank gets according to textbooks, and how far a discount is from that."""

from __future__ import annotations

import math

from rankscope.results.discounts import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ATTENTION = {1: 1.0, 2: 0.6, 3: 0.4, 4: 0.3, 10: 0.1}
"""The share of the readers of rank 1 who look at a rank, in round figures."""


def compare_with_attention(weights: Sequence[float]) -> Discrepancy:
    """Say how far weights are from the table of attention, over the ranks that both have.

    Args:
        weights: By rank, relative to rank 1.
    """
    ranks = [rank for rank in ATTENTION if rank <= len(weights)]
    errors = {rank: weights[rank - 1] - ATTENTION[rank] for rank in ranks}
    # Errors that are one but for rounding are so here; the first counts.
    worst = max(ranks, key=lambda rank: round(abs(errors[rank]), 12))
    mean_square = math.fsum(error * error for error in errors.values()) / len(ranks)
    return Discrepancy(math.sqrt(mean_square), errors[worst], worst, len(ranks))
