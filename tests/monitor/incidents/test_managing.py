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
    World,
    known_at,
    make_day,
    make_rule,
)
from tests.refusals import refuses


def fall(world: World) -> None:
    """Let a rule find a drop."""
    world.watch(*(make_day(day, ranks) for day, ranks in enumerate([GOOD, BAD, BAD, BAD])))
    assert world.state_of().state == "ALERT"


def actions(world: World) -> list[tuple[str, str, str]]:
    """What was done, by whom and to what."""
    return [(entry.actor, entry.action, entry.subject) for entry in world.store.audit(PROJECT)]


def test_what_was_done_is_written_down(world: World) -> None:
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


def test_projects_do_not_see_the_rules_of_each_other(world: World) -> None:
    world.put(make_rule())
    assert list_rules(world.store, "films") == ()
    with pytest.raises(UsageError):
        remove_rule(world.store, "films", "quality", now=0, actor="bob")
    assert list_rules(world.store, PROJECT) == (make_rule(),)
    assert "films" not in world.store.projects()


@pytest.mark.parametrize("do", [remove_rule, resolve_rule, partial(silence_rule, until=5)])
def test_a_rule_that_is_not_there_is_refused(world: World, do: partial[None]) -> None:
    with refuses(UsageError, "no_rule"):
        do(world.store, PROJECT, name="no such", now=0, actor="bob")


def test_a_change_of_what_is_measured_voids_the_evidence(world: World) -> None:
    fall(world)
    world.put(make_rule(tolerance=0.1), now=known_at(3))
    state = world.state_of()
    assert (state.state, state.streams) == ("INSUFFICIENT", ())
    assert world.list_turns() == ["opened", "resolved"]
    # It begins anew with the newest period.
    world.pass_day(4, make_day(4, BAD))
    (stream,) = world.state_of().streams
    assert (stream.state, stream.periods) == ("ALERT", 1)


def test_a_change_of_anything_else_does_not(world: World) -> None:
    fall(world)
    before = world.state_of()
    world.put(make_rule(channels=("log",)), now=known_at(3))
    after = world.state_of()
    assert (after.state, after.streams) == ("ALERT", before.streams)
    assert after.rule.channels == ("log",)


def test_a_silenced_rule_goes_on_and_tells_nobody(world: World) -> None:
    world.put(make_rule())
    silence_rule(world.store, PROJECT, "quality", START + 4 * DAY, now=START, actor="bob")
    for day, ranks in enumerate([GOOD, BAD, GOOD]):
        world.pass_day(day, make_day(day, ranks))
    assert world.list_turns() == ["opened", "recovered"]
    # People who were not told that it began are not told that it is over.
    assert world.list_told() == []


def test_what_is_resolved_is_well_until_it_falls_again(world: World) -> None:
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


def test_a_rule_that_is_changed_while_it_is_looked_at_is_looked_at_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(make_rule())
    world.log(make_day(0))
    read = world.store.read

    def meddle(*args: object, **more: object) -> object:
        monkeypatch.setattr(world.store, "read", read)
        world.put(make_rule(channels=("log",)))
        return read(*args, **more)

    monkeypatch.setattr(world.store, "read", meddle)
    world.advance(known_at(0))
    world.advance(known_at(0))
    assert (world.state_of().state, world.state_of().rule.channels) == ("OK", ("log",))


def test_state_alert_and_notification_are_stored_together_or_not_at_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(make_rule())
    for day, ranks in enumerate([GOOD, BAD, BAD]):
        world.log(make_day(day, ranks))

    def fail(*_args: object, **_more: object) -> None:
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
