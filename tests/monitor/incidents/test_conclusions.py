from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope import UsageError
from rankscope.monitor.incidents import transitions
from rankscope.monitor.incidents.conclusion import conclude, find_next, settle
from rankscope.monitor.incidents.grouping import are_related
from rankscope.monitor.incidents.incident import LASTING
from rankscope.monitor.incidents.response import ACTIONS
from rankscope.monitor.incidents.transitions import RESOLVE_AFTER
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.run import Check
from rankscope.monitor.rules.state import Finding

from tests.monitor.notify.notices import make_incident

START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
RULE = Rule(name="quality", measure="nDCG@5")
DATA = Rule(name="data", kind="data")
TV, PHONE = (("device", "tv"),), (("device", "phone"),)


def find(verdict, place=(), **more):
    said = {"kind": "quality", "model": "m", "version": "4", "slice": place, "verdict": verdict}
    return Finding(**said | more)


class World:
    def __init__(self, *rules):
        self.rules = {rule.name: rule for rule in rules or (RULE,)}
        self.silenced = None
        self.incidents = {}
        self.changes = []
        self.notices = []

    def checks(self, findings=(), rule="quality", *, has_ended=False):
        """All rules, one of which has found something, perhaps at the end of a day."""
        return [
            Check(one, self.silenced, tuple(findings) if name == rule else (), has_ended)
            for name, one in self.rules.items()
        ]

    def lasting(self):
        return [one for one in self.incidents.values() if one.state in LASTING]

    def look(self, now, *findings, rule="quality", trace=None, has_ended=False):
        checks = self.checks(findings, rule, has_ended=has_ended)
        self.keep(conclude("music", self.lasting(), checks, now, find_cause=trace))

    @property
    def groups(self):
        return {one.group for one in self.incidents.values()}

    def keep(self, concluded):
        self.incidents |= {one.incident_id: one for one in concluded.incidents}
        self.changes += concluded.changes
        self.notices += concluded.notices

    def act(self, turn, now):
        checks = {check.rule.name: check for check in self.checks()}
        self.keep(settle("music", [turn], checks, now))

    def events(self):
        return [tuple(event for event, _ in notice.parts) for notice, _ in self.notices]

    @property
    def only(self):
        (incident,) = self.incidents.values()
        return incident


MOMENTS = st.tuples(
    st.integers(1, 40),
    st.lists(
        st.tuples(
            st.sampled_from(["bad", "good", "gone", "unknown"]), st.sampled_from([(), TV, PHONE])
        ),
        max_size=3,
        unique_by=lambda one: one[1],
    ),
    st.sampled_from(["nothing", "nothing", "acknowledge", "snooze", "resolve", "silence"]),
    st.integers(0, 9),
)


def play(moments):
    world, now = World(), START
    for hours, found, action, number in moments:
        now += hours * HOUR
        before = dict(world.incidents)
        done = len(world.changes)
        told = len(world.notices)
        world.look(now, *(find(verdict, place) for verdict, place in found))
        check_moment(world, before, world.changes[done:], world.notices[told:], now)
        chosen = sorted(world.lasting(), key=lambda one: one.incident_id)[number : number + 1]
        if action == "silence":
            world.silenced = now + number * HOUR
        for incident in chosen:
            end = now + (number + 1) * HOUR
            try:
                turn = respond(incident, action, now, end)
            except UsageError:
                continue
            if turn is not None:
                world.act(turn, now)
    return world


def respond(incident, action, now, end):
    until = {"until": end} if action == "snooze" else {}
    act = ACTIONS.get(action, lambda *_, **__: None)
    return act(incident, now, actor="ada", **until)


