from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import UsageError
from rankscope._demo.story import Clock
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.incident import (
    ACTIVE,
    EVENTS,
    STATUSES,
    Incident,
    Notice,
    Notified,
    make_notice,
)
from rankscope.monitor.incidents.management import (
    list_rules,
    remove_rule,
    resolve_rule,
    silence_rule,
)
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.store.tables import rules as rule_rows

from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    PROJECT,
    START,
    VALIDATION,
    known_at,
    make_day,
    make_rule,
)
from tests.refusals import refuses


def fall(world):
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, BAD, BAD, BAD])))
    assert world.state_of().state == "ALERT"


def actions(world):
    return [(entry.actor, entry.action, entry.subject) for entry in world.store.audit(PROJECT)]


def test_what_was_done_is_written_down(world):
    world.put(make_rule())
    world.put(make_rule(channels=("log",)))
    world.put(make_rule(tolerance=0.5))
    silence_rule(world.store, PROJECT, "quality", 0, now=1, actor="bob")
    silence_rule(world.store, PROJECT, "quality", None, now=1, actor="bob")
    resolve_rule(world.store, PROJECT, "quality", now=2, actor="bob")
    remove_rule(world.store, PROJECT, "quality", now=3, actor="bob")
    assert actions(world) == [
        ("ada", "rule.create", "quality"),
        ("ada", "rule.change", "quality"),
        ("ada", "rule.change_and_restart", "quality"),
        ("bob", "rule.silence", "quality until 1970-01-01T00:00:00.000000Z"),
        ("bob", "rule.silence", "quality no more"),
        ("bob", "rule.resolve", "quality"),
        ("bob", "rule.remove", "quality"),
    ]
    assert list_rules(world.store, PROJECT) == ()


def test_projects_do_not_see_the_rules_of_each_other(world):
    world.put(make_rule())
    assert list_rules(world.store, "films") == ()
    with pytest.raises(UsageError):
        remove_rule(world.store, "films", "quality", now=0, actor="bob")
    assert list_rules(world.store, PROJECT) == (make_rule(),)
    assert "films" not in world.store.projects()


@pytest.mark.parametrize("do", [remove_rule, resolve_rule, partial(silence_rule, until=5)])
def test_a_rule_that_is_not_there_is_refused(world, do):
    with refuses(UsageError, "no_rule"):
        do(world.store, PROJECT, name="no such", now=0, actor="bob")


def test_a_change_of_what_is_measured_voids_the_evidence(world):
    fall(world)
    world.put(make_rule(tolerance=0.1), now=known_at(3))
    state = world.state_of()
    assert (state.state, state.streams) == ("INSUFFICIENT", ())
    assert world.list_turns() == ["opened", "resolved"]
    # It begins anew with the newest period.
    world.pass_day(4, make_day(4, BAD))
    (stream,) = world.state_of().streams
    assert (stream.state, stream.periods) == ("ALERT", 1)


def test_a_change_of_anything_else_does_not(world):
    fall(world)
    before = world.state_of()
    world.put(make_rule(channels=("log",)), now=known_at(3))
    after = world.state_of()
    assert (after.state, after.streams) == ("ALERT", before.streams)
    assert after.rule.channels == ("log",)


def test_a_silenced_rule_goes_on_and_tells_nobody(world):
    world.put(make_rule())
    silence_rule(world.store, PROJECT, "quality", START + 4 * DAY, now=START, actor="bob")
    for day, ranks in enumerate([GOOD, BAD, GOOD]):
        world.pass_day(day, make_day(day, ranks))
    assert world.list_turns() == ["opened", "recovered"]
    # People who were not told that it began are not told that it is over.
    assert world.list_told() == []


def test_what_is_resolved_is_well_until_it_falls_again(world):
    fall(world)
    resolve_rule(world.store, PROJECT, "quality", now=known_at(3), actor="bob")
    state = world.state_of()
    assert (state.state, [stream.periods for stream in state.streams]) == ("OK", [0])
    assert state.streams[0].floor is not None
    world.advance(known_at(3) + 1)
    assert world.state_of().state == "OK"
    for day in range(4, 8):
        world.pass_day(day, make_day(day, BAD))
    assert world.list_turns() == ["opened", "resolved", "opened"]
    told = [event for notice in world.list_told() for event, _ in notice.parts]
    assert told == ["opened", "resolved", "opened"]


