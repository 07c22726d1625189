from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.pages.groups import write_multiple
from rankscope.monitor.server.pages.incidents import _name_chart
from rankscope.monitor.server.pages.rules import fill_form, read_form

from tests.monitor.notify.notices import make_incident
from tests.monitor.server.pages.site import (
    as_json,
    check_page,
    find_links,
    get,
    open_monitor,
    send,
    watch_story,
)
from tests.monitor.server.service import NOW

FIELDS = {
    "name": "quality",
    "measure": "nDCG@5",
    "kind": "drop",
    "period": "day",
    "tolerance": "0.02",
    "false_alarms": "0.05",
    "severity": "warning",
    "remind": "24",
    "channels": "",
    "slices": "device",
}


def list_rules(monitor):
    """The rules that people have made: all but the one about data."""
    return tuple(rule for rule in monitor.rules() if rule.name != "data")


def state_of(monitor):
    """How the rule of the story stands, beside the one about data."""
    return next(one for one in monitor.check() if one.rule.name == "quality")


def test_there_are_no_rules_yet(site):
    open_monitor(site.store)
    reader = check_page(get(site, "/rules"))
    assert "No rules about quality yet" in reader.text
    assert "rankscope monitor rule add STORE quality --measure nDCG@5" in reader.text


def test_the_rules_that_every_project_gets_have_pages(site):
    monitor = open_monitor(site.store, watches_data=True)
    assert [rule.kind for rule in monitor.rules()] == ["data", "early"]
    reader = check_page(get(site, "/rules"))
    assert {"/rules/data", "/rules/early"} <= set(find_links(reader))
    assert "No rules about quality yet" in reader.text
    for path in ("/rules/data", "/rules/early"):
        check_page(get(site, path))


def test_an_incident_is_on_all_pages_with_its_reason_and_its_evidence(watched):
    monitor = open_monitor(watched.store)
    state = state_of(monitor)
    assert state.state == "ALERT"
    assert len(state.reason) > 200
    incidents = monitor.incidents()
    links = {each.link for each in incidents}
    assert links
    for path in ("/", "/incidents", "/rules/quality"):
        assert links & set(find_links(check_page(get(watched, path))))
    for path in ("/rules", "/rules/quality"):
        text = check_page(get(watched, path)).text
        assert "ALERT" in text
        assert state.reason in text
    count = len(incidents)
    for path in ("/", "/incidents"):
        assert f"<title>{count} active" in get(watched, path)
        assert f"{count} active incident" in check_page(get(watched, path)).text
    reader = check_page(get(watched, "/rules/quality"))
    for stream in state.streams:
        assert stream.name in reader.text
        if stream.needed is not None:
            assert write_multiple(stream.log_evidence - stream.needed) in reader.text
        if stream.floor is not None:
            assert f"{stream.floor:.4f}" in reader.text


def test_an_incident_leads_to_a_trace_that_answers(watched):
    page = get(watched, "/incidents")
    link = re.search(r'href="(/trace\?[^"]+)"[^>]*>Find the cause', page)
    assert link is not None
    reader = check_page(get(watched, link[1].replace("&amp;", "&")))
    assert "device=tv" in reader.text
    assert "Causes" in reader.text


def test_a_rule_is_made_by_the_form(site):
    monitor = open_monitor(site.store)
    answer = send(site, "/rules/new", FIELDS)
    assert (answer.status_code, answer.headers["location"]) == (303, "/rules/quality")
    assert list_rules(monitor) == (Rule(name="quality", measure="nDCG@5", slices=("device",)),)
    check_page(get(site, "/rules/quality"))