def check_moment(world, before, changes, notices, now):
    streams = [one.key for one in world.lasting()]
    assert len(streams) == len(set(streams))
    changed = {name for name, _ in changes}
    for name, incident in world.incidents.items():
        was = before.get(name)
        if was is None or was.state != incident.state:
            assert name in changed
        is_silent = world.silenced is not None and now < world.silenced
        if incident.state == "snoozed" or is_silent:
            assert not any(told.time == now for told in incident.notified)
        assert (incident.state == "recovered") <= (incident.recovered is not None)
        assert (incident.resolved is not None) is (incident.state in {"superseded", "resolved"})
        assert (incident.state == "snoozed") <= (incident.snoozed_until is not None)
    for notice, channels in notices:
        assert notice.parts
        assert channels == ("log", "webhook", "*")
        assert notice.is_digest or {one.group for _, one in notice.parts} == {notice.group}


@settings(max_examples=150, deadline=None)
@given(st.lists(MOMENTS, max_size=25))
def test_whatever_happens_a_stream_has_one_incident_and_each_change_a_row(moments):
    first, second = play(moments), play(moments)
    assert first.incidents == second.incidents
    assert first.changes == second.changes
    assert first.notices == second.notices


def test_an_incident_opens_once_recovers_and_is_resolved_three_days_later():
    world = World()
    world.look(START, find("bad", began=START - DAY, reason="it fell"))
    assert (world.only.state, world.only.opened, world.only.began) == ("open", START, START - DAY)
    world.look(START + HOUR, find("bad"), find("unknown", TV))
    world.look(START + 2 * HOUR, find("unknown"))
    world.look(START + 3 * HOUR, find("good", reason="it is well"))
    assert (world.only.state, world.only.recovered) == ("recovered", START + 3 * HOUR)
    assert world.only.reason == "it is well"
    end = START + 3 * HOUR + timedelta(days=3)
    assert find_next(world.lasting(), world.checks()) == end
    world.look(end - MICROSECOND)
    assert world.only.state == "recovered"
    world.look(end)
    assert (world.only.state, world.only.resolved) == ("resolved", end)
    assert world.events() == [("opened",), ("recovered",)]
    assert [change.action for _, change in world.changes] == ["opened", "recovered", "resolved"]


def test_a_second_stream_that_falls_later_is_notified():
    world = World()
    world.look(START, find("bad", TV, began=START))
    world.look(START + 3 * DAY, find("bad", TV), find("bad", PHONE, began=START + 3 * DAY))
    tv, phone = sorted(world.incidents.values(), key=lambda one: one.opened)
    assert (tv.slice, phone.slice) == (TV, PHONE)
    assert tv.group != phone.group
    assert ("opened",) in world.events()[1:]


def test_a_stream_that_is_bad_again_within_three_days_continues_its_incident():
    world = World()
    world.look(START, find("bad"))
    world.look(START + HOUR, find("good"))
    world.look(START + 2 * HOUR, find("bad"))
    assert (world.only.state, world.only.recovered) == ("open", None)
    world.look(START + 3 * HOUR, find("good"))
    world.look(START + 3 * HOUR + RESOLVE_AFTER)
    world.look(START + 9 * DAY, find("bad"))
    assert len(world.incidents) == 2
    assert world.events() == [
        ("opened",),
        ("recovered",),
        ("reopened",),
        ("recovered",),
        ("opened",),
    ]


def test_an_open_incident_reminds_once_a_day_and_an_acknowledged_one_never():
    world = World()
    world.look(START, find("bad"))
    assert find_next(world.lasting(), world.checks()) == START + DAY
    world.look(START + DAY)
    assert find_next(world.lasting(), world.checks()) == START + 2 * DAY
    world.act(
        transitions.acknowledge(world.only, START + DAY, actor="ada", note="mine"), START + DAY
    )
    assert (world.only.state, world.only.acknowledged_by) == ("acknowledged", "ada")
    assert find_next(world.lasting(), world.checks()) is None
    world.look(START + 9 * DAY, find("bad"))
    assert world.events() == [("opened",), ("reminded",)]
    world.look(START + 10 * DAY, find("good"))
    assert world.events()[-1] == ("recovered",)


