from __future__ import annotations

import math

import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.api.values import order_slice
from rankscope.monitor.server.pages.overview import view_overview
from rankscope.monitor.server.pages.overview_range import Choice
from rankscope.monitor.server.pages.slices import read_slice
from rankscope.monitor.store.keys import TESTED, AuditEntry

from tests.monitor.server.pages.incidents import make_incident, put_incidents
from tests.monitor.server.pages.site import (
    CONFIGURATION,
    DEFINITION,
    HOSTILE,
    WINDOW,
    as_json,
    check_page,
    check_texts,
    find_links,
    get,
    log_story,
    open_monitor,
    send,
)
from tests.monitor.server.service import NOW, find_token, make_ranking


def test_without_rankings_or_labels_it_says_how_to_send_them(site):
    open_monitor(site.store)
    reader = check_page(get(site, "/"))
    assert "No rankings yet" in reader.text
    assert "client.log_ranking(" in reader.text
    shown = Ranking("e1", "r1", NOW - HOUR, Items(("a",), (1,)))
    site.store.append("default", [shown])
    open_monitor(site.store)
    reader = check_page(get(site, "/"))
    assert "No labels yet" in reader.text
    assert "No baseline yet" in reader.text
    assert '"environment": "validation"' in reader.text


def test_a_ranking_of_long_ago_shows_all_there_is(site):
    shown = Ranking("e1", "r1", NOW - 300 * DAY, Items(("a",), (1,)))
    site.store.append("default", [shown, Label("l", "r1", "a", NOW - 300 * DAY, ("buy",))])
    open_monitor(site.store)
    assert as_json(site.browser().get("/v1/overview"))["range"] == "all"
    reader = check_page(get(site, "/?range=7d"))
    assert "No rankings in this range" in reader.text


def test_it_shows_the_values_of_the_newest_final_window_beside_the_baseline(told_story):
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


def test_the_api_says_what_the_monitor_says(story):
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


def test_a_new_version_is_marked_where_it_begins(told_story):
    page = get(told_story, "/?range=30d")
    assert "m 4" in check_page(page).text
    assert page.count('<line class="event"') == 2 + 3  # two measures, three counts


def test_versions_shown_at_a_time_have_lines_of_their_own(story):
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


def test_what_cannot_be_shown_is_said_on_a_page(told_story):
    for query in ("range=9d", "every=minute", "range=1y&every=hour", "page=2"):
        reader = check_page(get(told_story, f"/?{query}", 422))
        assert "Invalid request" in reader.text
        told = told_story.browser().get(f"/v1/overview?{query}")
        assert told.status_code == 422
        assert as_json(told)["error"]["message"]
    reader = check_page(get(told_story, "/slice?slice=device%3Dcar"))
    assert "No rankings in this range" in reader.text
    for query in ("slice=country%3Djp", "slice=device", "range=9d", "slice=a&x=1", "measure=AP"):
        check_page(get(told_story, f"/slice?{query}", 422))
    for query in ("range=9d", "slice=device%3Dtv", "every=week"):
        check_page(get(told_story, f"/slices?{query}", 422))


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_events_are_only_texts(hostile, text):
    check_texts(get(hostile, "/?range=30d"))
    told = as_json(hostile.browser().get("/v1/overview?range=30d"))
    assert told["versions"][-1]["version"] == text
    assert as_json(hostile.browser().get("/v1/trace"))["causes"][0]["slice"]["device"] == text
    links = find_links(check_page(get(hostile, "/slices?range=30d")))
    for path in ("/trace?measure=nDCG@5", *(link for link in links if "slice=" in link)):
        check_texts(get(hostile, path))


@pytest.mark.parametrize("path", ["/rules/none", "/incidents/incident_1", "/rankings?id=r2"])
def test_what_is_not_there_is_not_found(told_story, path):
    assert "Page not found" in check_page(get(told_story, path, 404)).text


def test_who_may_only_read_sees_no_forms_and_sends_none(watched):
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


def test_attributes_may_be_none(site):
    log_story(site.store)
    open_monitor(site.store, Configuration(definition=DEFINITION, baseline=None))
    told = as_json(site.browser().get("/v1/overview"))
    assert told["slices"] is None
    assert told["baseline"] is None
    assert "Slices" not in check_page(get(site, "/")).text


def test_the_overview_names_them_whatever_they_contain(site):
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


def test_a_new_project_says_what_to_do(site):
    open_monitor(site.store)
    assert "No rankings yet" in check_page(get(site, "/quality")).text


def test_what_was_not_taken_is_counted_by_reason(story):
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


def test_shares_have_their_denominators(told_story):
    monitor = open_monitor(told_story.store)
    reader = check_page(get(told_story, "/quality?range=30d"))
    shown = monitor.quality().shown
    assert f"{shown['labelled']:,} of {shown['rankings']:,}" in reader.text
    assert f"{shown['unjudged']:,} of {shown['documents']:,}" in reader.text


NEEDED = {"Rankings", "Labels that count", "First final hour", "Baseline", "Rule", "Channel"}
RECOMMENDED = {"Versions", "Users", "Attributes"}


def list_done(monitor):
    """The titles of the lines that are green."""
    return {task.title for task in view_overview(monitor).tasks if task.is_done}


