from __future__ import annotations

import math
from datetime import timedelta
from urllib.parse import quote, urlencode

import pytest
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.render import read_moment, write_field
from rankscope.monitor.server.pages.trace import suggest_before, view_trace

from tests.monitor.served import CONFIGURATION, DAYS, make_served
from tests.monitor.server.pages.site import (
    HOSTILE,
    as_json,
    check_page,
    check_texts,
    find_links,
    get,
    open_monitor,
)
from tests.monitor.server.service import NOW, Service


def test_without_rankings_nothing_can_be_compared(site):
    open_monitor(site.store)
    check_page(get(site, "/trace"))
    assert "There is nothing to compare yet" in check_page(get(site, "/trace?measure=nDCG@5")).text


def test_the_form_suggests_the_newest_version_and_the_one_before(told_story):
    reader = check_page(get(told_story, "/trace"))
    picked = [each.get("value") for each in reader.all("option") if "selected" in each]
    assert [each for each in picked if each] == [pick("3"), pick("4")]
    assert "Held-out check" not in reader.text


def pick(version):
    """The value of a choice of a model and its version."""
    return f"model=m&version={version}"


def test_versions_are_picked_from_the_list_of_those_that_served(told_story):
    reader = check_page(get(told_story, "/trace"))
    listed = [
        value for each in reader.all("option") if "version=" in (value := each.get("value") or "")
    ]
    assert listed == [pick("4"), pick("3")] * 2
    assert not reader.all("datalist")
    asked = {"measure": "nDCG@5", "before_ranker": pick("3"), "after_ranker": pick("4")}
    spans = {"before_model": "m", "before_version": "3", "after_model": "m", "after_version": "4"}
    by_list, by_link = (
        check_page(get(told_story, f"/trace?{urlencode({'measure': 'nDCG@5'} | each)}")).text
        for each in (asked, spans)
    )
    assert by_list == by_link
    assert "nDCG@5 fell by" in by_list


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("asked", [{"version": "9"}, {"model": "x"}, {"ranker": pick("9")}])
def test_a_version_that_never_served_is_refused_with_those_that_did(told_story, side, asked):
    query = {f"{side}_{name}": value for name, value in asked.items()}
    text = check_page(get(told_story, f"/trace?{urlencode(query)}")).text
    assert "Choose all rankings, m 4 or m 3." in text
    assert "fell by" not in text


