"""A log of the past that is replayed gives what evaluating it all the time has given."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankscope.demo.playback import Clock
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.monitor import Monitor

from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    START,
    VALIDATION,
    make_day,
    make_rule,
)

DAYS = 4
STEP = 2 * HOUR
"""Days are final, and reminders due, at even hours."""
LAST = START + (DAYS + 1) * DAY
END = to_datetime(LAST)


def open_log(path: Path, clock: Clock) -> Monitor:
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


def describe(monitor: Monitor) -> list[tuple[Incident, tuple[object, ...]]]:
    """Every incident with its history, but for when its evidence was written."""
    return [monitor.incident(one.incident_id) for one in monitor.incidents("all")]


@pytest.mark.slow
def test_at_once_now_and_then_and_replayed_are_the_same(tmp_path: Path) -> None:
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


def test_a_replay_goes_on_from_what_is_stored(tmp_path: Path) -> None:
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


def test_a_new_rule_is_replayed_from_the_first_ranking(tmp_path: Path) -> None:
    with open_log(tmp_path / "events.db", Clock(LAST + 90 * DAY)) as monitor:
        monitor.set_rule(make_rule(name="late", slices=("device",)))
        found = {one.rule for one in monitor.replay(END).incidents}
        assert "late" in found
        assert min(to_micros(one.opened) for one in monitor.replay(END).incidents) < START + 5 * DAY


def test_a_replay_of_a_time_before_what_is_known_begins_again(tmp_path: Path) -> None:
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
