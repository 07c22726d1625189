"""What the scripts of pages add in a real browser: local times, spans to compare, newer data."""

from __future__ import annotations

import shutil
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.server.pages.incidents import BEGAN, make_incident, put_incidents
from tests.monitor.server.pages.site import log_story, open_monitor
from tests.monitor.server.service import Service
from tests.services.conftest import PHONE, watch_pages
from tests.services.production import serve

pytestmark = pytest.mark.timeout(300)


class Dashboard(Service):
    """A service on a port of this machine, with the story in it."""

    url = ""


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The folder of a store with the story and its values, which each test copies."""
    folder = tmp_path_factory.mktemp("story")
    with SQLiteStore(folder / "events.db") as store:
        log_story(store)
        open_monitor(store)
    return folder


@pytest.fixture
def dashboard(tmp_path, story):
    """The story, and an incident of it."""
    shutil.copytree(story, tmp_path, dirs_exist_ok=True)
    made = Dashboard(tmp_path, Settings(open_project="default"), has_key=False)
    put_incidents(made, make_incident(evidence={"value": 0.75, "floor": 0.9, "baseline": 1.0}))
    with serve(made.app, made.store) as url:
        made.url = f"{url}/projects/default"
        yield made
    made.store.close()


@pytest.fixture
def visit(browser, dashboard):
    """Opens pages; in the end nothing may have been refused or said on the console."""
    # The browser reports statuses that a test has asked for.
    with watch_pages(browser, lambda _url: True, lambda text: "503" in text) as make:

        def open_page(path, **settings):
            page = make(**settings)
            page.context.set_default_timeout(60_000)
            page.clock.install()
            page.goto(dashboard.url + path)
            return page

        yield open_page


def test_times_are_those_of_the_reader_and_days_are_days_of_utc(visit):
    page = visit("/incidents/incident_1", timezone_id="Asia/Tokyo")
    local = BEGAN + timedelta(hours=9)
    since = page.locator(".head time").first
    assert since.inner_text().startswith(f"{local.day} {local:%b %Y}, {local:%H:%M}")
    assert since.get_attribute("title") == f"{BEGAN.day} {BEGAN:%b %Y}"
    assert "Asia/Tokyo" in page.locator("footer").inner_text()
    page.get_by_text("Show as a table").click()
    first = page.locator("table[data-for] tbody th").first
    assert first.inner_text().count(":") == 0


def test_ticks_are_round_in_the_zone_of_the_reader(visit):
    page = visit("/?range=1d", timezone_id="Asia/Kolkata")
    texts = page.locator("#chart-1 .tick").all_text_contents()
    assert len(texts) > 3
    # Half an hour off UTC, so that ticks that were only moved would not be round.
    assert all(":" not in text or text.endswith(":00") for text in texts)


def drag(page, start, end):
    """Drag across the first chart, from one share of its width to another."""
    plane = page.locator("#chart-1")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + start * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], box["y"] + 50, steps=4)
    page.mouse.up()


def read_link(page):
    """What the picked spans ask the trace for."""
    link = page.locator(".picker a").first.get_attribute("href")
    assert link is not None
    assert link.startswith("/projects/default/trace?")
    return parse_qs(urlsplit(link).query)


def test_two_spans_that_are_dragged_are_compared_the_later_with_the_earlier(visit):
    page = visit("/?range=30d&every=day")
    drag(page, 0.9, 0.97)
    asked = read_link(page)
    assert asked["measure"] == ["nDCG@1"]
    assert "before_since" not in asked
    drag(page, 0.8, 0.7)
    asked = read_link(page)
    times = [
        asked[f"{side}_{end}"][0] for side in ("before", "after") for end in ("since", "until")
    ]
    assert times == sorted(times)
    assert all(time.endswith("T00:00") for time in times)
    page.locator(".picker").get_by_role("link", name="Find the cause").click()
    page.wait_for_url("**/trace?**")
    assert page.locator("#before_since").input_value() == times[0]


def test_a_span_is_picked_with_the_keyboard_alone(visit):
    page = visit("/?range=30d&every=day")
    page.locator("#chart-1").focus()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowLeft")
    asked = read_link(page)
    assert asked["after_since"][0] < asked["after_until"][0]
    page.keyboard.press("Escape")
    assert page.locator(".picker a").count() == 0


def test_newer_data_come_by_themselves_and_what_was_opened_stays_open(dashboard, visit):
    page = visit("/incidents")
    with page.expect_response("**/incidents"):
        page.clock.run_for(60_000)
    page.get_by_text("Snooze or resolve").first.click()
    page.locator("h1").click()
    put_incidents(dashboard, make_incident(2, kind="volume", measure="", slice=(), version=""))
    page.clock.run_for(60_000)
    page.get_by_text("2 active incidents").wait_for()
    assert page.title().startswith("2 active")


def test_who_fills_in_something_is_asked_before_the_page_changes(dashboard, visit):
    page = visit("/incidents/incident_1")
    with page.expect_response("**/incident_1"):
        page.clock.run_for(60_000)
    page.locator("select[name=hours]").focus()
    put_incidents(dashboard, make_incident(state="acknowledged", acknowledged_by="ada"))
    page.clock.run_for(60_000)
    button = page.get_by_role("button", name="Show newer data")
    button.wait_for()
    assert "ada" not in page.locator(".head").inner_text()
    button.click()
    assert "ada" in page.locator(".head").inner_text()


def test_a_table_wider_than_a_phone_says_so_also_after_newer_data(dashboard, visit):
    page = visit("/", viewport=PHONE)
    text = "Scroll the table sideways to see all columns."
    hint = page.get_by_text(text).filter(visible=True).first
    hint.wait_for()
    assert page.get_by_role("region", name="Slices table").get_attribute("tabindex") == "0"
    put_incidents(dashboard, make_incident(2, kind="volume", measure="", slice=(), version=""))
    page.clock.run_for(60_000)
    page.clock.run_for(60_000)
    page.get_by_text("2 active incidents").wait_for()
    hint.wait_for()


def test_the_form_of_a_rule_shows_the_fields_of_its_kind(visit):
    page = visit("/rules/new")
    fields = {
        "drop": {"tolerance", "false_alarms", "slices-1"},
        "data": {"false_alarms", "watches-2"},
    }
    every = set.union(*fields.values())
    for kind, expected in fields.items():
        page.locator("#kind").select_option(kind)
        assert {each for each in every if page.locator(f"#{each}").is_visible()} == expected
        assert page.locator("#name").is_visible()


def test_updates_can_be_paused_and_stay_so_on_other_pages(visit):
    page = visit("/incidents")
    page.get_by_role("button", name="Pause").click()
    page.goto(page.url.removesuffix("incidents"))
    assert page.get_by_role("button", name="Resume").count() == 1
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(200_000)
    assert asked == []


def test_a_service_that_does_not_answer_is_said(visit):
    page = visit("/incidents")
    page.route("**/incidents", lambda route: route.fulfill(status=503, body="busy"))
    page.clock.run_for(60_000)
    page.get_by_text("the service cannot answer now").wait_for()
    page.unroute("**/incidents")
    page.get_by_role("button", name="Pause").click()


def test_a_late_answer_does_not_hide_a_later_problem(visit):
    page = visit("/incidents")
    held = []

    def answer(route):
        if held:
            route.fulfill(status=503, body="busy")
        else:
            held.append(route)

    page.route("**/incidents", answer)
    page.clock.run_for(60_000)
    page.clock.run_for(60_000)
    trouble = page.get_by_text("the service cannot answer now")
    trouble.wait_for()
    with page.expect_event("requestfinished"):
        held[0].continue_()
    # By the time of another answer, the page has read this one.
    page.evaluate("async () => (await fetch('/')).text()")
    assert trouble.count() == 1


def test_the_incidents_take_at_most_three_screens_of_a_phone(dashboard, visit):
    """Twenty causes with five parts each, and as many that are over."""
    over = {"state": "resolved", "recovered": BEGAN, "resolved": BEGAN}
    made = [
        make_incident(5 * group + part, group=f"g{group}", slice=(("device", f"device {part}"),))
        for group in range(1, 21)
        for part in range(5)
    ]
    made += [make_incident(200 + at, **over) for at in range(30)]
    put_incidents(dashboard, *made)
    page = visit("/incidents", viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * PHONE["height"]
