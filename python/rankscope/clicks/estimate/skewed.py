"""Confidence intervals of sums of skewed influences, such as rewards with large weights."""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope.clicks.estimate.reliability import add_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

FLAT = 1e-9
"""A skewness this small is none."""


def find_ends(
    value: float,
    influences: Numbers,
    clusters: NDArray[np.int64] | None,
    level: float,
    *,
    floor: float = 0.0,
) -> tuple[float, float]:
    """Return the interval of an estimate, corrected for skewness.

    Clicks with large weights are skewed, and Student's t interval then misses high values too
    often. This interval transforms t with a cubic that removes the skewness (Hall, *On the removal
    of skewness by transformation*, JRSSB 1992).
    """
    sums = add_up(influences, clusters)
    count = len(sums)
    if count < 2:
        return math.nan, math.nan
    squares = float((sums**2).sum())
    error = math.sqrt(max(squares * count / (count - 1), floor))
    skewness = float((sums**3).sum()) / count / (squares / count) ** 1.5 if squares > 0 else 0.0
    quantile = t_quantile(level, count - 1)
    high, low = (_transform(side * quantile, skewness, count) for side in (-1, 1))
    return value - error * low, value - error * high


def _transform(quantile: float, skewness: float, count: int) -> float:
    """Return the quantile of t that the skewness turns into this one."""
    if abs(skewness) < FLAT:
        return quantile
    root = math.sqrt(count)
    return (
        3
        * root
        / skewness
        * (math.cbrt(1 + skewness * (quantile / root - skewness / 6 / count)) - 1)
    )
