"""Forecasts of nDCG before labels arrive: how often their intervals cover, and what is doubted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rankscope.stats.expected.calibration import fit_calibration
from rankscope.stats.expected.curves import Lists
from rankscope.stats.expected.forecast import contradicts, expect, forecast

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

SEED = 35_000
DAYS, LATER = 28, 7
DOCUMENTS, CUTOFF = 10, 5
DISCOUNTS = 1 / np.log2(np.arange(2, CUTOFF + 2))
QUALITY, BLUR = -1.5, 0.5
LOOKS = 1 / np.arange(1, DOCUMENTS + 1) ** 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What lists are like.

    Args:
        per_day: The number of lists on a day.
        users: The number of users, who come back.
        heavy: Whether some users have hundreds of times as many lists as others.
        by_people: Whether documents are graded by people, and not by clicks.
        is_scored: Whether scores are logged.
        day_deviation: The standard deviation of the effects of days, which last (AR 0.8).
        quality: How good documents are, on the scale of the score.
        spread: How much they differ.
        skill: By how much a document is better if its score is higher by 1.
        tv: The share of lists on televisions, whose documents are less good.
        scale: What scores are multiplied by when they are logged.
        swapped: The share of lists whose order is that of another score.
        level: What is added to the quality of documents, and not to their scores.
    """

    per_day: int = 1000
    users: int = 2000
    heavy: bool = False
    by_people: bool = False
    is_scored: bool = True
    day_deviation: float = 0.0
    quality: float = QUALITY
    spread: float = 1.0
    skill: float = 1.0
    tv: float = 0.2
    scale: float = 1.0
    swapped: float = 0.0
    level: float = 0.0


@dataclass(frozen=True, slots=True)
class Shown:
    """Lists, and what became of them."""

    lists: Lists
    gains: Numbers
    values: Numbers
    early: Numbers


def show(world: World, days: NDArray[np.int64], effects: Numbers, random: Generator) -> Shown:
    """Return the lists of some days."""
    count = world.per_day * len(days)
    day = np.repeat(np.arange(len(days)), world.per_day)
    if world.heavy:
        weights = 1 / np.arange(1, world.users + 1)
        user = random.choice(world.users, count, p=weights / weights.sum())
    else:
        user = random.integers(world.users, size=count)
    taste = np.random.default_rng(7).normal(size=world.users) * 0.5
    tv = (random.random(count) < world.tv).astype(np.int64)
    shape = count, DOCUMENTS
    score = world.quality - 0.8 * tv[:, None] + world.spread * random.normal(size=shape)
    # The relation of grades to scores is the same, however scores are distributed.
    fit = QUALITY + world.skill * (score - QUALITY) + BLUR * random.normal(size=shape)
    lost = random.random(count) < world.swapped
    key = np.where(lost[:, None], random.normal(size=shape) * score.std() + score.mean(), score)
    order = np.argsort(-key, axis=1)
    fit, score = np.take_along_axis(fit, order, 1), np.take_along_axis(key, order, 1)
    logit = fit + world.level + (effects[day] + taste[user])[:, None]
    chance = 1 / (1 + np.exp(-logit))
    if world.by_people:
        gain = random.binomial(3, chance).astype(np.float64)
    else:
        gain = (random.random(shape) < chance * LOOKS).astype(np.float64)
    is_early = random.random(count) < 0.5
    lists = Lists(
        np.arange(count + 1) * DOCUMENTS,
        np.tile(np.arange(1, DOCUMENTS + 1), count),
        (score * world.scale if world.is_scored else np.full(shape, np.nan)).ravel(),
        days[day] * 24 + random.integers(24, size=count),
        user,
        tv[:, None],
    )
    values = ndcg(gain)
    return Shown(lists, gain.ravel(), values, np.where(is_early, values, np.nan))


def ndcg(gain: Numbers) -> Numbers:
    """Return the nDCG of lists; NaN where nothing is relevant."""
    ideal = -np.sort(-gain, axis=1)[:, :CUTOFF] @ DISCOUNTS
    return np.divide(
        gain[:, :CUTOFF] @ DISCOUNTS, ideal, out=np.full(len(gain), np.nan), where=ideal > 0
    )


def draw_effects(world: World, count: int, random: Generator) -> Numbers:
    """Return the effects of days."""
    effects = np.empty(count)
    state = random.normal()
    for at in range(count):
        effects[at] = state
        state = 0.8 * state + 0.6 * random.normal()
    return effects * world.day_deviation


@dataclass(slots=True)
class Found:
    """What forecasts of days were."""

    covered: list[bool]
    errors: list[float]
    widths: list[float]
    finals: list[float]
    outside: list[bool]
    unlike: list[bool]
    early: list[bool]


def run(before: World, after: World, seed: int) -> Found:
    """Calibrate on the days before, and forecast the days after, whose windows are a day."""
    random = np.random.default_rng(seed)
    effects = draw_effects(before, DAYS + 1 + LATER, random)
    past = show(before, np.arange(DAYS), effects[:DAYS], random)
    calibration = fit_calibration(
        past.lists, past.gains, past.values, past.early, discounts=DISCOUNTS, groups=2
    )
    found = Found([], [], [], [], [], [], [])
    for at in range(LATER):
        here = DAYS + 1 + at
        now = show(after, np.array([here]), effects[here : here + 1], random)
        expected = expect(calibration, now.lists)
        made = forecast(
            calibration,
            expected.summarize(now.lists.clusters, np.arange(len(now.lists))),
            is_hour=False,
        )
        final = float(np.nanmean(now.values))
        gaps = now.early - expected.share
        found.covered.append(made.lower <= final <= made.upper)
        found.errors.append(made.value - final)
        found.widths.append((made.upper - made.lower) / 2)
        found.finals.append(final)
        found.outside.append(made.is_outside)
        found.unlike.append(made.is_unlike)
        found.early.append(contradicts(calibration, gaps[~np.isnan(gaps)]))
    return found
