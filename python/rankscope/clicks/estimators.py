"""Estimators of the value of a policy, how much the log can tell, and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._core import t_quantile

Numbers: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Predicted: TypeAlias = tuple[Numbers, Numbers]
"""The predictions of the rewards of each row's item, and of the new policy's choice there."""
Ends: TypeAlias = tuple[float, float]


# The thresholds come from dev/simulate/clicks, where intervals with less cover too little.
LEAST_EFFECTIVE = 100
"""The smallest effective number of weighted rows for which there is an interval."""
LEAST_HEAVY = 20
"""The smallest effective number of heavy rows: with fewer, the log misses the heaviest weights."""
LEAST_REWARDED = 10
"""The smallest effective number of rows with a reward, and without one."""
LEAST_CLUSTERS = 30
"""The smallest effective number of clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How many equally weighted rows a weighted log is worth."""

    n: int
    effective: float  # Kish's sample size: (sum of weights)^2 / (sum of squared weights)
    heavy: float  # the same of squared weights: how many rows make up the spread of the weights
    rewarded: float  # of rows with a reward, or without one if these are fewer
    clusters: float | None  # `None` if each row is one
    largest_share: float = math.nan  # of the largest weight in the sum of all

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


def assess(weights: Numbers, rewards: Numbers, clusters: Codes | None) -> Reliability:
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


def add_up(column: Numbers, clusters: Codes | None) -> Numbers:
    """Return the sums of a column by cluster, or the column itself without clusters."""
    return column if clusters is None else np.bincount(clusters, column).astype(np.float64)


FLAT = 1e-9
"""A skewness this small is none."""


def find_ends(
    value: float,
    influences: Numbers,
    clusters: Codes | None,
    level: float,
    *,
    floor: float = 0.0,
) -> Ends:
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
    moved = math.cbrt(1 + skewness * (quantile / root - skewness / 6 / count)) - 1
    return 3 * root / skewness * moved


ROUNDING = 1e-12
"""An error this small, relative to the value, is due to rounding."""
TINY = 1e-300
"""Keeps 0 from dividing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The rows by position, and how much each position counts."""

    codes: Codes  # the number of the position of each row, from 0
    counts: Numbers  # the number of rows of each position
    shares: Numbers  # how much the mean of each position counts in the value

    def average(self, column: Numbers) -> Numbers:
        """Return the mean of a column at each position."""
        return np.bincount(self.codes, weights=column, minlength=len(self.counts)) / self.counts

    @property
    def scale(self) -> Numbers:
        """What a row adds to the value for each unit of its own."""
        return (self.shares / self.counts)[self.codes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A log whose rows are weighted as the new policy would have chosen them."""

    rewards: Numbers
    weights: Numbers  # the probability of each row under the new policy divided by the logged one
    strata: Strata
    clusters: Codes | None  # the cluster of each row, from 0; `None` if rows are independent
    predicted: Predicted | None
    unsupported: float | None  # the share of choices that the log never shows, if known


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """A value as a sum over rows."""

    value: float
    influences: Numbers  # what each row adds to the error of the estimate
    # The smallest variance that the estimate can have: that of as many rows of equal weight as the
    # effective sample size. Without it, a few large weights that have no reward yet would make the
    # estimate look precise.
    floor: float
    reliability: Reliability


def average(log: Weighted, weights: Numbers, predicted: Predicted | None = None) -> Estimator:
    """Return inverse propensity scoring (IPS): the mean of weighted rewards.

    With predictions, it is the doubly robust estimate: predictions plus the weighted mean of their
    errors. It is right if either the propensities or the predictions are (Dudík, Langford and Li,
    *Doubly robust policy evaluation and learning*, ICML 2011).
    """
    of_row, of_policy = predicted or (np.zeros(1), np.zeros(1))
    strata, errors = log.strata, log.rewards - of_row
    terms = of_policy + weights * errors
    means = strata.average(terms)
    return Estimator(
        value=float(strata.shares @ means),
        influences=strata.scale * (terms - means[strata.codes]),
        floor=find_floor(errors, weights, strata),
        reliability=assess(strata.scale * weights, log.rewards, log.clusters),
    )


