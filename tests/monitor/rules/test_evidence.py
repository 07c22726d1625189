from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from rankscope.monitor.definition.configuration import BASELINES, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.event import Label
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.rules.drop.findings import make_findings
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    PROJECT,
    START,
    World,
    known_at,
    make_day,
    make_rule,
    show,
)

SLOW = define(measures=["RR@3"], positive="click", window=DAY // 1_000_000)
RELEASE = START + 14 * DAY
BY_VERSION = Configuration(
    definition=SLOW, attributes=("device",), grace="1h", baseline=BASELINES["version"]
)


def make_searches(
    since,
    until,
    *,
    seed,
    version,
    quality=0.7,
    every=10 * MINUTE,
    delay=1.0,
    lost=0.0,
    device=None,
    per_device=None,
):
    """Searches one after another, each with a click, at the first rank with some probability.

    Clicks come within the first hours: half an hour late on average, times the delay.
    """
    draw = random.Random(f"{seed} {since} {version}")
    events = []
    for time in range(since, until, every):
        shown = device or draw.choice(("phone", "tv"))
        mean = quality if per_device is None else per_device[shown]
        name = f"{version} {time} {shown}"
        user = f"user {draw.randrange(400)}"
        events += show(name, time, 0, user=user, version=version, device=shown)
        rank = 0 if draw.random() < mean else draw.choice((1, 2))
        late = 1 + int(draw.expovariate(1 / (30 * MINUTE * delay)))
        if draw.random() >= lost:
            events.append(Label(f"{name} click", name, "abc"[rank], time + late, ("click",)))
    return events


def serve(world, since=START, until=RELEASE, version="1", **said):
    seed = {"seed": 2 if version == "2" else 1}
    world.log(make_searches(since, until, version=version, **seed | said))


def check(world, now, configuration=BY_VERSION):
    """Check the rules, and return the streams by version and device."""
    world.advance(now, configuration)
    return {
        (stream.version, dict(stream.slice).get("device", "")): stream
        for stream in world.state_of().streams
    }


def place(world, now=START, **said):
    world.put(make_rule(false_alarms=0.05, **said), now, BY_VERSION)


@pytest.fixture
def _final_only(monkeypatch):
    """Check final values alone, although the window is long enough for early ones."""
    monkeypatch.setattr("rankscope.monitor.rules.drop.rule.AGES", ())


final_only = pytest.mark.usefixtures("_final_only")


def test_early_values_find_a_bad_release_before_final_ones_are_there(world):
    place(world, slices=("device",))
    serve(world)
    serve(world, RELEASE, RELEASE + 20 * HOUR, "2", quality=0.1)
    streams = check(world, RELEASE + 20 * HOUR)
    whole = streams["2", ""]
    assert whole.state == "ALERT"
    assert whole.final.detector is None
    assert whole.leading.age.total_seconds() in {3600, 4 * 3600}
    assert to_datetime(RELEASE) <= whole.since <= to_datetime(RELEASE + 3 * HOUR)
    assert "found by early values" in world.state_of().reason
    # One pair of values says how far it fell; when is said once, by the incident.
    found = next(one for one in list_incidents(world.store, PROJECT) if not one.slice)
    assert f"RR@3 fell from {found.before:.4f} to {found.after:.4f}; found by" in found.reason
    assert found.before == whole.leading.mean.value
    assert found.before - found.after == pytest.approx(found.evidence["fall"], abs=1e-12)
    assert "since" not in found.reason
    assert found.began == whole.since


def test_a_release_found_by_early_values_lasts_while_days_before_it_become_final(world):
    slow = replace(BY_VERSION, definition=replace(SLOW, window=3 * DAY // 1_000_000))
    rule = make_rule(false_alarms=0.05)
    world.put(rule, configuration=slow)
    released = RELEASE + 9 * HOUR
    serve(world, until=released)
    serve(world, released, RELEASE + 5 * DAY, "2", quality=0.1)
    streams = check(world, RELEASE + 5 * DAY, slow)
    assert set(world.list_turns()) == {"opened"}
    # The hours of its day before the release have no part in it, also for values of whole days.
    found = [lane.since for lane in streams["2", ""].lanes]
    assert len(found) == 3
    assert all(since is None or since >= to_datetime(released) for since in found)
    assert found[0] is not None


def test_labels_that_come_more_slowly_are_no_drop_of_early_values(world):
    place(world)
    serve(world)
    serve(world, RELEASE, RELEASE + 3 * DAY, "2", seed=10, delay=4.0)
    streams = check(world, RELEASE + 3 * DAY)
    lanes = {lane.age.total_seconds(): lane for lane in streams["2", ""].lanes}
    assert lanes[3600].judged == "discount"
    assert streams["2", ""].state == "OK"


@pytest.mark.slow
def test_all_at_once_is_as_hour_by_hour(tmp_path):
    since = RELEASE - 5 * DAY
    events = make_searches(since, RELEASE, seed=1, version="1", every=HOUR)
    end = RELEASE + 2 * DAY
    events += make_searches(RELEASE, end, seed=2, version="2", quality=0.2, every=15 * MINUTE)
    found = []
    for number, step in enumerate((19 * HOUR, 30 * DAY)):
        with SQLiteStore(tmp_path / f"{number}.db", group_seconds=0) as store:
            world = World(store)
            world.log(events)
            place(world, slices=("device",), now=since)
            for now in (*range(since, end + 2 * DAY, step), end + 2 * DAY):
                check(world, now)
            found.append(world.state_of().streams)
    assert found[0] == found[1]
    assert {stream.state for stream in found[0]} >= {"ALERT"}


@final_only
def test_a_rollout_from_one_device_to_another_is_no_drop(world):
    place(world, slices=("device",))
    usual = {"phone": 0.9, "tv": 0.3}
    serve(world, per_device=usual)
    for at in range(RELEASE, RELEASE + 10 * DAY, DAY):
        serve(world, at, at + DAY, "2", per_device=usual, device="tv")
    streams = check(world, RELEASE + 11 * DAY)
    whole = streams["2", ""]
    assert whole.periods == 9
    assert whole.state == "OK"
    assert whole.value.value < whole.baseline.value - 0.1
    assert whole.floor < whole.value.value


@final_only
def test_releases_that_are_each_a_little_worse_are_found_over_all_versions(world):
    place(world)
    serve(world, version="0", quality=0.8)
    streams = {}
    for week in range(1, 6):
        at = RELEASE + (week - 1) * 7 * DAY
        serve(world, at, at + 7 * DAY, str(week), seed=1, quality=0.8 - 0.12 * week)
        streams = check(world, at + 7 * DAY + 2 * HOUR)
        if streams[ALL, ""].state == "ALERT":
            break
    anchor = streams[ALL, ""]
    assert anchor.state == "ALERT"
    assert anchor.compared == to_datetime(START)
    assert anchor.name == "model=m, all versions since 4 Oct 2024"
    assert "compared with all versions since 4 Oct 2024" in world.state_of().reason


@final_only
def test_a_model_is_compared_with_its_past_once_there_are_two_weeks(world):
    place(world)
    serve(world, until=START + 3 * DAY)
    anchor = check(world, START + 4 * DAY)[ALL, ""]
    assert anchor.state == "INSUFFICIENT"
    assert anchor.reason.startswith("watched from 19 Oct 2024 on")


@final_only
def test_what_a_person_resolves_is_the_new_past(world):
    place(world)
    serve(world, until=RELEASE + 2 * DAY)
    check(world, RELEASE + 3 * DAY + 2 * HOUR)
    (row,) = world.store.list_rules(PROJECT)
    progress = RuleProgress.from_text(row.progress)
    before = {one.version: one for one in progress.streams}
    after = {one.version: one for one in progress.restart([], 0, is_all=True).streams}
    assert before[ALL].final.usual is not None
    assert (after[ALL].final.usual, after[ALL].compared) == (None, None)
    assert after["1"].final.usual == before["1"].final.usual


@final_only
def test_labels_that_are_lost_at_random_are_no_drop(world):
    place(world)
    serve(world)
    serve(world, RELEASE, RELEASE + 8 * DAY, "2", lost=0.4)
    stream = check(world, RELEASE + 9 * DAY + 2 * HOUR)["2", ""]
    assert (stream.labels, stream.state) == ("lost", "OK")
    assert stream.final.judged == "discount"
    assert stream.told.endswith("labels per ranking instead of 1.00")


@final_only
def test_a_drop_is_found_although_labels_are_lost_too(world):
    place(world)
    serve(world)
    serve(world, RELEASE, RELEASE + 8 * DAY, "2", lost=0.4, quality=0.3)
    stream = check(world, RELEASE + 9 * DAY + 2 * HOUR)["2", ""]
    assert (stream.labels, stream.state) == ("lost", "ALERT")
    reason = world.state_of().reason
    assert "relevant documents are ranked lower than usual" in reason
    # Nothing tells whether fewer labels follow from worse rankings.
    assert f"there are {stream.told}, which worse rankings alone can explain" in reason
    assert "labels or quality" not in reason


@final_only
@pytest.mark.parametrize(("phones", "is_loss"), [(0.4, True), (0.0, False)])
def test_labels_are_lost_too_only_if_they_are_where_the_order_is_as_usual(world, phones, is_loss):
    place(world, slices=("device",))
    for device, quality, lost in (("phone", 0.7, phones), ("tv", 0.3, 0.4)):
        serve(world, device=device)
        more = {"device": device, "quality": quality, "lost": lost}
        serve(world, RELEASE, RELEASE + 8 * DAY, "2", **more)
    streams = check(world, RELEASE + 9 * DAY + 2 * HOUR)
    assert (streams["2", "tv"].labels, streams["2", "tv"].state) == ("lost", "ALERT")
    assert streams["2", "phone"].state == "OK"
    assert streams["2", "tv"].has_lost_labels == is_loss
    progress = RuleProgress.from_text(world.store.list_rules(PROJECT)[0].progress)
    (tv,) = (
        one
        for one in make_findings(make_rule(), progress)
        if (one.version, one.slice) == ("2", (("device", "tv"),))
    )
    assert ("labels or quality" in tv.reason) == is_loss
    assert ("worse rankings alone" in tv.reason) != is_loss


def test_a_slice_without_new_rankings_is_stale(world):
    world.put(make_rule(slices=("device",)))
    for day in range(8):
        world.log(make_day(day))
        if day < 4:
            world.log(make_day(day, device="tv"))
        world.advance(known_at(day))
        state = world.state_of()
        assert state.state == ("OK" if day < 5 else "STALE")
    assert state.reason == (
        "device=tv, model=m, version=1: no rankings for 4 days, since 8 Oct 2024; "
        "2 checked slices are at or above their floors"
    )
    world.pass_day(8, make_day(8) + make_day(8, device="tv"))
    assert world.state_of().state == "OK"


def test_a_renamed_value_is_stale_and_the_new_one_says_why_it_is_not_judged(world):
    world.put(make_rule(slices=("device",)))
    slicing = Slicing(values=(("device", ("phone", "television", "tv")),))
    for day in range(6):
        world.log(make_day(day))
        world.log(make_day(day, device="tv" if day < 3 else "television"))
        world.advance(known_at(day), slicing=slicing)
    streams = {dict(one.slice).get("device", ""): one for one in world.state_of().streams}
    assert streams["tv"].state == "STALE"
    assert streams["television"].state == "INSUFFICIENT"
    assert streams["television"].reason == "the baseline has 0 users or queries with a value"


def test_a_drop_of_a_slice_that_stops_is_not_over(world):
    world.put(make_rule(slices=("device",)))
    for day in range(9):
        world.log(make_day(day))
        if day < 4:
            world.log(make_day(day, BAD if day > 1 else GOOD, device="tv"))
        world.advance(known_at(day))
    assert world.state_of().state == "ALERT"


@pytest.mark.slow
def test_evidence_comes_back_from_its_text(world):
    place(world, slices=("device",))
    serve(world, every=HOUR)
    serve(world, RELEASE, RELEASE + 3 * DAY, "2", every=HOUR)
    check(world, RELEASE + 4 * DAY + 2 * HOUR)
    (row,) = world.store.list_rules(PROJECT)
    progress = RuleProgress.from_text(row.progress)
    assert progress.to_text() == row.progress
    assert RuleProgress.from_text(progress.to_text()) == progress
    assert len(row.progress) < len(progress.to_json()) / 2
    assert {len(one.lanes) for one in progress.streams} == {1, 3}


def test_a_set_with_other_grades_than_production_is_a_warning(world):
    events = []
    for number in range(200):
        name = f"judged {number}"
        time = START - 40 * DAY + number
        shown = show(name, time, 0, user=name, environment="training", device="phone")
        grades = [
            Label(f"{name} {doc}", name, doc, START - 39 * DAY, value=grade)
            for doc, grade in (("a", 4.0), ("b", 2.0), ("c", 1.0))
        ]
        events += [*shown, *grades]
    configuration = replace(CONFIGURATION, baseline=BASELINES["training"])
    world.log(events)
    world.put(make_rule())
    world.pass_day(0, make_day(0, users=200), configuration)
    (warning,) = world.state_of().warnings
    assert "grades of the baseline are distributed unlike production's" in warning
    assert "100% grade 1 in production" in warning


@final_only
def test_a_tolerance_below_the_differences_between_days_is_a_warning(world):
    place(world, tolerance=0.01)
    for day in range(20):
        at = START + day * DAY
        serve(world, at, at + DAY, seed=day, quality=0.5 + 0.15 * math.sin(day * day))
    at = START + 20 * DAY
    serve(world, at, at + DAY, "2", seed=99)
    check(world, at + 2 * DAY + 2 * HOUR)
    assert any(one.startswith("days differ by 0.") for one in world.state_of().warnings)


@final_only
@pytest.mark.parametrize(
    ("days", "told"),
    [(28, "calibrated"), (14, "anytime: the baseline has 14 of 28 days")],
)
def test_a_stream_says_how_a_drop_is_told_from_chance(world, days, told):
    place(world)
    release = START + days * DAY
    serve(world, until=release, every=20 * MINUTE)
    serve(world, release, release + 6 * DAY, "2", quality=0.3, every=20 * MINUTE)
    stream = check(world, release + 7 * DAY + 2 * HOUR)["2", ""]
    assert (stream.state, stream.to_dict()["method"]) == ("ALERT", told)
    assert stream.log_evidence >= stream.needed
    assert stream.since == to_datetime(release)
    serve(world, release + 6 * DAY, release + 12 * DAY, "2", seed=9, every=20 * MINUTE)
    assert check(world, release + 13 * DAY + 2 * HOUR)["2", ""].state == "OK"
