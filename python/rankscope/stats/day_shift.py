"""Whether the mean of the newest days is unlike the days before, which vary and are like neighbors.

A day's value differs from what is usual by the effect of the day and by the error of its sample.
Effects of days are taken to follow each other with an autocorrelation of 0.8, and how large they
are is estimated from the days before, by one standard error more than found.
"""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


MEMORY = 0.8
"""How much the effect of a day is like that of the day before."""
WEEK = 7
FEWEST_DAYS = 14
"""How many days are needed to know what is usual."""
SPANS = (1, 2, 4, 7)
"""The newest days that are looked at together."""
NEEDED = 5.5
"""The score of a false alarm of one stream in 1,800 days, at most, however its days vary."""
LONG_AGO = 1800.0


@record(frozen=True, slots=True, kw_only=True)
class Shift:
    """By how much the newest days differ from those before.

    Args:
        days: How many of the newest days were looked at together.
        usual: The mean of the days before, for these weekdays.
        value: The mean of the newest days.
        score: The difference in its standard errors.
    """

    days: int
    usual: float
    value: float
    score: float

    @property
    def change(self) -> float:
        """The difference."""
        return self.value - self.usual


def find_needed(run_length: float, streams: int) -> float:
    """Return the score from which a shift is reported, for false alarms as rare as asked for."""
    return math.sqrt(max(NEEDED**2 + 2 * math.log(run_length / LONG_AGO * max(streams, 1)), 1.0))


def correlate(days: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much the effects of days are like each other."""
    apart: NDArray[np.float64] = MEMORY ** np.abs(days[:, None] - days[None, :]).astype(np.float64)
    return apart


def estimate_effects(
    rest: NDArray[np.float64], error: float, days: NDArray[np.int64], fitted: float = 1.0
) -> float:
    """Estimate the variance of the effects of days from what is left of them, at the high end."""
    free = max(len(rest) - fitted, 1.0)
    variance = float((rest**2).sum()) / free * (1 + math.sqrt(2 / free))
    # The days share a part of their effects, which doesn't show in how they differ.
    return max(0.0, variance - error) / (1 - float(correlate(days).mean()))


def find_shifts(
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    *,
    spans: Sequence[int] = SPANS,
    fewest: int = FEWEST_DAYS,
) -> list[Shift]:
    """Compare the newest days with those before, for each span; days that are NaN are unknown.

    Args:
        values: float64 [days], the newest last.
        errors: float64 [days], the variance of each value because it is a sample.
        spans: How many of the newest days are looked at together.
        fewest: How many days before them are needed.

    Examples:
        >>> import numpy as np
        >>> values = np.where(np.arange(28) < 26, 0.5, 0.8) + 0.01 * (np.arange(28) % 2)
        >>> [(one.days, round(one.change, 2)) for one in find_shifts(values, np.full(28, 1e-4))]
        [(1, 0.29), (2, 0.3), (4, 0.15), (7, 0.09)]
    """
    found = []
    at = np.arange(len(values))
    is_known = ~np.isnan(values)
    for span in spans:
        new = np.flatnonzero(is_known & (at >= len(values) - span))
        old = np.flatnonzero(is_known & (at < len(values) - span))
        if len(old) < fewest or not len(new):
            continue
        weekly, fitted = fit_weekdays(values[old], old % WEEK)
        rest = values - weekly[at % WEEK]
        usual = float(rest[old].mean())
        effects = estimate_effects(rest[old] - usual, float(errors[old].mean()), old, fitted)
        weights = np.zeros(len(values))
        weights[old], weights[new] = -1 / len(old), 1 / len(new)
        both = np.append(old, new)
        drift = float(weights[both] @ correlate(both) @ weights[both]) * effects
        variance = drift + float((weights[both] ** 2 * errors[both]).sum())
        season = float(weekly[new % WEEK].mean())
        value = float(values[new].mean())
        change = value - usual - season
        score = change / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, change)
        found.append(
            Shift(days=span, usual=usual + season, value=value, score=score if change else 0.0)
        )
    return found


def fit_weekdays(
    values: NDArray[np.float64], weekdays: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float]:
    """Return by how much each weekday differs, as far as that is more than chance.

    The second number is how many parameters that takes.
    """
    none = np.zeros(WEEK)
    if len(values) < 2 * WEEK or len(set(weekdays.tolist())) < WEEK:
        return none, 1.0
    means = np.array([values[weekdays == each].mean() for each in range(WEEK)])
    counts = np.bincount(weekdays, minlength=WEEK)
    within = float(((values - means[weekdays]) ** 2).sum()) / (len(values) - WEEK)
    offsets = means - float(values.mean())
    between = float((counts * offsets**2).sum()) / (WEEK - 1)
    kept = max(0.0, 1 - within / between) if between > 0 else 0.0
    offsets = kept * offsets
    return offsets - float(offsets[weekdays].mean()), 1.0 + kept * (WEEK - 1)
