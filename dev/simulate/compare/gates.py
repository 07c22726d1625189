"""How often a gate calls a budget held, broken and inconclusive, where the truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from rankscope.compare.checks import Settings, check_budgets
from rankscope.data.interval import Interval
from rankscope.stats.comparison import MeasureValues

from dev.simulate.compare.worlds import RESAMPLES

if TYPE_CHECKING:
    from rankscope.compare.gate import Budget

    from dev.simulate.compare.worlds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often each verdict was given.

    Args:
        world: The name of the world.
        budget: The budget.
        n: The number of queries.
        per_cluster: The number of queries in a cluster.
        difference: The true mean difference.
        trials: The number of gates.
        holds: The share of gates in which the budget holds.
        broken: The share in which it is broken.
        inconclusive: The share in which it is inconclusive.
        level: The confidence level.
    """

    world: str
    budget: str
    n: int
    per_cluster: int
    difference: float
    trials: int
    holds: float
    broken: float
    inconclusive: float
    level: float

    @property
    def promised(self) -> float:
        """The highest rate of false alarms, and of missed drops, that a gate promises."""
        return (1 - self.level) / 2

    @property
    def error(self) -> float:
        """The standard error of a rate that is as promised."""
        return math.sqrt(self.promised * (1 - self.promised) / self.trials)


def tilt(world: World, mean: float) -> World:
    """Return a world with the same values and another mean.

    The probability of each value v is multiplied by exp(t · v), with the t that gives this mean.
    """

    def weigh(rate: float) -> World:
        powers = rate * world.values
        chances = world.chances * np.exp(powers - powers.max())
        return replace(world, chances=chances / chances.sum())

    low, high = -1000.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        if weigh(middle).mean < mean:
            low = middle
        else:
            high = middle
    return weigh((low + high) / 2)


def find_rates(
    world: World,
    n: int,
    difference: float,
    budget: Budget,
    *,
    per_cluster: int = 1,
    alike: float = 0.4,
    trials: int = 1000,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Rates:
    """Return how often a gate gives each verdict.

    Args:
        world: The differences of queries, candidate − baseline.
        n: The number of queries.
        difference: The true mean difference, to which the world is tilted.
        budget: The budget, a `max_drop` or a `max_loss`.
        per_cluster: The number of queries in a cluster; 1 if queries are independent.
        alike: How much queries in the same cluster are alike, as in `World.draw`.
        trials: The number of gates.
        level: The confidence level.
        resamples: The number of resamples of the bootstrap.
        seed: The random seed. Each world has random numbers of its own.
    """
    random = np.random.default_rng((seed, crc32(world.name.encode()), n, per_cluster))
    tilted = tilt(world, difference)
    codes = np.arange(n) // per_cluster
    names = [str(code) for code in range(int(codes[-1]) + 1)]
    clusters = ("cluster", names, codes.tolist()) if per_cluster > 1 else None
    settings = Settings(interval=Interval(level, resamples=resamples, seed=seed), threads=1)
    counts = {"holds": 0, "broken": 0, "inconclusive": 0}
    for _ in range(trials):
        found = tilted.draw(codes, alike if per_cluster > 1 else 0.0, random)
        values = np.stack([np.maximum(-found, 0.0), np.maximum(found, 0.0)])
        measure = MeasureValues(name="value", low=0.0, high=1.0, values=values)
        (check,) = check_budgets(
            [(budget, measure)], groups={}, clusters=clusters, settings=settings
        )
        counts[check.verdict] += 1
    return Rates(
        world=world.name,
        budget=str(budget),
        n=n,
        per_cluster=per_cluster,
        difference=difference,
        trials=trials,
        level=level,
        **{verdict: count / trials for verdict, count in counts.items()},
    )
