"""Forecasts of the mean of lists whose labels haven't arrived, and what makes them doubtful."""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope.deferred import np
from rankscope.records import record
from rankscope.stats.expected.calibration import FEWEST_IN_GROUP, make_terms, sample_variance
from rankscope.stats.expected.curves import expect_lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.stats.expected.calibration import Calibration
    from rankscope.stats.expected.curves import Lists

    Numbers: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

LEVEL = 0.9
FEWEST_LISTS = 10
"""The mean of fewer lists isn't forecast."""
OUTSIDE_MOST = 0.05
"""The share of scores outside of the calibrated range up to which nothing is doubtful."""
UNSURE = 0.25
"""The standard deviation of the error of a change that is expected, as a share of the change."""
DEVIATIONS = 3.5
EARLY_DEVIATIONS = 2.75
LEAST_GAP = 0.02
FEWEST_EARLY = 30


@record(frozen=True, slots=True)
class Expected:
    """What is known of lists before their labels arrive.

    Args:
        terms: A row of terms for each list.
        share: What is expected of each list, if it has a relevant document.
        outside: The share of its scores that is outside of the calibrated range.
    """

    terms: Numbers
    share: Numbers
    outside: Numbers

    def summarize(self, clusters: Places, rows: Places) -> Summary:
        """Return what a forecast needs of some of the lists."""
        outside = self.outside[rows]
        sums = float(outside.sum()), float((outside**2).sum())
        return Summary(self.terms[rows].sum(axis=0), *sums, clusters[rows])


@record(frozen=True, slots=True)
class Summary:
    """What a forecast needs of lists: sums, which can be added.

    Args:
        terms: The sum of their terms.
        outside: The sum of the shares of their scores that are outside of the calibrated range.
        squares: The sum of the squares of these shares.
        clusters: Whose each list is.
    """

    terms: Numbers
    outside: float
    squares: float
    clusters: Places

    def __len__(self) -> int:
        return len(self.clusters)

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.terms + other.terms,
            self.outside + other.outside,
            self.squares + other.squares,
            np.concatenate([self.clusters, other.clusters]),
        )


@record(frozen=True, slots=True)
class Forecast:
    """The forecast of a mean.

    Args:
        value: The mean that is expected.
        lower: The lower end of its interval.
        upper: The upper end.
        defined: For how many lists a value is expected.
        is_outside: Whether scores are outside of the calibrated range.
        is_unlike: Whether the lists are unlike nearly all of the calibration.
    """

    value: float
    lower: float
    upper: float
    defined: float
    is_outside: bool
    is_unlike: bool


def expect(calibration: Calibration, lists: Lists) -> Expected:
    """Return what is expected of lists."""
    discounts = np.array(calibration.discounts)
    share, chance = expect_lists(calibration.grades, lists, discounts)
    groups = np.array(calibration.groups, dtype=np.int64)
    outside = np.zeros(len(lists))
    if calibration.scores is not None:
        low, high = calibration.scores
        # A score that is missing is outside, too, where all others had one.
        is_outside = ~((lists.scores >= low) & (lists.scores <= high))
        sizes = np.diff(lists.offsets)
        owner = np.repeat(np.arange(len(lists)), sizes)
        outside = np.bincount(owner, is_outside, len(lists)) / np.maximum(sizes, 1)
    return Expected(make_terms(share, chance, lists.groups, groups), share, outside)


def forecast(calibration: Calibration, lists: Summary, *, is_hour: bool) -> Forecast | None:
    """Forecast the mean of lists; `None` where there are too few.

    Args:
        calibration: The calibration.
        lists: What is known of them.
        is_hour: Whether they are of an hour, not of a day.
    """
    count = len(lists)
    if count < FEWEST_LISTS:
        return None
    mean = lists.terms / count
    point = np.concatenate([[1.0], mean - np.array(calibration.centers)])
    total, defined = point @ np.array(calibration.value), point @ np.array(calibration.defined)
    defined = float(min(max(defined, 1 / count), 1.0))
    value = float(min(max(total / defined, 0.0), 1.0))
    sizes = np.unique(lists.clusters, return_counts=True)[1]
    sampling = sample_variance(sizes, calibration.variance, calibration.shared)
    fitted = max(_jackknife(calibration.blocks, point), _jackknife(calibration.users, point))
    between = calibration.of_hours if is_hour else calibration.of_days
    # A change of what is shown changes the mean by what the terms say, or somewhat less or more.
    whole = np.array(calibration.value) - calibration.mean * np.array(calibration.defined)
    moved = UNSURE * float(point[1:3] @ whole[1:3])
    variance = sampling + fitted + between + moved**2
    # Welch and Satterthwaite: the variances of days and of the fit are known from few days.
    degrees = variance**2 / (
        sampling**2 / max(len(sizes), 1) + (fitted + between) ** 2 / (calibration.days - 1)
    )
    half = t_quantile(LEVEL, max(degrees, 1.0)) * math.sqrt(variance) / defined
    outside = lists.outside / count
    error = math.sqrt(max(lists.squares / count - outside**2, 0.0) / count)
    return Forecast(
        value,
        max(value - half, 0.0),
        min(value + half, 1.0),
        defined * count,
        outside > OUTSIDE_MOST + DEVIATIONS * error,
        any(
            not low - LEAST_GAP <= at <= high + LEAST_GAP
            for at, (low, high) in zip(mean, calibration.terms, strict=False)
        ),
    )


def has_group(calibration: Calibration, group: int) -> bool:
    """Return whether a group has enough lists for expected values of its own."""
    return calibration.groups[group] >= FEWEST_IN_GROUP


def contradicts(calibration: Calibration, gaps: Numbers) -> bool:
    """Return whether the first labels contradict a calibration.

    Args:
        calibration: The calibration.
        gaps: By list that has a first label, its value by its first labels, less what was expected.
    """
    usual, count = calibration.early, len(gaps)
    if usual is None or count < FEWEST_EARLY:
        return False
    gap = float(gaps.mean()) - usual.mean
    error = math.sqrt(usual.variance / count + usual.of_days)
    return abs(gap) > max(EARLY_DEVIATIONS * error, LEAST_GAP)


def _jackknife(changes: tuple[tuple[float, ...], ...], point: Numbers) -> float:
    """Return the variance of the fit at a point, from what leaving out each part changes."""
    found = np.array(changes) @ point
    return float((len(found) - 1) / len(found) * (found**2).sum())
