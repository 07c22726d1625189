"""Rules as pages: what they have found, and the forms that change them."""

from __future__ import annotations

import math
import re
from urllib.parse import quote

import pytest
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.server.pages.alerts import write_multiple
from rankscope.monitor.server.pages.rule import fill_form, read_form

from tests.monitor.server.pages.site import as_json, check_page, get, log_story, open_monitor
from tests.monitor.server.service import NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import httpx
    from rankscope.monitor.monitor import Monitor

    from tests.monitor.server.service import Service

FIELDS = {
    "name": "quality",
    "measure": "nDCG@5",
    "kind": "drop",
    "period": "day",
    "tolerance": "0.02",
    "run_length": "1800",
    "fewest": "5",
    "needs": "interval",
    "webhook": "yes",
    "slices": "device",
}


def send(site: Service, path: str, fields: dict[str, str], page: str = "") -> httpx.Response:
    """Send the form of a page."""
    browser = site.browser()
    token = re.search(r'name="csrf" value="([^"]+)"', browser.get(page or path).text)
    assert token is not None
    return browser.send(path, fields | {"csrf": token[1]})


def tell_story(site: Service, **parts: Any) -> Monitor:  # noqa: ANN401 - as `Rule` takes them
    """Log the story, and let a rule look at it day by day."""
    log_story(site.store)
    monitor = open_monitor(site.store)
    since = NOW // DAY * DAY - 10 * DAY
    made = {
        "name": "quality",
        "slices": ("device",),
        "fewest": 5,
        "since": to_datetime(since),
    } | parts
    monitor.set_rule(Rule(measure="nDCG@5", **made))
    monitor.evaluate()
    return monitor


def test_there_are_no_rules_yet(site: Service) -> None:
    assert "This project isn’t set up yet" in check_page(get(site, "/alerts")).text
    open_monitor(site.store)
    reader = check_page(get(site, "/alerts"))
    assert "No rules yet" in reader.text
    assert "rankscope monitor rule add STORE quality --measure nDCG@5" in reader.text


def test_an_alert_is_on_all_pages_that_tell_of_it(site: Service) -> None:
    monitor = tell_story(site)
    [state] = monitor.check()
    assert state.state == "ALERT"
    for path in ("/", "/alerts", "/rules/quality"):
        reader = check_page(get(site, path))
        assert "ALERT" in reader.text
        assert state.reason in reader.text
        assert "Find the cause" in reader.text
    assert "<title>ALERT" in get(site, "/")


def test_why_did_it_fall_leads_to_a_trace_that_answers(site: Service) -> None:
    tell_story(site)
    page = get(site, "/")
    link = re.search(r'href="(/trace\?[^"]+)"[^>]*>Find the cause', page)
    assert link is not None
    reader = check_page(get(site, link[1].replace("&amp;", "&")))
    assert "device=tv, version=4" in reader.text
    assert "Causes" in reader.text


def test_evidence_is_told_with_what_is_needed(site: Service) -> None:
    monitor = tell_story(site)
    [state] = monitor.check()
    reader = check_page(get(site, "/rules/quality"))
    for stream in state.streams:
        assert stream.name in reader.text
        if stream.needed is not None:
            assert write_multiple(stream.log_evidence - stream.needed) in reader.text
        if stream.floor is not None:
            assert f"{stream.floor:.4f}" in reader.text


def test_the_twins_tell_the_same(site: Service) -> None:
    monitor = tell_story(site)
    told = as_json(site.browser().get("/alerts.json"))
    assert [one["rule"]["name"] for one in told["rules"]] == ["quality"]
    assert told["alerts"] == [one.to_dict() for one in monitor.alerts()]
    assert len(told["notifications"]) == len(monitor.notifications())
    one = as_json(site.browser().get("/rules/quality.json"))
    assert one["state"]["rule"] == monitor.rules()[0].to_dict()


def test_a_rule_is_made_by_the_form(site: Service) -> None:
    monitor = open_monitor(site.store)
    answer = send(site, "/rules/new", FIELDS)
    assert (answer.status_code, answer.headers["location"]) == (303, "/rules/quality")
    assert monitor.rules() == (
        Rule(name="quality", measure="nDCG@5", slices=("device",), fewest=5),
    )
    check_page(get(site, "/rules/quality"))