def test_a_rule_that_is_changed_while_it_is_looked_at_is_looked_at_again(world, monkeypatch):
    world.put(make_rule())
    world.log(make_day(0))
    read = world.store.read

    def meddle(*args, **more):
        monkeypatch.setattr(world.store, "read", read)
        world.put(make_rule(channels=("log",)))
        return read(*args, **more)

    monkeypatch.setattr(world.store, "read", meddle)
    world.advance(known_at(0))
    world.advance(known_at(0))
    assert (world.state_of().state, world.state_of().rule.channels) == ("OK", ("log",))


def test_state_alert_and_notification_are_stored_together_or_not_at_all(world, monkeypatch):
    world.put(make_rule())
    for day, ranks in enumerate([GOOD, BAD, BAD]):
        world.log(make_day(day, ranks))

    def fail(*_args, **_more):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(rule_rows, "insert_notifications", fail)
        with pytest.raises(RuntimeError):
            world.advance(known_at(2))
    assert world.state_of().state == "INSUFFICIENT"
    assert list_incidents(world.store, PROJECT, "all") == ()
    world.advance(known_at(2))
    assert world.state_of().state == "ALERT"
    (incident,) = list_incidents(world.store, PROJECT)
    (notice,) = world.list_told()
    assert {one.notice_id for one in incident.notified} == {notice.notice_id}
    # Its evidence is newer than the notice.
    assert [(event, one.incident_id) for event, one in notice.parts] == [
        ("opened", incident.incident_id)
    ]


NOW = datetime(2026, 11, 8, 9, tzinfo=UTC)
TIMES = st.integers(0, 10**6).map(lambda seconds: NOW + timedelta(seconds=seconds))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
OBJECTS = st.dictionaries(TEXTS, TEXTS | st.integers() | st.none() | st.lists(TEXTS), max_size=3)
NAMES = ("incident_id", "project", "rule", "measure", "model", "version", "reason", "group")
NOTIFIED = st.builds(Notified, TIMES, st.sampled_from(EVENTS), TEXTS)
INCIDENTS = st.builds(
    Incident,
    **dict.fromkeys(NAMES, TEXTS),
    **dict.fromkeys(("opened", "updated"), TIMES),
    **dict.fromkeys(("began", "recovered", "resolved", "snoozed_until"), TIMES | st.none()),
    kind=st.sampled_from(tuple(PROBLEMS)),
    slice=st.dictionaries(TEXTS, TEXTS, max_size=2).map(lambda pairs: tuple(pairs.items())),
    severity=st.sampled_from(["warning", "critical"]),
    state=st.sampled_from(STATUSES),
    acknowledged_by=TEXTS | st.none(),
    evidence=OBJECTS,
    cause=OBJECTS | st.none(),
    notified=st.lists(NOTIFIED, max_size=2).map(tuple),
)


@given(INCIDENTS)
def test_an_incident_is_read_back_from_its_json(incident):
    assert Incident.from_json(incident.to_json()) == incident
    assert incident.is_active is (incident.state in ACTIVE)


@given(TIMES, TEXTS, st.lists(st.tuples(st.sampled_from(EVENTS), INCIDENTS), max_size=3))
def test_a_notice_is_read_back_from_its_json(time, group, parts):
    notice = make_notice("music", time, group, parts)
    said = tuple((event, replace(incident, notified=())) for event, incident in notice.parts)
    assert Notice.from_json(notice.to_json()) == replace(notice, parts=said)
    assert make_notice("music", time, group, parts).notice_id == notice.notice_id


def test_the_json_of_an_incident_is_the_contract_for_scripts():
    incident = Incident(
        incident_id="incident_1",
        project="music",
        rule="quality",
        measure="nDCG@5",
        kind="quality",
        model="gbdt",
        version="42",
        slice=(("device", "tv"),),
        opened=NOW,
        updated=NOW,
        began=NOW - timedelta(days=1),
        notified=(Notified(NOW, "opened", "log"),),
    )
    assert incident.to_dict() == {
        "id": "incident_1",
        "project": "music",
        "rule": "quality",
        "measure": "nDCG@5",
        "kind": "quality",
        "severity": "warning",
        "stream": {"model": "gbdt", "version": "42", "slice": {"device": "tv"}},
        "state": "open",
        "opened": "2026-11-08T09:00:00.000000Z",
        "began": "2026-11-07T09:00:00.000000Z",
        "updated": "2026-11-08T09:00:00.000000Z",
        "recovered": None,
        "resolved": None,
        "snoozed_until": None,
        "acknowledged_by": None,
        "reason": "",
        "before": None,
        "after": None,
        "evidence": {},
        "cause": None,
        "group": "",
        "notified": [
            {
                "time": "2026-11-08T09:00:00.000000Z",
                "event": "opened",
                "channel": "log",
                "notice": "",
            }
        ],
    }


