"""Observations: the values of rankings, and the gaps to what is expected of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import InputError, UsageError

Cell: TypeAlias = tuple[str, ...]


DAY = 86_400_000_000


HOUR = 3_600_000_000


WEEK = 7


# The first day of 1970 was a Thursday.
FIRST_WEEKDAY = 3


MOST_MEANS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observations:
    """The values of some rankings, one row each, in any order.

    Args:
        value: float64, the value from 0 to 1; NaN if the policy leaves it out.
        cluster: The user, as text or integers.
        cell: int64, the place of the ranking's cell in `cells`.
        time: int64, when it was shown, in microseconds since 1970 in UTC.
        cells: The cells: the values of the attributes by which slices are watched, in one order. A
            value that is missing is an empty text.
        weight: float64, how much the ranking counts, 0 or more; by default, all rankings of a user
            in a period count as much as one.

    Raises:
        UsageError: The columns have different lengths.
    """

    value: NDArray[np.float64]
    cluster: NDArray[Any]
    cell: NDArray[np.int64]
    time: NDArray[np.int64]
    cells: tuple[Cell, ...] = ((),)
    weight: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Units:
    """Observations in a fixed order, grouped into units: the users of each period.

    Args:
        value: The value of each ranking.
        cell: Its cell.
        hour: Its hour, counted from 1970 in UTC.
        weight: Its weight; the weights of a unit add up to at most 1.
        start: The place of the first ranking of each unit.
        cluster: The user of each unit, as a number from 0 on.
        size: The weight of each unit.
        most: By what the weights were divided.
    """

    value: NDArray[np.float64]
    cell: NDArray[np.int64]
    hour: NDArray[np.int64]
    weight: NDArray[np.float64]
    start: NDArray[np.int64]
    cluster: NDArray[np.int64]
    size: NDArray[np.float64]
    most: float

    def add(self, column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum of a column of rankings by unit."""
        if not len(self.start):
            return np.zeros(0)
        return np.add.reduceat(column * self.weight, self.start)


def group_units(seen: Observations, length: int, most: float | None = None) -> Units:
    """Return the rankings that have a value, grouped by period and user.

    The result doesn't depend on the order of the rankings.
    """
    kept = ~np.isnan(seen.value)
    if seen.weight is not None:
        kept &= seen.weight > 0
    value, cell, time = seen.value[kept], seen.cell[kept], seen.time[kept]
    _, cluster = np.unique(seen.cluster[kept], return_inverse=True)
    weight = np.ones(len(value)) if seen.weight is None else seen.weight[kept]
    hour, period = time // HOUR, time // length
    # One sort of whole numbers takes a third of the time of one for each column.
    first_hour = int(hour.min()) if len(hour) else 0
    hours = int(hour.max()) - first_hour + 1 if len(hour) else 1
    where = (cluster * len(seen.cells) + cell) * hours + (hour - first_hour)
    unit = period - (period.min() if len(period) else 0)
    unit = unit * (len(cluster) + 1) + cluster
    keys = (value, where, unit) if seen.weight is None else (weight, value, where, unit)
    order = np.lexsort(keys)
    value, cell, hour, weight = value[order], cell[order], hour[order], weight[order]
    cluster, unit = cluster[order], unit[order]
    is_first = np.ones(len(value), dtype=np.bool_)
    is_first[1:] = unit[1:] != unit[:-1]
    start = np.flatnonzero(is_first)
    if not len(start):
        return Units(value, cell, hour, weight, start, cluster, np.zeros(0), most or 1.0)
    total = np.add.reduceat(weight, start)
    rows = np.diff(start, append=len(value))
    if seen.weight is None:
        size, most = np.ones(len(start)), 1.0
    else:
        most = MOST_MEANS * float(total.mean()) if most is None else most
        size = np.minimum(total / most, 1.0)
    weight = weight * np.repeat(size / total, rows)
    return Units(value, cell, hour, weight, start, cluster[start], size, most)


