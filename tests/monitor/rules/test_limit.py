from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from rankscope import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.means import Mean
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.advance import advance_rules
from rankscope.monitor.incidents.management import list_states, resolve_rule, set_rule
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.limit import RANKINGS, SHARES, LimitRule, bound_mean, read_values

from tests.monitor.rules.world import CLICKS, PROJECT, SLICING, START, World, show

CONFIGURATION = Configuration(definition=CLICKS, attributes=("device",), grace="1h")
FINAL = 2 * HOUR
"""How long after an hour its values are checked: the attribution window, and the grace."""


@pytest.fixture
def store(empty):
    """Without a validation set."""
    return empty


def make_rule(**said):
    """A rule about rankings without a relevant document in the last hour."""
    given = {"name": "limit", "kind": "limit", "measure": "empty", "hours": 1}
    given |= {"remind": 0.0}
    return LimitRule(**given | ({} if "below" in said else {"above": 0.25}) | said)


def put(store, rule):
    set_rule(store, PROJECT, CONFIGURATION, rule, now=START, actor="ada")


def fill(store, hour, good, empty=0, nothing=0):
    """An hour of rankings, each of another user: with a click, without one, and without a list."""
    time = START + hour * HOUR
    events = []
    for number in range(good + empty):
        rank = 1 if number < good else 0
        events += show(f"{hour} {number}", time + number, rank, user=f"u{hour} {number}")
    for number in range(nothing):
        name = f"{hour} nothing {number}"
        events.append(Ranking(name, name, time + number, Items((), ()), user_id=name, model="m"))
    store.append(PROJECT, events)


def check(store, hour, delay=FINAL):
    now = START + (hour + 1) * HOUR + delay
    advance_rules(store, PROJECT, CONFIGURATION, SLICING, now=now, threads=1)
    return next(one for one in list_states(store, PROJECT) if one.rule.name == "limit")


@pytest.mark.parametrize(("users", "state"), [((), "OK"), (("u0 3",), "ALERT")])
def test_a_count_is_of_the_users_who_count(store, users, state):
    put(store, make_rule(measure=RANKINGS, below=4))
    fill(store, 0, good=4)
    definition = replace(CLICKS, left_out=users)
    configuration = replace(CONFIGURATION, definition=definition)
    now = START + 2 * HOUR  # and none of the next hour
    advance_rules(store, PROJECT, configuration, SLICING, now=now, threads=1)
    [limit] = [one for one in list_states(store, PROJECT) if one.rule.name == "limit"]
    assert limit.state == state


@pytest.mark.parametrize(
    ("ends", "above", "below"),
    [
        ((0.26, 0.3), "beyond", "within"),
        ((0.25, 0.3), "between", "within"),
        ((0.2, 0.3), "between", "between"),
        ((0.25, 0.25), "within", "within"),
        ((0.2, 0.25), "within", "between"),
        ((0.2, 0.24), "within", "beyond"),
    ],
)
def test_a_limit_is_crossed_by_a_whole_interval_and_not_by_what_is_at_it(ends, above, below):
    mean = Mean(sum(ends) / 2, *ends, 0.95, 10, 10)
    assert make_rule(above=0.25).judge(mean) == above
    assert make_rule(below=0.25).judge(mean) == below


def test_a_share_alerts_when_its_interval_is_above_and_recovers_when_it_is_back(store):
    put(store, make_rule())
    # Of 40 users, 10 are a share at the limit; the interval of 20 is above it, and that of 2 below.
    states = []
    for hour, empty in enumerate((10, 20, 10, 2, 10)):
        fill(store, hour, 40 - empty, empty)
        states.append(check(store, hour).state)
        if hour == 2:  # what is in between changes nothing but the numbers
            assert list_incidents(store, PROJECT)[0].evidence["value"] == 0.25
    assert states == ["OK", "ALERT", "ALERT", "OK", "OK"]
    (incident,) = list_incidents(store, PROJECT, "all")
    assert (incident.state, incident.kind, incident.measure) == ("recovered", "limit", "empty")
    assert incident.began == to_datetime(START + HOUR)
    assert [event for notice in World(store).list_told() for event, _ in notice.parts] == [
        "opened",
        "recovered",
    ]
    opened = write_message([World(store).list_told()[0].to_json()])
    assert opened.title == "New incident: empty crossed its limit for all rankings (music)"
    assert (
        "the share of rankings without relevant documents is 50% (33.8% to 66.2%) over 40 rankings "
        "of the last hour, above the limit of 25%"
    ) in opened.text


def test_few_rankings_are_no_evidence(store):
    put(store, make_rule())
    fill(store, 0, good=0, empty=2)  # the interval of 2 of 2 begins at 0.158 = sqrt(0.025)
    assert check(store, 0).state == "OK"
    assert list_incidents(store, PROJECT, "all") == ()


