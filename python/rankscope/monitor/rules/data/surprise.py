"""How surprising a count is: evidence that fewer or more rankings came than usual.

Counts are taken to be Poisson around a mean that itself varies, by a gamma distribution or, for
falls, by a lognormal. The evidence is a bound of the probability of a count as far from what is
usual, which holds for every count.
"""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
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


@record(frozen=True, slots=True)
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
