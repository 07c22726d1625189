"""What people do with rules: make, change, silence, resolve and remove them."""

from __future__ import annotations

from functools import partial

import pytest
from rankscope import UsageError
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.incidents.management import (
    list_rules,
    remove_rule,
    resolve_rule,
    silence_rule,
)
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.store.tables import rules as rule_rows

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
    state_of,
    watch,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.store.sqlite.store import SQLiteStore


def fall(store: SQLiteStore) -> None:
    """Let a rule find a drop."""
    watch(store, *(make_day(day, ranks) for day, ranks in enumerate([GOOD, BAD, BAD, BAD])))
    assert state_of(store).state == "ALERT"


def actions(store: SQLiteStore) -> list[tuple[str, str, str]]:
    """What was done, by whom and to what."""
    return [(entry.actor, entry.action, entry.subject) for entry in store.audit(PROJECT)]


def test_what_was_done_is_written_down(store: SQLiteStore) -> None:
    put(store, make_rule())
    put(store, make_rule(channels=("log",)))
    put(store, make_rule(tolerance=0.5))
    silence_rule(store, PROJECT, "quality", 0, now=1, actor="bob")
    silence_rule(store, PROJECT, "quality", None, now=1, actor="bob")
    resolve_rule(store, PROJECT, "quality", now=2, actor="bob")
    remove_rule(store, PROJECT, "quality", now=3, actor="bob")
    assert actions(store) == [
        ("ada", "rule.create", "quality"),
        ("ada", "rule.change", "quality"),
        ("ada", "rule.change_and_restart", "quality"),
        ("bob", "rule.silence", "quality until 1970-01-01T00:00:00.000000Z"),
        ("bob", "rule.silence", "quality no more"),
        ("bob", "rule.resolve", "quality"),
        ("bob", "rule.remove", "quality"),
    ]
    assert list_rules(store, PROJECT) == ()


def test_projects_do_not_see_the_rules_of_each_other(store: SQLiteStore) -> None:
    put(store, make_rule())
    assert list_rules(store, "films") == ()
    with pytest.raises(UsageError):
        remove_rule(store, "films", "quality", now=0, actor="bob")
    assert list_rules(store, PROJECT) == (make_rule(),)
    assert "films" not in store.projects()


@pytest.mark.parametrize("do", [remove_rule, resolve_rule, partial(silence_rule, until=5)])
def test_a_rule_that_is_not_there_is_refused(store: SQLiteStore, do: partial[None]) -> None:
    with pytest.raises(UsageError) as refused:
        do(store, PROJECT, name="no such", now=0, actor="bob")
    assert refused.value.code == "no_rule"


def test_a_change_of_what_is_measured_voids_the_evidence(store: SQLiteStore) -> None:
    fall(store)
    put(store, make_rule(tolerance=0.1), now=known_at(3))
    state = state_of(store)
    assert (state.state, state.streams) == ("INSUFFICIENT", ())
    assert list_turns(store) == ["opened", "resolved"]
    # It begins anew with the newest period.
    pass_day(store, 4, make_day(4, BAD))
    (stream,) = state_of(store).streams
    assert (stream.state, stream.periods) == ("ALERT", 1)


def test_a_change_of_anything_else_does_not(store: SQLiteStore) -> None:
    fall(store)
    before = state_of(store)
    put(store, make_rule(channels=("log",)), now=known_at(3))
    after = state_of(store)
    assert (after.state, after.streams) == ("ALERT", before.streams)
    assert after.rule.channels == ("log",)


def test_a_silenced_rule_goes_on_and_tells_nobody(store: SQLiteStore) -> None:
    put(store, make_rule())
    silence_rule(store, PROJECT, "quality", START + 4 * DAY, now=START, actor="bob")
    for day, ranks in enumerate([GOOD, BAD, GOOD]):
        pass_day(store, day, make_day(day, ranks))
    assert list_turns(store) == ["opened", "recovered"]
    # People who were not told that it began are not told that it is over.
    assert list_told(store) == []


def test_what_is_resolved_is_well_until_it_falls_again(store: SQLiteStore) -> None:
    fall(store)
    resolve_rule(store, PROJECT, "quality", now=known_at(3), actor="bob")
    state = state_of(store)
    assert (state.state, [stream.periods for stream in state.streams]) == ("OK", [0])
    assert state.streams[0].floor is not None
    advance(store, known_at(3) + 1)
    assert state_of(store).state == "OK"
    for day in range(4, 8):
        pass_day(store, day, make_day(day, BAD))
    assert list_turns(store) == ["opened", "resolved", "opened"]
    told = [event for notice in list_told(store) for event, _ in notice.parts]
    assert told == ["opened", "resolved", "opened"]


def test_a_rule_that_is_changed_while_it_is_looked_at_is_looked_at_again(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, make_rule())
    store.append(PROJECT, make_day(0))
    read = store.read

    def meddle(*args: object, **more: object) -> object:
        monkeypatch.setattr(store, "read", read)
        put(store, make_rule(channels=("log",)))
        return read(*args, **more)

    monkeypatch.setattr(store, "read", meddle)
    advance(store, known_at(0))
    advance(store, known_at(0))
    assert (state_of(store).state, state_of(store).rule.channels) == ("OK", ("log",))


def test_state_alert_and_notification_are_stored_together_or_not_at_all(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, make_rule())
    for day, ranks in enumerate([GOOD, BAD, BAD]):
        store.append(PROJECT, make_day(day, ranks))

    def fail(*_args: object, **_more: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(rule_rows, "insert_notifications", fail)
        with pytest.raises(RuntimeError):
            advance(store, known_at(2))
    assert state_of(store).state == "INSUFFICIENT"
    assert list_incidents(store, PROJECT, "all") == ()
    advance(store, known_at(2))
    assert state_of(store).state == "ALERT"
    (incident,) = list_incidents(store, PROJECT)
    (notice,) = list_told(store)
    assert {one.notice_id for one in incident.notified} == {notice.notice_id}
    # Its evidence is newer than the notice.
    assert [(event, one.incident_id) for event, one in notice.parts] == [
        ("opened", incident.incident_id)
    ]