def test_a_rule_is_changed_by_the_form(site: Service) -> None:
    monitor = tell_story(site)
    changed = FIELDS | {"tolerance": "0.1", "is_relative": "yes"}
    del changed["webhook"], changed["slices"]
    answer = send(site, "/rules/quality/change", changed, "/rules/quality")
    assert answer.status_code == 303
    assert monitor.rules() == (
        Rule(
            name="quality",
            measure="nDCG@5",
            fewest=5,
            tolerance=0.1,
            is_relative=True,
            webhook=False,
        ),
    )


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "This field is required."),
        ("name", "a/b", "without slashes"),
        ("name", "a.json", "ends without .json"),
        ("name", "taken", "There is already a rule with this name."),
        ("measure", "nDCG@7", "nDCG@5"),
        ("tolerance", "much", "Enter a number"),
        ("tolerance", "-1", "0 or more"),
        ("run_length", "1", "2 periods or more"),
        ("fewest", "2.5", "whole number"),
        ("since", "yesterday", "Enter a time"),
        ("slices", "country", "device"),
        ("kind", "rise", "drop or threshold"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_lost(
    site: Service, field: str, value: str, said: str
) -> None:
    monitor = open_monitor(site.store)
    monitor.set_rule(Rule(name="taken", measure="nDCG@5"))
    sent = FIELDS | {"model": "m<b>"} | {field: value}
    answer = send(site, "/rules/new", sent)
    assert answer.status_code == 422
    reader = check_page(answer.text)
    assert said in reader.text
    assert f"{field}-wrong" in {each.get("id") for each in reader.all("span")}
    values = {each.get("name"): each.get("value") for each in reader.all("input")}
    for name in ("name", "tolerance", "run_length", "fewest", "model"):
        assert values[name] == sent[name].strip()
    assert [rule.name for rule in monitor.rules()] == ["taken"]


def test_a_rule_is_silenced_and_heard_again(site: Service) -> None:
    monitor = tell_story(site)
    path = "/rules/quality"
    assert send(site, f"{path}/silence", {"hours": "24"}, path).status_code == 303
    assert monitor.check()[0].silenced_until == to_datetime(NOW + 24 * HOUR)
    assert "silenced until" in check_page(get(site, "/alerts")).text
    assert send(site, f"{path}/silence", {"hours": "0"}, path).status_code == 303
    assert monitor.check()[0].silenced_until is None
    assert send(site, f"{path}/silence", {"hours": "9"}, path).status_code == 422


def test_a_rule_is_resolved(site: Service) -> None:
    monitor = tell_story(site)
    assert send(site, "/rules/quality/resolve", {}, "/rules/quality").status_code == 303
    assert monitor.check()[0].state == "OK"


def test_a_rule_is_removed_by_who_is_sure(site: Service) -> None:
    monitor = tell_story(site)
    assert send(site, "/rules/quality/remove", {}, "/rules/quality").status_code == 422
    assert len(monitor.rules()) == 1
    answer = send(site, "/rules/quality/remove", {"sure": "yes"}, "/rules/quality")
    assert (answer.status_code, answer.headers["location"]) == (303, "/alerts")
    assert monitor.rules() == ()
    assert monitor.alerts()
    check_page(get(site, "/alerts"))


@pytest.mark.parametrize("path", ["/rules/new", "/rules/quality/change", "/rules/quality/remove"])
def test_a_form_without_its_token_changes_nothing(site: Service, path: str) -> None:
    monitor = tell_story(site)
    answer = site.browser().send(path, FIELDS | {"sure": "yes", "tolerance": "0.5"})
    assert answer.status_code == 403
    check_page(answer.text)
    assert [rule.tolerance for rule in monitor.rules()] == [0.02]


def test_who_may_only_read_sees_no_forms(site: Service) -> None:
    tell_story(site)
    key = site.make_key("default", "read")
    browser = site.browser()
    browser.sign_in(key)
    page = browser.get("/rules/quality").text
    reader = check_page(page)
    assert [form["action"] for form in reader.all("form")] == ["/sign-out"]
    assert "Make a rule" not in check_page(browser.get("/alerts").text).text
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token is not None
    answer = browser.send("/rules/quality/remove", {"sure": "yes", "csrf": token[1]})
    assert answer.status_code == 403


def test_a_rule_that_is_not_there_is_not_found(site: Service) -> None:
    open_monitor(site.store)
    check_page(get(site, "/rules/none", 404))
    assert site.browser().get("/rules/none.json").status_code == 404


@pytest.mark.parametrize(
    "name",
    ["<img src=x onerror=alert(1)>", "\"'><b>", "{{ 7 * 7 }}", "=1+1", "50 % & more?#x", "ä 日本"],
)
def test_any_name_of_a_rule_has_a_page(site: Service, name: str) -> None:
    tell_story(site, name=name)
    path = f"/rules/{quote(name, safe='')}"
    for page in ("/", "/alerts", path):
        reader = check_page(get(site, page))
        assert not reader.all("img")
        assert name in reader.text
        assert path in [link["href"] for link in reader.all("a")] or page == path
    assert as_json(site.browser().get(f"{path}.json"))["state"]["rule"]["name"] == name
    assert send(site, f"{path}/resolve", {}, path).status_code == 303


def test_a_form_is_read_as_it_was_filled() -> None:
    rule = Rule(
        name="a",
        measure="nDCG@5",
        kind="threshold",
        model="m",
        slices=("device", "country"),
        period="hour",
        tolerance=0.125,
        is_relative=True,
        run_length=360.0,
        fewest=7,
        needs="value",
        since=to_datetime(NOW // DAY * DAY),
        webhook=False,
    )
    form = fill_form(rule)
    fields = {name: (text,) for name, text in form.texts.items()}
    fields |= dict.fromkeys(form.flags, ("yes",)) | {"slices": form.slices}
    read, again = read_form(fields)
    assert read == rule
    assert again == form


def test_evidence_of_any_size_can_be_written() -> None:
    assert [write_multiple(found) for found in (-math.inf, 1e9)] == ["<0.1×", ">1,000,000×"]
