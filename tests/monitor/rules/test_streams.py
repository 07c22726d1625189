from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from rankscope.monitor.definition.configuration import BASELINES
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.response import find_incident, list_incidents
from rankscope.monitor.rules.drop.confirm import Confirmation
from rankscope.monitor.rules.drop.feed import INHERIT
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.sequential.detector import NEEDED

from tests.monitor.rules.plain import PlainRule, PlainUsual
from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    PROJECT,
    START,
    known_at,
    make_day,
    make_rule,
    show,
)

NONE = (0,)


def test_an_alert_lasts_until_there_is_evidence_that_the_drop_has_ended(world):
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


def test_two_whole_periods_without_rankings_are_no_data(world):
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


def test_before_anything_came_nothing_is_missing(world):
    world.put(make_rule())
    world.advance(known_at(9))
    assert world.state_of().state == "INSUFFICIENT"
    assert world.list_turns() == []


def test_no_data_ends_no_alert(world):
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, BAD, BAD, BAD])))
    world.advance(known_at(9))
    assert world.state_of().state == "ALERT"


def test_rankings_without_labels_are_told_and_are_no_drop(world):
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, GOOD, GOOD])))
    evidence = [stream.detector for stream in world.state_of().streams]
    world.pass_day(3, make_day(3, (3, *NONE * 7)))
    state = world.state_of()
    assert state.state == "INSUFFICIENT"
    assert state.reason == "labels are late: 12% of rankings have labels, 100% before"
    assert (state.passed_over, [stream.detector for stream in state.streams]) == (1, evidence)
    world.pass_day(4)
    assert world.state_of().state == "OK"


def test_a_period_in_which_nothing_has_a_value_says_nothing(world):
    state = world.watch(make_day(0, NONE))
    assert (state.state, state.reason) == ("INSUFFICIENT", "no ranking has a value yet")
    assert [stream.periods for stream in state.streams] == [0]
    world.pass_day(1)
    assert world.state_of().state == "OK"


def test_one_event_is_not_enough_for_an_alert(world):
    world.watch(show("only", START, 3, user="u"))
    assert world.state_of().state == "OK"


DAYS = 7
"""From then on, a day with an unusual number of labels is judged by their ranks."""
FALSE_ALARMS = 0.9


def draw_day(drawn, day):
    """Version, device, user, and the rank of the click or 0, of some rankings; of none at times."""
    rows = []
    versions = drawn.choice([["1"], ["1", "2"], ["2"], []]) if day else ["1"]
    for version in versions:
        for device in ("phone", "tv", "car"):
            ranks = drawn.choice([(1, 1, 1, 2), (1, 1, 2, 0), (3, 2, 3, 2), (0, 0, 0, 0, 0, 1)])
            rows += [
                (version, device, f"u{drawn.randrange(30)}", drawn.choice(ranks))
                for _ in range(drawn.randrange(40))
            ]
    return rows


