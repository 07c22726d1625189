"""Intervals of quantiles, of proportions and of ratios of proportions."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

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


@record(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile of values, with its confidence interval.

    Args:
        value: The smallest value that at least the share `probability` of the values don't exceed.
        lower: The lower end of the interval; the lowest possible value if the sample is too small
            for one.
        upper: The upper end; the highest possible value if the sample is too small for one.
        effective: The number of independent values that carry as much information.
    """

    value: float
    lower: float
    upper: float
    effective: float


def estimate_quantile(
    values: NDArray[np.float64],
    probability: float,
    *,
    level: float = 0.95,
    low: float = -math.inf,
    high: float = math.inf,
    clusters: NDArray[np.int64] | None = None,
) -> Quantile:
    """Return a quantile and its interval, whose ends are two of the sorted values.

    The interval covers the quantile of the population with at least the probability `level`,
    whatever the distribution (David and Nagaraja, *Order Statistics*, 2003, section 7.1). With
    clusters, the sample counts as the number of independent values for which the share of values
    above the quantile would vary as much (Korn and Graubard, *Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data*, 1998).

    Examples:
        >>> import numpy as np
        >>> found = estimate_quantile(np.arange(1.0, 101.0), 0.95)
        >>> found.value, found.lower, found.upper
        (95.0, 90.0, 100.0)
    """
    ordered = np.sort(values)
    count = len(ordered)
    at = _find_rank(probability, count)
    value = float(ordered[at])
    effective = float(count)
    if clusters is not None:
        effective = count / find_design_effect(values > value, clusters)
    whole = max(1, math.floor(effective))
    first, last = _choose_ranks(whole, probability, (1 - level) / 2)
    if whole < count:
        # The same shares of the sorted values, rounded outwards.
        first = math.floor(first / whole * count)
        last = count + 1 if last > whole else math.ceil(last / whole * count)
    return Quantile(
        value=value,
        lower=low if first < 1 else float(ordered[first - 1]),
        upper=high if last > count else float(ordered[last - 1]),
        effective=effective,
    )


def find_design_effect(is_above: NDArray[np.bool_], clusters: NDArray[np.int64]) -> float:
    """Return how many times clusters inflate the variance of a proportion, at least 1.

    If no value or every value is above, the data don't show it, and each cluster counts as one
    value.
    """
    count = len(is_above)
    _, codes = np.unique(clusters, return_inverse=True)
    units = int(codes.max()) + 1
    share = float(is_above.mean())
    if share in {0.0, 1.0} or units < 2:
        return count / units
    residuals = np.bincount(codes, weights=is_above - share)
    variance = units / (units - 1) * float((residuals**2).sum()) / count**2
    return max(1.0, variance / (share * (1 - share) / count))


def count_needed(share: float, probability: float, *, level: float, power: float) -> int | None:
    """Return how many independent values show on which side of a limit a quantile is.

    The share of values above the limit is compared with 1 − `probability` by the normal
    approximation (Fleiss, Levin and Paik, *Statistical Methods for Rates and Proportions*, 2003,
    section 2.4).

    Examples:
        >>> count_needed(0.02, 0.95, level=0.95, power=0.8)
        331
        >>> count_needed(0.05, 0.95, level=0.95, power=0.8) is None
        True
    """
    allowed = 1 - probability
    if math.isclose(share, allowed, rel_tol=1e-9):
        return None
    spread = quantile_of(level) * math.sqrt(allowed * probability)
    spread += quantile_of(2 * power - 1) * math.sqrt(share * (1 - share))
    needed = math.ceil((spread / (share - allowed)) ** 2)
    # With fewer values than this, the interval has no upper end.
    least = math.ceil(math.log((1 - level) / 2) / math.log(probability))
    return max(needed, least) if share < allowed else needed


def _find_rank(probability: float, count: int) -> int:
    """Return the place of a quantile in sorted values, counted from 0."""
    # The product of two decimal numbers can be just above a whole number: 0.95 * 100.
    return min(count, max(1, math.ceil(round(probability * count, 9)))) - 1


def _choose_ranks(count: int, probability: float, tail: float) -> tuple[int, int]:
    """Return the ranks of the ends of an interval, counted from 1.

    The number of values at or below the quantile has a binomial distribution. A rank of 0 or
    `count` + 1 means that the sample is too small for this end.
    """
    steps = np.arange(1, count + 1)
    ratios = np.log(count - steps + 1) - np.log(steps)
    logs = np.concatenate([[0.0], np.cumsum(ratios + math.log(probability / (1 - probability)))])
    chances = np.exp(logs + count * math.log1p(-probability))
    below = np.cumsum(chances)  # P(B <= j)
    above = np.cumsum(chances[::-1])[::-1]  # P(B >= j)
    # The largest j with P(B < j) <= tail, and the smallest k with P(B >= k) <= tail.
    first = int((below <= tail).sum())
    last = count + 1 - int((above <= tail).sum())
    return first, last