def test_reminders_are_one_digest():
    world = World()
    world.look(START, find("bad", TV, began=START))
    world.look(START + 6 * HOUR, find("bad", PHONE, began=START))
    world.look(START + DAY)
    notice, _ = world.notices[-1]
    assert notice.is_digest
    assert [event for event, _ in notice.parts] == ["reminded", "reminded"]


def test_a_snoozed_incident_that_recovers_and_falls_again_stays_quiet():
    world = World()
    world.look(START, find("bad"))
    world.act(transitions.snooze(world.only, START, START + 2 * DAY, actor="ada"), START)
    world.look(START + HOUR, find("good"))
    world.look(START + 2 * HOUR, find("bad"))
    assert world.only.state == "snoozed"
    assert world.events() == [("opened",)]


def test_what_is_over_cannot_be_changed():
    world = World()
    world.look(START, find("bad"))
    with pytest.raises(UsageError, match="a time after"):
        transitions.snooze(world.only, START, START, actor="ada")
    world.look(START + HOUR, find("good"))
    with pytest.raises(UsageError, match="recovered cannot be acknowledged"):
        transitions.acknowledge(world.only, START + HOUR, actor="ada")
    world.act(transitions.resolve(world.only, START + HOUR, actor="ada"), START + HOUR)
    with pytest.raises(UsageError, match="resolved cannot be resolved"):
        transitions.resolve(world.only, START + HOUR, actor="ada")


def test_one_release_is_one_message_with_its_parts():
    world = World(RULE, DATA)
    places = [(), *((("device", f"d{number}"),) for number in range(20))]
    world.look(START, *(find("bad", place, began=START - DAY) for place in places))
    ((notice, _),) = world.notices
    assert len(notice.parts) == 21
    assert notice.parts[0][1].slice == ()
    assert world.groups == {notice.group}


def test_missing_data_that_explains_a_fall_share_its_group():
    world = World(RULE, DATA)
    lost = find("bad", (), kind="labels", version="", began=START - DAY)
    world.look(START, lost, rule="data")
    world.look(START + HOUR, find("bad", TV, began=START - DAY))
    labels, tv = sorted(world.incidents.values(), key=lambda one: one.opened)
    assert (labels.kind, tv.kind) == ("labels", "quality")
    assert labels.group == tv.group


@pytest.mark.parametrize(
    "other",
    [
        find("bad", PHONE, began=START),
        find("bad", PHONE, began=START, model="n"),
        find("bad", TV, began=START, model="n", kind="labels"),
        find("bad", TV, began=START + 3 * DAY, version=""),
    ],
)
def test_what_is_apart_has_groups_of_its_own(other):
    world = World()
    world.look(START, find("bad", TV, began=START))
    world.look(START + 3 * DAY, other)
    assert len(world.groups) == 2


@pytest.mark.parametrize("other", [{"model": "n"}, {"version": "5"}, {"model": "n", "version": ""}])
def test_a_fault_of_several_models_or_versions_is_one_group(other):
    world = World()
    places = [TV, (*TV, ("country", "de")), ()]
    found = [find("bad", place, began=START) for place in places]
    also = [find("bad", place, began=START + HOUR, **other) for place in places]
    world.look(START + DAY, *found, *also)
    assert len(world.incidents) == 6
    assert len(world.groups) == 1
    assert len(world.notices) == 1


@pytest.mark.parametrize(("field", "groups"), [("new_version", 2), ("sentence", 1)])
def test_models_have_causes_of_their_own_and_groups_if_both_have_a_new_version(field, groups):
    world = World()

    def trace(incident, _):
        return tell(TV) | {field: f"version={incident.model} 4"}

    found = [find("bad", TV, began=START, model=model) for model in "mn"]
    world.look(START, *found, trace=trace)
    said = {one.model: (one.cause or {})[field] for one in world.incidents.values()}
    assert said == {"m": "version=m 4", "n": "version=n 4"}
    assert len(world.groups) == groups


