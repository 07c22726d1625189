from __future__ import annotations

from dataclasses import fields

import pytest
from rankscope.errors import FileError, UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import DEFAULTS, Rule
from rankscope.monitor.setup.file import read_setup
from rankscope.monitor.setup.plan import Plan, apply_projects, find_plan, list_left_out
from rankscope.monitor.setup.project import find_project, read_project
from rankscope.monitor.setup.toml import write_setup
from rankscope.monitor.store.records import ProjectChange
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.refusals import refuses

NOW = 1_788_220_800_000_000
FIELDS = {
    "definition": {
        "attribution": {"positive": {"click": 1}},
        "window": "1h",
        "measures": ["nDCG@5"],
    },
    "baseline": "none",
    "rules": {"low": {"kind": "limit", "measure": "nDCG@5", "below": 0.9}},
}


def want(name="music", **changes):
    """A project as a file wants it; `rules` replaces all of them."""
    fields = FIELDS | changes
    return read_project(name, fields | {"definition": FIELDS["definition"] | fields["definition"]})


def apply(store, *wanted, actor="ann", now=NOW):
    return list(apply_projects(store, wanted or [want()], now=now, actor=actor))


def tell(plan):
    return [(step.action, step.what, step.name) for step in plan.steps]


def digest(store):
    names = store.projects()
    return tuple(
        (
            name,
            store.configurations(name),
            store.list_rules(name),
            store.audit(name),
        )
        for name in names
    )


def test_a_project_that_is_new_has_everything_that_the_file_says(store):
    [plan] = apply(store)
    assert tell(plan) == [
        ("add", "configuration", ""),
        ("add", "rule", "data"),
        ("add", "rule", "early"),
        ("add", "rule", "low"),
    ]
    assert find_project(store, "music") == want()
    assert [(entry.action, entry.actor) for entry in store.audit("music")] == [
        ("configuration.set", "ann"),
        *[("rule.create", "ann")] * 3,
        ("setup.apply", "ann"),
    ]


def test_a_plan_says_what_an_apply_does_and_changes_nothing(store):
    for wanted in (want(), want(rules={}), want(baseline="version", definition={"window": "2h"})):
        before = digest(store)
        plan = find_plan(store, wanted, now=NOW)
        assert digest(store) == before
        assert apply(store, wanted) == [plan]
        assert plan.steps


def test_an_apply_that_changes_nothing_writes_nothing(store):
    apply(store)
    before = digest(store)
    for _ in range(2):
        [plan] = apply(store, now=NOW + HOUR)
        assert plan == Plan("music", ())
        assert str(plan) == "music: no changes"
    assert digest(store) == before


def test_the_result_depends_on_the_file_alone(store, tmp_path):
    for wanted in (want(rules={"data": False}), want(attributes=["device"]), want(rules={})):
        apply(store, wanted)
    apply(store)
    with SQLiteStore(tmp_path / "other.db") as other:
        apply(other)
        assert find_project(other, "music") == find_project(store, "music")


def test_a_rule_that_is_left_out_is_removed_and_the_project_is_not(store):
    apply(store, want(), want("books"))
    [plan] = apply(store, want(rules={}))
    assert tell(plan) == [("remove", "rule", "low")]
    assert find_project(store, "music").rules == dict(DEFAULTS)
    assert find_project(store, "books") == want("books")
    assert list_left_out(store, [want()]) == ["books"]


def test_the_rule_that_every_project_has_stays_until_the_file_leaves_it_out(store):
    apply(store)
    assert tell(apply(store, want(rules={"data": False}))[0]) == [
        ("remove", "rule", "data"),
        ("remove", "rule", "low"),
    ]
    assert tell(apply(store, want(rules={}))[0]) == [("add", "rule", "data")]
    critical = {"data": {"kind": "data", "severity": "critical"}}
    [plan] = apply(store, want(rules=critical))
    assert plan.steps[0].changes == ("severity: warning → critical",)


@pytest.mark.parametrize(
    ("changes", "told", "recomputes"),
    [
        ({"definition": {"window": "2h"}}, "definition.window: 1h → 2h", True),
        (
            {"definition": {"attribution": {"positive": {"click": 2, "buy": 5}}}},
            "definition.attribution.positive.buy: none → 5",
            True,
        ),
        ({"attributes": ["device"]}, "attributes: none → device", True),
        ({"grace": "2h"}, "grace: 1h → 2h", False),
        ({"most": 7}, "most: 50 → 7", True),
    ],
)
def test_a_change_of_the_configuration_says_whether_values_are_recomputed(
    store, changes, told, *, recomputes
):
    apply(store)
    [step] = [one for one in find_plan(store, want(**changes), now=NOW).steps if not one.name]
    assert told in step.changes
    assert bool(step.effect) == recomputes


