"""The story in a real browser: from events over HTTP to why one search is worth what it is."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from rankscope._demo.generator import make_story
from rankscope._demo.story import DEVICE, EXAMPLE, RULE, VERSIONS, WINDOW, list_spans
from rankscope._show.table import format_value
from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import (
    count_micros,
    format_time,
    read_clock,
    to_micros,
)
from rankscope.monitor.server.access.accounts import add_person, set_role

from tests.monitor.story import TAKEN, judge, mean
from tests.services.conftest import DESKTOP, PHONE, take_picture, watch_pages
from tests.services.contrast import SCHEMES, find_faint_texts
from tests.services.production import run_production

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]

ANN, PASSWORD = "ann@example.com", "correct horse battery staple"
MEASURE = RULE.measure
CAUSE = f"device={DEVICE}, version={VERSIONS[1]}"
SMALLER = """
import functools, sys
from rankscope._cli import main
from rankscope._demo import monitor
monitor.make_story = functools.partial(monitor.make_story, daily=100)
sys.exit(main(sys.argv[1:]))
"""
"""The program, with a demo of fewer searches; `make demo` plays it as it is."""


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    """The service at the end of the story."""
    story = make_story(end=read_clock() // DAY * DAY)
    with run_production(story, tmp_path_factory.mktemp("story") / "story.db") as running:
        yield running


@pytest.fixture(scope="module")
def searches(production):
    """What the searches must come to."""
    return judge(production.story)


@pytest.fixture
def visit(browser, production):
    """Opens pages, signed in; in the end nothing may have gone elsewhere or been refused."""
    with watch(browser, production) as visiting:
        yield visiting


@contextmanager
def watch(browser, production):
    """Visit pages, and see that nothing is asked of others, said on the console or refused."""

    def is_own(url):
        return url.startswith(production.url)

    add_ann(production)
    with watch_pages(browser, is_own, lambda text: text.startswith("[DOM]")) as make:

        def open_page(path, **settings):
            page = make(**settings)
            page.goto(f"{production.url}/")
            page.get_by_label("Email address").fill(ANN)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"{production.url}/projects/default/")
            page.goto(f"{production.url}/projects/default{path}")
            return page

        yield open_page


def add_ann(production):
    """Make an account with a password, unless there is one."""
    writer, named = production.monitor.writer, {"now": production.monitor.clock(), "actor": "test"}
    with suppress(UsageError):
        _, link = add_person(writer, ANN, name="Ann", **named)
        set_role(writer, "default", ANN, "admin", **named)
        said = {"link": link, "password": PASSWORD}
        headers = {"sec-fetch-site": "same-origin"}
        answer = httpx.post(f"{production.url}/set-password", data=said, headers=headers)
        assert answer.status_code == 303


def cells(row):
    """The texts of a row, on one line each, without the places where they may be broken."""
    texts = row.locator("th, td").all_inner_texts()
    return [" ".join(text.replace("\u200b", "").split()) for text in texts]


# What was found, whatever shows it.


def test_what_came_over_http_is_stored_once(production):
    story = production.story
    planted = {"accepted": len(story.validation), "duplicate": 0, "conflict": 0, "rejected": 0}
    for each in story.deliveries:
        planted["accepted" if each.fault in TAKEN else each.fault] += 1
    planted["accepted"] -= len(story.validation)  # it is logged before the story begins
    assert production.became == planted
    quality = production.monitor.quality()
    assert quality.behind == 0
    for name in ("duplicate", "conflict"):
        assert quality.events[name] == planted[name]


def test_people_hear_of_the_release_in_time_and_of_nothing_before(production):
    """At the latest when the day of the release is final, and what is late had its grace."""
    story = production.story
    opened = [incident for event, incident in production.events if event == "opened"]
    day = story.release - story.release % DAY
    grace = count_micros(production.monitor.configuration.grace)
    assert story.release < to_micros(opened[0].opened) <= day + DAY + WINDOW + grace
    assert (("device", DEVICE),) in [each.slice for each in opened]
    assert all(to_micros(each.opened) > story.release for each in opened)
    assert {each.version for each in opened if each.version[:1] != "<"} == {VERSIONS[1]}
    assert len({each.group for each in opened}) == 1


# What the pages show.


def test_the_way_from_the_overview_to_one_search(production, searches, visit):
    page = visit("/?range=all&every=day")
    check_overview(page, production, searches)
    page.locator("article.incident h3 a").first.click()
    check_incident(page, production)
    page.get_by_role("link", name="Find the cause").first.click()
    assert page.get_by_role("heading", level=2).first.inner_text().startswith(f"{MEASURE} fell")
    page.goto(f"{production.url}/trace?measure={MEASURE.replace('@', '%40')}")
    assert CAUSE in page.get_by_role("region", name="Causes table", exact=True).inner_text()
    row = page.get_by_role("region", name="Queries that fell most").locator("tbody tr").first
    assert cells(row)[0] == EXAMPLE
    row.get_by_role("link", name="Explain").click()
    check_explanation(page, searches)


def check_overview(page, production, searches):
    """The newest day that is final, beside the baseline."""
    judged = [each for each in searches if each.environment == "validation"]
    days = {}
    for each in searches:
        if each.environment == "production":
            days.setdefault(each.time - each.time % DAY, []).append(each)
    final = max(day for day in days if day + DAY + WINDOW <= production.story.end)
    for measure in production.monitor.measures:
        about = page.get_by_role("article", name=measure, exact=True)
        assert about.locator(".figure").inner_text() == format_value(mean(days[final], measure))
        against = about.locator(".against").inner_text()
        assert f"baseline of {format_value(mean(judged, measure))}" in against


def check_incident(page, production):
    """What is wrong, and that its rule tells the same."""
    assert page.get_by_role("heading", level=1).inner_text().startswith(f"{MEASURE} fell for ")
    (state,) = (each for each in production.monitor.check() if each.rule.name == RULE.name)
    assert state.state == "ALERT"
    page.get_by_role("link", name=RULE.name).click()
    assert page.get_by_role("heading", level=1).inner_text() == RULE.name
    page.go_back()


def check_explanation(page, searches):
    """The value of the search, and its list rank by rank."""
    (ranking,) = parse_qs(urlsplit(page.url).query)["id"]
    search = next(each for each in searches if each.name == ranking)
    assert (search.query, search.version) == (EXAMPLE, VERSIONS[1])
    assert page.locator(".figure").first.inner_text() == format_value(search.value(MEASURE))
    rows = page.get_by_role("region", name="Documents").locator("tbody tr").all()
    assert [cells(row)[:2] for row in rows] == [
        [str(rank), track] for rank, track in enumerate(search.tracks, start=1)
    ]


def test_pages_are_read_wide_and_narrow_in_the_light_and_in_the_dark(production, visit):
    trace = production.monitor.trace(*list_spans(production.story), MEASURE)
    ranking = trace.fallen.column("ranking_id")[0]
    incident = production.monitor.incidents()[0]
    paths = {
        "overview": "/",
        "trace": "/trace?measure=nDCG%405",
        "incidents": "/incidents",
        "incident": incident.link,
        "slices": "/slices?range=all",
        "slice": f"/slice?range=all&slice=device%3D{DEVICE}",
        "rules": "/rules",
        "channels": "/channels",
        "rule": f"/rules/{RULE.name.replace(' ', '%20').replace('@', '%40')}",
        "quality": "/quality",
        "settings": "/settings",
        "ranking": f"/rankings?id={ranking}&measure=nDCG%405",
    }
    for size in (DESKTOP, PHONE):
        page = visit("/", viewport=size)
        for name, path in paths.items():
            page.goto(f"{production.url}/projects/default{path}")
            assert page.get_by_role("heading", level=1).count() == 1
            page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                assert find_faint_texts(page) == [], (name, scheme)
                take_picture(page, f"{name}-{size['width']}-{scheme}")


def test_the_demonstration_serves_the_dashboard_until_it_is_interrupted(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", SMALLER, "demo", "--keep", tmp_path / "kept"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = []
        for line in process.stdout:
            told.append(line.rstrip("\n"))
            if line.startswith("The dashboard is at "):
                break
        url = told[-1].split()[4]
        page = httpx.get(url, follow_redirects=True)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(300) == 0
        assert (rest, process.stderr.read()) == ("", "")
    assert page.status_code == 200
    assert "active incident" in page.text
    assert any(line.startswith("3. Incidents: ") for line in told)
    assert any(CAUSE in line for line in told)
    assert format_time(read_clock())[:4] in told[0]
