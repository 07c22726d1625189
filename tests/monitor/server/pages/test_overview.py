"""The overview: what it shows of a story, and what it says where there is nothing yet."""

from __future__ import annotations

import math

import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import format_time, to_datetime

from tests.monitor.server.pages.site import (
    CONFIGURATION,
    DEFINITION,
    HOSTILE,
    as_json,
    check_page,
    check_texts,
    find_links,
    get,
    log_story,
    open_monitor,
)
from tests.monitor.server.service import NOW, Service, find_token, make_ranking


def test_without_rankings_it_says_how_to_send_them(site: Service) -> None:
    open_monitor(site.store)
    reader = check_page(get(site, "/"))
    assert "No rankings yet" in reader.text
    assert "client.log_ranking(" in reader.text


def test_without_labels_it_says_how_to_send_them(site: Service) -> None:
    shown = Ranking("e1", "r1", NOW - HOUR, Items(("a",), (1,)))
    site.store.append("default", [shown])
    open_monitor(site.store)
    reader = check_page(get(site, "/"))
    assert "No labels yet" in reader.text
    assert "No baseline yet" in reader.text
    assert '"environment": "validation"' in reader.text


def test_a_ranking_of_long_ago_shows_all_there_is(site: Service) -> None:
    shown = Ranking("e1", "r1", NOW - 300 * DAY, Items(("a",), (1,)))
    site.store.append("default", [shown, Label("l", "r1", "a", NOW - 300 * DAY, ("buy",))])
    open_monitor(site.store)
    assert as_json(site.browser().get("/v1/overview"))["range"] == "all"
    reader = check_page(get(site, "/?range=7d"))
    assert "No rankings in this range" in reader.text


def test_it_shows_the_values_of_the_newest_final_window_beside_the_baseline(
    told_story: Service,
) -> None:
    monitor = open_monitor(told_story.store)
    series = monitor.series("nDCG@5", every="day")
    final = max(at for at, is_final in enumerate(series.is_final) if is_final)
    value = series.values[final]
    discount = 1 / math.log2(3 + 1)
    assert math.isclose(value, (1 + discount) / 2)
    told = as_json(told_story.browser().get("/v1/overview?every=day"))
    measure = told["measures"][1]
    assert measure["newest"]["value"] == value
    assert measure["baseline"]["value"] == 1
    assert measure["difference"] == value - 1
    reader = check_page(get(told_story, "/?every=day"))
    assert f"{value:.4f}" in reader.text
    assert f"−{1 - value:.4f} vs. the baseline of 1.0000" in reader.text
    for count in (series.rankings[final], series.defined[final]):
        assert str(count) in reader.text


def test_the_api_says_what_the_monitor_says(story: Service) -> None:
    monitor = open_monitor(story.store)
    told = as_json(story.browser().get("/v1/overview?range=30d&every=hour&version=4"))
    since, until = to_datetime(NOW - 31 * DAY), to_datetime(NOW + HOUR)
    for measure in told["measures"]:
        own = monitor.series(
            measure["measure"], every="hour", since=since, until=until, version="4"
        )
        assert measure["series"] == [own.to_dict()]
    midnight = since.replace(hour=0, minute=0)
    slices = monitor.slices("nDCG@5", since=midnight, until=until, version="4")
    assert [row["slice"] for row in told["slices"]] == list(slices.column("slice"))
    assert told["configuration"] == write_configuration(CONFIGURATION)
    assert told["definition"] == CONFIGURATION.definition.hash
    assert told["digest"] == CONFIGURATION.digest.hex()
    assert told["deleted_before"] is None
    story.store.delete_before("default", NOW)
    told = as_json(story.browser().get("/v1/overview"))
    assert told["deleted_before"] == format_time(NOW)


def test_a_new_version_is_marked_where_it_begins(told_story: Service) -> None:
    page = get(told_story, "/?range=30d")
    assert "m 4" in check_page(page).text
    assert page.count('<line class="event"') == 2 + 3  # two measures, three counts


def test_versions_shown_at_a_time_have_lines_of_their_own(story: Service) -> None:
    items = Items(("a", "b"), (1, 2))
    late = [
        Ranking(f"x{at}", f"x{at}", NOW - at * HOUR, items, model="m", version="3")
        for at in range(24)
    ]
    story.store.append("default", late)
    open_monitor(story.store)
    told = as_json(story.browser().get("/v1/overview?range=30d&every=day"))
    assert [one["version"] for one in told["measures"][0]["series"]] == [None, "3", "4"]
    page = get(story, "/?range=30d&every=day")
    assert 'class="line n2"' in page
    check_page(page)


