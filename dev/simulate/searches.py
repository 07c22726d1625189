"""Simulated quarters of searches: what was asked, in which slice, and its nDCG."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BASELINE_DAYS = 28
DAYS = 90
A_DAY = 200
CHANGE_DAY = 30
QUERIES = 3000
SLICES = 10
FALLING_SLICE = 0

# Added to every search of a day, Monday first: weekends are worse.
SEASON = np.array([0.004, 0.004, 0.004, 0.004, 0.004, -0.01, -0.01])
# What a broken search keeps of its value.
KEPT = 0.25


@dataclass(frozen=True, slots=True)
class Searches:
    """The searches of some days; each array has one row a day.

    Args:
        query: The number of the query, the smaller the more often asked.
        slice: The number of the slice, each equally often.
        value: The nDCG.
        luck: A number from 0 to 1 that decides whether a change breaks the search.
    """

    query: NDArray[np.int64]
    slice: NDArray[np.int64]
    value: NDArray[np.float64]
    luck: NDArray[np.float64]

    def between(self, first: int, last: int) -> Searches:
        """Give the searches of some days.

        Args:
            first: The first day, from 0 on.
            last: The day after the last.
        """
        days = slice(first, last)
        return Searches(self.query[days], self.slice[days], self.value[days], self.luck[days])


@dataclass(frozen=True, slots=True)
class Change:
    """What happens on the day of the change.

    Args:
        name: What it is called.
        drop: How far the mean of the searches concerned falls.
        slice: The slice that falls; all where there is none.
    """

    name: str
    drop: float
    slice: int | None = None


CHANGES = (
    Change("all by 0.02", 0.02),
    Change("all by 0.05", 0.05),
    Change("all by 0.10", 0.10),
    Change("one slice of ten by 0.35", 0.35, FALLING_SLICE),
)


def draw_searches(random: np.random.Generator, days: int = BASELINE_DAYS + DAYS) -> Searches:
    """Draw the searches of some days without a change.

    Head queries come back every day, tail queries hardly ever. A query is answered well or badly
    for reasons of its own, and each search of it a little better or worse. What lies beyond 0 and 1
    is 0 and 1, so that many searches have exactly these.

    Args:
        random: Where the numbers come from.
        days: How many days.

    Returns:
        `A_DAY` searches for each day.
    """
    popularity = 1 / (np.arange(QUERIES) + 10)
    shape = (days, A_DAY)
    query = random.choice(QUERIES, size=shape, p=popularity / popularity.sum())
    quality = random.beta(4, 2.5, QUERIES)
    season = np.resize(SEASON, days)[:, None]
    raw = (quality[query] + season + random.normal(0, 0.25, shape) - 0.1) / 0.8
    return Searches(
        query=query,
        slice=random.integers(0, SLICES, shape),
        value=np.clip(raw, 0, 1),
        luck=random.random(shape),
    )


def break_some(searches: Searches, change: Change, mean: float) -> Searches:
    """Break some searches, so that the mean of those concerned falls as far as the change says.

    Args:
        searches: Searches after the change.
        change: What happens.
        mean: The mean without the change.

    Returns:
        The same searches, some with `KEPT` of their value.
    """
    is_broken = searches.luck < change.drop / ((1 - KEPT) * mean)
    if change.slice is not None:
        is_broken &= searches.slice == change.slice
    return replace(searches, value=np.where(is_broken, KEPT * searches.value, searches.value))
