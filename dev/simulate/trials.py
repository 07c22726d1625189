"""Trials: quarters without and with a change, and what each rule says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.sequential.baseline import fit_baseline
from rankscope.monitor.sequential.label_rate import fit_label_rate, judge_label_rate
from rankscope.monitor.sequential.lanes import fit_lane, judge_lane
from rankscope.monitor.sequential.observations import DAY

from dev.simulate.labels import arrived, draw_lists, find_broken
from dev.simulate.peers import find_gaps
from dev.simulate.traffic import BASELINE_DAYS, DAYS, MONDAY, Traffic, World, lower, take_rows
from dev.simulate.watch import Streams, Watch, fit_streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from rankscope.monitor.sequential.observations import Observations

# Each run has chance of its own, so that one can be repeated alone.
SEED = 20261201
TOLERANCE = 0.02
CHANGE_DAY = 30
FIXED_DAY = 75
NEVER = 10_000


@dataclass(frozen=True, slots=True)
class Quarter:
    """What happened in a quarter without a change, and in the same with a fall that ends.

    Args:
        is_false: Whether there was an alarm without a change.
        delay: The number of days until the fall was found, its first included; `NEVER` if it wasn't
            while it lasted, and `None` if a false alarm was still open when it came.
        recovered: The number of days from its end to the recovery, or `NEVER`.
        is_reopened: Whether it was reported again after its end.
        quiet: By day, how far its mean is below the tolerance, in standard errors.
        fallen: The same with the fall; empty without one.
    """

    is_false: bool
    delay: float | None
    recovered: float
    is_reopened: bool
    quiet: NDArray[np.float64]
    fallen: NDArray[np.float64]


def chance(case: int, run: int) -> np.random.Generator:
    """Return the source of chance of a run of a case."""
    return np.random.default_rng([SEED, case, run])


def watch_quarter(
    world: World, run: int, *, case: int, has_slices: bool, fall: float | None = None
) -> Quarter:
    """Watch one quarter without a change, and the same with a fall that is fixed later."""
    traffic = Traffic(world, chance(case, run))
    baseline = traffic.draw_baseline()
    streams = fit_streams(baseline, TOLERANCE, has_slices=has_slices)
    mean, breaking = float(baseline.value.mean()), chance(case + 1000, run)
    quiet, fallen, was_open = Watch(), Watch(), False
    means: list[float] = []
    others: list[float] = []
    for day in range(DAYS):
        seen = traffic.draw_day(day)
        if day == CHANGE_DAY:
            fallen = quiet.copy()
            fallen.opened.clear()
            was_open = bool(fallen.recoveries)
        quiet.take(streams.find_gaps(seen))
        means.append(float(seen.value.mean()))
        if fall is not None:
            is_broken = CHANGE_DAY <= day < FIXED_DAY
            broken = lower(seen, fall, breaking, mean) if is_broken else seen
            others.append(float(broken.value.mean()))
            if day >= CHANGE_DAY:
                fallen.take(streams.find_gaps(broken))
    opened = [day - CHANGE_DAY for day, _ in fallen.opened if day <= FIXED_DAY]
    ends = [day - FIXED_DAY for day, _ in fallen.recovered if day > FIXED_DAY]
    again = bool(ends) and any(day > FIXED_DAY + min(ends) for day, _ in fallen.opened)
    recovered = max(ends, default=0) if opened and not fallen.recoveries else NEVER
    return Quarter(
        is_false=bool(quiet.opened),
        delay=None if was_open else min(opened, default=NEVER),
        recovered=recovered,
        is_reopened=again,
        quiet=find_gaps(baseline.value, world.per_day, means, TOLERANCE),
        fallen=find_gaps(baseline.value, world.per_day, others, TOLERANCE),
    )


def watch_rollout(run: int, *, case: int, per_day: int = 200) -> bool:
    """Watch a release that goes to one device after another; return whether there is an alarm."""
    qualities = (0.1, 0.0, -0.15)
    start = np.array([0.3, 0.6, 0.1])

    def roll(day: int) -> NDArray[np.float64]:
        stages = ([0, 0, 1], [0, 0.6, 0.1], [0.3, 0.6, 0.1])
        return np.array(stages[min(day // 15, 2)], dtype=np.float64)

    world = World(per_day=per_day, slices=qualities, mix=roll, users=2000, user_deviation=0.1)
    return _watch_mix(world, start, run, case)


def watch_mix(run: int, *, case: int, per_day: int = 200) -> bool:
    """Watch a growing share of the worst device; return whether there is an alarm."""
    start = np.array([0.3, 0.6, 0.1])

    def shift(day: int) -> NDArray[np.float64]:
        part = min(day / 45, 1.0)
        return start * (1 - part) + np.array([0.1, 0.3, 0.6]) * part

    world = World(
        per_day=per_day, slices=(0.1, 0.0, -0.15), mix=shift, users=2000, user_deviation=0.1
    )
    return _watch_mix(world, start, run, case)


def _watch_mix(world: World, start: NDArray[np.float64], run: int, case: int) -> bool:
    traffic = Traffic(world, chance(case, run))
    days = np.repeat(np.arange(-BASELINE_DAYS, 0), world.per_day)
    cells = np.searchsorted(np.cumsum(start), traffic.random.random(len(days)))
    baseline = traffic.draw(days, cells)
    streams = fit_streams(baseline, TOLERANCE, has_slices=True)
    watch = Watch()
    for day in range(DAYS):
        watch.take(streams.find_gaps(traffic.draw_day(day)))
    return bool(watch.opened)


def watch_releases(run: int, *, case: int, per_day: int, each: float = 0.013) -> float:
    """Watch weekly releases that are each a little worse.

    The stream of each version is compared with the version before, and the anchor with the first.

    Returns:
        The day of the first alarm, counted from 1.
    """
    world = World(per_day=per_day, users=max(2000, 5 * per_day), user_deviation=0.1)
    traffic, breaking = Traffic(world, chance(case, run)), chance(case + 1000, run)
    baseline = traffic.draw_baseline()
    mean = float(baseline.value.mean())
    anchor = fit_streams(baseline, TOLERANCE, has_slices=False)
    before: list[Observations] = []
    versions = anchor
    watch = Watch()
    for day in range(70):
        week = day // 7
        if day % 7 == 0 and before:
            joined = join(before)
            versions = fit_streams(joined, TOLERANCE, has_slices=False)
            watch.detectors.pop("version", None)
            before = []
        seen = lower(traffic.draw_day(day), (week + 1) * each, breaking, mean)
        before.append(seen)
        gaps = {"anchor": anchor.find_gaps(seen)["all"]}
        gaps["version"] = versions.find_gaps(seen)["all"]
        if watch.take(gaps):
            return day + 1
    return NEVER


def join(parts: Sequence[Observations]) -> Observations:
    """Return the observations of several days together."""
    return replace(
        parts[0],
        value=np.concatenate([part.value for part in parts]),
        cluster=np.concatenate([part.cluster for part in parts]),
        cell=np.concatenate([part.cell for part in parts]),
        time=np.concatenate([part.time for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class LabelTrial:
    """What happened in a quarter in which labels are lost.

    Args:
        loss: The day on which the loss was reported, counted from its first.
        quality: The day of the first quality alarm after the loss began.
        false: Whether there was a quality alarm, or the report of a loss, before it began.
    """

    loss: float
    quality: float
    false: bool


def watch_labels(
    run: int,
    *,
    case: int,
    per_day: int = 200,
    kept: float = 0.6,
    fall: float = 0.0,
    days: int = DAYS,
) -> LabelTrial:
    """Watch the final values of a quarter in which labels are lost from one day on."""
    random = chance(case, run)
    rates = np.maximum(1 + random.normal(0, 0.05, BASELINE_DAYS + days), 0.5)
    hours = np.repeat(np.arange(BASELINE_DAYS * 24), -(-per_day // 24))
    past = draw_lists(random, hours, rate=rates[hours // 24])
    lane = fit_lane(past.seen, past.gain, past.discount, tolerance=TOLERANCE, is_calibrated=True)
    daily = np.bincount(hours // 24, past.gain)
    lists = np.bincount(hours // 24)
    usual = fit_label_rate(daily, lists, np.arange(BASELINE_DAYS) + MONDAY // DAY)
    broken = find_broken(fall) if fall else 0.0
    watch, loss, quality, false = Watch(), NEVER, NEVER, False
    for day in range(days):
        is_lost = day >= CHANGE_DAY
        moments = np.full(per_day, (BASELINE_DAYS + day) * 24)
        seen = draw_lists(
            random,
            moments,
            rate=float(rates[BASELINE_DAYS + day]),
            kept=kept if is_lost else 1.0,
            broken=broken if is_lost else 0.0,
        )
        number = int(seen.seen.time[0] // DAY)
        state = "usual"
        if usual is not None:
            state = judge_label_rate(
                usual, labels=int(seen.gain.sum()), rankings=per_day, day=number
            ).state
        judged = judge_lane(
            lane, seen.seen, seen.gain, seen.discount, has_usual_labels=state == "usual"
        )
        found = watch.take({"all": judged.gaps})
        if not is_lost:
            false = false or bool(found) or state != "usual"
            continue
        if state == "lost":
            loss = min(loss, day - CHANGE_DAY + 1)
        if found:
            quality = min(quality, day - CHANGE_DAY + 1)
    return LabelTrial(loss, quality, false)


def watch_slow_labels(
    run: int, *, case: int, per_day: int = 200, slower: float = 4.0, age: float = 4.0
) -> bool:
    """Watch a fast lane while labels arrive more slowly; return whether there is an alarm."""
    random = chance(case, run)
    per_hour = -(-per_day // 24)
    hours = np.repeat(np.arange(BASELINE_DAYS * 24), per_hour)
    past = draw_lists(random, hours, kept=arrived(age))
    lane = fit_lane(past.seen, past.gain, past.discount, tolerance=TOLERANCE, is_hourly=True)
    watch, recent = Watch(share=1 / 24), [past.gain[-24 * per_hour :]]
    for hour in range(DAYS * 24):
        is_slow = hour >= CHANGE_DAY * 24
        moments = np.full(per_hour, BASELINE_DAYS * 24 + hour)
        seen = draw_lists(random, moments, kept=arrived(age, slower if is_slow else 1.0))
        recent = [*recent, seen.gain][-24:]
        judged = judge_lane(
            lane,
            seen.seen,
            seen.gain,
            seen.discount,
            shared=(hour % 24 + 1) * per_hour,
            recent_gain=float(np.concatenate(recent).mean()),
        )
        if watch.take({"all": judged.gaps}):
            return True
    return False


def watch_hours(run: int, *, case: int, per_day: int = 2000) -> bool:
    """Watch a stream whose evidence is looked at after every hour; return whether it alarms."""
    world = World(per_day=per_day, users=10 * per_day, user_deviation=0.1, day_deviation=0.01)
    traffic = Traffic(world, chance(case, run))
    baseline = fit_baseline(
        traffic.draw_baseline(), tolerance=TOLERANCE, is_hourly=True, is_calibrated=True
    )
    streams, watch = Streams({"all": baseline}, {"all": None}), Watch(share=1 / 24)
    for day in range(DAYS):
        seen = traffic.draw_day(day)
        for hour in np.unique(seen.time):
            watch.take(streams.find_gaps(take_rows(seen, seen.time == hour)))
    return bool(watch.opened)


def watch_small(run: int, *, case: int) -> bool:
    """Watch a known-item measure whose baseline has 30 users; return whether there is an alarm."""
    random = chance(case, run)
    world = World(per_day=200, slices=(0.0,), known_item=True, users=100_000)
    traffic = Traffic(world, random)
    days = np.sort(random.integers(-BASELINE_DAYS, 0, 30))
    part = traffic.draw(days, np.zeros(30, dtype=np.int64))
    baseline = fit_baseline(part, tolerance=TOLERANCE, is_calibrated=True)
    streams, watch = Streams({"all": baseline}, {"all": None}), Watch()
    for day in range(DAYS):
        watch.take(streams.find_gaps(traffic.draw_day(day)))
    return bool(watch.opened)


def watch_many_slices(run: int, *, case: int) -> bool:
    """Watch 40 slices whose baselines have 35 users each; return whether there is an alarm."""
    world = World(per_day=800, slices=(0.0,) * 40, users=100_000, user_deviation=0.1)
    traffic = Traffic(world, chance(case, run))
    cells = np.repeat(np.arange(40), 35)
    days = traffic.random.integers(-BASELINE_DAYS, 0, len(cells))
    streams = fit_streams(traffic.draw(days, cells), TOLERANCE, has_slices=True)
    watch = Watch()
    for day in range(DAYS):
        watch.take(streams.find_gaps(traffic.draw_day(day)))
    return bool(watch.opened)