def test_an_incident_of_a_version_that_is_gone_is_superseded_and_says_so():
    world = World()
    reason = "nDCG@5 is 0.7226, below the floor of 0.7600"
    world.look(START, find("bad", reason=reason, began=START))
    world.look(START + DAY, find("gone", reason="version 4 is no longer served"))
    assert (world.only.state, world.only.resolved) == ("superseded", START + DAY)
    assert world.only.recovered is None
    assert world.only.reason == "version 4 is no longer served"
    assert [change.action for _, change in world.changes] == ["opened", "superseded"]
    notice, _ = world.notices[-1]
    message = write_message([notice.to_json()])
    assert message.title == "Superseded: nDCG@5 fell for m 4 (music)"
    assert message.text.startswith("Superseded: version 4 is no longer served")
    assert "floor" not in message.text
    assert message.urgency == "info"
    with pytest.raises(UsageError, match="superseded cannot be resolved"):
        transitions.resolve(world.only, START + DAY, actor="ada")


def test_the_start_of_an_incident_stays_what_people_were_told():
    world = World()
    world.look(START + DAY, find("bad", began=START + 9 * HOUR))
    world.look(START + 2 * DAY, find("bad", began=START, reason="new"))
    assert (world.only.began, world.only.reason) == (START + 9 * HOUR, "new")


def test_slices_with_the_same_traced_cause_share_a_group():
    world = World()
    cause = {"sentence": "version 4", "slice": {}, "new_version": "version=4"}
    for number, place in enumerate((TV, PHONE)):
        now = START + number * HOUR
        world.look(now, find("bad", place, began=START), trace=lambda *_: cause)
    assert len(world.groups) == 1
    assert {one.cause["sentence"] for one in world.incidents.values() if one.cause} == {"version 4"}


def tell(place, p_value=0.01):
    return {"sentence": str(place), "slice": dict(place), "p_value": p_value, "contribution": -0.1}


def test_a_group_has_the_best_cause_of_its_parts_unless_that_contradicts_a_slice():
    world = World()
    causes = {(): tell(()), TV: tell(TV), (("country", "de"),): None, PHONE: tell(PHONE, 0.02)}
    findings = [find("bad", place, began=START) for place in causes]
    world.look(START, *findings, trace=lambda one, _: causes[one.slice])
    assert len(world.groups) == 1
    told = {one.slice: one.cause for one in world.incidents.values()}
    assert told == {
        (): tell(TV),
        TV: tell(TV),
        (("country", "de"),): tell(TV),
        PHONE: causes[PHONE],
    }


def test_the_cause_is_traced_again_with_each_day_that_is_final_for_a_week():
    world = World()
    asked = []

    def find_cause(_, now):
        asked.append(now)
        return tell(TV) if now == START + DAY else None

    for passed in (0 * DAY, 5 * HOUR, DAY, 2 * DAY, 7 * DAY, 7 * DAY + MICROSECOND):
        has_ended = passed != 5 * HOUR
        world.look(START + passed, find("bad", TV), trace=find_cause, has_ended=has_ended)
        assert world.only.cause == (None if passed < DAY else tell(TV))
    assert asked == [START, START + DAY, START + 2 * DAY, START + 7 * DAY]
    assert [change.action for _, change in world.changes if change.action != "reminded"] == [
        "opened"
    ]


def test_a_cause_stays_where_later_only_the_lists_tell():
    world = World()
    facts = {"sentence": "", "slice": {}, "facts": [{"sentence": "Lists are shorter."}]}
    told = [facts, tell(TV), facts]
    for day, cause in enumerate([facts, tell(TV), tell(TV)]):
        world.look(START + day * DAY, find("bad", TV), trace=lambda *_: told.pop(0), has_ended=True)
        assert world.only.cause == cause