def log(monitor, at, **more):
    """Log a ranking, and whatever it has besides."""
    name = f"r{at}"
    items = Items(("a", "b"), (1, 2))
    monitor.writer.append("default", [Ranking(f"e{name}", name, at, items, model="m", **more)])


def test_of_a_project_that_has_nothing_no_line_is_done(site):
    monitor = open_monitor(site.store)
    tasks = view_overview(monitor).tasks
    assert {task.title for task in tasks if task.is_needed} == NEEDED
    assert {task.title for task in tasks if not task.is_needed} == RECOMMENDED
    assert list_done(monitor) == set()
    reader = check_page(get(site, "/"))
    assert "Set up monitoring" in reader.text
    assert "rankscope monitor ingest STORE rankings.parquet" in reader.text
    assert "rankscope monitor rule add STORE quality --measure nDCG@5" in reader.text
    assert {"/settings", "/rules/new", "/channels"} <= set(find_links(reader))


def test_each_line_is_done_by_what_it_says(site):
    monitor = open_monitor(site.store)
    old = NOW - 2 * WINDOW
    log(monitor, old)
    monitor.evaluate()
    assert list_done(monitor) == {"Rankings", "First final hour"}
    log(monitor, NOW - 2 * HOUR, version="3")
    monitor.evaluate()
    assert list_done(monitor) == {"Rankings", "First final hour", "Versions"}
    log(monitor, NOW - HOUR, version="3", user_id="u")
    monitor.evaluate()
    assert "Users" in list_done(monitor)
    label = Label("l", f"r{old}", "b", old + HOUR, ("other",))
    monitor.writer.append("default", [label])
    monitor.evaluate()
    assert "Labels that count" not in list_done(monitor)
    monitor.writer.append("default", [Label("m", f"r{old}", "b", old + HOUR, ("buy",))])
    monitor.evaluate()
    assert "Labels that count" in list_done(monitor)
    monitor.set_rule(Rule(name="data", kind="data"))
    assert "Rule" not in list_done(monitor)
    monitor.set_rule(Rule(name="quality", measure="nDCG@5"))
    assert "Rule" in list_done(monitor)
    assert "Baseline" not in list_done(monitor)
    monitor.configure(Configuration(definition=DEFINITION, attributes=("device",), baseline=None))
    log(monitor, NOW - HOUR // 2, attributes=(("device", "tv"),))
    monitor.evaluate()
    assert {"Baseline", "Attributes"} <= list_done(monitor)


def test_the_list_is_gone_once_a_channel_was_tested(operated, services):
    log_story(operated.store)
    monitor = open_monitor(operated.store)
    monitor.set_rule(Rule(name="quality", measure="nDCG@5"))
    left = {task.title for task in view_overview(monitor).tasks if not task.is_done}
    assert left == {"Channel"}
    services.failing["oncall"] = "status 403"
    send(operated, "/channels/oncall/test", {}, "/channels")
    assert "Set up monitoring" in get(operated, "/")
    services.failing.clear()
    send(operated, "/channels/oncall/test", {}, "/channels")
    assert operated.store.audit("default")[-1].action == TESTED
    assert view_overview(monitor).tasks == ()
    assert "Set up monitoring" not in get(operated, "/")


@pytest.mark.parametrize("choice", [Choice(range="1d"), Choice(version="3"), Choice(every="day")])
def test_a_part_of_the_project_has_no_list(choice, site):
    assert view_overview(open_monitor(site.store), choice).tasks == ()


def test_hostile_names_are_shown_as_they_are(site):
    markup = "<b onclick=x>"
    monitor = open_monitor(site.store)
    monitor.configure(Configuration(definition=define(positive=markup, window="1h")))
    page = get(site, "/")
    assert f"Log labels: {markup}." in check_page(page).text
    assert "<b onclick" not in page


def test_a_test_in_another_project_is_none_of_this_one(site):
    site.store.record_audit("other", AuditEntry(NOW, "ann", TESTED, "oncall"))
    assert "Channel" not in list_done(open_monitor(site.store))


PAIRED = Configuration(definition=DEFINITION, attributes=("device", "country"), baseline=None)


def test_a_project_without_slices_says_so(site):
    open_monitor(site.store, Configuration(definition=DEFINITION, baseline=None))
    assert "This project has no slices" in check_page(get(site, "/slices")).text


def test_the_slice_that_lowers_the_mean_most_comes_first_and_contributions_add_up(told_story):
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


def test_the_cause_of_an_active_incident_comes_first(story):
    open_monitor(story.store)
    cause = {"sentence": "x", "slice": {"device": "phone", "version": "4"}}
    put_incidents(story, make_incident(cause=cause))
    told = as_json(story.browser().get("/v1/overview?range=30d&every=day"))
    found = [(row["slice"], row["is_confirmed"]) for row in told["slices"]]
    assert found == [("device=phone", True), ("device=tv", False)]
    assert "cause of an incident" in check_page(get(story, "/slices?range=30d")).text


def test_each_row_of_slices_leads_to_the_slice_over_time(told_story):
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


def test_a_slice_shows_the_incidents_that_concern_it(story):
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


def test_attributes_may_be_in_any_order():
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
def test_the_name_of_a_slice_is_read_as_it_was_written(place):
    name = ", ".join(f"{attribute}={value}" for attribute, value in place)
    assert read_slice(name, PAIRED) == place