@pytest.mark.parametrize(("count", "state"), [(9, "ALERT"), (10, "OK"), (11, "OK")])
def test_a_count_below_its_limit_alerts_at_once(store, count, state):
    put(store, make_rule(measure=RANKINGS, below=10))
    fill(store, 0, count)
    # A count needs no labels, so that it doesn't wait for the attribution window.
    found = check(store, 0, delay=HOUR)
    assert found.state == state
    assert f"the number of rankings per hour is {count} over the last hour" in found.reason


def test_a_count_is_of_all_hours_and_of_one_model(store):
    put(store, make_rule(measure=RANKINGS, below=10, hours=3, model="m"))
    for hour, count in enumerate((3, 9, 18)):
        fill(store, hour, count)
    store.append(PROJECT, show("other", START, 1, model="other"))
    assert "is 10 over the last 3 hours, within the limit of 10" in check(store, 2, HOUR).reason


@pytest.mark.parametrize(("nothing", "state"), [(10, "OK"), (30, "ALERT")])
def test_rankings_that_show_nothing_have_a_share(store, nothing, state):
    put(store, make_rule(measure="no_results"))
    fill(store, 0, good=5, empty=35 - nothing, nothing=nothing)
    found = check(store, 0, delay=HOUR)
    assert found.state == state
    assert f"the share of rankings that show nothing is {100 * nothing / 40:.3g}%" in found.reason


@pytest.mark.parametrize(
    ("measure", "limit", "state"), [("RR@3", 0.4, "OK"), ("RR@3", 0.8, "ALERT")]
)
def test_a_measure_has_a_limit(store, measure, limit, state):
    put(store, make_rule(measure=measure, below=limit))
    store.append(
        PROJECT,
        [
            event
            for number in range(60)
            for event in show(f"{number}", START + number, 2, user=f"u{number}")
        ],
    )
    assert check(store, 0).state == state


def test_the_newest_rankings_count_whatever_hour_they_are_from(store):
    put(store, make_rule(rankings=40))
    fill(store, 0, good=0, empty=60)
    assert check(store, 0).state == "ALERT"
    assert list_incidents(store, PROJECT)[0].evidence["rankings"] == 40
    fill(store, 5, good=20)
    check(store, 5)
    assert list_incidents(store, PROJECT)[0].evidence["value"] == 20 / 40
    fill(store, 6, good=40)
    assert check(store, 6).state == "OK"


def test_the_share_of_documents_without_a_grade_is_of_what_was_shown():
    counts = {"unjudged": np.array([1, 0, 0]), "documents": np.array([4, 2, 0])}
    evaluated = SimpleNamespace(values=SimpleNamespace(**counts))
    assert np.array_equal(read_values(evaluated, "unjudged"), [0.25, 0.0, np.nan], equal_nan=True)


def test_an_hour_without_rankings_has_no_value_and_ends_no_alert(store):
    put(store, make_rule())
    fill(store, 0, good=40)
    assert check(store, 0).state == "OK"
    state = check(store, 1)
    assert (state.state, state.reason[:26]) == ("NO_DATA", "no value in the last hour ")
    fill(store, 2, good=0, empty=40)
    assert check(store, 2).state == "ALERT"
    assert check(store, 3).state == "ALERT"
    [row] = store.list_rules(PROJECT)
    assert (row.state, "is 100%" in row.reason) == ("ALERT", True)


def test_what_was_resolved_is_looked_at_no_more(store):
    put(store, make_rule(hours=24))
    fill(store, 0, good=0, empty=60)
    assert check(store, 0).state == "ALERT"
    now = START + 2 * HOUR  # and none of the next hour
    resolve_rule(store, PROJECT, "limit", now=now, actor="ada")
    fill(store, 4, good=40)
    assert check(store, 4).state == "OK"
    assert list_incidents(store, PROJECT) == ()


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"above": None}, "above"),
        ({"above": 0.1, "below": 0.2}, "above"),
        ({"above": 1.5}, "above"),
        ({"above": float("nan")}, "above"),
        ({"below": -0.1}, "below"),
        ({"hours": 0}, "hours"),
        ({"hours": 721}, "hours"),
        ({"rankings": 1}, "rankings"),
        ({"measure": RANKINGS, "rankings": 5}, "rankings"),
        ({"tolerance": 0.1}, "tolerance"),
    ],
)
def test_what_is_no_limit_is_refused_by_its_field(said, field):
    with pytest.raises(UsageError) as refused:
        make_rule(**said)
    assert refused.value.code == "bad_rule"
    assert refused.value.message.startswith(f"{field}: ")


