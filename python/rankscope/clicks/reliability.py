"""How much a weighted log can tell, and the intervals of what it tells."""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

# The thresholds come from dev/simulate/clicks, where intervals with less cover too little.
LEAST_EFFECTIVE = 100
"""The smallest effective number of weighted rows for which there is an interval."""


LEAST_HEAVY = 20
"""The smallest effective number of heavy rows: with fewer, the log misses the heaviest weights."""


LEAST_REWARDED = 10
"""The smallest effective number of rows with a reward, and without one."""


LEAST_CLUSTERS = 30
"""The smallest effective number of clusters."""


@record(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How many equally weighted rows a weighted log is worth.

    Args:
        n: The number of rows.
        effective: Kish's effective sample size, (sum of weights)^2 / (sum of squared weights).
        heavy: The same of squared weights: how many rows make up the spread of the weights.
        rewarded: The effective number of rows with a reward, or without one if these are fewer.
        clusters: The effective number of clusters; `None` if each row is one.
        largest_share: The share of the largest weight in the sum of all, if it is known.
    """

    n: int
    effective: float
    heavy: float
    rewarded: float
    clusters: float | None
    largest_share: float = math.nan

    def refuse(self) -> str:
        """Return why there is no interval; empty if there can be one."""
        if not self.effective >= LEAST_EFFECTIVE:
            return (
                f"{self.n:,} rows count as much as {self.effective:,.1f} with equal weights, and "
                f"an interval needs {LEAST_EFFECTIVE}"
            )
        if not self.heavy >= LEAST_HEAVY:
            return (
                f"the large weights come from few rows, which count as much as {self.heavy:,.1f}, "
                f"and an interval needs {LEAST_HEAVY}"
            )
        if self.clusters is not None and not self.clusters >= LEAST_CLUSTERS:
            return (
                f"the clusters count as much as {self.clusters:,.1f} of equal weight, and an "
                f"interval needs {LEAST_CLUSTERS}"
            )
        if not self.rewarded >= LEAST_REWARDED:
            return (
                f"clicks, or rows without one, count as much as {self.rewarded:,.1f} with equal "
                f"weights, and an interval needs {LEAST_REWARDED}"
            )
        return ""


def assess(weights: Numbers, rewards: Numbers, clusters: NDArray[np.int64] | None) -> Reliability:
    """Return how much weighted rows are worth.

    A few rows with large weights can decide the value without having a reward, so the number of
    rewarded rows is also limited by the share of the weight that is rewarded.
    """
    total = float(weights.sum()) or 1.0
    effective = kish(weights)
    is_lowest, is_highest = rewards == rewards.min(), rewards == rewards.max()
    shares = [1 - float(weights[same].sum()) / total for same in (is_lowest, is_highest)]
    return Reliability(
        n=len(weights),
        effective=effective,
        heavy=kish(weights * weights),
        rewarded=min(kish(weights * abs(rewards)), effective * min(shares)),
        clusters=None if clusters is None else kish(add_up(weights, clusters)),
        largest_share=float(weights.max()) / total,
    )


def kish(weights: Numbers) -> float:
    """Return the effective sample size of weights (Kish, *Survey Sampling*, 1965)."""
    squares = float((weights * weights).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def add_up(column: Numbers, clusters: NDArray[np.int64] | None) -> Numbers:
    """Return the sums of a column by cluster, or the column itself without clusters."""
    if clusters is None:
        return column

    return np.bincount(clusters, weights=column).astype(np.float64)


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