def test_the_story_is_told_adds_up_and_leads_to_its_queries(told_story):
    monitor = open_monitor(told_story.store)
    reader = check_page(get(told_story, "/trace?measure=nDCG@5"))
    spans = monitor.suggest_spans()
    assert spans is not None
    trace = monitor.trace(*spans, "nDCG@5")
    assert "nDCG@5 fell by" in reader.text
    assert str(trace).partition("\n")[0] in reader.text
    assert "device=tv, version=4" in reader.text
    assert "not observable" in reader.text
    assert "ordering" in reader.text
    told = as_json(told_story.browser().get("/v1/trace?measure=nDCG@5"))
    assert told["decomposition"]["change"] == trace.change
    assert told["causes"][0]["name"] == "device=tv, version=4"
    view = view_trace(open_monitor(told_story.store), {"measure": "nDCG@5"}).shown
    assert view is not None
    change = view.trace.change
    assert change < 0
    for parts in (view.parts, view.losses):
        total = math.fsum(amount for amount in parts.values() if amount is not None)
        assert math.isclose(total, change, abs_tol=1e-12)
    assert math.isclose(math.fsum(line.amount for line in view.causes), change, abs_tol=1e-12)
    for parts in (view.parts, view.losses, view.amounts(view.causes)):
        drawn = view.draw(parts)
        assert math.isclose(drawn.steps[-1].end, drawn.after, abs_tol=0.002)
    reader = check_page(get(told_story, "/trace?measure=nDCG@5"))
    links = [link for link in find_links(reader) if link.startswith("/rankings?")]
    assert links
    explained = check_page(get(told_story, links[0]))
    assert "Labels" in explained.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("after_since", "yesterday"),
        ("before_until", "2026-99-99T00:00"),
        ("after_environment", "moon"),
        ("measure", "nDCG@7"),
        ("measure", "<b>"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_lost(told_story, field, value):
    asked = {"measure": "nDCG@5", "after_version": "4", "before_version": "3"} | {field: value}
    reader = check_page(get(told_story, f"/trace?{urlencode(asked)}"))
    picked = [each.get("value") for each in reader.all("option") if "selected" in each]
    assert [each for each in picked if each and "version" in each] == [pick("3"), pick("4")]
    assert any(each.get("class") == "wrong" for each in reader.all("span"))
    assert "Held-out check" not in reader.text


def test_a_span_that_ends_before_it_begins_is_refused(told_story):
    asked = {"after_since": "2026-11-20T00:00", "after_until": "2026-11-19T00:00"}
    page = get(told_story, f"/trace?{urlencode(asked)}")
    assert "must start before it ends" in check_page(page).text


def test_a_field_of_a_time_is_read_as_it_is_written():
    for time in map(to_datetime, (0, HOUR, NOW, 1_500_000)):
        assert read_moment(write_field(time)) == time


def test_the_week_before_a_span_is_held_against_it(told_story):
    versions = list_versions(open_monitor(told_story.store).store, "default")
    now, week = to_datetime(NOW), timedelta(days=7)
    first = to_datetime(versions[1].first)
    assert suggest_before(Span(first, now, "m", "4"), versions) == Span(
        first - week, first, "m", "3"
    )
    later = first + timedelta(days=2)
    assert suggest_before(Span(later, now, "m", "4"), versions) == Span(
        later - week, later, "m", "4"
    )
    assert suggest_before(Span(later, now), versions) == Span(later - week, later)
    assert suggest_before(Span(), versions) == Span(environment="validation")


def log_ranking(site, ranking_id="r1", doc="a", time=NOW - 3 * DAY):
    """Log a ranking whose last document was bought, and a label that came too late."""
    shown = Ranking(
        "e1",
        ranking_id,
        time,
        Items(("c", "b", doc), (1, 2, 3)),
        query_key=doc,
        user_id=doc,
        attributes=((doc, doc),),
    )
    labels = [
        Label("l1", ranking_id, doc, time + HOUR, ("buy",)),
        Label("l2", ranking_id, "b", time + 30 * HOUR, ("click",)),
    ]
    site.store.append("default", [shown, *labels])
    open_monitor(site.store)


def test_it_shows_each_number_of_the_value(site):
    log_ranking(site)
    reader = check_page(get(site, "/rankings?id=r1&measure=nDCG@5"))
    discount = 1 / math.log2(3 + 1)
    assert f"{discount:.4f}" in reader.text  # the value: 3 * discount / 3
    assert f"{3 * discount:.4f}" in reader.text  # what it adds
    assert f"{1 - discount:.4f}" in reader.text  # what is lost by ordering
    assert "not observable" in reader.text
    assert "after the attribution window" in reader.text
    told = as_json(site.browser().get("/v1/rankings/r1?measure=nDCG@5"))
    assert told["value"] == discount
    assert [each["contribution"] for each in told["documents"]] == [0, 0, 3 * discount]


def test_what_may_change_is_said_to_be_not_final(site):
    log_ranking(site, time=NOW - 2 * HOUR)
    reader = check_page(get(site, "/rankings?id=r1"))
    assert "provisional" in reader.text
    assert "2 of 3 documents have no grade yet" in reader.text
    assert "pending" in reader.text


def test_another_measure_is_a_link_away(site):
    log_ranking(site)
    reader = check_page(get(site, "/rankings?id=r1"))
    current = [link for link in reader.all("a") if link.get("aria-current") == "true"]
    assert current == [{"href": "/rankings?id=r1&measure=nDCG%405", "aria-current": "true"}]
    assert "0.0000" in check_page(get(site, "/rankings?id=r1&measure=nDCG%401")).text


def test_without_a_configuration_or_an_id_nothing_is_explained(site):
    assert "rankscope monitor configure" in check_page(get(site, "/rankings?id=r2", 409)).text
    log_ranking(site)
    assert "Ranking ID" in check_page(get(site, "/rankings")).text


@pytest.mark.parametrize("text", HOSTILE)
def test_any_id_has_a_page(site, text):
    log_ranking(site, ranking_id=text, doc=text[:100])
    check_texts(get(site, f"/rankings?id={quote(text, safe='')}"))
    told = as_json(site.browser().get(f"/v1/rankings/{quote(text, safe='')}"))
    assert told["ranking_id"] == text


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service whose project has a new version that is worse."""
    folder = tmp_path_factory.mktemp("served")
    made = Service(folder, Settings(open_project="default"), has_key=False)
    start = NOW // DAY * DAY - (DAYS + 1) * DAY
    made.store.append("default", make_served(start, fall=0.3))
    monitor = Monitor(made.store, clock=lambda: NOW)
    monitor.configure(CONFIGURATION)
    monitor.evaluate()
    yield made
    made.store.close()


@pytest.fixture
def monitor(served):
    return Monitor(served.store, clock=lambda: NOW)


def test_without_two_versions_it_says_so(site):
    open_monitor(site.store)
    reader = check_page(get(site, "/comparison"))
    assert "No two versions of a model have served at the same time." in reader.text
    assert not reader.all("select")
    reader = check_page(get(site, "/comparison?new=3"))
    assert "There are no rankings of version '3'" in reader.text


def test_the_page_says_which_version_is_worse_and_the_overview_links_to_it(served, monitor):
    found = monitor.compare()
    reader = check_page(get(served, "/comparison"))
    assert found.sentence in reader.text
    assert "Version 4 is worse" in reader.text
    assert len(reader.all("tr")) == 1 + len(found.days)
    reader = check_page(get(served, "/"))
    assert "Versions 3 and 4 of m served at the same time." in reader.text
    assert "/comparison?model=m&old=3&new=4" in find_links(reader)
    pairs = [each for each in check_page(get(served, "/comparison")).all("option") if each]
    assert {"value": "model=m&old=3&new=4", "selected": None} in pairs
    picked = get(served, f"/comparison?{urlencode({'pair': 'model=m&old=3&new=4'})}")
    assert "Version 4 is worse" in check_page(picked).text
    assert "Version 4 is worse" in check_page(get(served, "/comparison?model=m&old=3&new=4")).text


def test_what_can_not_be_compared_is_said_beside_the_form_whatever_it_is(served):
    for query, words in (
        ("slice=device", "Enter an attribute and its value"),
        ("since=x", "Enter a time in UTC"),
        ("new=9", "There are no rankings of version '9'; name one of 3, 4"),
        ("pair=model%3Dx%26old%3D3%26new%3D4", "There are no rankings of model 'x'; name one of m"),
        ("slice=app%3Dx", "There is device."),
        ("measure=AP", "expected one of"),
    ):
        assert words.lower() in check_page(get(served, f"/comparison?{query}")).text.lower()
    for text in HOSTILE:
        check_page(get(served, f"/comparison?{urlencode({'new': text, 'slice': text})}"))


def test_a_slice_is_compared_over_http_as_in_python(served, monitor):
    found = monitor.compare(slice=(("device", "phone"),))
    browser = served.browser()
    answer = browser.get("/v1/comparison?slice=device%3Dphone&old=3&new=4")
    assert as_json(answer) == found.to_dict()
    for query in ("new=9", "slice=app%3Dx", "old=4&new=4", "measure=AP"):
        answer = browser.get(f"/v1/comparison?{query}")
        assert answer.status_code == 422
        assert answer.json()["error"]["hint"]