def normalize(log: Weighted) -> Estimator:
    """Return self-normalized IPS: the weighted mean of rewards (Swaminathan and Joachims, 2015).

    Positions at which all weights are 0 have no weighted mean; the value is NaN.
    """
    rewards, weights, strata = log.rewards, log.weights, log.strata
    totals = strata.average(weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = strata.average(rewards * weights) / totals
        errors = weights * (rewards - means[strata.codes])
        influences = strata.scale * errors / totals[strata.codes]
    return Estimator(
        value=float(strata.shares @ means),
        influences=influences,
        floor=find_floor(rewards, weights, strata),
        reliability=assess(strata.scale * weights, rewards, log.clusters),
    )


def leave_out(rewards: Numbers, items: Codes, chances: Numbers, clusters: Codes) -> Predicted:
    """Return the reward rate of each row's item, and of the new policy, without its own cluster.

    A model that has seen a row predicts it too well, which biases the doubly robust estimate.
    Leaving out the row's cluster is cross-fitting with as many folds as there are clusters, and
    doesn't depend on the order of rows.
    """
    count = len(chances)
    total, size = rewards.sum(), len(rewards)
    own_sum = np.bincount(clusters, weights=rewards)
    own_size = np.bincount(clusters)
    # The rate of all items, which counts as one more row of each.
    rest = np.maximum(size - own_size, 1)
    prior = (total - own_sum) / rest
    sums = np.bincount(items, weights=rewards, minlength=count)
    sizes = np.bincount(items, minlength=count)
    cells, places = np.unique(clusters * count + items, return_inverse=True)
    cell_sum = np.bincount(places, weights=rewards)
    cell_size = np.bincount(places)
    cluster, item = cells // count, cells % count
    without = (sums[item] - cell_sum + prior[cluster]) / (sizes[item] - cell_size + 1)
    with_all = (sums[item] + prior[cluster]) / (sizes[item] + 1)
    base = (chances * sums / (sizes + 1)).sum() + prior * (chances / (sizes + 1)).sum()
    of_cluster = base + np.bincount(
        cluster, weights=chances[item] * (without - with_all), minlength=len(prior)
    )
    return without[places], of_cluster[clusters]


def find_floor(errors: Numbers, weights: Numbers, strata: Strata) -> float:
    """Return the variance of weighted errors in a sample of the effective size."""
    total = strata.average(weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = strata.average(weights * errors) / total
        spread = strata.average(weights * (errors - means[strata.codes]) ** 2) / total
        effective = strata.counts * total**2 / strata.average(weights * weights)
        variances = strata.shares**2 * spread / effective
    return float(np.nansum(variances))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate and its difference from the value of the log; ends are NaN without intervals."""

    value: float
    ends: Ends
    change: float
    change_ends: Ends
    reason: str  # why there are no intervals; empty if there are
    reliability: Reliability


def conclude(
    estimator: Estimator,
    logged: Estimator,
    clusters: Codes | None,
    level: float,
    *,
    bounds: Ends,
    reason: str = "",
) -> Estimate:
    """Return an estimate with its intervals, or without if the log is too small for them."""
    value, influences = estimator.value, estimator.influences
    reason = reason or estimator.reliability.refuse()
    variance = _add_squares(influences, clusters)
    if not reason and not variance > (ROUNDING * value) ** 2:
        reason = "all rows or lists have the same value, which doesn't show how much they vary"
    ends = change_ends = (math.nan, math.nan)
    if not reason:
        # Rows of a cluster that are alike make the variance of weighted errors larger, too.
        alike = variance / max(_add_squares(influences, None), TINY)
        floor = estimator.floor * max(1.0, alike)
        low, high = find_ends(value, influences, clusters, level, floor=floor)
        ends = max(bounds[0], low), min(bounds[1], high)
        # What the floor adds to the variance of the value, it adds to that of the difference.
        of_change = influences - logged.influences
        floor = _add_squares(of_change, clusters) + max(0.0, floor - variance)
        change_ends = find_ends(value - logged.value, of_change, clusters, level, floor=floor)
    return Estimate(
        value=value,
        ends=ends,
        change=value - logged.value,
        change_ends=change_ends,
        reason=reason,
        reliability=estimator.reliability,
    )


def _add_squares(influences: Numbers, clusters: Codes | None) -> float:
    return float((add_up(influences, clusters) ** 2).sum())


def mean_weight(weights: Numbers, clusters: Codes | None, level: float) -> tuple[float, Ends]:
    """Return the mean weight with its interval. It is 1 if the propensities are right."""
    mean = float(weights.mean())
    return mean, find_ends(mean, (weights - mean) / len(weights), clusters, level)
