"""Means with their intervals, and the power of t tests."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankscope._core import estimate_mean as compute_estimate
from rankscope._core import noncentral_t_lower, t_quantile
from rankscope._settings import Interval, count_threads
from rankscope._show.diagnostics import Estimate, read_estimate
from rankscope.errors import UsageError


def estimate_mean(
    values: ArrayLike,
    *,
    interval: Interval,
    low: float | None,
    high: float | None,
    weights: ArrayLike | None = None,
    clusters: NDArray[np.int64] | None = None,
    threads: int | None = None,
) -> Estimate:
    """Return the mean of values with its confidence interval.

    `rankscope.Interval` describes the methods. The interval never leaves the range of the values,
    and doesn't depend on the number of threads.

    Examples:
        >>> import numpy as np
        >>> from rankscope import Interval
        >>> mean = estimate_mean(np.full(40, 0.5), interval=Interval(), low=0.0, high=1.0)
        >>> mean.value, mean.method, 0.45 < mean.lower < 0.5 < mean.upper < 0.55
        (0.5, 'bounded', True)
    """
    codes = None if clusters is None else np.ascontiguousarray(clusters, dtype=np.int64)
    row = compute_estimate(
        np.ascontiguousarray(values, dtype=np.float64),
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        codes,
        (-math.inf if low is None else low, math.inf if high is None else high),
        interval.level,
        interval.method,
        interval.resamples,
        interval.seed,
        count_threads(threads),
    )
    return read_estimate(row, interval.level, is_clustered=codes is not None)


MOST_QUERIES = 10**12
MANY_DEGREES = 1_000_000
"""With more degrees of freedom, critical values hardly change."""
CERTAIN = 9
"""A standard deviation of so many times its true value is never estimated."""


def minimum_detectable(
    deviations: tuple[float, ...], n: int, *, level: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest difference of means that a t test detects with this power.

    Examples:
        >>> round(minimum_detectable((0.2,), 250), 4)
        0.0356
        >>> round(minimum_detectable((0.2, 0.2), 64), 4)
        0.0998
    """
    deviation = math.hypot(*deviations)
    if n < 2 or math.isnan(deviation):
        return math.nan
    _check(1.0, (deviation or 1.0,), level, power)
    return deviation / math.sqrt(n) * _find_shift(len(deviations) * (n - 1), level, power)


def queries_needed(
    effect: float, deviations: tuple[float, ...], *, level: float = 0.05, power: float = 0.8
) -> int:
    """Return with how many queries, in each sample, a t test detects a difference of means.

    Examples:
        >>> queries_needed(0.05, (0.2,)), queries_needed(0.01, (0.2,))
        (128, 3142)
        >>> queries_needed(0.1, (0.2, 0.2))
        64
    """
    _check(effect, deviations, level, power)
    return _find_size(abs(effect) / math.hypot(*deviations), len(deviations), level, power)


def power_of(shift: float, degrees: int, level: float) -> float:
    """Return how often a t statistic with this shift is beyond its two-sided critical values."""
    if math.isinf(shift):
        return 1.0
    critical = t_quantile(1 - level, min(degrees, MANY_DEGREES))
    if shift > CERTAIN * (critical + 1):
        return 1.0
    upper = 1 - noncentral_t_lower(critical, degrees, shift)
    return upper + noncentral_t_lower(-critical, degrees, shift)


def _find_shift(degrees: int, level: float, power: float) -> float:
    """Return the shift of a t statistic that has this power, by bisection."""
    low, high = 0.0, 1.0
    while power_of(high, degrees, level) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if power_of(middle, degrees, level) < power:
            low = middle
        else:
            high = middle
    return high


def _find_size(effect: float, samples: int, level: float, power: float) -> int:
    """Return the smallest size of each sample with this power; it grows with the size."""

    def is_enough(n: int) -> bool:
        return power_of(effect * math.sqrt(n), samples * (n - 1), level) >= power

    low, high = 1, 2
    while not is_enough(high):
        if high == MOST_QUERIES:
            raise UsageError(
                f"more than {MOST_QUERIES:,} queries are needed to detect so small an effect",
                hint="pass a larger effect",
                code="bad_parameter",
            )
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def _check(effect: float, deviations: tuple[float, ...], level: float, power: float) -> None:
    """Refuse numbers outside their range."""
    for name, is_fine, value, expected in (
        ("effect", math.isfinite(effect) and effect != 0, effect, "not 0"),
        ("level", 0 < level < 1, level, "between 0 and 1"),
        *(
            ("standard_deviation", 0 < deviation < math.inf, deviation, "above 0 and finite")
            for deviation in deviations
        ),
        ("power", level < power < 1, power, f"above the level of {level} and below 1"),
    ):
        if not is_fine:
            raise UsageError(
                f"expected {name} to be {expected}, found {value}",
                hint="usual choices are a level of 0.05, a power of 0.8 and an effect of 0.01",
                code="bad_parameter",
            )
