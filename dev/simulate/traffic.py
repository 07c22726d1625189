"""Simulated traffic: searches of some weeks, with their users, slices and values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.sequential.observations import DAY, HOUR, Observations

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    # The share of each slice on a day, counted from the first of the quarter.
    Mix = Callable[[int], NDArray[np.float64]]

BASELINE_DAYS = 84
DAYS = 90
# A Monday.
MONDAY = 4 * DAY
QUERIES = 3000
# What a broken search keeps of its value.
KEPT = 0.25
# Values are spread around the quality of their query, cut off at 0 and 1, and centred near 0.65.
NOISE, SHIFT, SCALE = 0.25, 0.1, 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What traffic is like.

    Args:
        per_day: The number of searches on a day of the quarter.
        baseline_days: The number of days of the baseline.
        slices: The quality of each slice, as a difference.
        mix: The share of each slice on a day of the quarter; by default, all are equal.
        weekend: What is added on Saturdays and Sundays.
        day_deviation: The standard deviation of the effects of days.
        correlation: Between the effects of one day and the next.
        users: The number of users, who come back; by default, queries are the units, and the head
            comes back every day.
        user_deviation: The standard deviation between users.
        tail: The exponent of the Pareto distribution of how often users come.
        known_item: Whether values are 1, or rarely something else.
    """

    per_day: int = 200
    baseline_days: int = BASELINE_DAYS
    slices: tuple[float, ...] = (0.0,) * 10
    mix: Mix | None = None
    weekend: float = 0.0
    day_deviation: float = 0.0
    correlation: float = 0.8
    users: int | None = None
    user_deviation: float = 0.0
    tail: float = 2.0
    known_item: bool = False


@dataclass(slots=True)
class Traffic:
    """The traffic of one run.

    Args:
        world: What it is like.
        random: The source of chance.
    """

    world: World
    random: np.random.Generator
    units: int = field(init=False)
    quality: NDArray[np.float64] = field(init=False)
    popularity: NDArray[np.float64] = field(init=False)
    effect: NDArray[np.float64] = field(init=False)
    names: tuple[tuple[str, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        world, random = self.world, self.random
        if world.users is None:
            weights = 1 / (np.arange(QUERIES) + 10)
            self.quality = random.beta(4, 2.5, QUERIES)
        else:
            weights = random.pareto(world.tail, world.users) + 1
            self.quality = 0.615 + random.normal(0, world.user_deviation, world.users)
        self.popularity = np.cumsum(weights / weights.sum())
        self.units = len(weights)
        days = world.baseline_days + DAYS
        shocks = random.normal(0, 1, days)
        self.effect = np.empty(days)
        rho, now = world.correlation, shocks[0]
        for day in range(days):
            if day:
                now = rho * now + np.sqrt(1 - rho**2) * shocks[day]
            self.effect[day] = world.day_deviation * now
        self.names = tuple((str(number),) for number in range(len(world.slices)))

    def draw_baseline(self) -> Observations:
        """Return the searches of the baseline."""
        days = np.repeat(np.arange(-self.world.baseline_days, 0), self.world.per_day)
        count = len(self.world.slices)
        return self.draw(days, self.random.integers(0, count, len(days)))

    def draw_day(self, day: int) -> Observations:
        """Return the searches of a day of the quarter, counted from 0."""
        world, random = self.world, self.random
        if world.mix is None:
            cells = random.integers(0, len(world.slices), world.per_day)
        else:
            edges = np.cumsum(world.mix(day))
            cells = np.searchsorted(edges / edges[-1], random.random(world.per_day))
        return self.draw(np.full(world.per_day, day), cells)

    def draw(self, days: NDArray[np.int64], cells: NDArray[np.int64]) -> Observations:
        """Return searches on some days, counted from the first of the quarter, in some slices."""
        world, random, count = self.world, self.random, len(days)
        place = days + world.baseline_days
        added = np.array(world.slices)[cells] + self.effect[place]
        added = added + np.where(place % 7 >= 5, world.weekend, 0.0)
        unit = np.searchsorted(self.popularity, random.random(count))
        if world.known_item:
            value = np.where(random.random(count) < 0.97, 1.0, random.choice([0.0, 0.63], count))
        else:
            raw = (self.quality[unit] + random.normal(0, NOISE, count) - SHIFT) / SCALE
            # Effects are those of the mean: what cuts values off would weaken them.
            value = np.clip(np.clip(raw, 0, 1) + added * 1.1, 0, 1)
        time = MONDAY + place * DAY + random.integers(0, 24, count) * HOUR
        return Observations(value=value, cluster=unit, cell=cells, time=time, cells=self.names)


def lower(
    seen: Observations, fall: float, random: np.random.Generator, mean: float
) -> Observations:
    """Return the searches with some broken, so that their mean falls.

    Args:
        seen: The searches.
        fall: By how much the mean falls.
        random: The source of chance.
        mean: The mean without the fall.
    """
    is_broken = random.random(len(seen.value)) < fall / ((1 - KEPT) * mean)
    value = np.where(is_broken, KEPT * seen.value, seen.value)
    return Observations(
        value=value, cluster=seen.cluster, cell=seen.cell, time=seen.time, cells=seen.cells
    )


def select(seen: Observations, cell: int | None) -> Observations:
    """Return the searches of one slice; all of them for `None`."""
    if cell is None:
        return seen
    found = take_rows(seen, seen.cell == cell)
    return replace(
        found, cell=np.zeros(len(found.value), dtype=np.int64), cells=(seen.cells[cell],)
    )


def take_rows(seen: Observations, rows: NDArray[np.bool_]) -> Observations:
    """Return some of the searches."""
    return replace(
        seen,
        value=seen.value[rows],
        cluster=seen.cluster[rows],
        cell=seen.cell[rows],
        time=seen.time[rows],
    )
