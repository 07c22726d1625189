"""Quarters in which nothing is wrong: sums of signals by hour, and what the rule finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.early.check import find_needed, weigh
from rankscope.monitor.rules.early.progress import EarlyProgress
from rankscope.monitor.rules.early.rule import EarlyRule
from rankscope.monitor.rules.early.usual import HOURS, Sums, add_up
from rankscope.monitor.signals.kinds import SIGNALS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEED = 20261128
HISTORY, QUARTER = 28, 90
DAYS = HISTORY + QUARTER
SHAPE = np.array([1.0] * 7 + [3.0] * 10 + [5.0] * 7) / 72
HOURLY = [each for each in SIGNALS if each.grain == "hour"]
USUAL = {
    "length": (2.9, 2.0),
    "no_results": (-4.6, 0.0),
    "tied": (-3.0, 2.0),
    "constant": (-6.9, 0.0),
    "ascending": (-4.6, 0.5),
    "score_rank": (0.0, 20.0),
    "unseen": (-3.2, 3.0),
    "overlap": (1.6, 5.0),
    "reordered": (-2.5, 5.0),
    "missing": (-2.7, 5.0),
    "popular": (-0.8, 15.0),
}
"""The logit of the mean of each signal, and the concentration of its beta distribution: 0 where
values are 0 or 1."""
CATALOGUE = ("unseen", "missing", "overlap")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What traffic is like. Deviations are of logits.

    Args:
        name: What it is called.
        a_day: How many rankings come on a day.
        slices: How many slices there are.
        days: The standard deviation of day effects, AR(0.8), half of them shared by all signals.
        turnover: The standard deviation of what a day's new documents add to `CATALOGUE`.
        users: The standard deviation between users.
        tail: The exponent of the Pareto distribution of how often users come.
        life: After how many days users are others; 0 for never.
        weekend: What weekends add.
        came: The day on which a second model comes, with a third of the rankings; 0 for none.
    """

    name: str
    a_day: int = 200
    slices: int = 5
    days: float = 0.0
    turnover: float = 0.0
    users: float = 0.3
    tail: float = 2.0
    life: int = 0
    weekend: float = 0.0
    came: int = 0


WORLDS = (
    World(name="stationary"),
    World(name="day effects AR(0.8), sd 0.1", days=0.1),
    World(name="day effects AR(0.8), sd 0.2, 2,000 a day", days=0.2, a_day=2000),
    World(name="heavy-tailed users", users=0.8, tail=1.2),
    World(name="users who come and go", users=0.8, tail=1.5, life=14),
    World(name="new documents every day", turnover=0.3),
    World(name="weekends", weekend=0.5),
    World(name="a new model", came=HISTORY + 30),
    World(name="100 slices, 2,000 a day", slices=100, a_day=2000),
)


def draw(world: World, random: np.random.Generator) -> Sums:
    """Draw the sums of a quarter and the weeks before: a row for each stream and signal."""
    sizes = random.poisson(world.a_day * np.exp(random.normal(0, 0.1, DAYS)))
    day = np.repeat(np.arange(DAYS), sizes)
    hour = day * HOURS + random.choice(HOURS, len(day), p=SHAPE)
    user, users = _draw_users(world, random, day)
    many = 1 / np.arange(1, world.slices + 1) ** 0.7
    place = random.choice(world.slices, users, p=many / many.sum())[user]
    model = (day >= world.came) & (random.random(len(day)) < 1 / 3) & (world.came > 0)
    of_slices = random.normal(0, 0.3, (world.slices, len(HOURLY)))
    shared = _draw_days(random) * world.days
    news = random.normal(0, world.turnover, DAYS)
    values = []
    for number, signal in enumerate(HOURLY):
        logit, concentration = USUAL[signal.name]
        own = _draw_days(random) * world.days
        effect = np.sqrt(0.5) * (own + random.choice([-1, 1]) * shared)
        effect += np.where(np.arange(DAYS) % 7 >= 5, world.weekend, 0.0)
        effect += news * (signal.name in CATALOGUE) * np.sign(-logit)
        of_user = random.normal(0, world.users, users)[user]
        at = logit + effect[day] + of_user + of_slices[place, number] + 0.7 * model
        mean = 1 / (1 + np.exp(-at))
        if not concentration:
            values.append((random.random(len(day)) < mean).astype(float))
            continue
        one, other = (random.standard_gamma(each * concentration) for each in (mean, 1 - mean))
        values.append(one / np.maximum(one + other, 1e-300))
    # Of each model, all of its rankings and each slice.
    whole = model.astype(int)
    parts = [
        _sum(group, count * (1 + bool(world.came)), (hour, user, users), values)
        for group, count in ((whole, 1), (place + world.slices * whole, world.slices))
    ]
    return Sums(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _draw_users(
    world: World, random: np.random.Generator, day: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Draw the user of each ranking."""
    count = 5 * world.a_day
    if not world.life:
        weight = random.pareto(world.tail, count) + 1
        return random.choice(count, len(day), p=weight / weight.sum()), count
    count *= 1 + DAYS // world.life
    born = random.uniform(-world.life, DAYS, count)
    weight = random.pareto(world.tail, count) + 1
    user = np.empty(len(day), int)
    for each in range(DAYS):
        here = np.flatnonzero((born <= each) & (born + world.life > each))
        rows = day == each
        user[rows] = random.choice(here, rows.sum(), p=weight[here] / weight[here].sum())
    return user, count


def _draw_days(random: np.random.Generator) -> Floats:
    """Draw the effects of days, of which each is like the one before."""
    effects = random.normal(size=DAYS)
    for day in range(1, DAYS):
        effects[day] = 0.8 * effects[day - 1] + 0.6 * effects[day]
    return effects


def _sum(
    group: NDArray[np.int64],
    count: int,
    rankings: tuple[NDArray[np.int64], NDArray[np.int64], int],
    values: list[Floats],
) -> list[Floats]:
    """Sum the values of users by stream and hour."""
    hour, user, users = rankings
    length = DAYS * HOURS
    used, inverse = np.unique((group * length + hour) * users + user, return_inverse=True)
    cell, number = used // users, np.bincount(inverse).astype(float)
    rows = []
    for each in values:
        total = np.bincount(inverse, each)
        moments = (number, total, number**2, total * number, total**2)
        rows.append([np.bincount(cell, one, count * length) for one in moments])
    shape = (len(values), 5, count, length)
    turned = np.array(rows).reshape(shape).transpose(1, 2, 0, 3)
    return list(turned.reshape(5, count * len(values), length))


def count_warnings(world: World, run: int) -> int:
    """Return how many false warnings a quarter has, those of one day counted once."""
    number = WORLDS.index(world)
    sums = add_up(draw(world, np.random.default_rng([SEED, number, run])))
    peaks: list[tuple[int, float]] = []
    rule, found = EarlyRule(name="early", kind="early"), 0
    rows = len(sums.total)
    for day in range(HISTORY, DAYS):
        ends = day * HOURS + np.arange(1, HOURS + 1)
        _, evidence = weigh(sums, ends, HOURLY)
        peak = float(evidence.max())
        known = EarlyProgress(
            basis="", first=0, following=day * DAY, peaks=tuple(peaks[-HISTORY:]), rows=rows
        )
        needed = find_needed(rule, known, day * DAY + HOUR)
        found += peak >= needed
        peaks.append((day * DAY, peak))
    return found
