"""Quarters in which days or users differ: holidays, users who wander, bots and newcomers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.sequential.baseline import Baseline, find_gaps, fit_baseline
from rankscope.monitor.sequential.identities import (
    NOBODY,
    Totals,
    add_days,
    confirm_fall,
    expect,
    sign_users,
)
from rankscope.monitor.sequential.observations import DAY

from dev.simulate.traffic import BASELINE_DAYS, DAYS, MONDAY, Traffic, World, lower
from dev.simulate.trials import CHANGE_DAY, NEVER, TOLERANCE, chance, join
from dev.simulate.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from rankscope.monitor.sequential.observations import Observations

START = MONDAY + BASELINE_DAYS * DAY
HOLIDAYS = 5
OFFSET = 1_000_000
"""The numbers of users who come later begin with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What is special about days or users.

    Args:
        world: What traffic is like besides.
        holiday: What is added to the values of five days of the quarter.
        is_known: Whether the calendar has these days.
        wander: By how much the quality of each user changes from day to day (standard deviation).
        later: How many users come from the 31st day on, each with one search a day.
        later_quality: The quality of their searches, as a difference.
        are_bots: Whether these have the same queries in the same order.
    """

    world: World
    holiday: float = 0.0
    is_known: bool = False
    wander: float = 0.0
    later: int = 0
    later_quality: float = 0.0
    are_bots: bool = False


PLAIN = World(users=2000, user_deviation=0.1)
CROWDS = {
    "five days 0.06 worse, in the calendar": Crowd(world=PLAIN, holiday=-0.06, is_known=True),
    "60 regular users whose quality wanders by 0.02 a day": Crowd(
        world=World(users=60, user_deviation=0.1), wander=0.02
    ),
    "60 bots 0.2 worse, with the same queries": Crowd(
        world=PLAIN, later=60, later_quality=-0.2, are_bots=True
    ),
    "60 newcomers 0.2 worse": Crowd(world=PLAIN, later=60, later_quality=-0.2),
}


def is_alarmed(run: int, *, case: int, crowd: Crowd) -> bool:
    """Watch a quarter as the monitor does; return whether there is an alarm."""
    return watch_crowd(crowd, run, case=case, is_confirmed=True) < NEVER


def watch_crowd(
    crowd: Crowd, run: int, *, case: int, is_confirmed: bool, fall: float = 0.0
) -> float:
    """Watch a quarter; return on which day an alarm came, or `NEVER`.

    With a fall, days count from its first, and an alarm before it counts as day 0.
    """
    draw = chance(case, run)
    traffic = Traffic(crowd.world, draw)
    parts = []
    for day in range(-BASELINE_DAYS, 0):
        _wander(traffic, crowd, draw)
        parts.append(_draw_day(traffic, day))
    before = join(parts)
    baseline = fit_baseline(before, tolerance=TOLERANCE, is_calibrated=True)
    then = _add(baseline, [before])
    mean, breaking = float(before.value.mean()), chance(case + 1000, run)
    first = START + 40 * DAY
    period = Period(
        name="Holidays",
        first=to_datetime(first).date(),
        last=(to_datetime(first) + timedelta(days=HOLIDAYS - 1)).date(),
    )
    calendar = Calendar((period,) if crowd.is_known else ())
    watch = Watch()
    days: list[Observations] = []

    def confirm(since: int) -> bool:
        seen = days[since - 1 :]
        now = _add(baseline, seen)
        users, codes = sign_users(*_list_queries(seen, crowd))
        places = np.minimum(np.searchsorted(users, now.user), len(users) - 1)
        signature = np.where(users[places] == now.user, codes[places], NOBODY)
        return confirm_fall(then, now, signature).state == "confirmed"

    for day in range(DAYS):
        _wander(traffic, crowd, draw)
        seen = _draw_day(traffic, day)
        if crowd.later and day >= CHANGE_DAY:
            seen = join([seen, _draw_later(traffic, crowd, day)])
        if crowd.holiday and period.since <= seen.time[0] < period.until:
            # What cuts values off would weaken the effect.
            seen = replace(seen, value=np.clip(seen.value + crowd.holiday * 1.1, 0, 1))
        if fall and day >= CHANGE_DAY:
            seen = lower(seen, fall, breaking, mean)
        if calendar.find(int(seen.time[0])) is not None:
            continue
        days.append(seen)
        if watch.take({"all": find_gaps(baseline, seen)}, confirm if is_confirmed else None):
            return max(day - CHANGE_DAY + 1, 0) if fall else day
    return NEVER


def _wander(traffic: Traffic, crowd: Crowd, draw: np.random.Generator) -> None:
    if crowd.wander:
        traffic.quality = traffic.quality + draw.normal(0, crowd.wander, len(traffic.quality))


def _draw_day(traffic: Traffic, day: int) -> Observations:
    count = traffic.world.per_day
    cells = traffic.random.integers(0, len(traffic.world.slices), count)
    return traffic.draw(np.full(count, day), cells)


def _draw_later(traffic: Traffic, crowd: Crowd, day: int) -> Observations:
    """Return the searches of users who come later, one each."""
    cells = traffic.random.integers(0, len(traffic.world.slices), crowd.later)
    seen = traffic.draw(np.full(crowd.later, day), cells)
    value = np.clip(seen.value + crowd.later_quality, 0, 1)
    return replace(seen, value=value, cluster=OFFSET + np.arange(crowd.later))


def _list_queries(
    days: Sequence[Observations], crowd: Crowd
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return users, times and queries: those of people are their own, those of bots the same."""
    seen = join(days)
    day = seen.time // DAY
    own = seen.cluster.astype(np.int64) * 1000 + day % 1000
    is_bot = (seen.cluster >= OFFSET) & crowd.are_bots
    return seen.cluster, seen.time, np.where(is_bot, day, own)


def _add(baseline: Baseline, days: Sequence[Observations]) -> Totals:
    seen = join(days)
    return add_days(seen.cluster, seen.time // DAY, expect(baseline, seen) - seen.value)