def test_a_measure_that_the_project_has_not_and_fields_of_no_signal_are_refused():
    with pytest.raises(UsageError, match="rankings, which are measured"):
        make_rule(measure="nDCG@7", below=0.5).check(CONFIGURATION)
    for measure in (*SHARES, RANKINGS):
        rule = make_rule(measure=measure, below=0.5)
        assert rule.check(CONFIGURATION) == rule
    for said in ({"below": 1.5}, {"below": -0.1}, {"below": 0.5, "rankings": 100}):
        with pytest.raises(UsageError):
            Rule(name="short", kind="limit", measure="length", **said)
    with pytest.raises(UsageError, match="lenght"):
        Rule(name="x", kind="limit", measure="lenght", below=0.5).check(WITH_SIGNALS)


FIRST = datetime(2026, 11, 1, tzinfo=UTC)
WITH_SIGNALS = Configuration(definition=define(positive="click", window="30d"), baseline=None)


def show_docs(hours, number, docs="abcd", model="m"):
    time = FIRST + timedelta(hours=hours, seconds=number)
    return {
        "ranking_id": f"{hours} {number} {model}",
        "time": time.isoformat(),
        "user_id": f"u{hours} {number}",
        "model": model,
        "doc_ids": list(docs),
    }


def watch(path, rankings, now, **said):
    """What a rule says of some rankings: its state, why, and the reasons of its incidents."""
    clock = [FIRST + timedelta(hours=1)]
    with Monitor.open(str(path / "x.db"), now=lambda: clock[-1]) as monitor:
        monitor.configure(WITH_SIGNALS)
        rule = {"measure": "length", "below": 0.75, "hours": 1}
        monitor.set_rule(Rule(name="short", kind="limit", **rule | said))
        clock.append(now)
        monitor.log_rankings(rankings)
        monitor.evaluate()
        state = next(each for each in monitor.check() if each.rule.name == "short")
        found = [each.reason for each in monitor.incidents("all", rule="short")]
        return state.state, state.reason, found


YESTERDAY = [show_docs(hour, number) for hour in range(1, 24) for number in range(20)]
LATE = FIRST + timedelta(days=1, hours=2)


def test_lists_that_are_cut_alert_as_soon_as_their_hour_is_stored(tmp_path):
    cut = [show_docs(24, number, "ab") for number in range(200)]
    # The attribution window lasts for weeks: no label is waited for.
    state, reason, found = watch(tmp_path, YESTERDAY + cut, LATE)
    assert (state, found) == ("ALERT", [reason])
    assert reason.startswith("the signal length is 50% (")
    assert reason.endswith("over 200 rankings of the last hour, below the limit of 75%")


@pytest.mark.parametrize(
    ("docs", "count", "said"),
    [
        ("ab", 5, "too close to the limit of 75% to tell"),
        ("abcd", 200, "within the limit of 75%"),
        # The interval has the limit in its middle.
        ("abc", 2000, "too close to the limit of 75% to tell"),
    ],
)
def test_a_few_lists_and_a_value_at_the_limit_are_no_alert(tmp_path, docs, count, said):
    known = [show_docs(24, number, docs) for number in range(count)]
    told, reason, found = watch(tmp_path, YESTERDAY + known, LATE)
    assert (told, found) == ("OK", [])
    assert reason.endswith(said)


def test_only_the_model_of_the_rule_counts(tmp_path):
    theirs = [show_docs(hour, number, model="n") for hour in range(1, 24) for number in range(5)]
    cut = [show_docs(24, number, "ab", model="n") for number in range(200)]
    good = [show_docs(24, number) for number in range(200)]
    state, reason, _ = watch(tmp_path, YESTERDAY + theirs + cut + good, LATE, model="m")
    assert (state, reason.partition(" over ")[2][:3]) == ("OK", "200")


def test_what_is_not_known_is_no_verdict(tmp_path):
    state, reason, found = watch(tmp_path, YESTERDAY, LATE, measure="tied", above=0.5, below=None)
    assert (state, found) == ("NO_DATA", [])
    assert "no value" in reason


def test_the_interval_is_wide_for_few_users_and_covers_what_it_should():
    # Equal values say nothing of how much they vary: of 3 users the interval is everything.
    three = bound_mean((3.0, 3.0, 0.9, 0.27), 0.3, 3)
    assert (three.lower, three.upper) == (0.0, 1.0)
    # 7 ln(80) / (3 (n - 1)) remains of a variance of 0.
    many = bound_mean((1001.0, 1001.0, 300.3, 90.09), 0.3, 1001)
    assert many.upper - many.value == pytest.approx(7 * 4.382026634673881 / 3000, abs=1e-6)
    # One user with all rankings is one user.
    one = bound_mean((1.0, 10_000.0, 30.0, 0.09 * 10_000), 0.3, 100)
    assert math.isnan(one.lower)
    assert bound_mean((0.0, 0.0, 0.0, 0.0), 0.0, 0) is None
