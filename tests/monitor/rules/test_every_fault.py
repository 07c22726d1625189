from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import get_args

import pytest
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.conclusion import conclude
from rankscope.monitor.rules.data.check import DAILY, HOURLY, check_data
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.rule import Watch
from rankscope.monitor.rules.data.usual import FALLEN, RISEN
from rankscope.monitor.rules.kinds import DEFAULTS, Rule
from rankscope.monitor.rules.run import Check

from tests.monitor.notify.notices import make_incident
from tests.monitor.rules.faults import (
    FAULTS,
    HISTORY,
    START,
    FaultyCounts,
    find_ratio,
    hides,
)

FIRST, SECOND = HISTORY * 24, (HISTORY + 2) * 24
"""The hours at which the first and the second fault begin."""
STEP = 3
BEGIN = DataProgress.begin("", 0, 0)
RULE = DEFAULTS["data"].model_copy(update={"remind": 0.0})
QUALITY = Rule(name="quality", measure="RR@3", remind=0.0)
TIMES = dict.fromkeys(("opened", "began", "updated"), to_datetime(START + FIRST * HOUR))
WORSE = make_incident(measure="RR@3", model="", version="", slice=(), **TIMES)


class World:
    def __init__(self, told, lasting=(), progress=BEGIN):
        self.told = [*told]
        self.lasting = lasting
        self.progress = progress

    def watch(self, counts, since, until):
        for hour in range(since, until, STEP):
            moment = START + (hour + STEP) * HOUR
            findings, self.progress = check_data(counts, RULE, self.progress, moment)
            concluded = conclude(
                "music",
                self.lasting,
                [Check(RULE, findings=tuple(findings)), Check(QUALITY)],
                to_datetime(moment),
            )
            known = {one.incident_id: one for one in (*self.lasting, *concluded.incidents)}
            self.lasting = tuple(known.values())
            self.told += [(event, one.key) for event, one in concluded.events]

    @property
    def active(self):
        return {one.key for one in self.lasting if one.is_active}


@cache
def begin(fault):
    """Watch the days before the second fault, with the first or beside a fall of quality."""
    if fault is None:
        world = World([], (WORSE,))
        world.watch(FaultyCounts(), SECOND - STEP, SECOND)
        return world
    world = World([])
    world.watch(FaultyCounts([(fault, FIRST, SECOND)]), FIRST - STEP, SECOND)
    return world


def check_second(first, second):
    """Check that people are told of the second fault, and that its end isn't that of the first."""
    before = begin(first)
    world = World(before.told, before.lasting, before.progress)
    at = SECOND
    faults = []
    lasting = {WORSE.key}
    if first is not None:
        lasts = first.key != second.key and not hides(first, second)
        lasting = {first.key} if lasts else set()
        faults = [(first, FIRST, SECOND + 10 * 24 if lasts else SECOND)]
        if not lasts:
            world.watch(FaultyCounts(faults), SECOND, SECOND + 24)
            at += 24
    end = at + second.hours
    world.watch(FaultyCounts([*faults, (second, at, end)]), at, end + STEP + second.hours)
    told = [event for event, key in world.told[len(before.told) :] if key == second.key]
    both = [*(one for one, _, _ in faults if lasting), second]
    if second.key[0] == "volume" and FALLEN < find_ratio(both) < RISEN:
        assert told == []  # An eighth of five times as many is no fall.
        return
    assert told[-2:] in (["opened", "recovered"], ["reopened", "recovered"]), world.told
    assert lasting <= world.active, world.active


def test_each_watch_has_a_fault():
    hourly = {watch.__name__.removeprefix("_watch_") for watch in HOURLY}
    assert {fault.watch for fault in FAULTS} == hourly | {"names", *DAILY}
    assert {fault.key[0] for fault in FAULTS} == {*get_args(Watch)}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_alone_is_one_incident_that_lasts(fault):
    world = begin(fault)
    assert world.told[0] == ("opened", fault.key)
    assert fault.key in world.active
    assert {key[0] for key in world.active} == {fault.key[0], *fault.follows}
    assert len(world.told) == 1 + len(fault.follows)
    reason = next(one.reason for one in world.lasting if one.key == fault.key)
    assert reason.startswith(fault.told)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_beside_a_fall_of_quality_is_told_of(fault):
    check_second(None, fault)


PAIRS = [*permutations(FAULTS, 2)]


@pytest.mark.parametrize(("first", "second"), PAIRS[::5], ids=lambda fault: fault.name)
def test_a_fault_is_told_of_while_another_one_lasts(first, second):
    check_second(first, second)


@pytest.mark.thorough(reason="a fifth of the pairs has each fault as the first and the second")
def test_every_fault_is_told_of_while_any_other_lasts():
    for first, second in PAIRS:
        check_second(first, second)
