"""Simulated labels, drawn hour by hour and checked by the same function as those of a store."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from rankscope.monitor.evaluate.stored_windows import AGES, RANKS
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.rules.data.check import check_data
from rankscope.monitor.rules.data.counts import HOURS, TOTAL, LabelDay, Segment
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.rule import DataRule

from dev.simulate.volumes import SHAPE, START, WEEKDAYS, DrawnCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rankscope.monitor.rules.state import Finding

HISTORY, QUARTER = 28, 90
MODEL = "search"
CLICK, BUY = (MODEL, "click"), (MODEL, "buy")
RULE = DataRule(
    name="data", kind="data", watches=("labels", "label_delay", "label_ranks", "relevance")
)
MEMORY = 0.8


@dataclass(kw_only=True)
class LabelWorld:
    """How labels are given.

    Clicks come with a median of 40 minutes and purchases with one of 5 hours; ages are lognormal.
    How soon they come, and how far down people look, varies from day to day.

    Args:
        seed: Where chance begins.
        days: How many days.
        a_day: How many rankings on a weekday.
        window: The attribution window, in microseconds.
        speed: The standard deviation of the logarithm of a day's ages.
        depth: The standard deviation of a day's share of labels that are one rank lower.
        change: The day from which on something is different.
        until: The first day on which it is as before.
        slower: By how much ages are multiplied.
        kept: The share of labels that are not lost.
        kinds: How many kinds of labels are lost, clicks first.
        moved: How much of the labels is at the first rank instead, or one rank lower if negative.
    """

    seed: int
    days: int
    a_day: int
    window: int = DAY
    speed: float = 0.0
    depth: float = 0.0
    change: int = 10_000
    until: int = 10_000
    slower: float = 1.0
    kept: float = 1.0
    kinds: int = 2
    moved: float = 0.0


class DrawnLabels(DrawnCounts):
    """Labels that were drawn instead of read.

    Args:
        world: How they are given.
    """

    def __init__(self, world: LabelWorld) -> None:
        draw = np.random.default_rng(world.seed)
        level = world.a_day * WEEKDAYS[np.arange(world.days) % 7]
        hours = draw.poisson(np.outer(level, SHAPE / SHAPE.sum()).ravel())
        super().__init__({TOTAL: hours, Segment(MODEL): hours}, window=world.window // SECOND)
        speed, depth = (_draw_effects(draw, world.days) for _ in range(2))
        self._drawn = [
            _draw_day(draw, world, day, hours, (world.speed * speed[day], world.depth * depth[day]))
            for day in range(world.days)
        ]

    def count_labels(self, day: int) -> LabelDay:
        """Count the labels of a day."""
        at = (day - START) // DAY
        return self._drawn[at] if 0 <= at < len(self._drawn) else LabelDay({}, {})


def _draw_effects(draw: np.random.Generator, days: int) -> NDArray[np.float64]:
    noise = draw.normal(size=days)
    for day in range(1, days):
        noise[day] = MEMORY * noise[day - 1] + math.sqrt(1 - MEMORY**2) * noise[day]
    return noise


def _draw_day(
    draw: np.random.Generator,
    world: LabelWorld,
    day: int,
    hours: NDArray[np.int64],
    effects: tuple[float, float],
) -> LabelDay:
    """Draw the labels of a day: a click for 7 of 10 rankings, a purchase for one."""
    is_changed, (speed, depth) = world.change <= day < world.until, effects
    found = LabelDay({}, {MODEL: np.zeros(RANKS + 1)})
    for number, (key, rate, median) in enumerate(((CLICK, 0.7, 40 * MINUTE), (BUY, 0.1, 5 * HOUR))):
        ages = found.ages[key] = np.zeros((HOURS, len(AGES) + 1))
        kept = world.kept if is_changed and number < world.kinds else 1.0
        for hour in range(HOURS):
            count = draw.binomial(hours[day * HOURS + hour], rate * kept)
            each = median * np.exp(1.5 * draw.normal(size=count) + speed)
            each = each * (world.slower if is_changed else 1.0)
            each = each[each < world.window]
            ages[hour] = np.bincount(np.searchsorted(AGES, each), minlength=len(AGES) + 1)
            ranks = np.minimum(draw.geometric(0.45, size=len(each)), RANKS + 1)
            if is_changed and world.moved > 0:
                ranks[draw.random(len(ranks)) < world.moved] = 1
            lower = depth - (min(world.moved, 0.0) if is_changed else 0.0)
            moves = np.sign(lower) * (draw.random(len(ranks)) < abs(lower))
            ranks = np.clip(ranks + moves.astype(np.int64), 1, RANKS + 1)
            found.ranks[MODEL] += np.bincount(ranks - 1, minlength=RANKS + 1)
    return found


def watch_labels(world: LabelWorld, since: int, until: int) -> list[tuple[int, Finding]]:
    """Check every hour of a world, and return what was found or over when it was new."""
    counts = DrawnLabels(world)
    progress = DataProgress.begin("", 0, 0)
    known: dict[object, str] = {}
    found = []
    for hour in range(since, until):
        moment = START + (hour + 1) * HOUR
        findings, progress = check_data(counts, RULE, progress, moment)
        for one in findings:
            if one.verdict != known.get(one.key, "good" if one.verdict != "bad" else ""):
                known[one.key] = one.verdict
                found.append((hour + 1, one))
    return found
