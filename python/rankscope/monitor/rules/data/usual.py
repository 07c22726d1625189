"""How surprising a count is: evidence that fewer or more rankings came than usual.

Counts are taken to be Poisson around a mean that itself varies, by a gamma distribution or, for
falls, by a lognormal. The evidence is a bound of the probability of a count as far from what is
usual, which holds for every count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOWS = (1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 96, 120, 168)
"""The lengths, in hours, of the spans that are looked at: all that end with the newest hour."""
LONGEST = WINDOWS[-1]
FEWEST_RISEN = 3
"""A rise is looked at in spans of so many hours or more."""
FALLEN, RISEN = 0.5, 2.0
"""Counts between these parts of what is usual are never reported."""
AGAIN = 7.0
"""The evidence that a stream is as usual again."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """The span with the most evidence.

    Args:
        evidence: The natural logarithm of one divided by the bound of the probability.
        hours: How long the span is.
        count: The count.
        expected: The usual count.
    """

    evidence: float
    hours: int
    count: float
    expected: float

    @property
    def ratio(self) -> float:
        """The count as a part of the usual count."""
        return self.count / self.expected if self.expected > 0 else 1.0


def measure_surprise(
    count: NDArray[np.float64], expected: NDArray[np.float64], variance: float
) -> NDArray[np.float64]:
    """Return the evidence of counts against what is expected.

    Examples:
        >>> import numpy as np
        >>> round(float(measure_surprise(np.array(0.0), np.array(24.0), 1e-9)), 3)
        24.0
    """
    shape = 1 / max(variance, 1e-12)
    usual = np.maximum(expected, 1e-9)
    direct = count * np.log(np.maximum(count, 1e-300) / usual)
    return direct + (count + shape) * np.log1p((usual - count) / (count + shape))


def measure_fall(
    count: NDArray[np.float64], expected: NDArray[np.float64], variance: float
) -> NDArray[np.float64]:
    """Return the evidence of counts below what is expected, if means vary by a lognormal.

    A gamma distribution has means near zero more often than busy and quiet days have them. For any
    level, the count is this low because the mean is below the level, or although it is not: the
    probability is at most that of the one and of the other, at the level where they are least.

    Examples:
        >>> import numpy as np
        >>> count, expected = np.array([800.0]), np.array([8000.0])
        >>> evidence = measure_fall(count, expected, 0.1), measure_surprise(count, expected, 0.1)
        >>> [round(float(one[0]), 1) for one in evidence]
        [20.3, 14.0]
    """
    logs = np.linspace(-7.0, 0.0, 141)[:, None]
    means = np.maximum(expected, 1e-9) * np.exp(logs)
    below = logs**2 / (2 * variance)
    although = count * np.log(np.maximum(count, 1e-300) / means) - count + means
    either = np.minimum(below, np.where(count < means, although, 0.0)).max(axis=0)
    evidence: NDArray[np.float64] = either - math.log(2)
    return evidence


def find_fall(
    counts: NDArray[np.float64], lowest: NDArray[np.float64], variance: float
) -> Surprise | None:
    """Return the span with the most evidence that counts have fallen by half or more."""
    sums = sum_windows(counts)
    is_fallen = sums <= FALLEN * lowest
    if not is_fallen.any():
        return None
    strongest = np.maximum(
        measure_surprise(sums, lowest, variance), measure_fall(sums, lowest, variance)
    )
    evidence = np.where(is_fallen, strongest, -1.0)
    return _choose(evidence, sums, lowest)


def find_rise(
    counts: NDArray[np.float64], highest: NDArray[np.float64], variance: float
) -> Surprise | None:
    """Return the span with the most evidence that counts have doubled or more."""
    sums = sum_windows(counts)
    is_risen = sums >= RISEN * highest
    if not is_risen.any():
        return None
    evidence = np.where(is_risen, measure_surprise(sums, highest, variance), -1.0)
    evidence[: WINDOWS.index(FEWEST_RISEN)] = -1.0
    return _choose(evidence, sums, highest)


def sum_windows(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the newest hours, for each of `WINDOWS`; NaN where there are fewer."""
    summed = np.cumsum(counts[::-1])
    return np.array([summed[size - 1] if size <= len(summed) else np.nan for size in WINDOWS])


