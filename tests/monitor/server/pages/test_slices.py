"""Slices as pages: all of them in order of their contribution, and each over time."""

from __future__ import annotations

import math

import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.server.api.values import order_slice
from rankscope.monitor.server.pages.slices import read_slice

from tests.monitor.server.pages.incidents import make_incident, put_incidents
from tests.monitor.server.pages.site import (
    DEFINITION,
    as_json,
    check_page,
    find_links,
    get,
    open_monitor,
)
from tests.monitor.server.service import Service

PAIRED = Configuration(definition=DEFINITION, attributes=("device", "country"), baseline=None)


def test_a_project_without_slices_says_so(site: Service) -> None:
    open_monitor(site.store, Configuration(definition=DEFINITION, baseline=None))
    assert "This project has no slices" in check_page(get(site, "/slices")).text


def test_the_slice_that_lowers_the_mean_most_comes_first_and_contributions_add_up(
    told_story: Service,
) -> None:
    told = as_json(told_story.browser().get("/v1/overview?range=30d&every=day"))
    rows = told["slices"]
    assert [row["slice"] for row in rows] == ["device=tv", "device=phone"]
    # Each ranking has one device, so that contributions of devices add up to the whole change.
    total = sum(row["rankings"] for row in rows)
    for row in rows:
        assert row["contribution"] == row["difference"] * row["rankings"] / total
    whole = sum(row["value"] * row["rankings"] for row in rows) / total
    base = sum(row["baseline"] * row["rankings"] for row in rows) / total
    assert math.isclose(sum(row["contribution"] for row in rows), whole - base)


def test_the_cause_of_an_active_incident_comes_first(story: Service) -> None:
    open_monitor(story.store)
    cause = {"sentence": "x", "slice": {"device": "phone", "version": "4"}}
    put_incidents(story, make_incident(cause=cause))
    told = as_json(story.browser().get("/v1/overview?range=30d&every=day"))
    found = [(row["slice"], row["is_confirmed"]) for row in told["slices"]]
    assert found == [("device=phone", True), ("device=tv", False)]
    assert "cause of an incident" in check_page(get(story, "/slices?range=30d")).text


def test_each_row_of_slices_leads_to_the_slice_over_time(told_story: Service) -> None:
    monitor = open_monitor(told_story.store)
    for page in ("/?range=30d", "/slices?range=30d"):
        links = [link for link in find_links(check_page(get(told_story, page))) if "slice=" in link]
        assert any("slice=device%3Dtv" in link for link in links)
        for link in links:
            check_page(get(told_story, link))
    chosen = "slice=device%3Dtv&range=30d&every=day"
    reader = check_page(get(told_story, f"/slice?{chosen}&measure=nDCG%405"))
    assert "nDCG@1 " not in reader.text
    series = monitor.series("nDCG@5", every="day", slice=(("device", "tv"),))
    for value in series.values:
        assert f"{value:.4f}" in reader.text
    assert "The baseline is 1.0000." in reader.text


def test_a_slice_shows_the_incidents_that_concern_it(story: Service) -> None:
    open_monitor(story.store)
    put_incidents(
        story,
        make_incident(1),
        make_incident(2, slice=()),
        make_incident(3, slice=(("device", "phone"),)),
    )
    links = find_links(check_page(get(story, "/slice?slice=device%3Dtv&range=30d")))
    assert {link for link in links if link.startswith("/incidents/")} == {
        "/incidents/incident_1",
        "/incidents/incident_2",
    }


def test_a_slice_without_rankings_says_so(told_story: Service) -> None:
    reader = check_page(get(told_story, "/slice?slice=device%3Dcar"))
    assert "No rankings in this range" in reader.text


def test_what_cannot_be_shown_is_said_on_a_page(told_story: Service) -> None:
    for query in ("slice=country%3Djp", "slice=device", "range=9d", "slice=a&x=1", "measure=AP"):
        check_page(get(told_story, f"/slice?{query}", 422))
    for query in ("range=9d", "slice=device%3Dtv", "every=week"):
        check_page(get(told_story, f"/slices?{query}", 422))


def test_attributes_may_be_in_any_order() -> None:
    place = (("country", "jp"), ("device", "tv"))
    assert order_slice(place, PAIRED) == (("device", "tv"), ("country", "jp"))


@pytest.mark.parametrize(
    "place",
    [
        (("device", "tv"),),
        (("device", "a=b, c"),),
        (("device", "tv"), ("country", "jp")),
        (("device", ""), ("country", "x, y=z")),
    ],
)
def test_the_name_of_a_slice_is_read_as_it_was_written(place: tuple[tuple[str, str], ...]) -> None:
    name = ", ".join(f"{attribute}={value}" for attribute, value in place)
    assert read_slice(name, PAIRED) == place