def test_what_cannot_be_shown_is_said_on_a_page(told_story: Service) -> None:
    for query in ("range=9d", "every=minute", "range=1y&every=hour", "page=2"):
        reader = check_page(get(told_story, f"/?{query}", 422))
        assert "Invalid request" in reader.text
        told = told_story.browser().get(f"/v1/overview?{query}")
        assert told.status_code == 422
        assert as_json(told)["error"]["message"]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_events_are_only_texts(hostile: Service, text: str) -> None:
    check_texts(get(hostile, "/?range=30d"))
    told = as_json(hostile.browser().get("/v1/overview?range=30d"))
    assert told["versions"][-1]["version"] == text
    assert as_json(hostile.browser().get("/v1/trace"))["causes"][0]["slice"]["device"] == text
    links = find_links(check_page(get(hostile, "/slices?range=30d")))
    for path in ("/trace?measure=nDCG@5", *(link for link in links if "slice=" in link)):
        check_texts(get(hostile, path))


@pytest.mark.parametrize("path", ["/rules/none", "/incidents/incident_1", "/rankings?id=r2"])
def test_what_is_not_there_is_not_found(told_story: Service, path: str) -> None:
    assert "Page not found" in check_page(get(told_story, path, 404)).text


def test_who_may_only_read_sees_no_forms_and_sends_none(watched: Service) -> None:
    incident = open_monitor(watched.store).incidents()[0].link
    browser = watched.browser()
    browser.sign_in(watched.make_key("default", "read"))
    for path in ("/rules", "/rules/quality", "/incidents", incident, "/channels"):
        page = browser.get(path).text
        reader = check_page(page)
        assert [form["action"] for form in reader.all("form")] == ["/sign-out"]
        assert "/rules/new" not in find_links(reader)
    token = {"csrf": find_token(page)}
    for path in ("/rules/quality/remove", f"{incident}/resolve", "/channels/oncall/test"):
        assert browser.send(path, {"sure": "yes"} | token).status_code == 403


def test_attributes_may_be_none(site: Service) -> None:
    log_story(site.store)
    open_monitor(site.store, Configuration(definition=DEFINITION, baseline=None))
    told = as_json(site.browser().get("/v1/overview"))
    assert told["slices"] is None
    assert told["baseline"] is None
    assert "Slices" not in check_page(get(site, "/")).text


def test_the_overview_names_them_whatever_they_contain(site: Service) -> None:
    shown = Ranking("r", "r", NOW - HOUR, Items(("a",), (1,)), attributes=(("Device", "tv"),))
    labels = [
        Label(name, "r", "a", NOW - HOUR + 1, labels=(name,)) for name in ("Click", f"{HOSTILE}")
    ]
    site.store.append("default", [shown, *labels])
    open_monitor(site.store)
    text = check_page(get(site, "/")).text
    assert "Label 'Click' isn't configured, so it doesn't count (1 of 2 labels)" in text
    assert "it looks like 'click'" in text
    assert "Attribute 'device' is missing in the only ranking; 'Device' looks like it." in text
    told = as_json(site.browser().get("/v1/overview"))["mismatches"]
    assert ("Click", "click") in {(one["name"], one["like"]) for one in told}


def test_a_new_project_says_what_to_do(site: Service) -> None:
    open_monitor(site.store)
    assert "No rankings yet" in check_page(get(site, "/quality")).text


def test_what_was_not_taken_is_counted_by_reason(story: Service) -> None:
    monitor = open_monitor(story.store)
    monitor.log_rankings([make_ranking(1), make_ranking(1), make_ranking(2, items=7), {}])
    story.store.append("default", [Label("x", "nowhere", "a", NOW - DAY, ("click",))])
    monitor.evaluate()
    quality = monitor.quality()
    reader = check_page(get(story, "/quality"))
    for code, count in quality.events.items():
        if code not in {"accepted", "duplicate", "conflict"}:
            assert code in reader.text
        assert f"{count:,}" in reader.text
    assert quality.pending_labels == 1
    assert "Free disk space" in reader.text
    assert "labels waiting for their ranking" in reader.text
    told = as_json(story.browser().get("/v1/quality"))
    assert told["events"] == dict(quality.events)


def test_shares_have_their_denominators(told_story: Service) -> None:
    monitor = open_monitor(told_story.store)
    reader = check_page(get(told_story, "/quality?range=30d"))
    shown = monitor.quality().shown
    assert f"{shown['labelled']:,} of {shown['rankings']:,}" in reader.text
    assert f"{shown['unjudged']:,} of {shown['documents']:,}" in reader.text
