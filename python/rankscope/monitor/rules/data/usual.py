"""The usual number of rankings in each hour of the week, learned from the last four weeks.

A few odd days, such as holidays, do not change what is usual, and hours that were known to be bad
are left out.
"""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.rules.data.surprise import expect_windows
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

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


@record(frozen=True, slots=True)
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
        size = (_center(own) * len(own) + PRIOR_DAY * middle / max(middle, 1.0)) / (
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


def _center(values: NDArray[np.float64]) -> float:
    """Return the mean of all but the smallest and the largest, where there are enough."""
    if len(values) < 3:
        return float(values.mean()) if len(values) else 0.0
    return float(np.median(values))


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
