"""What evidence allows for: releases, mixes, ages of values, lost labels and slices that stop."""

from __future__ import annotations

import math
import random

import pytest
from rankscope.monitor.definition.configuration import BASELINES, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.event import Label
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.advance import advance_rules
from rankscope.monitor.incidents.management import set_rule
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.rules.drop.findings import make_findings
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    PROJECT,
    SLICING,
    START,
    advance,
    known_at,
    list_turns,
    make_day,
    make_rule,
    pass_day,
    put,
    show,
    state_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.rules.stream import Stream

SLOW = define(measures=["RR@3"], positive="click", window=DAY // 1_000_000)
RELEASE = START + 14 * DAY
BY_VERSION = Configuration(
    definition=SLOW, attributes=("device",), grace="1h", baseline=BASELINES["version"]
)


def make_searches(
    since: int,
    until: int,
    *,
    seed: int,
    version: str,
    quality: float = 0.7,
    every: int = 10 * MINUTE,
    delay: float = 1.0,
    lost: float = 0.0,
    device: str | None = None,
    per_device: Mapping[str, float] | None = None,
) -> list[Event]:
    """Searches one after another, each with a click, at the first rank with some probability.

    Clicks come within the first hours: half an hour late on average, times the delay.
    """
    draw = random.Random(f"{seed} {since} {version}")
    events: list[Event] = []
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


def serve(
    store: SQLiteStore,
    since: int = START,
    until: int = RELEASE,
    version: str = "1",
    **said: Any,  # noqa: ANN401 - as searches have it
) -> None:
    """Log the searches of a version."""
    seed = {"seed": 2 if version == "2" else 1}
    store.append(PROJECT, make_searches(since, until, version=version, **seed | said))


def check(
    store: SQLiteStore, now: int, configuration: Configuration = BY_VERSION
) -> dict[tuple[str, str], Stream]:
    """Check the rules, and return the streams by version and device."""
    advance_rules(store, PROJECT, configuration, SLICING, now=now, threads=1)
    return {
        (stream.version, dict(stream.slice).get("device", "")): stream
        for stream in state_of(store).streams
    }


def place(store: SQLiteStore, now: int = START, **said: object) -> None:
    """Make a rule of a project whose baseline is the previous version."""
    rule = make_rule(false_alarms=0.05, **said)
    set_rule(store, PROJECT, BY_VERSION, rule, now=now, actor="ada")


@pytest.fixture
def _final_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check final values alone, although the window is long enough for early ones."""
    monkeypatch.setattr("rankscope.monitor.rules.drop.rule.AGES", ())


final_only = pytest.mark.usefixtures("_final_only")


def test_early_values_find_a_bad_release_before_final_ones_are_there(store: SQLiteStore) -> None:
    place(store, slices=("device",))
    serve(store)
    serve(store, RELEASE, RELEASE + 20 * HOUR, "2", quality=0.1)
    streams = check(store, RELEASE + 20 * HOUR)
    whole = streams["2", ""]
    assert whole.state == "ALERT"
    assert whole.final.detector is None
    assert whole.leading.age.total_seconds() in {3600, 4 * 3600}
    assert to_datetime(RELEASE) <= whole.since <= to_datetime(RELEASE + 3 * HOUR)
    assert "found by early values" in state_of(store).reason
    # One pair of values says how far it fell; when is said once, by the incident.
    found = next(one for one in list_incidents(store, PROJECT) if not one.slice)
    assert f"RR@3 fell from {found.before:.4f} to {found.after:.4f}; found by" in found.reason
    assert found.before == whole.leading.mean.value
    assert found.before - found.after == pytest.approx(found.evidence["fall"], abs=1e-12)
    assert "since" not in found.reason
    assert found.began == whole.since


def test_a_release_found_by_early_values_lasts_while_days_before_it_become_final(
    store: SQLiteStore,
) -> None:
    slow = replace(BY_VERSION, definition=replace(SLOW, window=3 * DAY // 1_000_000))
    rule = make_rule(false_alarms=0.05)
    set_rule(store, PROJECT, slow, rule, now=START, actor="ada")
    released = RELEASE + 9 * HOUR
    serve(store, until=released)
    serve(store, released, RELEASE + 5 * DAY, "2", quality=0.1)
    streams = check(store, RELEASE + 5 * DAY, slow)
    assert set(list_turns(store)) == {"opened"}
    # The hours of its day before the release have no part in it, also for values of whole days.
    found = [lane.since for lane in streams["2", ""].lanes]
    assert len(found) == 3
    assert all(since is None or since >= to_datetime(released) for since in found)
    assert found[0] is not None


def test_labels_that_come_more_slowly_are_no_drop_of_early_values(store: SQLiteStore) -> None:
    place(store)
    serve(store)
    serve(store, RELEASE, RELEASE + 3 * DAY, "2", seed=10, delay=4.0)
    streams = check(store, RELEASE + 3 * DAY)
    lanes = {lane.age.total_seconds(): lane for lane in streams["2", ""].lanes}
    assert lanes[3600].judged == "discount"
    assert streams["2", ""].state == "OK"


@pytest.mark.slow
def test_all_at_once_is_as_hour_by_hour(tmp_path: Path) -> None:
    since = RELEASE - 5 * DAY
    events = make_searches(since, RELEASE, seed=1, version="1", every=HOUR)
    end = RELEASE + 2 * DAY
    events += make_searches(RELEASE, end, seed=2, version="2", quality=0.2, every=15 * MINUTE)
    found = []
    for number, step in enumerate((19 * HOUR, 30 * DAY)):
        with SQLiteStore(tmp_path / f"{number}.db", group_seconds=0) as store:
            store.append(PROJECT, events)
            place(store, slices=("device",), now=since)
            for now in (*range(since, end + 2 * DAY, step), end + 2 * DAY):
                check(store, now)
            found.append(state_of(store).streams)
    assert found[0] == found[1]
    assert {stream.state for stream in found[0]} >= {"ALERT"}


@final_only
def test_a_rollout_from_one_device_to_another_is_no_drop(store: SQLiteStore) -> None:
    place(store, slices=("device",))
    usual = {"phone": 0.9, "tv": 0.3}
    serve(store, per_device=usual)
    for at in range(RELEASE, RELEASE + 10 * DAY, DAY):
        serve(store, at, at + DAY, "2", per_device=usual, device="tv")
    streams = check(store, RELEASE + 11 * DAY)
    whole = streams["2", ""]
    assert whole.periods == 9
    assert whole.state == "OK"
    assert whole.value.value < whole.baseline.value - 0.1
    assert whole.floor < whole.value.value


@final_only
def test_releases_that_are_each_a_little_worse_are_found_over_all_versions(
    store: SQLiteStore,
) -> None:
    place(store)
    serve(store, version="0", quality=0.8)
    streams = {}
    for week in range(1, 6):
        at = RELEASE + (week - 1) * 7 * DAY
        serve(store, at, at + 7 * DAY, str(week), seed=1, quality=0.8 - 0.12 * week)
        streams = check(store, at + 7 * DAY + 2 * HOUR)
        if streams[ALL, ""].state == "ALERT":
            break
    anchor = streams[ALL, ""]
    assert anchor.state == "ALERT"
    assert anchor.compared == to_datetime(START)
    assert anchor.name == "model=m, all versions since 4 Oct 2024"
    assert "compared with all versions since 4 Oct 2024" in state_of(store).reason


@final_only
def test_a_model_is_compared_with_its_past_once_there_are_two_weeks(store: SQLiteStore) -> None:
    place(store)
    serve(store, until=START + 3 * DAY)
    anchor = check(store, START + 4 * DAY)[ALL, ""]
    assert anchor.state == "INSUFFICIENT"
    assert anchor.reason.startswith("watched from 19 Oct 2024 on")


@final_only
def test_what_a_person_resolves_is_the_new_past(store: SQLiteStore) -> None:
    place(store)
    serve(store, until=RELEASE + 2 * DAY)
    check(store, RELEASE + 3 * DAY + 2 * HOUR)
    (row,) = store.list_rules(PROJECT)
    progress = RuleProgress.from_text(row.progress)
    anchor = next(one for one in progress.streams if one.version == ALL)
    assert anchor.final.usual is not None
    restarted = progress.restart([], 0, is_all=True)
    fresh = next(one for one in restarted.streams if one.version == ALL)
    assert (fresh.final.usual, fresh.compared) == (None, None)
    other = next(one for one in restarted.streams if one.version == "1")
    assert (
        other.final.usual == next(one for one in progress.streams if one.version == "1").final.usual
    )


@final_only
def test_labels_that_are_lost_at_random_are_no_drop(store: SQLiteStore) -> None:
    place(store)
    serve(store)
    serve(store, RELEASE, RELEASE + 8 * DAY, "2", lost=0.4)
    stream = check(store, RELEASE + 9 * DAY + 2 * HOUR)["2", ""]
    assert (stream.labels, stream.state) == ("lost", "OK")
    assert stream.final.judged == "discount"
    assert stream.told.endswith("labels per ranking instead of 1.00")


@final_only
def test_a_drop_is_found_although_labels_are_lost_too(store: SQLiteStore) -> None:
    place(store)
    serve(store)
    serve(store, RELEASE, RELEASE + 8 * DAY, "2", lost=0.4, quality=0.3)
    stream = check(store, RELEASE + 9 * DAY + 2 * HOUR)["2", ""]
    assert (stream.labels, stream.state) == ("lost", "ALERT")
    reason = state_of(store).reason
    assert "relevant documents are ranked lower than usual" in reason
    # Nothing tells whether fewer labels follow from worse rankings.
    assert f"there are {stream.told}, which worse rankings alone can explain" in reason
    assert "labels or quality" not in reason


@final_only
@pytest.mark.parametrize(("phones", "is_loss"), [(0.4, True), (0.0, False)])
def test_labels_are_lost_too_only_if_they_are_where_the_order_is_as_usual(
    store: SQLiteStore, phones: float, is_loss: bool
) -> None:
    place(store, slices=("device",))
    for device, quality, lost in (("phone", 0.7, phones), ("tv", 0.3, 0.4)):
        serve(store, device=device)
        more = {"device": device, "quality": quality, "lost": lost}
        serve(store, RELEASE, RELEASE + 8 * DAY, "2", **more)
    streams = check(store, RELEASE + 9 * DAY + 2 * HOUR)
    assert (streams["2", "tv"].labels, streams["2", "tv"].state) == ("lost", "ALERT")
    assert streams["2", "phone"].state == "OK"
    assert streams["2", "tv"].has_lost_labels == is_loss
    progress = RuleProgress.from_text(store.list_rules(PROJECT)[0].progress)
    (tv,) = (
        one
        for one in make_findings(make_rule(), progress)
        if (one.version, one.slice) == ("2", (("device", "tv"),))
    )
    assert ("labels or quality" in tv.reason) == is_loss
    assert ("worse rankings alone" in tv.reason) != is_loss


def test_a_slice_without_new_rankings_is_stale(store: SQLiteStore) -> None:
    put(store, make_rule(slices=("device",)))
    for day in range(8):
        store.append(PROJECT, make_day(day))
        if day < 4:
            store.append(PROJECT, make_day(day, device="tv"))
        advance(store, known_at(day))
        state = state_of(store)
        assert state.state == ("OK" if day < 5 else "STALE")
    assert state.reason == (
        "device=tv, model=m, version=1: no rankings for 4 days, since 8 Oct 2024; "
        "2 checked slices are at or above their floors"
    )
    pass_day(store, 8, make_day(8) + make_day(8, device="tv"))
    assert state_of(store).state == "OK"


def test_a_renamed_value_is_stale_and_the_new_one_says_why_it_is_not_judged(
    store: SQLiteStore,
) -> None:
    put(store, make_rule(slices=("device",)))
    slicing = Slicing(values=(("device", ("phone", "television", "tv")),))
    for day in range(6):
        store.append(PROJECT, make_day(day))
        store.append(PROJECT, make_day(day, device="tv" if day < 3 else "television"))
        advance_rules(store, PROJECT, CONFIGURATION, slicing, now=known_at(day), threads=1)
    streams = {dict(one.slice).get("device", ""): one for one in state_of(store).streams}
    assert streams["tv"].state == "STALE"
    assert streams["television"].state == "INSUFFICIENT"
    assert streams["television"].reason == "the baseline has 0 users or queries with a value"


def test_a_drop_of_a_slice_that_stops_is_not_over(store: SQLiteStore) -> None:
    put(store, make_rule(slices=("device",)))
    for day in range(9):
        store.append(PROJECT, make_day(day))
        if day < 4:
            store.append(PROJECT, make_day(day, BAD if day > 1 else GOOD, device="tv"))
        advance(store, known_at(day))
    assert state_of(store).state == "ALERT"


@pytest.mark.slow
def test_evidence_comes_back_from_its_text(store: SQLiteStore) -> None:
    place(store, slices=("device",))
    serve(store, every=HOUR)
    serve(store, RELEASE, RELEASE + 3 * DAY, "2", every=HOUR)
    check(store, RELEASE + 4 * DAY + 2 * HOUR)
    (row,) = store.list_rules(PROJECT)
    progress = RuleProgress.from_text(row.progress)
    assert progress.to_text() == row.progress
    assert RuleProgress.from_text(progress.to_text()) == progress
    assert len(row.progress) < len(progress.to_json()) / 2
    assert {len(one.lanes) for one in progress.streams} == {1, 3}


def test_a_set_with_other_grades_than_production_is_a_warning(store: SQLiteStore) -> None:
    events: list[Event] = []
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
    store.append(PROJECT, events)
    put(store, make_rule())
    store.append(PROJECT, make_day(0, users=200))
    advance(store, known_at(0), configuration)
    (warning,) = state_of(store).warnings
    assert "grades of the baseline are distributed unlike production's" in warning
    assert "100% grade 1 in production" in warning


@final_only
def test_a_tolerance_below_the_differences_between_days_is_a_warning(store: SQLiteStore) -> None:
    place(store, tolerance=0.01)
    for day in range(20):
        at = START + day * DAY
        serve(store, at, at + DAY, seed=day, quality=0.5 + 0.15 * math.sin(day * day))
    at = START + 20 * DAY
    serve(store, at, at + DAY, "2", seed=99)
    check(store, at + 2 * DAY + 2 * HOUR)
    assert any(one.startswith("days differ by 0.") for one in state_of(store).warnings)


@final_only
@pytest.mark.parametrize(
    ("days", "told"),
    [(28, "calibrated"), (14, "anytime: the baseline has 14 of 28 days")],
)
def test_a_stream_says_how_a_drop_is_told_from_chance(
    store: SQLiteStore, days: int, told: str
) -> None:
    place(store)
    release = START + days * DAY
    serve(store, until=release, every=20 * MINUTE)
    serve(store, release, release + 6 * DAY, "2", quality=0.3, every=20 * MINUTE)
    stream = check(store, release + 7 * DAY + 2 * HOUR)["2", ""]
    assert (stream.state, stream.to_dict()["method"]) == ("ALERT", told)
    assert stream.log_evidence >= stream.needed
    assert stream.since == to_datetime(release)
    serve(store, release + 6 * DAY, release + 12 * DAY, "2", seed=9, every=20 * MINUTE)
    assert check(store, release + 13 * DAY + 2 * HOUR)["2", ""].state == "OK"