def test_a_change_of_a_rule_says_whether_its_evidence_is_void(store):
    apply(store)
    low = FIELDS["rules"]["low"]
    [step] = find_plan(store, want(rules={"low": low | {"severity": "critical"}}), now=NOW).steps
    assert (step.changes, step.effect) == (("severity: warning → critical",), "")
    [step] = find_plan(store, want(rules={"low": low | {"below": 0.8}}), now=NOW).steps
    assert step.changes == ("below: 0.9 → 0.8",)
    assert step.effect.startswith("Its evidence starts fresh")


def test_what_people_did_since_the_last_apply_is_named(store):
    apply(store)
    assert all(step.drift == "" for step in find_plan(store, want(rules={}), now=NOW).steps)
    monitor = Monitor(store, "music", clock=lambda: NOW + HOUR)
    monitor.set_rule(Rule(name="low", kind="limit", measure="nDCG@5", below=0.5), actor="key k1")
    monitor.remove_rule("data", actor="bob")
    changed = Configuration(
        definition=define(measures=["nDCG@5"], positive="click", window="1h"),
        attributes=("device",),
    )
    monitor.configure(changed, actor="page")
    drifts = {step.name: step.drift for step in find_plan(store, want(), now=NOW).steps}
    when = "on 1 Sep 2026, 01:00 UTC, after the files were last applied."
    assert drifts == {
        "": f"Changed by page {when}",
        "data": f"Changed by bob {when}",
        "low": f"Changed by key k1 {when}",
    }
    apply(store)
    assert find_plan(store, want(), now=NOW).steps == ()


def test_a_silence_stays_and_so_does_evidence_of_rules_that_stay(store):
    apply(store)
    monitor = Monitor(store, "music", clock=lambda: NOW)
    monitor.silence("low", to_datetime(NOW + HOUR))
    before = store.find_rule("music", "low")
    apply(store, want(grace="2h"))
    assert store.find_rule("music", "low") == before
    low = FIELDS["rules"]["low"] | {"severity": "critical"}
    apply(store, want(rules={"low": low}))
    after = store.find_rule("music", "low")
    assert after is not None
    assert after.silenced_until == NOW + HOUR


