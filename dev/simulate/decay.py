"""Values that fall a little every week: how soon it is found, and how often where nothing falls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from rankscope.stats.decline import LONGEST, find_decline
from rankscope.stats.sequential.observations import DAY

from dev.simulate.traffic import DAYS, Traffic, World, lower
from dev.simulate.trials import NEVER, TOLERANCE, chance
from dev.simulate.watch import Watch, fit_streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEEKLY = 0.01
WITHIN, FOLLOWED = 32, 56
"""Within so many days it is to be found; so long the days are followed, to see what they tell."""


@dataclass(slots=True)
class Means:
    """The means of the days of one model, with their variances over users."""

    values: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, value: NDArray[np.float64], cluster: NDArray[np.int64]) -> None:
        """Add a day."""
        mean = float(value.mean())
        rest = np.bincount(cluster, value - mean)
        self.values.append(mean)
        self.errors.append(float((rest**2).sum()) / len(value) ** 2)


@dataclass(frozen=True, slots=True)
class DecayTrial:
    """What happened in a quarter in which nothing falls, or while values fall every week.

    Args:
        drop: The days until the drop detector alarms.
        decay: The days until a decline is found.
        named: The days until a fall that was found is called a decline.
        is_mistaken: Whether it was called a step on any day.
    """

    drop: int
    decay: int
    named: int
    is_mistaken: bool

    @property
    def first(self) -> int:
        """The days until either is found."""
        return min(self.drop, self.decay)


def watch_decay(world: World, run: int, *, case: int, weekly: float = 0.0) -> DecayTrial:
    """Watch a quarter without a change, or `FOLLOWED` days in which values fall every week."""
    traffic, breaking = Traffic(world, chance(case, run)), chance(case + 1000, run)
    baseline = traffic.draw_baseline()
    streams, watch = fit_streams(baseline, TOLERANCE, has_slices=False), Watch()
    mean, means = float(baseline.value.mean()), Means()
    number = (baseline.time - baseline.time.min()) // DAY
    for day in range(world.baseline_days):
        rows = number == day
        means.add(baseline.value[rows], baseline.cluster[rows])
    drop = decay = named = NEVER
    is_mistaken = False
    for day in range(FOLLOWED if weekly else DAYS):
        seen = lower(traffic.draw_day(day), weekly * (day + 1) / 7, breaking, mean)
        means.add(seen.value, seen.cluster)
        found = find_decline(np.array(means.values[-LONGEST:]), np.array(means.errors[-LONGEST:]))
        if watch.take(streams.find_gaps(seen)):
            drop = min(drop, day + 1)
        if found is None:
            continue
        if found.is_found(TOLERANCE):
            decay = min(decay, day + 1)
        if min(drop, decay) < NEVER:
            is_mistaken = is_mistaken or found.shape == "step"
            named = min(named, day + 1) if found.shape == "decline" else named
    return DecayTrial(drop, decay, named, is_mistaken)