def expect_windows(hours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is usual in spans of `WINDOWS` that end before each hour of the week."""
    summed = np.concatenate([[0.0], np.cumsum(np.tile(hours, 2))])
    ends = np.arange(len(hours))[:, None] + len(hours)
    expected = summed[ends] - summed[ends - np.array(WINDOWS)]
    near = np.stack([np.roll(expected, by, axis=0) for by in (-1, 0, 1)])
    spans: NDArray[np.float64] = np.stack([expected, near.min(axis=0), near.max(axis=0)])
    return spans


def find_start(counts: NDArray[np.float64], expected: NDArray[np.float64]) -> int:
    """Return how many hours ago a change began, at the latest hour that explains it best."""
    sums, usual = np.cumsum(counts[::-1]), np.maximum(np.cumsum(expected[::-1]), 1e-9)
    likelihood = sums * np.log(np.maximum(sums, 1e-300) / usual) - sums + usual
    is_change = (sums <= FALLEN * usual) | (sums >= RISEN * usual)
    best = int(np.argmax(np.where(is_change, likelihood, -1.0)))
    return best + 1


def weigh_return(count: float, expected: float, ratio: float, variance: float) -> float:
    """Return the evidence of one hour that a stream is as usual, rather than as it was."""
    other = min(max(ratio, 0.3), 0.7) if ratio < 1 else min(max(ratio, 1.5), 3.0)
    likelihood = count * math.log(1 / other) - expected * (1 - other)
    # Hours that follow each other vary together.
    return likelihood / (1 + 6 * variance * expected)


def _choose(
    evidence: NDArray[np.float64], sums: NDArray[np.float64], expected: NDArray[np.float64]
) -> Surprise | None:

    evidence = np.nan_to_num(evidence, nan=-1.0)
    best = int(np.argmax(evidence))
    if evidence[best] <= 0:
        return None
    return Surprise(float(evidence[best]), WINDOWS[best], float(sums[best]), float(expected[best]))


DAYS = 28
"""How many days what is usual is learned from."""
FEWEST_DAYS = 7
"""How many whole days are needed to know it."""
FEW_DAYS = 14
"""With fewer days, days are taken to vary as much as `FEW_DAYS_VARIANCE` at least."""
FEW_DAYS_VARIANCE = 0.15**2
LEAST_VARIANCE = 0.07**2
"""What a usual week is never known better than."""
PRIOR = 500.0
"""The number of rankings of a weekday from which on its own hours count more than all days."""
PRIOR_DAY = 30.0
"""The same for the size of a weekday."""
HOURS, WEEK = 24, 168
BLOCKS = (3, 6, 24)
"""The lengths, in hours, at which it is measured how much counts vary."""
LEAST_COUNT = 5.0
"""How many rankings a block has on average where it is measured."""
QUANTILE, NORMAL = 0.8, 1.6424
"""A share of blocks, and the square of the deviation within which it lies if they are normal."""
INFLATION = 1.5
"""For what is learned from few blocks."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual in a week.

    Args:
        hours: The expected count of each hour of the week; the first is that of a Monday in UTC.
        spans: What is usual in spans, as `expect_windows` returns it.
        variance: The variance of counts over time, as a part of the square of what is expected,
            beyond that of independent events.
        days: How many days it was learned from.
    """

    hours: NDArray[np.float64]
    spans: NDArray[np.float64]
    variance: float
    days: float

    @property
    def daily(self) -> float:
        """The mean number of a day."""
        return float(self.hours.sum()) / 7


def learn_usual(counts: NDArray[np.float64], weekday: int) -> Usual | None:
    """Learn what is usual from whole days.

    Examples:
        >>> import numpy as np
        >>> usual = learn_usual(np.full(28 * 24, 100.0), 0)
        >>> usual.daily, bool(np.ptp(usual.hours) < 1e-9), usual.days
        (2400.0, True, 28.0)
        >>> learn_usual(np.full(6 * 24, 100.0), 0) is None
        True
    """
    days = counts.reshape(-1, HOURS)
    is_known = ~np.isnan(days)
    amount = float(is_known.sum()) / HOURS
    if amount < FEWEST_DAYS or not is_known.any(axis=0).all():
        return None
    days = np.minimum(days, 4 * np.nanmedian(days, axis=0) + 10)
    by_hour = np.nanmean(days, axis=0)
    total = by_hour.sum()
    if total <= 0:
        return Usual(np.zeros(WEEK), expect_windows(np.zeros(WEEK)), LEAST_VARIANCE, amount)
    shares = by_hour / total
    covered = (is_known * shares).sum(axis=1)
    is_day = covered >= 0.5
    sizes = np.nansum(days, axis=1)[is_day] / covered[is_day]
    kinds = ((weekday + np.arange(len(days))) % 7)[is_day]
    if not len(sizes):
        return None
    middle = _middle(sizes)
    week = np.empty((7, HOURS))
    for kind in range(7):
        own = sizes[kinds == kind]
        center = float(np.median(own)) if len(own) else 0.0
        size = (center * len(own) + PRIOR_DAY * middle / max(middle, 1.0)) / (
            len(own) + PRIOR_DAY / max(middle, 1.0)
        )
        mine = days[(weekday + np.arange(len(days))) % 7 == kind]
        sums, known = np.nansum(mine, axis=0), (~np.isnan(mine)).sum(axis=0)
        means = np.where(known > 0, sums / np.maximum(known, 1), by_hour)
        weight = means.sum() * max(len(own), 1)
        split = (means / max(means.sum(), 1e-12) * weight + PRIOR * shares) / (weight + PRIOR)
        week[kind] = size * split
    hours = week.reshape(WEEK)
    expected = hours.reshape(7, HOURS)[(weekday + np.arange(len(days))) % 7]
    variance = _measure_variance(days.ravel(), expected.ravel(), amount)
    if amount < FEW_DAYS:
        variance = max(variance, FEW_DAYS_VARIANCE)
    # What is expected is not known exactly either.
    unknown = 7 / (amount * max(middle, 1e-9))
    return Usual(hours, expect_windows(hours), variance + unknown, amount)


def _middle(values: NDArray[np.float64]) -> float:
    """Return the mean of the middle half."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(values[(values >= low) & (values <= high)].mean())


def _measure_variance(
    counts: NDArray[np.float64], expected: NDArray[np.float64], days: float
) -> float:
    """Measure how much counts vary beyond independent events, whatever a few of them do.

    Of normal deviations with variance E + vE², a share of `QUANTILE` has squares up to `NORMAL`
    times that. So the quantile of (d² / NORMAL − E) / E² is v, however E differs between blocks.
    """
    found = [LEAST_VARIANCE]
    for length in BLOCKS:
        size = len(counts) // length * length
        sums = counts[:size].reshape(-1, length).sum(axis=1)
        of = expected[:size].reshape(-1, length).sum(axis=1)
        kept = ~np.isnan(sums) & (of > 0)
        sums, of = sums[kept], of[kept]
        if len(sums) < 5 or of.mean() < LEAST_COUNT:
            continue
        squares = ((sums - of) ** 2 / NORMAL - of) / of**2
        # Seven weekdays were fitted to the same days.
        fitted = days / max(days - 7, days / 4)
        found.append(float(np.quantile(squares, QUANTILE)) * fitted * INFLATION)
    return max(found)
