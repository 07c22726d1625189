"""How often a gate calls a budget held, broken and inconclusive, where the truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from rankscope._compare.gate.checks import Settings, check_budget
from rankscope._compare.promise import MeasureValues
from rankscope._settings import Interval

from dev.simulate.compare.worlds import ALIKE, draw_sample

if TYPE_CHECKING:
    from rankscope._compare.gate.budget import Budget
    from rankscope._compare.gate.result import Check
    from rankscope._evaluate.query_values import Groups

    from dev.simulate.compare.worlds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often each verdict was given.

    Args:
        world: The name of the world.
        budget: The budget.
        units: The number of queries or users.
        difference: The true mean difference.
        trials: The number of gates.
        holds: The share of gates in which any check holds or is unchanged.
        broken: The share in which any is broken.
        inconclusive: The share in which all are inconclusive.
        level: The confidence level.
    """

    world: str
    budget: str
    units: int
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
    units: int,
    difference: float,
    budget: Budget,
    *,
    layout: str = "queries",
    slices: int = 1,
    trials: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Rates:
    """Return how often a gate gives each verdict.

    Args:
        world: The differences of queries, candidate − baseline.
        units: The number of queries or users.
        difference: The true mean difference, to which the world is tilted.
        budget: The budget, a `max_drop` or a `max_loss`.
        layout: How queries are sampled, as in `draw_sample`.
        slices: The number of slices, each with as many queries.
        trials: The number of gates.
        level: The confidence level.
        seed: The random seed. Each world has random numbers of its own.
    """
    random = np.random.default_rng((seed, crc32(f"{world.name}, {layout}".encode()), units))
    tilted = tilt(world, difference)
    counts = {"holds": 0, "broken": 0, "inconclusive": 0}
    budget = budget if slices == 1 else replace_fields(budget, by="slice")
    for _ in range(trials):
        checks = run_gate(
            tilted, units * slices, budget, random, layout=layout, slices=slices, level=level
        )
        verdicts = {check.verdict for check in checks}
        counts["holds"] += bool(verdicts & {"holds", "unchanged"})
        counts["broken"] += "broken" in verdicts
        counts["inconclusive"] += verdicts == {"inconclusive"}
    return Rates(
        world=world.name,
        budget=str(budget),
        units=units,
        difference=difference,
        trials=trials,
        level=level,
        **{verdict: count / trials for verdict, count in counts.items()},
    )


def run_gate(
    world: World,
    units: int,
    budget: Budget,
    random: np.random.Generator,
    *,
    layout: str = "queries",
    slices: int = 1,
    level: float = 0.95,
) -> list[Check]:
    """Return the checks of a gate of queries from a world."""
    sample = draw_sample(layout, units, random)
    found = world.draw(sample.codes, ALIKE if sample.is_clustered else 0.0, random)
    values = np.stack([np.maximum(-found, 0.0), np.maximum(found, 0.0)])
    names = [str(code) for code in range(units)]
    clusters = ("user", names, sample.codes.tolist()) if sample.is_clustered else None
    parts = np.arange(len(found)) % slices
    groups: Groups | None = None
    if slices > 1:
        groups = ("slice", [str(each) for each in range(slices)], parts.tolist())
    return check_budget(
        budget,
        MeasureValues(name="value", low=0.0, high=1.0, values=values),
        groups=groups,
        clusters=clusters,
        settings=Settings(interval=Interval(level), threads=1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """How plans of queries turned out: those of the lower end, of the middle and of the upper end.

    Args:
        held: The shares of planned gates in which the budget holds.
        middle: The medians of the planned numbers.
        plans: How many gates were planned.
    """

    held: tuple[float, ...]
    middle: tuple[int, ...]
    plans: int


def follow_plans(
    world: World, units: int, budget: Budget, *, trials: int = 1000, seed: int = 0
) -> Planned:
    """Return how often a budget holds with as many queries as an inconclusive gate planned.

    Args:
        world: The differences of queries, which are tilted to a mean of 0.
        units: The number of queries of the first gate.
        budget: The budget.
        trials: The number of first gates; those that are conclusive plan nothing.
        seed: The random seed.
    """
    random = np.random.default_rng((seed, crc32(world.name.encode()), units))
    tilted = tilt(world, 0.0)
    held, planned = [], []
    for _ in range(trials):
        (check,) = run_gate(tilted, units, budget, random)
        plan = (check.queries_needed_lower, check.queries_needed, check.queries_needed_upper)
        numbers = [number for number in plan if number is not None]
        if len(numbers) < len(plan):
            continue
        planned.append(numbers)
        checks = [run_gate(tilted, number, budget, random)[0] for number in numbers]
        held.append([each.verdict == "holds" for each in checks])
    if not held:
        return Planned(held=(math.nan,) * 3, middle=(0, 0, 0), plans=0)
    middle = np.median(planned, axis=0).round().astype(int).tolist()
    return Planned(
        held=tuple(np.mean(held, axis=0).tolist()), middle=tuple(middle), plans=len(held)
    )
