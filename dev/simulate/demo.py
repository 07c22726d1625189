"""The release of the demo, watched in fast lanes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from rankscope._demo.generator import make_story
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.sequential.baseline import split_level
from rankscope.monitor.sequential.lanes import fit_lane, judge_lane
from rankscope.monitor.sequential.observations import DAY, Observations

from dev.simulate.labels import Labelled
from dev.simulate.watch import Watch
from tests.monitor.story import judge

if TYPE_CHECKING:
    from rankscope._demo.story import Story

AGES = {"1 hour": HOUR, "4 hours": 4 * HOUR}
END = 20_000 * DAY
CUTOFF = 5
TOLERANCE = 0.02
# The final lane takes part in the correction, but has no final day yet.
LANES = len(AGES) + 1
MOST_HOURS = 30


def find_demo_delay(seed: int) -> dict[str, float]:
    """Return how many hours after the release of the demo each stream is named.

    The fast lanes compare the values that searches had at an age of 1 hour and of 4 hours with
    those that the searches of the version before had at the same age. A period is an hour, and
    known when its last search has that age.

    Args:
        seed: The seed of the demo.
    """
    story = make_story(seed, end=END)
    lanes = {name: _read_lane(story, age) for name, age in AGES.items()}
    devices = next(iter(lanes.values())).seen.cells
    streams = ["all", *(device for (device,) in devices)]
    watch = Watch(share=1 / 24)
    found: dict[str, float] = {}
    for name in streams:
        watch.add([f"{name} final"])
    baselines = {}
    for name in streams:
        for lane, seen in lanes.items():
            level = split_level(len(streams), is_whole=name == "all")
            part = _select(seen, name, 0, story.release)
            baselines[name, lane] = fit_lane(
                part.seen,
                part.gain,
                part.discount,
                tolerance=TOLERANCE,
                level=level,
                is_hourly=True,
            )
    # Each hour of each lane, in the order in which it is known.
    first = story.release // HOUR
    known = sorted(
        ((hour + 1) * HOUR + age, lane, hour * HOUR)
        for lane, age in AGES.items()
        for hour in range(first, first + MOST_HOURS)
    )
    for time, lane, hour in known:
        gaps = {}
        for name in streams:
            begin = max(hour, story.release)
            part = _select(lanes[lane], name, begin, hour + HOUR)
            day = _select(lanes[lane], name, max(hour - hour % DAY, story.release), hour + HOUR)
            if len(part.seen.value):
                shared = len(set(day.seen.cluster.tolist()))
                base = baselines[name, lane]
                recent = _select(lanes[lane], name, hour + HOUR - DAY, hour + HOUR)
                judged = judge_lane(
                    base,
                    part.seen,
                    part.gain,
                    part.discount,
                    shared=shared,
                    recent_gain=float(recent.gain.mean()),
                )
                gaps[f"{name} {lane}"] = judged.gaps
        for name in watch.take(gaps):
            found.setdefault(name.split()[0], (time - story.release) / HOUR)
        if len(found) == len(streams):
            break
    return found


def _read_lane(story: Story, age: int) -> Labelled:
    """Return the searches of production with the labels that had arrived at an age."""
    shown = {each.name: each.time for each in judge(story)}
    early = tuple(
        each
        for each in story.deliveries
        if each.route == "rankings" or each.arrives < shown.get(_name(each.event), 0) + age
    )
    rows = [
        each
        for each in judge(replace(story, deliveries=early))
        if each.environment == "production" and each.attributes.get("device")
    ]
    devices = sorted({each.attributes["device"] for each in rows})
    value, gain, discount = [], [], []
    for each in rows:
        grades = [grade or 0.0 for grade in each.grades]
        discounts = [1 / math.log2(rank + 2) for rank in range(CUTOFF)]
        reached = math.fsum(g * d for g, d in zip(grades, discounts, strict=False))
        best = sorted(grades, reverse=True)
        ideal = math.fsum(g * d for g, d in zip(best, discounts, strict=False))
        value.append(min(reached / ideal, 1.0) if ideal else math.nan)
        gain.append(math.fsum(grades))
        discount.append(reached / gain[-1] if gain[-1] else math.nan)
    seen = Observations(
        value=np.array(value),
        cluster=np.array([each.user for each in rows]),
        cell=np.array([devices.index(each.attributes["device"]) for each in rows]),
        time=np.array([each.time for each in rows]),
        cells=tuple((device,) for device in devices),
    )
    return Labelled(seen, np.array(gain), np.array(discount))


def _name(event: dict[str, object]) -> str:
    return str(event.get("ranking_id") or event.get("search_group_id"))


def _select(lane: Labelled, stream: str, since: int, until: int) -> Labelled:
    seen = lane.seen
    kept = (seen.time >= since) & (seen.time < until)
    cells = seen.cells
    if stream != "all":
        number = cells.index((stream,))
        kept &= seen.cell == number
    part = Observations(
        value=seen.value[kept],
        cluster=seen.cluster[kept],
        cell=seen.cell[kept],
        time=seen.time[kept],
        cells=cells,
    )
    return Labelled(part, lane.gain[kept], lane.discount[kept])
