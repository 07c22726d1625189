"""Simulated labels: lists with clicks that come later, and some that are lost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.sequential.observations import HOUR, Observations

from dev.simulate.traffic import MONDAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The probability of a click at each rank, and the discounts of nDCG@10.
CLICKS = np.array([0.5, 0.35, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.07, 0.06])
DISCOUNTS = 1 / np.log2(np.arange(2, 12))
# The share of clicks that have arrived after t hours is 1 - exp(-(t / DELAY) ** SHAPE).
DELAY, SHAPE = 3.0, 0.7
USERS = 2000


@dataclass(frozen=True, slots=True)
class Labelled:
    """Lists with their labels.

    Args:
        seen: The values of the lists, nDCG@10; NaN without labels.
        gain: The number of clicks of each.
        discount: The mean discount of its clicks; NaN without clicks.
    """

    seen: Observations
    gain: NDArray[np.float64]
    discount: NDArray[np.float64]


def draw_lists(
    random: np.random.Generator,
    hours: NDArray[np.int64],
    *,
    rate: NDArray[np.float64] | float = 1.0,
    kept: float = 1.0,
    broken: float = 0.0,
) -> Labelled:
    """Return lists with their clicks.

    Args:
        random: The source of chance.
        hours: The hour of each list, counted from the first of the quarter.
        rate: By what the probability of clicks is multiplied.
        kept: The share of clicks that isn't lost, or has arrived.
        broken: The share of lists that are reversed.
    """
    count = len(hours)
    chance = np.broadcast_to(np.multiply.outer(np.ones(count) * rate, CLICKS), (count, 10))
    clicks = random.random((count, 10)) < chance
    clicks = np.where((random.random(count) < broken)[:, None], clicks[:, ::-1], clicks)
    clicks = clicks & (random.random((count, 10)) < kept)
    gain = clicks.sum(axis=1).astype(np.float64)
    reached = clicks @ DISCOUNTS
    ideal = np.concatenate([[np.nan], np.cumsum(DISCOUNTS)])[gain.astype(np.int64)]
    seen = Observations(
        value=np.minimum(reached / ideal, 1.0),
        cluster=random.integers(0, USERS, count),
        cell=np.zeros(count, dtype=np.int64),
        time=MONDAY + hours * HOUR,
    )
    return Labelled(seen, gain, reached / np.where(gain > 0, gain, np.nan))


@cache
def find_broken(fall: float) -> float:
    """Return the share of lists to reverse, so that the mean of nDCG@10 falls by this much."""
    many = np.zeros(200_000, dtype=np.int64)
    whole = draw_lists(np.random.default_rng(1), many)
    reversed_lists = draw_lists(np.random.default_rng(1), many, broken=1.0)
    difference = float(np.nanmean(whole.seen.value) - np.nanmean(reversed_lists.seen.value))
    return fall / difference


def arrived(age: float, slower: float = 1.0) -> float:
    """Return the share of clicks that have arrived at an age in hours."""
    return float(1 - np.exp(-((age / (DELAY * slower)) ** SHAPE)))
