"""Rules on days of the calendar: nothing is concluded from a day that is left out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.definition.configuration import BaselineChoice
from rankscope.monitor.evaluate.refresh import refresh
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.data.counts import TOTAL, DataReader
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.traffic import Traffic
from rankscope.monitor.rules.kinds import DEFAULTS
from rankscope.records import replace

from tests.monitor.rules.world import (
    BAD,
    CLICKS,
    CONFIGURATION,
    GOOD,
    PROJECT,
    SLICING,
    START,
    World,
    known_at,
    make_day,
    make_rule,
    make_scene,
    show,
)


def name(day: int) -> str:
    """A day after the start, as text."""
    return f"{to_datetime(START) + timedelta(days=day):%Y-%m-%d}"


def leave_out(*days: tuple[int, int], baseline: str = "none") -> object:
    """The configuration with periods of one name."""
    periods = [
        Period(name="Fair", first=name(first), last=name(last), baseline=baseline)
        for first, last in days
    ]
    return replace(CONFIGURATION, calendar=Calendar(tuple(periods)))


def test_days_that_are_left_out_are_no_evidence(world: World) -> None:
    configuration = leave_out((2, 4))
    world.put(make_rule())
    for day in range(6):
        world.pass_day(day, make_day(day, BAD if 2 <= day <= 4 else GOOD), configuration)
        state = world.state_of()
        assert state.state == "OK"
        told = "calendar: Fair is left out"
        assert (told in state.warnings) is (2 <= day <= 4)
    (stream,) = state.streams
    assert stream.periods == 3
    # Without the calendar, they are.
    world.put(make_rule(name="other"))
    world.advance(known_at(4))
    assert world.state_of("other").state == "ALERT"


def test_a_fall_that_lasts_is_found_after_the_period(world: World) -> None:
    configuration = leave_out((1, 2))
    world.put(make_rule())
    for day in range(6):
        world.pass_day(day, make_day(day, GOOD if not day else BAD), configuration)
    state = world.state_of()
    assert state.state == "ALERT"
    assert state.streams[0].since == to_datetime(START + 3 * DAY)


def test_early_values_of_such_days_are_no_evidence(world: World) -> None:
    chosen = BaselineChoice(kind="version")
    configuration = replace(
        leave_out((3, 3)), baseline=chosen, definition=replace(CLICKS, window=7200)
    )
    world.put(make_rule())
    for day in range(4):
        version = "1" if day < 3 else "2"
        world.log(make_day(day, BAD if day == 3 else GOOD, version=version))
    world.advance(known_at(3), configuration)
    assert world.state_of().state != "ALERT"
    world.put(make_rule(name="other"))
    world.advance(known_at(3), replace(configuration, calendar=Calendar()))
    assert world.state_of("other").state == "ALERT"


def test_baselines_have_no_such_days(world: World) -> None:
    chosen = BaselineChoice(
        kind="period", since=to_datetime(START), until=to_datetime(START + 3 * DAY)
    )
    configuration = replace(leave_out((1, 1)), baseline=chosen)
    world.put(make_rule())
    for day in range(4):
        world.log(make_day(day, BAD if day == 1 else GOOD))
    world.advance(known_at(3), configuration)
    (stream,) = world.state_of().streams
    assert (stream.baseline.value, stream.baseline.rankings) == (0.875, 80)
    refresh(world.store, PROJECT, configuration, now=known_at(3), threads=1)
    stored = world.store.progress(PROJECT, configuration.digest).baseline
    assert '"rankings": 80' in stored
    # Another calendar makes another baseline of the same windows.
    other = replace(configuration, calendar=Calendar())
    assert other.digest == configuration.digest
    refresh(world.store, PROJECT, other, now=known_at(3), threads=1)
    assert '"rankings": 120' in world.store.progress(PROJECT, other.digest).baseline


@pytest.mark.parametrize("before", [GOOD, BAD])
def test_last_year_is_what_a_period_is_compared_with(world: World, before: tuple[int, ...]) -> None:
    configuration = leave_out((-360, -358), (1, 3), baseline="last-year")
    for day in (-360, -359, -358):
        world.log(make_day(day, before))
    world.put(make_rule())
    for day in range(4):
        world.pass_day(day, make_day(day, BAD if day else GOOD), configuration)
    state = world.state_of()
    assert state.state == ("ALERT" if before == GOOD else "OK")
    assert any("compared with the one from" in one for one in state.warnings)
    # What is usual on other days is as before.
    assert state.streams[0].final.usual.value.mean == pytest.approx(0.875, abs=0.01)
    assert state.streams[0].baseline.value == 0.875


def test_without_one_last_year_a_period_is_left_out(world: World) -> None:
    configuration = leave_out((-360, -358), (1, 3), baseline="last-year")
    world.put(make_rule())
    for day in range(4):
        world.pass_day(day, make_day(day, BAD if day else GOOD), configuration)
    state = world.state_of()
    assert state.state == "OK"
    assert any("left out, because no earlier one" in one for one in state.warnings)


def make_traffic(world: World, moment: int, configuration: object) -> Traffic:
    scene = make_scene(
        world.store,
        configuration=configuration,
        slicing=SLICING,
        versions=world.store.versions(PROJECT),
        now=moment,
    )
    return Traffic(DataReader(scene), DEFAULTS["data"], DataProgress.begin("", START, 0), moment)


def test_lower_traffic_in_a_period_is_no_incident_but_silence_is(world: World) -> None:
    quiet = {27, 28}
    for day in range(32):
        users = 240 if day not in quiet else 40
        events = []
        for number in range(users):
            at = START + day * DAY + number * DAY // users
            if day < 30 or at < START + 30 * DAY + HOUR:
                events += show(f"{day} {number}", at, 1, user=f"{number}", device="tv")
        world.log(events)
    configuration = leave_out((27, 30))
    for each in (CONFIGURATION, configuration):
        refresh(world.store, PROJECT, each, now=START + 40 * DAY, threads=1)
    during = START + 29 * DAY
    assert make_traffic(world, during, CONFIGURATION).find_fall(TOTAL) is not None
    assert make_traffic(world, during, configuration).find_fall(TOTAL) is None
    assert make_traffic(world, during, configuration).find_silence(TOTAL) is None
    # Nothing at all comes from the 31st day on.
    assert make_traffic(world, START + 30 * DAY + 20 * HOUR, configuration).find_silence(TOTAL)
    # What is usual isn't learned from the period.
    usual = make_traffic(world, START + 31 * DAY, configuration).usual()
    assert usual.daily == pytest.approx(240, rel=0.01)