def read_usual(stream):
    """Read what is expected of a stream: all rankings of the validation set are alike."""
    usual = stream.final.usual.value
    return PlainUsual(
        usual.mean,
        usual.half_width,
        usual.tolerance,
        {cell[0]: variance for cell, _, variance in usual.cells.cells if cell},
        usual.share_error,
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_rule_concludes_what_the_plain_one_does(world, seed, monkeypatch):
    # The plain rule doesn't ask users for confirmation, for which these are too few.
    monkeypatch.setattr(Confirmation, "judge", lambda *_: None)
    drawn = random.Random(seed)
    world.put(make_rule(slices=("device",), false_alarms=FALSE_ALARMS))
    days = [draw_day(drawn, day) for day in range(DAYS)]
    sent = []
    for day, rows in enumerate(days):
        events = []
        for number, (version, device, user, rank) in enumerate(rows):
            name, at = f"{day} {number}", START + day * DAY + number
            events += show(name, at, rank, user=user, version=version, device=device)
        drawn.shuffle(events)
        sent.append(events)
    plain = PlainRule(90 / FALSE_ALARMS)
    for day, events in enumerate(sent):
        for at in range(0, len(events), 50):
            world.log(events[at : at + 50])
        world.advance(known_at(day))
        state = world.state_of()
        usual = {
            (stream.version, dict(stream.slice).get("device", "")): read_usual(stream)
            for stream in state.streams
        }
        plain.look(days[day], usual)
        found = {
            (stream.version, dict(stream.slice).get("device", "")): (
                stream.periods,
                stream.is_named,
                [math.exp(one) for one in stream.detector.evidence] if stream.detector else None,
            )
            for stream in state.streams
        }
        expected = {
            key: (
                stream.periods,
                stream.is_named,
                # Other sums of logarithms than products give.
                pytest.approx(stream.since_any if stream.periods else [], rel=1e-9)
                if stream.is_watched
                else None,
            )
            for key, stream in plain.streams.items()
        }
        assert found == expected
        is_named = any(stream.is_named for stream in plain.streams.values())
        assert (state.state == "ALERT") is is_named
    for incident in list_incidents(world.store, PROJECT, "all"):
        _, history = find_incident(world.store, PROJECT, incident.incident_id)
        assert all(one.action != other.action for one, other in pairwise(history))


PAIRED = replace(CONFIGURATION, attributes=("device", "country"))
SLICING = Slicing(
    values=(("device", ("phone", "tv")), ("country", ("at", "jp"))),
    pairs=(("device", "country"),),
)
ALL = (1, 1, 2, 1, 1, 2, 1, 1, 2, 1)
"""Of ten rankings, all have a click."""


def make_countries(day, fallen=GOOD, environment="production"):
    """A day on each device in each country; the clicks of televisions in Japan have fallen."""
    events = []
    for device in ("phone", "tv"):
        for country in ("at", "jp"):
            ranks = fallen if (device, country) == ("tv", "jp") else GOOD
            for number in range(40):
                name = f"{environment} {day} {device} {country} {number}"
                events += show(
                    name,
                    START + day * DAY + number,
                    ranks[number % len(ranks)],
                    user=f"user {device} {country} {number}",
                    environment=environment,
                    device=device,
                    country=country,
                )
    return events


def test_the_values_of_a_pair_are_watched_together(world):
    world.log(make_countries(-30, environment="validation"))
    world.put(make_rule(slices=("country:device",)), configuration=PAIRED)
    for day in range(4):
        world.log(make_countries(day, BAD if day else GOOD))
    world.advance(known_at(3), PAIRED, SLICING)
    streams = {stream.slice: stream for stream in world.state_of().streams}
    assert len(streams) == 1 + 4
    fallen = {place for place, stream in streams.items() if place and stream.state == "ALERT"}
    assert fallen == {(("device", "tv"), ("country", "jp"))}


def test_more_rankings_without_a_relevant_document_are_worse(world):
    state = world.watch(make_day(0, ALL), measure="empty", tolerance=0.1)
    assert state.state == "OK"
    (stream,) = state.streams
    assert (stream.value.value, stream.baseline.value) == (0.0, 0.0)
    assert stream.floor == pytest.approx(0.1)
    for day in range(1, 5):
        world.pass_day(day, make_day(day, (*ALL[:6], 0, 0, 0, 0)))
    state = world.state_of()
    assert state.state == "ALERT"
    (stream,) = state.streams
    assert stream.value.value == 0.4
    assert stream.value.lower < 0.4 < stream.value.upper
    assert "documents rose from 0.0000 to 0.4000" in (state.reason)


def test_fewer_rankings_without_a_relevant_document_are_no_alert(world):
    world.log(make_day(-29, (1, 0), environment="validation"))
    world.watch(*(make_day(day) for day in range(4)), measure="empty")
    assert world.state_of().state == "OK"


BY_VERSION = replace(CONFIGURATION, baseline=BASELINES["version"])
WORSE = (2, 1, 2, 2)
"""Reciprocal ranks of 0.625: a smaller fall, which takes days to be found."""


def play(world, days, *, baseline="validation"):
    """Serve a version a day, check the rule for all days, and return the newest incidents."""
    configuration = BY_VERSION if baseline == "version" else CONFIGURATION
    world.put(make_rule(false_alarms=0.05), configuration=configuration)
    for day, (version, ranks) in enumerate(days):
        world.log(make_day(day, ranks, version=version))
    world.advance(known_at(len(days) - 1), configuration)
    return {one.version: one for one in reversed(list_incidents(world.store, PROJECT, "all"))}


@pytest.mark.parametrize("baseline", ["validation", "version"])
def test_the_version_that_follows_goes_on_with_a_fall(world, baseline):
    days = [("1", GOOD)] * 4 + [("2", BAD)] * 4 + [("3", BAD)] * 4
    found = play(world, days, baseline=baseline)
    assert (found["2"].state, found["3"].state) == ("superseded", "open")
    assert found["2"].reason.endswith("version 2 is no longer served")
    assert found["3"].began == found["2"].began == to_datetime(START + 4 * DAY)
    assert found["3"].group == found["2"].group
    assert found["3"].reason.endswith("version 2 had fallen before")


def test_a_fall_that_goes_on_needs_less_evidence_than_a_new_one(world):
    found = play(world, [("2", WORSE)] * 12 + [("3", WORSE)] * 12)
    first, second = found["2"], found["3"]
    assert first.opened - to_datetime(START) > second.opened - to_datetime(START + 12 * DAY)
    progress = RuleProgress.from_text(world.store.list_rules(PROJECT)[0].progress)
    (stream,) = progress.streams
    assert second.opened < stream.inherited.came + INHERIT
    assert NEEDED * INHERIT.days < 1800


def test_a_version_that_is_good_again_inherits_nothing(world):
    found = play(world, [("2", BAD)] * 4 + [("3", GOOD)] * 9 + [("3", BAD)] * 4)
    assert found["3"].began == to_datetime(START + 13 * DAY)
    assert found["3"].group != found["2"].group
    assert "had fallen before" not in found["3"].reason