def tally(
    places: NDArray[np.int64], weights: NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    """Return the sum of the weights at each place."""
    return np.asarray(np.bincount(places, weights, length), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """What the mean gap of a period is compared with to tell a fall from chance.

    Args:
        least: The least fall that is looked for.
        variance: The variance of the mean gap that users explain.
        skew: The skewness of the mean gap as far as users explain it.
        day: The day, counted from 1970 in UTC.
        day_variance: The variance between days.
        correlation: Between a day and the next.
        levels: Which ratios chance makes in a quarter; see `Noise`.
    """

    least: float
    variance: float
    skew: float
    day: int
    day_variance: float
    correlation: float
    levels: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """The gaps of the users of one period, in a fixed order.

    Args:
        gap: By user, the expected value minus the mean of the user's values, ascending.
        weight: By user, how much it counts, above 0 and at most 1; `None` if all count the same.
        room: The largest possible surplus: 1 minus the lowest expected value of a user.
        depth: The largest possible gap: the highest expected value of a user.
        margin: How large the mean gap can be without being a drop.
        gamma: By what the logarithm of the evidence is multiplied, above 0 and at most 1; below 1
            if days vary more than chance alone explains.
        value: The mean of the values.
        expected: The mean of the expected values.
        error: The standard error of the mean gap, including the variation between days.
        likelihood: How it is tested, if that was calibrated.
    """

    gap: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    room: float
    depth: float
    margin: float
    gamma: float = 1.0
    value: float
    expected: float
    error: float = math.nan
    likelihood: Likelihood | None = None

    def __post_init__(self) -> None:
        if not (
            0 <= self.margin <= 1 and 0 < self.gamma <= 1 and 0 <= self.room <= 1 >= self.depth
        ):
            raise UsageError(
                f"expected a margin and a room from 0 to 1 and a gamma above 0, found "
                f"{self.margin}, {self.room} and {self.gamma}",
                hint="use find_gaps with a baseline, or below with a floor",
                code="bad_gaps",
            )

    @property
    def floor(self) -> float:
        """What the mean of the values is compared with."""
        return self.expected - self.margin

    @property
    def mean(self) -> float:
        """The mean gap."""
        return self.expected - self.value

    def cut(self, margin: float) -> NDArray[np.float64]:
        """Return the weighted gaps beyond a margin, ascending."""
        if self.weight is None:
            return self.gap - margin
        return np.sort(self.weight * (self.gap - margin))


def below(values: NDArray[np.float64], floor: float) -> Gaps:
    """Return the gaps of users for whom the same is expected.

    Examples:
        >>> import numpy as np
        >>> below(np.array([0.25, 1.0]), floor=0.5).gap
        array([-0.5 ,  0.25])
    """
    check_floor(floor)
    observed = np.sort(np.asarray(values, dtype=np.float64))
    check_values(observed)
    value = float(observed.sum() / len(observed)) if len(observed) else math.nan
    return Gaps(
        gap=(floor - observed)[::-1],
        room=1 - floor,
        depth=floor,
        margin=0.0,
        value=value,
        expected=floor,
    )


def check_floor(floor: float) -> None:
    """Check that a floor is between 0 and 1."""
    if not 0 < floor < 1:
        raise UsageError(
            f"the floor must be between 0 and 1, found {floor}",
            hint="use a smaller tolerance, or a longer baseline",
            code="bad_floor",
        )


def check_values(ordered: NDArray[np.float64]) -> None:
    """Check that values are from 0 to 1, given that they are in order."""
    # Sorting puts NaN last.
    if len(ordered) and not 0 <= ordered[0] <= ordered[-1] <= 1:
        raise InputError(
            f"expected values from 0 to 1, found {ordered[0]:g} to {ordered[-1]:g}",
            hint="remove queries without a value, and scale measures that can exceed 1",
            code="bad_observation",
        )
