"""The trace as a page: what it says adds up, and what is wrong is said beside its field."""

from __future__ import annotations

import math
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.server.pages.render import read_moment, write_field
from rankscope.monitor.server.pages.trace import suggest_before, view_trace

from tests.monitor.server.pages.site import (
    as_json,
    check_page,
    find_links,
    get,
    open_monitor,
)
from tests.monitor.server.service import NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service


def test_without_rankings_nothing_can_be_compared(site: Service) -> None:
    open_monitor(site.store)
    check_page(get(site, "/trace"))
    assert "There is nothing to compare yet" in check_page(get(site, "/trace?measure=nDCG@5")).text


def test_the_form_suggests_the_newest_version_and_the_one_before(told_story: Service) -> None:
    reader = check_page(get(told_story, "/trace"))
    values = {field.get("name"): field.get("value") for field in reader.all("input")}
    assert (values["before_version"], values["after_version"]) == ("3", "4")
    assert "Held-out check" not in reader.text


def test_the_story_is_told(told_story: Service) -> None:
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


def test_what_the_page_shows_adds_up(told_story: Service) -> None:
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


def test_queries_lead_to_their_explanation(told_story: Service) -> None:
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
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_lost(
    told_story: Service, field: str, value: str
) -> None:
    asked = {"measure": "nDCG@5", "after_version": "4", "before_version": "3"} | {field: value}
    reader = check_page(get(told_story, f"/trace?{urlencode(asked)}"))
    values = {each.get("name"): each.get("value") for each in reader.all("input")}
    assert (values["before_version"], values["after_version"]) == ("3", "4")
    assert any(each.get("class") == "wrong" for each in reader.all("span"))
    assert "Held-out check" not in reader.text


def test_a_span_that_ends_before_it_begins_is_refused(told_story: Service) -> None:
    asked = {"after_since": "2026-11-20T00:00", "after_until": "2026-11-19T00:00"}
    page = get(told_story, f"/trace?{urlencode(asked)}")
    assert "must start before it ends" in check_page(page).text


def test_a_field_of_a_time_is_read_as_it_is_written() -> None:
    for time in map(to_datetime, (0, HOUR, NOW, 1_500_000)):
        assert read_moment(write_field(time)) == time


def test_the_week_before_a_span_is_held_against_it(told_story: Service) -> None:
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
