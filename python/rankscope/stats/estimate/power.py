"""The power of t tests: which differences they can detect, and how many queries that takes.

Sakai, *Topic set size design*, Information Retrieval Journal, 2016. The power is that of a
two-sided test with the noncentral t distribution, which is exact for normally distributed
differences.
"""

from __future__ import annotations

import math

from rankscope._core import noncentral_t_lower, t_quantile
from rankscope.errors import UsageError

MOST_QUERIES = 10**12
MANY_DEGREES = 1_000_000
"""With more degrees of freedom, critical values hardly change."""
CERTAIN = 9
"""A standard deviation of so many times its true value is never estimated."""


def power_of(effect: float, standard_deviation: float, n: int, *, level: float = 0.05) -> float:
    """Return the power of a paired t test.

    Examples:
        >>> round(power_of(0.05, 0.2, 128), 4)
        0.8015
    """
    _check(effect, (standard_deviation,), level, n=n)
    return _power(abs(effect) / standard_deviation * math.sqrt(n), n - 1, level)


def power_unpaired(
    effect: float, standard_deviations: tuple[float, float], n: int, *, level: float = 0.05
) -> float:
    """Return the power of a two-sample t test with the same number of queries in both samples.

    Examples:
        >>> round(power_unpaired(0.1, (0.2, 0.2), 64), 4)
        0.8015
    """
    _check(effect, standard_deviations, level, n=n)
    deviation = math.hypot(*standard_deviations)
    return _power(abs(effect) / deviation * math.sqrt(n), 2 * n - 2, level)


def minimum_detectable(
    standard_deviation: float, n: int, *, level: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest mean difference that a paired t test detects with this power.

    Examples:
        >>> round(minimum_detectable(0.2, 250), 4)
        0.0356
    """
    if n < 2 or math.isnan(standard_deviation):
        return math.nan
    _check(1.0, (standard_deviation or 1.0,), level, n=n, power=power)
    return standard_deviation / math.sqrt(n) * _find_shift(n - 1, level, power)


def minimum_detectable_unpaired(
    standard_deviations: tuple[float, float], n: int, *, level: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest difference of means that a two-sample t test detects with this power.

    Examples:
        >>> round(minimum_detectable_unpaired((0.2, 0.2), 64), 4)
        0.0998
    """
    deviation = math.hypot(*standard_deviations)
    if n < 2 or math.isnan(deviation):
        return math.nan
    _check(1.0, (deviation or 1.0,), level, n=n, power=power)
    return deviation / math.sqrt(n) * _find_shift(2 * n - 2, level, power)


def queries_needed(
    effect: float, standard_deviation: float, *, level: float = 0.05, power: float = 0.8
) -> int:
    """Return the smallest number of queries with which a paired t test detects a difference.

    Examples:
        >>> queries_needed(0.05, 0.2), queries_needed(0.01, 0.2)
        (128, 3142)
    """
    _check(effect, (standard_deviation,), level, power=power)
    return _find_size(abs(effect) / standard_deviation, 1, level, power)


def queries_needed_unpaired(
    effect: float,
    standard_deviations: tuple[float, float],
    *,
    level: float = 0.05,
    power: float = 0.8,
) -> int:
    """Return the smallest number of queries per sample with which a two-sample t test detects it.

    Examples:
        >>> queries_needed_unpaired(0.1, (0.2, 0.2))
        64
    """
    _check(effect, standard_deviations, level, power=power)
    return _find_size(abs(effect) / math.hypot(*standard_deviations), 2, level, power)


def _power(shift: float, degrees: int, level: float) -> float:
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
    while _power(high, degrees, level) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _power(middle, degrees, level) < power:
            low = middle
        else:
            high = middle
    return high


def _find_size(effect: float, samples: int, level: float, power: float) -> int:
    """Return the smallest size of each sample with this power; it grows with the size."""

    def is_enough(n: int) -> bool:
        return _power(effect * math.sqrt(n), samples * (n - 1), level) >= power

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


def _check(
    effect: float,
    deviations: tuple[float, ...],
    level: float,
    *,
    n: int = 2,
    power: float | None = None,
) -> None:
    """Refuse numbers outside their range."""
    for name, is_fine, found, wanted in (
        ("effect", math.isfinite(effect) and (power is None or effect != 0), effect, "not 0"),
        ("n", n >= 2, n, "2 or more"),
        ("level", 0 < level < 1, level, "between 0 and 1"),
        *(
            ("standard_deviation", 0 < each < math.inf, each, "above 0 and finite")
            for each in deviations
        ),
        *(
            [("power", level < power < 1, power, f"above the level of {level} and below 1")]
            if power is not None
            else []
        ),
    ):
        if not is_fine:
            raise UsageError(
                f"expected {name} to be {wanted}, found {found}",
                hint="usual choices are a level of 0.05, a power of 0.8 and an effect of 0.01",
                code="bad_parameter",
            )
