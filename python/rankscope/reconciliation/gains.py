"""Gains, discounts and ideals of one query, as kernels compute them."""

from __future__ import annotations

import math

from rankscope.measures.kernel import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Gain: TypeAlias = str | Sequence[Sequence[float]]
    Discount: TypeAlias = Mapping[str, str | float | Sequence[float]]


def gain_of(grade: float | None, gain: Gain, *, negative_gain: bool) -> float:
    """Return the gain of a grade, which is 0 for unjudged documents."""
    if grade is None or (grade < 0 and not negative_gain):
        return 0.0
    if gain == "binary":
        return float(grade > 0)
    if isinstance(gain, str):
        return grade if gain == "linear" else math.exp2(grade) - 1
    return {pair[0]: pair[1] for pair in gain}[grade]


def list_ideal_gains(gains: Sequence[float], k: int | None, ideal: str) -> list[float]:
    """Return the gains above 0 of the ideal list, largest first, from those of its documents."""
    if ideal == "slots":
        return [1.0] * (k or 0)
    positive = [value for value in sorted(gains, reverse=True) if value > 0]
    return positive if ideal == "whole" else positive[:k]


def weigh(rank: int, discount: Discount) -> float:
    """Return the weight of a rank."""
    match discount:
        case {"kind": "log2"}:
            return 1 / log2(rank + 1)
        case {"kind": "log", "base": float(base)}:
            return 1 / (log2(rank + 1) / log2(base))
        case {"kind": "jk", "base": float(base)}:
            return 1 / max(1.0, log2(rank) / log2(base))
        case {"kind": "reciprocal"}:
            return 1 / rank
        case {"kind": "linear"}:
            return 1 / (rank + 1)
        case {"kind": "zipf", "s": float(power)}:
            return 1 / math.pow(rank, power)
        case {"kind": "table", "weights": [*weights]}:
            return float(weights[rank - 1])
    raise ValueError(discount)