def test_a_silenced_rule_and_a_snoozed_incident_are_quiet_and_then_heard_if_it_lasts():
    world = World()
    world.silenced = START + 2 * DAY
    world.look(START, find("bad"))
    assert (world.only.state, world.notices) == ("open", [])
    assert find_next(world.lasting(), world.checks()) == world.silenced
    world.look(world.silenced)
    assert world.events() == [("reminded",)]
    world = World()
    world.look(START, find("bad"))
    end = START + 30 * HOUR
    world.act(transitions.snooze(world.only, START, end, actor="ada"), START)
    world.look(START + DAY, find("bad"))
    assert find_next(world.lasting(), world.checks()) == end
    world.look(end)
    assert (world.only.state, world.only.snoozed_until) == ("open", None)
    assert world.events() == [("opened",), ("reminded",)]


def test_a_fall_that_gets_much_worse_is_notified_again():
    world = World()
    falls = {1: 0.06, 2: 0.08, 3: 0.13, 4: 0.2, 5: 0.27, 6: 0.1}
    for day, fall in falls.items():
        if day == 5:
            world.act(transitions.acknowledge(world.only, START + day * DAY, actor="ada"), START)
        world.look(START + day * DAY, find("bad", evidence={"fall": fall}))
    worsened = [change.time for _, change in world.changes if change.action == "worsened"]
    # Twice the reported fall, and 0.05 more: 0.13 notifies again after 0.06, and 0.27 after 0.13.
    assert worsened == [START + 3 * DAY, START + 5 * DAY]
    assert world.only.state == "acknowledged"
    times = [notice.time for notice, _ in world.notices]
    assert [time for (*_, event), time in zip(world.events(), times, strict=True)
            if event == "worsened"] == worsened  # fmt: skip


def test_nobody_hears_of_what_gets_worse_during_a_snooze():
    world = World()
    world.look(START, find("bad", evidence={"fall": 0.1}))
    world.act(transitions.snooze(world.only, START, START + DAY, actor="ada"), START)
    world.look(START + HOUR, find("bad", evidence={"fall": 0.3}))
    assert world.events() == [("opened",)]
    assert [change.action for _, change in world.changes][-1] == "worsened"
    assert world.only.state == "snoozed"


def worsen(told, fall):
    incident = make_incident(told_fall=told)
    finding = Finding(kind="quality", verdict="bad", evidence={"fall": fall})
    turn = transitions.take_finding(incident, finding, START)
    return turn is not None and turn.event == "worsened"


def test_a_fall_is_worse_if_it_is_twice_as_large_and_by_a_twentieth():
    assert [worsen(0.1, fall) for fall in (0.1999, 0.2, 0.2001)] == [False, True, True]
    limit = 0.01 + 0.05
    assert [worsen(0.01, fall) for fall in (limit - 1e-9, limit, limit + 1e-9)] == [
        False,
        True,
        True,
    ]


def test_a_note_has_at_most_2_000_characters():
    for length in (1999, 2000):
        transitions.acknowledge(make_incident(), START, actor="ada", note="x" * length)
    with pytest.raises(UsageError, match="at most 2,000 characters, found 2,001"):
        transitions.acknowledge(make_incident(), START, actor="ada", note="x" * 2001)


def test_one_cause_begins_at_most_two_periods_apart():
    lengths = {"quality": timedelta(days=1), "hourly": timedelta(hours=1)}
    one = make_incident(began=START)
    for apart in (-MICROSECOND, timedelta(), MICROSECOND):
        other = make_incident(began=START - timedelta(days=2) - apart)
        assert are_related(one, other, lengths) == (apart <= timedelta())
        hourly = make_incident(rule="hourly", began=START - timedelta(hours=2) - apart)
        of_hour = replace(one, rule="hourly")
        assert are_related(of_hour, hourly, lengths) == (apart <= timedelta())
