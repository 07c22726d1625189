"""States of rules, and that each change is told once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.drop.feed import name_drops
from rankscope.monitor.rules.stream import Evidence, Stream
from rankscope.monitor.sequential.detector import Detector, follow
from rankscope.monitor.sequential.detector import advance as look
from rankscope.monitor.sequential.observations import below
from rankscope.records import replace

from tests.monitor.rules.world import (
    BAD,
    GOOD,
    PROJECT,
    START,
    advance,
    known_at,
    list_told,
    list_turns,
    make_day,
    make_rule,
    pass_day,
    put,
    show,
    state_of,
    watch,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.store.sqlite.store import SQLiteStore

NONE = (0,)


def play(store: SQLiteStore, days: Sequence[Sequence[int]]) -> list[str]:
    """Let days pass, and give the state after each."""
    states = []
    for day, ranks in enumerate(days):
        pass_day(store, day, make_day(day, ranks))
        states.append(state_of(store).state)
    return states


def test_an_alert_lasts_until_there_is_evidence_that_the_drop_has_ended(
    store: SQLiteStore,
) -> None:
    put(store, make_rule())
    states = []
    for day, ranks in enumerate([GOOD, BAD, *[GOOD] * 4]):
        pass_day(store, day, make_day(day, ranks))
        (stream,) = state_of(store).streams
        states.append(state_of(store).state)
        is_down = stream.state == "ALERT"
        assert stream.since == (to_datetime(START + DAY) if is_down else None)
        assert (stream.final.recovery is not None) is is_down
    assert states == ["OK", "ALERT", "OK", "OK", "OK", "OK"]


@pytest.mark.parametrize("days", [1, 2, 60])
def test_a_drop_is_over_the_day_after_it_was_fixed_however_long_it_was(days: int) -> None:
    stream = replace(
        Stream(model="m", version="1"), lanes=(Evidence(detector=Detector(run_length=100.0)),)
    )
    rule = make_rule()
    good, bad = (np.tile([1 / rank for rank in ranks], 10) for ranks in (GOOD, BAD))
    states = []
    for number, values in enumerate([bad] * days + [good] * 2):
        gaps = below(values, 0.8)
        lane = stream.final
        detector = look(lane.detector, gaps)
        recovery = None if lane.recovery is None else follow(lane.recovery, gaps)
        moments = {**dict(lane.moments), detector.periods: to_datetime(START + number * DAY)}
        lane = replace(
            lane, detector=detector, recovery=recovery, moments=tuple(sorted(moments.items()))
        )
        (stream,) = name_drops([stream.set_lane(lane)], rule)
        states.append(stream.state)
    assert states == ["ALERT"] * days + ["OK", "OK"]


def test_two_whole_periods_without_rankings_are_no_data(store: SQLiteStore) -> None:
    watch(store, *(make_day(day, ranks) for day, ranks in enumerate([GOOD, GOOD])))
    advance(store, START + 4 * DAY - 1)
    assert state_of(store).state == "OK"
    advance(store, START + 4 * DAY)
    state = state_of(store)
    assert state.state == "NO_DATA"
    assert state.reason.startswith("no rankings since 5 Oct 2024, 00:39")
    store.append(PROJECT, make_day(4))
    advance(store, START + 4 * DAY + 2)
    assert state_of(store).state == "OK"
    assert list_turns(store) == []
    assert list_told(store) == []


def test_before_anything_came_nothing_is_missing(store: SQLiteStore) -> None:
    put(store, make_rule())
    advance(store, known_at(9))
    assert state_of(store).state == "INSUFFICIENT"
    assert list_turns(store) == []


def test_no_data_ends_no_alert(store: SQLiteStore) -> None:
    watch(store, *(make_day(day, ranks) for day, ranks in enumerate([GOOD, BAD, BAD, BAD])))
    advance(store, known_at(9))
    assert state_of(store).state == "ALERT"


def test_rankings_without_labels_are_told_and_are_no_drop(store: SQLiteStore) -> None:
    watch(store, *(make_day(day, ranks) for day, ranks in enumerate([GOOD, GOOD, GOOD])))
    evidence = [stream.detector for stream in state_of(store).streams]
    pass_day(store, 3, make_day(3, (3, *NONE * 7)))
    state = state_of(store)
    assert state.state == "INSUFFICIENT"
    assert state.reason == "labels are late: 12% of rankings have labels, 100% before"
    assert (state.passed_over, [stream.detector for stream in state.streams]) == (1, evidence)
    pass_day(store, 4)
    assert state_of(store).state == "OK"


def test_a_period_in_which_nothing_has_a_value_says_nothing(store: SQLiteStore) -> None:
    state = watch(store, make_day(0, NONE))
    assert (state.state, state.reason) == ("INSUFFICIENT", "no ranking has a value yet")
    assert [stream.periods for stream in state.streams] == [0]
    pass_day(store, 1)
    assert state_of(store).state == "OK"


def test_one_event_is_not_enough_for_an_alert(store: SQLiteStore) -> None:
    watch(store, show("only", START, 3, user="u"))
    assert state_of(store).state == "OK"


def test_a_value_that_jumps_up_and_down_is_told_no_oftener_than_its_state_changes(
    store: SQLiteStore,
) -> None:
    put(store, make_rule())
    states = [one == "ALERT" for one in ("OK", *play(store, [GOOD, BAD] * 5))]
    turns = sum(one != other for one, other in pairwise(states))
    assert len(list_told(store)) == turns