DAYS = 4
STEP = 2 * HOUR
"""Days are final, and reminders due, at even hours."""
LAST = START + (DAYS + 1) * DAY
END = to_datetime(LAST)


def open_log(path, clock):
    """A log in which televisions fall on the third day, and are well again on the fourth."""
    monitor = Monitor.open(str(path), "music", now=clock, threads=1)
    monitor.configure(CONFIGURATION)
    monitor.writer.append("music", VALIDATION)
    for day in range(DAYS):
        tv = BAD if day == 2 else GOOD
        events = make_day(day, device="phone") + make_day(day, tv, device="tv")
        monitor.writer.append("music", events)
    rule = make_rule(slices=("device",), tolerance=0.1, remind=24.0)
    Monitor(monitor.writer, "music", clock=lambda: START).set_rule(rule)
    return monitor


def describe(monitor):
    """Every incident with its history, but for when its evidence was written."""
    return [monitor.incident(one.incident_id) for one in monitor.incidents("all")]


@pytest.mark.slow
def test_at_once_now_and_then_and_replayed_are_the_same(tmp_path):
    clock = Clock(START)
    with open_log(tmp_path / "slow.db", clock) as slow:
        while clock.time < LAST:
            clock.time += STEP
            slow.evaluate()
        expected = describe(slow)
        states = slow.check()
    assert {"opened", "recovered"} <= {
        change.action for _, history in expected for change in history
    }
    with open_log(tmp_path / "fast.db", Clock(LAST)) as fast:
        before = fast.store.last_seq, (tmp_path / "fast.db-wal").read_bytes()
        replayed = fast.replay()
        assert (fast.store.last_seq, (tmp_path / "fast.db-wal").read_bytes()) == before
        assert fast.incidents("all") == ()
        fast.evaluate(is_replay=True)
        assert describe(fast) == expected
        assert [one.state for one in fast.check()] == [one.state for one in states]
        assert [one.state for one in replayed.rules] == [one.state for one in states]
    by_id = {one.incident_id: one for one in replayed.incidents}
    assert by_id.keys() == {one.incident_id for one, _ in expected}
    for incident, _ in expected:
        found = by_id[incident.incident_id]
        assert (found.state, found.opened, found.recovered) == (
            incident.state,
            incident.opened,
            incident.recovered,
        )


def test_a_replay_goes_on_from_what_is_stored(tmp_path):
    clock = Clock(START + 3 * DAY + 3 * HOUR)
    with open_log(tmp_path / "events.db", clock) as monitor:
        monitor.evaluate()
        opened = monitor.incidents()
        assert opened
        replayed = monitor.replay(END)
        assert {one.incident_id for one in opened} <= {
            one.incident_id for one in replayed.incidents
        }
        assert replayed.as_of == END
        assert {one.state for one in replayed.incidents} == {"recovered"}
        assert monitor.incidents() == opened


def test_a_new_rule_is_replayed_from_the_first_ranking(tmp_path):
    with open_log(tmp_path / "events.db", Clock(LAST + 90 * DAY)) as monitor:
        monitor.set_rule(make_rule(name="late", slices=("device",)))
        found = {one.rule for one in monitor.replay(END).incidents}
        assert "late" in found
        assert min(to_micros(one.opened) for one in monitor.replay(END).incidents) < START + 5 * DAY


def test_a_replay_of_a_time_before_what_is_known_begins_again(tmp_path):
    fallen = to_datetime(START + 3 * DAY + 3 * HOUR)
    with open_log(tmp_path / "known.db", Clock(LAST)) as known:
        expected = known.replay(fallen)
        known.evaluate(is_replay=True)
        stored = describe(known)
        replayed = known.replay(fallen)
        assert describe(known) == stored
    assert expected.active
    assert (replayed.active, replayed.incidents) == (expected.active, expected.incidents)
    assert [one.state for one in replayed.rules] == [one.state for one in expected.rules]