@pytest.mark.slow
def test_a_rule_is_changed_by_the_form(watched):
    monitor = open_monitor(watched.store)
    changed = FIELDS | {"tolerance": "0.1", "is_relative": "yes", "channels": "none"}
    del changed["slices"]
    answer = send(watched, "/rules/quality/change", changed, "/rules/quality")
    assert answer.status_code == 303
    assert list_rules(monitor) == (
        Rule(
            name="quality",
            measure="nDCG@5",
            tolerance=0.1,
            is_relative=True,
            channels=(),
        ),
    )


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "taken", "There is already a rule with this name."),
        ("measure", "nDCG@7", "nDCG@5"),
        ("tolerance", "much", "Enter a number"),
        ("slices", "country", "device"),
        ("name", "", "This field is required."),
        ("name", "a/b", "without slashes"),
        ("tolerance", "-1", "0 or more"),
        ("false_alarms", "1", "above 0 and below 1"),
        ("remind", "soon", "number of hours"),
        ("kind", "rise", "drop or"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_lost(site, field, value, said):
    monitor = open_monitor(site.store)
    monitor.set_rule(Rule(name="taken", measure="nDCG@5"))
    sent = FIELDS | {"model": "m<b>"} | {field: value}
    answer = send(site, "/rules/new", sent)
    assert answer.status_code == 422
    reader = check_page(answer.text)
    assert said.lower() in reader.text.lower()
    assert f"{field}-wrong" in {each.get("id") for each in reader.all("span")}
    values = {each.get("name"): each.get("value") for each in reader.all("input")}
    for name in ("name", "tolerance", "false_alarms", "model"):
        assert values[name] == sent[name].strip()
    assert [rule.name for rule in list_rules(monitor)] == ["taken"]


def test_a_rule_is_silenced_resolved_and_removed_by_who_is_sure(watched):
    monitor = open_monitor(watched.store)
    path = "/rules/quality"
    assert send(watched, f"{path}/silence", {"hours": "24"}, path).status_code == 303
    assert state_of(monitor).silenced_until == to_datetime(NOW + 24 * HOUR)
    assert "silenced until" in check_page(get(watched, "/rules")).text
    assert send(watched, f"{path}/silence", {"hours": "0"}, path).status_code == 303
    assert state_of(monitor).silenced_until is None
    assert send(watched, f"{path}/silence", {"hours": "9"}, path).status_code == 422
    assert send(watched, "/rules/quality/resolve", {}, "/rules/quality").status_code == 303
    assert state_of(monitor).state == "OK"
    assert send(watched, "/rules/quality/remove", {}, "/rules/quality").status_code == 422
    assert len(list_rules(monitor)) == 1
    answer = send(watched, "/rules/quality/remove", {"sure": "yes"}, "/rules/quality")
    assert (answer.status_code, answer.headers["location"]) == (303, "/rules")
    assert list_rules(monitor) == ()
    assert monitor.incidents("all")
    check_page(get(watched, "/incidents"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["<img src=x onerror=alert(1)>", "\"'><b>", "{{ 7 * 7 }}", "=1+1", "50 % & more?#x", "ä 日本"],
)
def test_any_name_of_a_rule_has_a_page(story, name):
    watch_story(open_monitor(story.store), name=name)
    path = f"/rules/{quote(name, safe='')}"
    for page in ("/rules", path):
        reader = check_page(get(story, page))
        assert not reader.all("img")
        assert name in reader.text
        assert path in [link["href"] for link in reader.all("a")] or page == path
    assert as_json(story.browser().get(f"/v1{path}"))["rule"]["name"] == name
    assert send(story, f"{path}/resolve", {}, path).status_code == 303


def test_a_form_is_read_as_it_was_filled():
    rule = Rule(
        name="a",
        measure="nDCG@5",
        model="m",
        slices=("device", "country", "device:country"),
        period="hour",
        tolerance=0.125,
        is_relative=True,
        false_alarms=0.125,
        severity="critical",
        channels=("log", "chat"),
        remind=12.0,
    )
    form = fill_form(rule)
    read, again = read_form(form.values)
    assert read == rule
    assert again == form


def test_a_rule_about_data_keeps_what_it_watches(site):
    monitor = open_monitor(site.store)
    watched = DataRule(name="arrivals", kind="data", watches=("freshness", "labels"))
    monitor.set_rule(watched)
    form = fill_form(watched)
    # A browser sends the fields of other kinds, too.
    fields = {**form.values, "measure": ("nDCG@5",), "slices": ("device",)}
    assert read_form(fields)[0] == watched
    boxes = {
        each["value"]
        for each in check_page(get(site, "/rules/arrivals")).all("input")
        if each.get("name") == "watches" and "checked" in each
    }
    assert boxes == set(watched.watches)


@pytest.mark.slow
def test_the_page_shows_what_can_be_found_and_what_is_doubtful(story):
    monitor = open_monitor(story.store)
    watch_story(monitor, tolerance=0.0)
    state = state_of(monitor)
    text = check_page(get(story, "/rules/quality")).text
    for stream in state.streams:
        if stream.smallest_fall is not None:
            assert f"{stream.smallest_fall:.3f}" in text
    assert any(stream.smallest_fall is not None for stream in state.streams)
    told = [warning for stream in state.streams for warning in stream.warnings]
    assert all(warning[1:] in text for warning in told)
    assert not told or "Warning:" in text


def test_a_limit_is_set_by_the_form_and_its_incident_has_a_chart(story):
    monitor = open_monitor(story.store)
    form = FIELDS | {"kind": "limit", "below": "0.9", "hours": "24"}
    answer = send(story, "/rules/new", form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/rules/quality")
    (rule,) = list_rules(monitor)
    assert rule == Rule(name="quality", kind="limit", measure="nDCG@5", below=0.9)
    assert read_form(fill_form(rule).values)[0] == rule
    monitor.evaluate(is_replay=True)
    (incident,) = monitor.incidents()
    assert incident.evidence["limit"] == 0.9
    reader = check_page(get(story, incident.link))
    assert "nDCG@5 crossed its limit" in reader.text
    assert "below the limit of 0.9000" in reader.text
    assert "nDCG@5 over time" in reader.text
    assert "hourly limit" in reader.text  # the legend: the values, and the line across them
    assert any(line.get("class") == "level" for line in reader.all("line"))
    for path in ("/rules", "/rules/quality"):
        assert "nDCG@5 of the last 24 hours is below 0.9000" in check_page(get(story, path)).text


@pytest.mark.parametrize(
    ("measure", "title"),
    [
        ("empty", "Rankings without relevant documents over time"),
        ("no_results", "Rankings that show nothing over time"),
        ("unjudged", "Documents without a grade over time"),
        ("rankings", "Rankings over time"),
    ],
)
def test_an_incident_of_a_share_or_a_count_has_a_chart_of_it(measure, title):
    incident = make_incident(kind="limit", measure=measure)
    assert _name_chart(incident) == title
