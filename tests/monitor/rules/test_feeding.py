from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.event import Label
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.drop.sample import COLUMNS, View, collect_samples
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import (
    BAD,
    CLICKS,
    CONFIGURATION,
    GOOD,
    PROJECT,
    START,
    VALIDATION,
    World,
    known_at,
    make_day,
    make_rule,
    show,
)


def test_a_period_is_looked_at_when_it_is_known_for_good(world):
    world.put(make_rule())
    world.log(make_day(0))
    assert world.advance(known_at(0) - 1).periods == 0
    assert world.advance(known_at(0)).periods == 1
    assert world.advance(known_at(0)).periods == 0
    assert world.advance(known_at(1)).periods == 1


def test_the_floor_is_the_baseline_of_the_same_slice_less_the_larger_of_two_margins(world):
    day = make_day(0, device="phone") + make_day(0, device="tv")
    world.watch(day, slices=("device",), tolerance=0.05)
    whole, _, tv = sorted(world.state_of().streams, key=lambda one: one.slice)
    for stream, count in ((whole, 80), (tv, 40)):
        assert stream.baseline.value == 0.875
        assert stream.baseline.clusters == count
        margin = max(0.05, stream.final.usual.value.half_width)
        assert stream.floor == pytest.approx(0.875 - margin)
    assert (whole.slice, tv.slice) == ((), (("device", "tv"),))


def test_the_error_of_floors_is_shared_by_the_streams_of_a_rule(world):
    world.put(make_rule(name="alone"))
    day = make_day(0, device="tv") + make_day(0, device="phone")
    world.watch(day, name="three", slices=("device",))
    alone, three = (
        next(one for one in world.state_of(name).streams if not one.slice).final.usual
        for name in ("alone", "three")
    )
    assert alone.value.mean == three.value.mean
    assert alone.value.half_width < three.value.half_width


def test_a_stream_says_which_falls_it_finds_by_its_tolerance(world):
    (stream,) = world.watch(make_day(0)).streams
    assert stream.smallest_fall > stream.final.usual.value.margin
    assert (stream.users_needed > 80) is (stream.smallest_fall > 0.1)
    (stream,) = world.watch((), name="relative", tolerance=0.1, is_relative=True).streams
    assert stream.final.usual.value.tolerance == 0.1 * 0.875
    # A tolerance that leaves nothing to find.
    (stream,) = world.watch((), name="wide", tolerance=0.95).streams
    assert (stream.floor, stream.smallest_fall) == (0.0, None)


CARS = Slicing(values=(("device", ("car", "phone", "tv")),))


def test_a_baseline_of_few_users_is_not_refused(world):
    world.log(make_day(-30, environment="validation", device="car", users=3))
    world.put(make_rule(slices=("device",)))
    world.log(make_day(0, device="car"))
    world.advance(known_at(0), slicing=CARS)
    car = next(one for one in world.state_of().streams if one.slice)
    assert car.state == "OK"
    assert car.baseline.clusters == 3
    assert car.users_needed > 3


def test_without_any_baseline_nothing_can_be_said(world):
    configuration = replace(CONFIGURATION, baseline=None)
    world.put(make_rule())
    world.pass_day(0, make_day(0), configuration)
    state = world.state_of()
    assert (state.state, state.reason) == ("INSUFFICIENT", "the project has no baseline")


def test_the_version_before_is_a_baseline(world):
    configuration = replace(CONFIGURATION, baseline=BaselineChoice(kind="version"))
    world.put(make_rule())
    for day in range(3):
        world.log(make_day(day, GOOD, version="1"))
    world.pass_day(3, make_day(3, BAD, version="2"), configuration)
    streams = {stream.version: stream for stream in world.state_of().streams}
    assert streams["1"].reason == "there is no earlier version of m"
    assert streams["2"].baseline.value == 0.875
    assert (streams["2"].baseline.clusters, streams["2"].baseline.rankings) == (40, 3 * 40)


def test_a_period_is_a_baseline(world):
    chosen = BaselineChoice(kind="period", since=to_datetime(START), until=to_datetime(START + DAY))
    configuration = replace(CONFIGURATION, baseline=chosen)
    world.put(make_rule())
    world.pass_day(1, make_day(0, BAD) + make_day(1, GOOD), configuration)
    (stream,) = world.state_of().streams
    assert stream.baseline.value == pytest.approx(0.375)


def test_hours_are_looked_at_one_by_one(world):
    world.put(make_rule(period="hour"))
    for hour in range(3):
        at = START + hour * HOUR
        shown = [show(f"{hour} {user}", at + user, 1, user=str(user)) for user in range(40)]
        world.log([event for events in shown for event in events])
    assert world.advance(START + 3 * HOUR + 2 * HOUR).periods == 3
    (stream,) = world.state_of().streams
    assert stream.periods == 3


def test_late_rankings_are_counted_and_change_nothing(world):
    world.watch(make_day(0))
    before = world.state_of()
    world.log(make_day(0, BAD, version="late", users=7))
    world.pass_day(1)
    after = world.state_of()
    assert (before.late_rankings, after.late_rankings) == (0, 7)
    assert [stream.version for stream in after.streams] == ["1"]
    world.pass_day(2)
    assert world.state_of().late_rankings == 7


