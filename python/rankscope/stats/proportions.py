"""Confidence intervals of proportions and of ratios of proportions."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Ends: TypeAlias = tuple[float, float]


def quantile_of(level: float) -> float:
    """Return the normal quantile for a two-sided interval at a level."""
    from statistics import NormalDist  # noqa: PLC0415 - slow to load; only intervals need it

    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(share: float, count: float, quantile: float) -> Ends:
    """Return the score interval of a proportion (Wilson, *Probable inference*, 1927)."""
    square = quantile * quantile
    centre = (share + square / (2 * count)) / (1 + square / count)
    spread = share * (1 - share) / count + square / (4 * count * count)
    half = quantile * math.sqrt(spread) / (1 + square / count)
    # At a share of 0 or 1 the end is that share, but for rounding.
    return (
        0.0 if share == 0 else max(0.0, centre - half),
        1.0 if share == 1 else min(1.0, centre + half),
    )


def divide(
    top: float, ends: Ends, bottom: float, bottom_ends: Ends, correlation: float = 0.0
) -> Ends:
    """Return the interval of a ratio, derived from the intervals of its parts.

    This is MOVER-R of Donner and Zou, *Closed-form confidence intervals for functions of the normal
    mean and standard deviation*, Statistical Methods in Medical Research 21(4), 2012.
    """
    (low, high), (bottom_low, bottom_high) = ends, bottom_ends
    product = top * bottom - correlation * (top - low) * (bottom_high - bottom)
    near, far = low * (2 * top - low), bottom_high * (2 * bottom - bottom_high)
    lower = near and near / (product + math.sqrt(max(0.0, product * product - near * far)))
    product = top * bottom - correlation * (high - top) * (bottom - bottom_low)
    far, near = high * (2 * top - high), bottom_low * (2 * bottom - bottom_low)
    upper = (product + math.sqrt(max(0.0, product * product - far * near))) / near
    return lower, upper
