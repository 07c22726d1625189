"""The label rate: how many labels a ranking gets, and whether some went missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._names import as_dict
from rankscope.monitor.sequential.observations import FIRST_WEEKDAY, WEEK

LabelState: TypeAlias = Literal["usual", "lost", "gained"]


LEAST_CHANGE = 0.22
"""A smaller relative change of the label rate is never reported."""

DEVIATIONS = 4.9
"""A change of fewer standard deviations between days is never reported."""

FEWEST_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRate:
    """The usual number of labels per ranking.

    Args:
        mean: The mean of the daily rates.
        deviation: The standard deviation of daily rates around what is usual on their weekday.
        weekdays: The usual rate on each weekday divided by the mean, Monday first.
        days: The number of days.
    """

    mean: float
    deviation: float
    weekdays: tuple[float, ...]
    days: int

    @property
    def width(self) -> float:
        """How far a daily rate can be from what is usual, on a weekday with a factor of 1."""
        return max(LEAST_CHANGE * self.mean, DEVIATIONS * self.deviation)

    def to_dict(self) -> dict[str, Any]:
        """Return the label rate as a dict that JSON can represent exactly, for `from_dict`."""
        stored = as_dict(self)
        return stored | {"weekdays": list(self.weekdays)}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> LabelRate:
        """Return the label rate from the result of `to_dict`."""
        return LabelRate(**{**stored, "weekdays": tuple(stored["weekdays"])})


@dataclass(frozen=True, slots=True)
class LabelVerdict:
    """What the label rate of a day says.

    Args:
        state: `lost` if there are fewer labels than usual, `gained` if there are more, else
            `usual`.
        rate: The number of labels per ranking.
        expected: The usual rate on this weekday.
        lower: The lowest usual rate.
        upper: The highest usual rate.
    """

    state: LabelState
    rate: float
    expected: float
    lower: float
    upper: float


def fit_label_rate(
    labels: NDArray[np.int64], rankings: NDArray[np.int64], days: NDArray[np.int64]
) -> LabelRate | None:
    """Return the usual number of labels per ranking.

    Weekdays have their own usual rates if the baseline has two weeks or more.

    Examples:
        >>> import numpy as np
        >>> days = np.arange(28)
        >>> rate = fit_label_rate(np.full(28, 150), np.full(28, 100), days)
        >>> rate.mean, judge_label_rate(rate, labels=90, rankings=100, day=28).state
        (1.5, 'lost')
    """
    order = np.argsort(days, kind="stable")
    order = order[rankings[order] > 0]
    if len(order) < FEWEST_DAYS:
        return None
    rate = labels[order] / rankings[order]
    weekday = (days[order] + FIRST_WEEKDAY) % WEEK
    mean = float(rate.mean())
    factors, free = np.ones(WEEK), len(order) - 1
    if len(order) >= 2 * WEEK and len(set(weekday.tolist())) == WEEK and mean > 0:
        factors = np.array([rate[weekday == each].mean() for each in range(WEEK)])
        factors = factors / factors.mean()
        free = len(order) - WEEK
        mean = float(np.mean(rate / np.where(factors > 0, factors, 1)[weekday]))
    rest = rate - mean * factors[weekday]
    return LabelRate(
        mean=mean,
        deviation=math.sqrt(float((rest**2).sum()) / free),
        weekdays=tuple(factors.tolist()),
        days=len(order),
    )


def judge_label_rate(usual: LabelRate, *, labels: int, rankings: int, day: int) -> LabelVerdict:
    """Return whether a day has fewer or more labels per ranking than usual."""
    factor = usual.weekdays[(day + FIRST_WEEKDAY) % WEEK]
    expected = usual.mean * factor
    lower = expected - max(LEAST_CHANGE * expected, DEVIATIONS * usual.deviation)
    upper = expected + max(LEAST_CHANGE * expected, DEVIATIONS * usual.deviation)
    rate = labels / rankings if rankings else math.nan
    state: LabelState = "lost" if rate < lower else "gained" if rate > upper else "usual"
    return LabelVerdict(state, rate, expected, max(lower, 0.0), upper)
