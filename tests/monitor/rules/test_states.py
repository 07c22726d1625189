"""States of rules, and that each change is told once."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime

from tests.monitor.rules.world import BAD, GOOD, START, World, known_at, make_day, make_rule, show

TYPE_CHECKING = False


NONE = (0,)


def test_an_alert_lasts_until_there_is_evidence_that_the_drop_has_ended(world: World) -> None:
    world.put(make_rule())
    states = []
    for day, ranks in enumerate([GOOD, BAD, *[GOOD] * 4]):
        world.pass_day(day, make_day(day, ranks))
        (stream,) = world.state_of().streams
        states.append(world.state_of().state)
        is_down = stream.state == "ALERT"
        assert stream.since == (to_datetime(START + DAY) if is_down else None)
        assert (stream.final.recovery is not None) is is_down
    assert states == ["OK", "ALERT", "OK", "OK", "OK", "OK"]


def test_two_whole_periods_without_rankings_are_no_data(world: World) -> None:
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, GOOD])))
    world.advance(START + 4 * DAY - 1)
    assert world.state_of().state == "OK"
    world.advance(START + 4 * DAY)
    state = world.state_of()
    assert state.state == "NO_DATA"
    assert state.reason.startswith("no rankings since 5 Oct 2024, 00:39")
    world.log(make_day(4))
    world.advance(START + 4 * DAY + 2)
    assert world.state_of().state == "OK"
    assert world.list_turns() == []
    assert world.list_told() == []


def test_before_anything_came_nothing_is_missing(world: World) -> None:
    world.put(make_rule())
    world.advance(known_at(9))
    assert world.state_of().state == "INSUFFICIENT"
    assert world.list_turns() == []


def test_no_data_ends_no_alert(world: World) -> None:
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, BAD, BAD, BAD])))
    world.advance(known_at(9))
    assert world.state_of().state == "ALERT"


def test_rankings_without_labels_are_told_and_are_no_drop(world: World) -> None:
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, GOOD, GOOD])))
    evidence = [stream.detector for stream in world.state_of().streams]
    world.pass_day(3, make_day(3, (3, *NONE * 7)))
    state = world.state_of()
    assert state.state == "INSUFFICIENT"
    assert state.reason == "labels are late: 12% of rankings have labels, 100% before"
    assert (state.passed_over, [stream.detector for stream in state.streams]) == (1, evidence)
    world.pass_day(4)
    assert world.state_of().state == "OK"


def test_a_period_in_which_nothing_has_a_value_says_nothing(world: World) -> None:
    state = world.watch(make_day(0, NONE))
    assert (state.state, state.reason) == ("INSUFFICIENT", "no ranking has a value yet")
    assert [stream.periods for stream in state.streams] == [0]
    world.pass_day(1)
    assert world.state_of().state == "OK"


def test_one_event_is_not_enough_for_an_alert(world: World) -> None:
    world.watch(show("only", START, 3, user="u"))
    assert world.state_of().state == "OK"