def test_a_clock_that_jumps_makes_no_period_come_twice_or_never(world):
    world.put(make_rule())
    for day in range(6):
        world.log(make_day(day))
    clocks = [known_at(0), known_at(0) - HOUR, known_at(2), known_at(1), known_at(2), known_at(4)]
    assert [world.advance(now).periods for now in clocks] == [1, 0, 2, 0, 0, 2]
    (stream,) = world.state_of().streams
    assert (stream.periods, stream.at) == (5, to_datetime(START + 4 * DAY))


def test_a_rule_begins_with_the_newest_period_when_it_is_made(world):
    for day in range(4):
        world.log(make_day(day))
    world.put(make_rule(), now=START + 3 * DAY + HOUR)
    assert world.advance(known_at(3)).periods == 1
    world.put(make_rule(name="all"), now=START + HOUR)
    assert world.advance(known_at(3)).periods == 4


def test_periods_before_the_first_ranking_are_not_looked_at(world):
    world.put(make_rule(), now=0)
    world.log(make_day(0))
    since_validation = 30
    assert world.advance(known_at(0)).periods == since_validation + 1


def test_silence_is_looked_at_at_once(world, tmp_path, monkeypatch):
    with SQLiteStore(tmp_path / "other.db", group_seconds=0) as opened:
        other = World(opened)
        other.log(VALIDATION)
        for one in (world, other):
            one.put(make_rule())
            one.log(make_day(0))
        for day in range(10):
            other.advance(known_at(day))
        spans = []
        read = world.store.read
        monkeypatch.setattr(world.store, "read", lambda *span: spans.append(span) or read(*span))
        assert world.advance(known_at(9)).periods == 10
        assert [since for _, since, _ in spans if since >= START] == [START]
        late = make_day(5, BAD)
        for one in (world, other):
            one.log(late)
            one.pass_day(10)
        state, expected = world.state_of(), other.state_of()
        assert (state.streams, state.following) == (expected.streams, expected.following)
        assert state.late_rankings == expected.late_rankings == 40


def test_a_rule_of_one_model_sees_no_other(world):
    world.watch(make_day(0) + make_day(0, BAD, model="other"), model="m")
    assert {stream.model for stream in world.state_of().streams} == {"m"}


def test_another_definition_starts_the_streams_anew(world):
    world.watch(*(make_day(day) for day in range(2)))
    other = Configuration(
        definition=replace(CLICKS, window=3000), attributes=("device",), grace="1h"
    )
    world.advance(known_at(1), other)
    assert world.state_of().streams == ()
    assert world.store.audit(PROJECT)[-1].action == "rule.restart"
    world.log(make_day(2))
    assert world.advance(known_at(2), other).periods == 1


def test_a_measure_that_is_measured_no_more_is_told(world):
    world.put(make_rule())
    other = replace(CONFIGURATION, definition=CLICKS.only("nDCG@3"))
    world.pass_day(0, make_day(0), other)
    state = world.state_of()
    assert state.state == "INSUFFICIENT"
    assert "RR@3" in state.reason


DAYS = 3


def test_a_round_reads_each_day_once_for_all_rules_and_ages(world, monkeypatch):
    for day in range(DAYS):
        world.log(make_day(day, users=8))
    world.put(make_rule())
    world.put(make_rule(name="slices", measure="nDCG@3", slices=("device",)))
    asked = []
    read = world.store.read
    monkeypatch.setattr(
        world.store, "read", lambda *args, **named: asked.append(args[1:]) or read(*args, **named)
    )
    # Early values are those at 15 minutes, and at an hour.
    slow = replace(CONFIGURATION, definition=replace(CLICKS, window=4 * 3600))
    advanced = world.advance(known_at(DAYS - 1) + 4 * HOUR, slow)
    # What is before is the baseline.
    shown = [span for span in asked if span[0] >= START]
    assert shown == [(START + day * DAY, START + (day + 1) * DAY) for day in range(DAYS)]
    # Both have looked at each day, and at its hours twice.
    assert advanced.periods >= DAYS * (2 + 2 * 2 * 24)


def test_values_of_several_ages_are_those_that_are_read_one_by_one(world):
    world.log(make_day(0, users=40))
    later = [
        Label(
            f"later {at}", f"production 0 m 1 phone {at}", "c", START + at * MINUTE * 2, ("click",)
        )
        for at in range(40)
    ]
    world.log(later)
    contexts = list(world.store.contexts(PROJECT))
    views = [
        View(replace(CLICKS, window=600), START + DAY),
        View(replace(CLICKS, window=1800), START + DAY),
        View(CLICKS, START + HOUR + 10 * MINUTE),
    ]
    together = collect_samples(world.store.read(PROJECT, START, START + DAY), contexts, views)
    for view, found in zip(views, together, strict=True):
        (alone,) = collect_samples(world.store.read(PROJECT, START, START + DAY), contexts, [view])
        for name in COLUMNS:
            assert np.array_equal(getattr(found, name), getattr(alone, name), equal_nan=True)
        assert found.grades == alone.grades
        for name, values in alone.values.items():
            assert np.array_equal(found.values[name], values, equal_nan=True)
    # A label of minute 2 n is of the ranking of minute n: n minutes old.
    assert [int(one.labels.sum()) for one in together] == [40 + 10, 40 + 30, 11 + 11]