def test_incidents_of_a_rule_that_is_removed_are_resolved(store):
    apply(store)
    monitor = Monitor(store, "music", clock=lambda: NOW + 30 * HOUR)
    shown = {"doc_ids": ["a", "b"]}
    rankings = [
        {"ranking_id": f"r{at}", "time": format_time(NOW + at * HOUR // 4), **shown}
        for at in range(96)
    ]
    labels = [
        {"ranking_id": one["ranking_id"], "doc_id": "b", "time": one["time"], "label": "click"}
        for one in rankings
    ]
    monitor.log_rankings(rankings)
    monitor.log_labels(labels)
    monitor.evaluate(is_replay=True)
    [incident] = [one for one in monitor.incidents("open") if one.rule == "low"]
    apply(store, want(rules={}), now=NOW + 31 * HOUR)
    assert monitor.incident(incident.incident_id)[0].state == "resolved"


def test_all_projects_are_changed_or_none(store, monkeypatch):
    apply(store, want(), want("books"))
    before = digest(store)
    true = SQLiteStore.change_projects
    count = 0

    def change(opened, changes):
        """Change a rule of the second project just before."""
        nonlocal count
        count += 1
        rule = Rule(name="low", kind="limit", measure="nDCG@5", below=0.1 * count)
        Monitor(opened, "books", clock=lambda: NOW).set_rule(rule, actor="bob")
        return true(opened, changes)

    monkeypatch.setattr(SQLiteStore, "change_projects", change)
    with refuses(FileError, "store_busy"):
        apply(store, want(rules={}), want("books", rules={}))
    assert count > 1
    assert digest(store)[1] == before[1]  # music is as it was
    monkeypatch.undo()
    apply(store, want(rules={}), want("books", rules={}))
    assert find_project(store, "books") == want("books", rules={})


def test_a_change_that_fails_halfway_leaves_nothing(store):
    apply(store, want(), want("books"))
    before = digest(store)
    good = ProjectChange(
        project="music",
        before=store.configuration("music"),
        known={row.name: row.revision for row in store.list_rules("music")},
        time=NOW,
        actor="ann",
        configuration="{}",
        rows=(),
        removed=(),
        incidents=(),
        changes=(),
        notices=(),
        audit=(),
    )
    bad = ProjectChange(
        **{field.name: getattr(good, field.name) for field in fields(good)}
        | {"project": "books", "before": store.configuration("books"), "removed": ("low",)}
    )
    with pytest.raises(KeyError):  # a removal without its audit
        store.change_projects([good, bad])
    assert digest(store) == before


def test_rules_are_checked_against_the_new_configuration(store):
    apply(store)
    with pytest.raises(UsageError, match="measure: expected one of nDCG@10"):
        want(definition={"measures": ["nDCG@10"]})
    rules = {"low": FIELDS["rules"]["low"] | {"measure": "nDCG@10"}}
    [plan] = apply(store, want(definition={"measures": ["nDCG@10"]}, rules=rules))
    assert tell(plan) == [("change", "configuration", ""), ("change", "rule", "low")]


def test_a_plan_prints_no_control_characters(store):
    apply(store, want(attributes=["a\u202eb\x1b[31m"]))
    [plan] = apply(store, want(attributes=["\x1b[2J"]))
    assert "\x1b" not in str(plan)
    assert "\u202e" not in str(plan)


SET_AT = 1_795_284_000_000_000
FILE = """
[projects.music.definition]
window = "24h"
attribution.positive = {click = 1}
"""
ROLES = """
[projects.music.roles]
viewer = ["group:everyone", "Ben@example.com"]
admin = ["ann@example.com"]
"""


def read(folder, text):
    file = folder / "rankscope.toml"
    file.write_text(text)
    [project] = read_setup(str(file)).projects
    return project


def apply_roles(store, wanted):
    [plan] = apply_projects(store, [wanted], now=SET_AT, actor="ann")
    return [line for step in plan.steps if step.what == "roles" for line in step.changes]


def test_roles_are_made_as_the_file_says_and_others_are_taken_away(tmp_path, store):
    store.set_roles("music", {"eve@example.com": "admin", "group:everyone": "editor"}, 1, "eve")
    assert apply_roles(store, read(tmp_path, FILE + ROLES)) == [
        "ann@example.com: none → admin",
        "ben@example.com: none → viewer",
        "eve@example.com: admin → none",
        "group:everyone: editor → viewer",
    ]
    assert store.roles("music") == {
        "ann@example.com": "admin",
        "ben@example.com": "viewer",
        "group:everyone": "viewer",
    }
    assert apply_roles(store, read(tmp_path, FILE + ROLES)) == []


def test_a_file_without_roles_leaves_them_alone_and_with_them_is_read_back(tmp_path, store):
    apply_roles(store, read(tmp_path, FILE + ROLES))
    before = store.roles("music")
    assert apply_roles(store, read(tmp_path, FILE)) == []
    assert store.roles("music") == before
    assert len(apply_roles(store, read(tmp_path, FILE + "[projects.music.roles]\n"))) == 3
    assert store.roles("music") == {}
    apply_roles(store, read(tmp_path, FILE + ROLES))
    found = find_project(store, "music")
    assert read(tmp_path, write_setup([found])) == found


def test_a_role_that_was_changed_by_hand_is_said(tmp_path, store):
    wanted = read(tmp_path, FILE + ROLES)
    apply_roles(store, wanted)
    assert find_plan(store, wanted, now=SET_AT).steps == ()
    store.set_roles("music", {"ann@example.com": "viewer"}, SET_AT, "eve@example.com")
    [step] = find_plan(store, wanted, now=SET_AT).steps
    assert (step.what, step.changes) == ("roles", ("ann@example.com: viewer → admin",))
    assert "Changed by eve@example.com on 21 Nov 2026" in step.drift


def test_roles_that_somebody_changed_meanwhile_are_not_overwritten(tmp_path, store, monkeypatch):
    wanted, change = read(tmp_path, FILE + ROLES), store.change_projects
    calls = []

    def meddle(changes):
        if not calls:
            store.set_roles("music", {"eve@example.com": "viewer"}, SET_AT, "eve")
        calls.append(changes)
        return bool(change(changes))

    monkeypatch.setattr(store, "change_projects", meddle)
    assert "eve@example.com: viewer → none" in apply_roles(store, wanted)
    assert len(calls) == 2
