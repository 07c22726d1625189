"""Confidence intervals for statistics of sums over queries, from a bootstrap over clusters.

The bootstrap of the core is for one aggregate of one column; this one computes many statistics from
the same samples. A statistic is a function of totals. The totals of each bag of clusters are
rounded so that the sum of any sample is exact. The same seed therefore gives the same interval for
any number of threads and any order of the queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._settings import Interval
from rankscope._stats.sums import below, scatter, take_high_part

Ends: TypeAlias = tuple[float, float] | None
Statistics: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""A function from totals to statistics, both on the last axis."""


AT_ONCE = 2**20
"""The number of random numbers in a batch, which limits memory."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """The assignment of queries to bags and groups.

    Args:
        bags: The bag of each query, by window.
        groups: The group of each query, by window; queries with negative groups are left out.
        bag_count: The number of bags.
        group_count: The number of groups.
    """

    bags: tuple[NDArray[np.int64], NDArray[np.int64]]
    groups: tuple[NDArray[np.int32], NDArray[np.int32]]
    bag_count: int
    group_count: int

    def add_up(
        self, columns: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]
    ) -> NDArray[np.float64]:
        """Return the sums of columns by bag, column, window and group, without empty bags."""
        cells = self.bag_count * self.group_count
        totals = np.zeros((self.bag_count, 1 + len(columns), 2, self.group_count))
        kept = [groups >= 0 for groups in self.groups]
        places = []
        for window in range(2):
            bags, groups = self.bags[window][kept[window]], self.groups[window][kept[window]]
            places.append(bags * self.group_count + groups)
            counts = np.bincount(places[window], minlength=cells)
            totals[:, 0, window] = counts.reshape(self.bag_count, self.group_count)
        largest = int(totals[:, 0].sum(axis=(1, 2)).max(initial=0))
        for number, column in enumerate(columns, start=1):
            for window in range(2):
                # No draw has more terms than all of the largest bag.
                high = take_high_part(column[window][kept[window]], largest * self.bag_count)
                sums = np.bincount(places[window], high, minlength=cells)
                totals[:, number, window] = sums.reshape(self.bag_count, self.group_count)
        return totals[totals[:, 0].any(axis=(1, 2))]


def find_intervals(
    totals: NDArray[np.float64],
    statistics: Statistics,
    interval: Interval,
    levels: Sequence[float],
) -> list[Ends]:
    """Return the bias-corrected and accelerated interval of each statistic (Efron, 1987)."""
    if len(totals) < 2:
        return [None] * len(levels)
    value = statistics(totals.sum(axis=0))
    draws = _draw(totals, statistics, interval)
    influences = -statistics(totals.sum(axis=0) - totals)
    influences -= influences.mean(axis=0)
    return [
        _accelerate(draws[:, at], float(value[at]), influences[:, at], level)
        for at, level in enumerate(levels)
    ]


def _draw(
    totals: NDArray[np.float64], statistics: Statistics, interval: Interval
) -> NDArray[np.float64]:
    """Return the statistics of bags drawn with replacement, one sample per row."""
    count = len(totals)
    flat = totals.reshape(count, -1)
    found = []
    rows = max(1, AT_ONCE // count)
    for first in range(0, interval.resamples, rows):
        many = min(rows, interval.resamples - first)
        places = np.arange(first * count, (first + many) * count, dtype=np.uint64)
        drawn = below(scatter(places, 3 * interval.seed), count)
        drawn += np.repeat(np.arange(many) * count, count)
        times = np.bincount(drawn, minlength=many * count).reshape(many, count)
        summed = (times.astype(np.float64) @ flat).reshape(many, *totals.shape[1:])
        found.append(statistics(summed))
    return np.concatenate(found)


def _accelerate(
    draws: NDArray[np.float64], value: float, influences: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """Return the quantiles of the samples, adjusted for bias and skewness."""
    from statistics import NormalDist

    normal = NormalDist()
    draws = np.sort(draws)
    lower = float(np.searchsorted(draws, value, "left"))
    upper = float(np.searchsorted(draws, value, "right"))
    if lower == len(draws) or upper == 0 or draws[0] == draws[-1]:
        # All draws lie on one side, as where every query has one value.
        return float(draws[0]), float(draws[-1])
    bias = normal.inv_cdf((lower + upper) / 2 / len(draws))
    spread = float((influences**2).sum()) ** 1.5
    skewness = float((influences**3).sum()) / (6 * spread) if spread > 0 else 0.0
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        deviation = bias + normal.inv_cdf(share)
        ends.append(normal.cdf(bias + deviation / (1 - skewness * deviation)))
    low, high = np.quantile(draws, ends)
    return float(low), float(high)
