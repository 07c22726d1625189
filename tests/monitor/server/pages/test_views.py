"""Saved views as pages and in the API: what they show is what the project has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from rankscope.monitor.ask.views import View
from rankscope.monitor.definition.configuration import Configuration

from tests.monitor.server.pages.incidents import make_incident, put_incidents
from tests.monitor.server.pages.site import (
    DEFINITION,
    HOSTILE,
    as_json,
    check_page,
    find_links,
    find_token,
    get,
    open_monitor,
    send,
)

if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor

    from tests.monitor.server.service import Service

TV = (("device", "tv"),)
NAME = "TV & everyone"
PATH = f"/views/{quote(NAME, safe='')}"
SAVED = View(name=NAME, measures=("nDCG@5",), slices=(TV, ()), range="30d", every="day")
FIELDS = {"name": NAME, "measures": "nDCG@5", "slices": "device=tv\r\nall rankings\r\n",
          "range": "30d", "every": "day", "ranker": ""}  # fmt: skip


def find(monitor: Monitor, name: str) -> View:
    [view] = [each for each in monitor.views() if each.name == name]
    return view


@pytest.fixture
def monitor(story: Service) -> Monitor:
    """The monitor of the story."""
    return open_monitor(story.store)


def test_a_view_is_saved_by_a_form_and_is_in_the_navigation_of_each_page(
    story: Service, monitor: Monitor
) -> None:
    answer = send(story, "/views", FIELDS)
    assert (answer.status_code, answer.headers["location"]) == (303, PATH)
    assert monitor.views() == (SAVED,)
    for page in ("/", "/views", PATH, "/rules", "/settings"):
        reader = check_page(get(story, page))
        [link] = [each for each in reader.all("a") if each["href"] == PATH and len(each) <= 2][:1]
        assert ("aria-current" in link) is (page == PATH)
    reader = check_page(get(story, PATH))
    assert "nDCG@5" in reader.text
    assert "nDCG@1 0" not in reader.text
    values = [each for each in reader.all("option") if "selected" in each]
    assert {"30d", "day"} <= {each["value"] for each in values}
    assert [each["value"] for each in reader.all("input") if "checked" in each] == ["nDCG@5"]


def test_a_view_shows_signals_beside_measures_or_alone(story: Service, monitor: Monitor) -> None:
    chosen = ("length", "overlap", "gini")
    for measures in ("nDCG@5", ""):
        name = f"signals {measures}".strip()
        fields = FIELDS | {"name": name, "signals": chosen, "measures": measures}
        sent = {each: value for each, value in fields.items() if value}
        assert send(story, "/views", sent).status_code == 303
        assert find(monitor, name).signals == chosen
        path = f"/views/{quote(name, safe='')}"
        reader = check_page(get(story, path))
        charts = [str(each["id"]) for each in reader.all("svg") if each.get("role") == "img"]
        # What describes a day is known for all rankings, not for the slice.
        assert sum(each.startswith("signal-") for each in charts) == 2 + len(chosen)
        assert reader.text.count("known for all rankings together, not for slices") == 1
        assert sum(each.startswith("chart-") for each in charts) == (2 if measures else 0)
        slices = as_json(story.browser().get(f"/v1{path}"))["slices"]
        assert [[each["signal"] for each in of["signals"]] for of in slices] == [
            ["length", "overlap"],
            [*chosen],
        ]
        assert [len(of["measures"]) for of in slices] == [1 if measures else 0] * 2
    asked = check_page(get(story, "/views?signal=overlap&slice=device%3Dtv"))
    assert "Overlap with the earlier list" in asked.text
    kept = [link for link in find_links(asked) if link.startswith("/views?range")]
    assert kept
    assert all("signal=overlap" in link for link in kept)


def test_a_form_changes_and_deletes_a_view(story: Service, monitor: Monitor) -> None:
    monitor.save_view(SAVED)
    changed = FIELDS | {"slices": "", "ranker": "model=m&version=4", "range": "", "name": "other"}
    assert send(story, f"{PATH}/change", changed, PATH).headers["location"] == PATH
    assert monitor.views() == (
        View(name=NAME, measures=("nDCG@5",), every="day", model="m", version="4"),
    )
    assert send(story, f"{PATH}/remove", {}, PATH).status_code == 422
    assert monitor.views()
    assert send(story, f"{PATH}/remove", {"sure": "yes"}, PATH).status_code == 303
    assert monitor.views() == ()
    assert [each.action for each in monitor.store.audit("default")][-3:] == [
        "view.save",
        "view.save",
        "view.remove",
    ]
    check_page(get(story, PATH, 404))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": " "}, "Expected a name that no other view has."),
        ({"name": "a/b"}, "Expected a line of at most 100 bytes without slashes"),
        ({"name": "new"}, "other than new"),
        ({"name": "known"}, "Expected a name that no other view has."),
        ({"signals": "speed"}, "Expected some of length, no_results"),
        ({"signals": "score_05"}, "Expected some of length, no_results"),
        ({"measures": "AP"}, "Expected some of nDCG@1, nDCG@5"),
        ({"slices": "device"}, "Expected slices by what the project is sliced by: device"),
        ({"slices": "app=x"}, "Expected slices by what the project is sliced by: device"),
        ({"slices": "\n".join(["device=tv"] * 13)}, "Expected at most 12"),
        ({"range": "9d"}, "Expected one of 1d, 7d"),
        ({"range": "1y", "every": "hour"}, "Expected day for more than 90 days"),
        ({"every": "week"}, "Expected hour or day"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_saved(
    story: Service, monitor: Monitor, changes: dict[str, str], said: str
) -> None:
    monitor.save_view(View(name="known"))
    answer = send(story, "/views", FIELDS | changes, "/views")
    assert answer.status_code == 422
    reader = check_page(answer.text)
    assert said in reader.text
    [wrong] = [each for each in reader.all("span") if each.get("class") == "wrong"]
    field = str(wrong["id"]).removesuffix("-wrong")
    assert field in changes
    assert [each.name for each in monitor.views()] == ["known"]


def test_what_a_form_can_not_write_stays_when_it_is_left_alone(
    story: Service, monitor: Monitor
) -> None:
    odd = (*SAVED.slices, (("device", "a\nb, c"),))
    monitor.save_view(View(name=NAME, slices=odd))
    reader = get(story, PATH)
    [text] = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", reader, re.DOTALL)
    fields = FIELDS | {"slices": text.replace("\n", "\r\n"), "range": "7d"}
    assert send(story, f"{PATH}/change", fields, PATH).status_code == 303
    [view] = monitor.views()
    assert (view.slices, view.range) == (odd, "7d")


def test_the_values_are_those_of_the_series(story: Service, monitor: Monitor) -> None:
    monitor.save_view(SAVED)
    browser = story.browser()
    path = f"/v1{PATH}"
    told = as_json(browser.get(path))
    assert [part["slice"] for part in told["slices"]] == [{"device": "tv"}, {}]
    for part, place in zip(told["slices"], (TV, ()), strict=True):
        [measure] = part["measures"]
        series = monitor.series("nDCG@5", every="day", since=told["since"], slice=place)
        assert measure["series"][0]["values"] == series.to_dict()["values"]
    week = as_json(browser.get(f"{path}?range=7d&version=4&model=m"))
    assert (week["range"], week["view"]["version"]) == ("7d", "4")
    one = monitor.series("nDCG@5", every="day", since=week["since"], version="4", slice=TV)
    assert week["slices"][0]["measures"][0]["series"][0]["rankings"] == list(one.rankings)


def test_the_api_saves_lists_and_deletes_views(site: Service) -> None:
    monitor = open_monitor(site.store)
    key = site.make_key("default", "read", "admin")
    body = b'{"measures": ["nDCG@5"], "slices": [{"device": "tv"}, {}]}'
    for _ in range(2):
        answer = site.ask("PUT", "/v1/views/tv", body, key=key)
        assert (answer.status_code, answer.json()["name"]) == (200, "tv")
    listed = site.ask("GET", "/v1/views", key=key).json()["views"]
    assert listed == [{"name": "tv", "measures": ["nDCG@5"], "slices": [{"device": "tv"}, {}]}]
    for bad in (b'{"measure": []}', b'{"range": "9d"}', b'{"slices": [{"a": "b"}]}', b"[]"):
        assert site.ask("PUT", "/v1/views/tv", bad, key=key).status_code == 422
    assert site.ask("DELETE", "/v1/views/tv", key=key).status_code == 204
    assert site.ask("DELETE", "/v1/views/tv", key=key).status_code == 404
    assert site.ask("GET", "/v1/views/tv", key=key).status_code == 404
    reader = site.make_key("default", "read")
    for method in ("PUT", "DELETE"):
        assert site.ask(method, "/v1/views/tv", b"{}", key=reader).status_code == 403
    assert monitor.views() == ()


def test_views_of_another_project_are_unknown(site: Service) -> None:
    monitor = open_monitor(site.store)
    monitor.save_view(SAVED)
    other = site.make_key("other", "read", "admin")
    assert site.ask("GET", f"/v1{PATH}", key=other).status_code == 404
    assert site.ask("GET", "/v1/views", key=other).json() == {"views": []}
    assert site.ask("DELETE", f"/v1{PATH}", key=other).status_code == 404
    assert monitor.views() == (SAVED,)


def test_a_form_needs_a_token_and_a_key_that_may_change(site: Service) -> None:
    monitor = open_monitor(site.store)
    monitor.save_view(SAVED)
    assert site.browser().send(f"{PATH}/change", FIELDS | {"csrf": "x"}).status_code == 403
    key = site.make_key("default", "read")
    page = site.ask("GET", PATH, key=key).text
    assert "<form" not in page.replace('<form method="post" action="/sign-out"', "")
    assert site.ask("POST", f"{PATH}/change", b"name=x", key=key).status_code in {303, 403, 415}
    assert monitor.views() == (SAVED,)


def test_what_the_project_does_not_measure_any_more_is_said(site: Service) -> None:
    wide = Configuration(definition=DEFINITION, attributes=("device",), baseline=None)
    monitor = open_monitor(site.store, wide)
    monitor.save_view(View(name="tv", measures=("nDCG@1", "nDCG@5"), slices=(TV,)))
    monitor.configure(Configuration(definition=DEFINITION.only("nDCG@5"), baseline=None))
    reader = check_page(get(site, "/views/tv"))
    assert "Not measured any more: nDCG@1; device=tv." in reader.text
    told = as_json(site.browser().get("/v1/views/tv"))
    assert told["missing"] == ["nDCG@1", "device=tv"]
    # All rankings, or other measures, are not what was saved.
    assert told["slices"] == []
    monitor.save_view(View(name="one", measures=("nDCG@5",)))
    monitor.configure(Configuration(definition=DEFINITION.only("nDCG@1"), baseline=None))
    [part] = as_json(site.browser().get("/v1/views/one"))["slices"]
    assert part["measures"] == []
    check_page(get(site, "/views/one"))


def test_a_slice_of_a_view_has_the_incidents_that_concern_it(story: Service) -> None:
    monitor = open_monitor(story.store)
    monitor.save_view(View(name="phones", slices=((("device", "phone"),),)))
    put_incidents(story, make_incident(1), make_incident(2, slice=()))
    links = find_links(check_page(get(story, "/views/phones")))
    assert "/incidents/incident_2" in links
    assert "/incidents/incident_1" not in links


def test_a_project_that_is_not_set_up_has_no_views_and_says_how_to(site: Service) -> None:
    for path in ("/views", "/views?range=7d"):
        assert "rankscope monitor configure" in check_page(get(site, path)).text
    token = find_token(get(site, "/settings"))
    answer = site.browser().send("/views", FIELDS | {"csrf": token})
    assert answer.status_code in {403, 409, 422}


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_views_are_only_texts(story: Service, monitor: Monitor, text: str) -> None:
    place: Any = ((("device", text),),)
    monitor.save_view(View(name="hostile", slices=place, model=text[:100], version=text[:100]))
    for path in ("/views", "/views/hostile", f"/views?model={quote(text[:100], safe='')}"):
        page = get(story, path)
        reader = check_page(page)
        assert not reader.all("img")
        assert len(reader.all("script")) == 1
        assert "\u202e" not in page
