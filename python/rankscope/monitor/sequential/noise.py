"""How a stream's evidence varies while nothing falls: simulated from the days of its baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


QUARTER = 90
"""The days in which a rule has a false alarm with the chance that people choose, at most."""


FEWEST_DAYS = 28
"""From fewer days, too little is known about how days vary."""


FEWEST_USERS = 100


FEWEST_VARIED = 50
"""So many values have to differ from the mean by as much as they can, or more by less."""


MOST_SKEW = 1.0
"""If the mean of a period is more skewed, it says too little."""


ERRORS = 2.5
"""The margin is at least so many standard errors of the mean of the baseline."""


# What the variance between days may be, as a multiple of that of a day's users, and how alike a day
# and the next may be, with their weights. That days are alike is the worse case, and the usual one.
RATIOS = tuple(2.0 ** (power / 2) for power in range(-10, 24))
CORRELATIONS = {0.0: 0.02, 0.4: 0.05, 0.8: 0.93}
NONE = 0.3
"""The weight of days that don't vary."""
UNSURE, ENOUGH_DAYS = 0.1, 84
"""Days vary by more than is simulated with this probability if there are so many of them; with the
fewest days, with half of that, because they tell less about how much more it is.
"""
FEW = 5
"""By the variance of the mean of so many days, and of the baseline, cases are put in order."""
CHANCES = (0.9, 0.5, 0.2, 0.1)
LEAST = (0.25, 0.75, 1.5, 2.0)
"""The evidence is this much for each of these chances, at least, if there is hardly any noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How much days vary, and which evidence chance makes of that.

    Args:
        day_variance: An upper bound of the variance between days.
        correlation: Between a day and the next.
        skew: The skewness of the gaps of users.
        levels: What the largest logarithm of a likelihood ratio in a quarter is above with each of
            `CHANCES`, and by how much more it has to be where the chance is smaller by a factor e.
    """

    day_variance: float
    correlation: float
    skew: float
    levels: tuple[float, ...]


def fit_days(
    level: Numbers, error: Numbers, day: NDArray[np.int64], weekday: NDArray[np.int64]
) -> tuple[float, float]:
    """Return an upper bound of how much days vary, as a multiple of what users explain.

    Returns:
        The bound of the variance, and the correlation between a day and the next.

    Args:
        level: The mean gap of each day.
        error: Its variance as far as users explain it.
        day: The number of the day, ascending; the last 84 count.
        weekday: The group of each day that has an expected value of its own.
    """
    level, error = level[-ENOUGH_DAYS:], error[-ENOUGH_DAYS:]
    day, weekday = day[-ENOUGH_DAYS:], weekday[-ENOUGH_DAYS:]
    usual = float(error.mean())
    design = np.equal.outer(weekday, np.unique(weekday)).astype(np.float64)
    apart = np.abs(np.subtract.outer(day, day)).astype(np.float64)
    cases = [(0.0, 0.0, math.log(NONE))]
    cases += [
        (ratio, alike, math.log((1 - NONE) * weight / len(RATIOS)))
        for ratio in RATIOS
        for alike, weight in CORRELATIONS.items()
    ]
    ratio, alike, prior = np.array(cases).T
    likely = np.empty(len(cases))
    columns = np.column_stack([level / math.sqrt(usual), design])
    for correlation in {0.0, *CORRELATIONS}:
        chosen = np.flatnonzero(alike == correlation)
        shape = np.where(apart == 0, 1.0, correlation**apart if correlation else 0.0)
        spread = ratio[chosen, None, None] * shape + np.diag(error / usual)
        root = np.linalg.cholesky(spread)
        solved = np.linalg.solve(root, np.broadcast_to(columns, (len(chosen), *columns.shape)))
        rest, fitted = solved[:, :, :1], solved[:, :, 1:]
        inner = np.swapaxes(fitted, 1, 2) @ fitted
        cross = np.swapaxes(fitted, 1, 2) @ rest
        square = (rest**2).sum(axis=(1, 2)) - (cross * np.linalg.solve(inner, cross)).sum((1, 2))
        volume = 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        # The restricted likelihood: the expected values of the weekdays are fitted, too.
        likely[chosen] = -0.5 * (volume + np.linalg.slogdet(inner)[1] + square)
    weight = np.exp(likely + prior - (likely + prior).max())
    harm = [r * (average(a, FEW) + average(a, len(day))) for r, a, _ in cases]
    sure = 1 - UNSURE * min((FEWEST_DAYS + len(day)) / (FEWEST_DAYS + ENOUGH_DAYS), 1.0)
    order = np.argsort(harm, kind="stable")
    reached = np.cumsum(weight[order]) >= sure * weight.sum()
    at = int(order[int(np.argmax(reached))])
    return float(ratio[at]), float(alike[at])


def average(correlation: float, days: int) -> float:
    """Return the variance of the mean of some days whose effects have a variance of 1."""
    if not correlation:
        return 1 / days
    apart = np.abs(np.subtract.outer(np.arange(days), np.arange(days)))
    return float((correlation**apart).mean())


def find_levels(most: Numbers) -> tuple[float, ...]:
    """Return the levels of the largest ratios of some quarters in which nothing falls."""
    levels = np.maximum(np.quantile(most, [1 - chance for chance in CHANCES]), LEAST)
    beyond = most[most > levels[-1]] - levels[-1]
    # One standard error more, and never less than an exact likelihood ratio needs.
    scale = float(beyond.mean()) * (1 + 1 / math.sqrt(len(beyond))) if len(beyond) else 1.0
    return (*levels.tolist(), max(scale, 1.0))


def _list_knots(levels: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return levels in rising order, and the logarithms of the days between such values."""
    days = [math.log(QUARTER / -math.log1p(-chance)) for chance in CHANCES]
    return [0.0, *levels[:-1]], [0.0, *days]


def read_evidence(levels: Sequence[float], ratio: float) -> float:
    """Return the logarithm of the days in which chance makes so much of a likelihood ratio once.

    Args:
        levels: The levels.
        ratio: The logarithm of the likelihood ratio.

    Examples:
        >>> levels = (1.0, 2.0, 4.0, 5.0, 1.25)
        >>> round(math.exp(read_evidence(levels, 5.0)))
        854
        >>> round(find_ratio(levels, read_evidence(levels, 7.5)), 12)
        7.5
    """
    at, days = _list_knots(levels)
    beyond = max(ratio - at[-1], 0.0) / levels[-1]
    return float(np.interp(ratio, at, days)) + beyond


def find_ratio(levels: Sequence[float], log_evidence: float) -> float:
    """Return the logarithm of the likelihood ratio that makes so much evidence."""
    at, days = _list_knots(levels)
    beyond = max(log_evidence - days[-1], 0.0) * levels[-1]
    return float(np.interp(log_evidence, days, at)) + beyond
