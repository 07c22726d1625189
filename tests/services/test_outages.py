"""A month in which five things go wrong: which incidents open, who hears of them, when they end."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.incident import Notice
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.render import write_sentence
from rankscope.records import record

from tests.monitor.outages import (
    DAY_0,
    DAYS,
    LABELS,
    PHONE,
    RENAMED,
    SILENT,
    START,
    TV,
    log_events,
)
from tests.services.conftest import DESKTOP, take_picture
from tests.services.conftest import PHONE as SMALL
from tests.services.contrast import SCHEMES, find_faint_texts
from tests.services.production import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser
    from rankscope.monitor.incidents.incident import Incident

    from tests.monitor.outages import Fault

pytestmark = [pytest.mark.timeout(1500), pytest.mark.slow]

CONFIGURATION = Configuration(
    definition=define(measures=("nDCG@5",), positive="click", window="24h"),
    attributes=("device", "country"),
    baseline=BaselineChoice(kind="period", since=to_datetime(START), until=to_datetime(DAY_0)),
)
RULE = Rule(name="quality by device", measure="nDCG@5", slices=("device",))
STREAMS = {
    TV: ("quality", "lambda", (("device", "tv"),)),
    PHONE: ("quality", "trees", (("device", "phone"),)),
    LABELS: ("labels", "", ()),
    RENAMED: ("attributes", "", (("device", "tv"),)),
    SILENT: ("versions", "trees", ()),
}
"""What the incident of each fault is about: its kind, model and slice."""


@record(frozen=True, slots=True)
class Month:
    """What has happened.

    Args:
        monitor: The monitor, at the end.
        url: Where the service is.
        active: By day, what active incidents were about.
    """

    monitor: Monitor
    url: str
    active: tuple[frozenset[tuple[object, ...]], ...]

    def find(self, fault: Fault) -> Incident:
        """The only incident that is about a fault."""
        found = [each for each in self.monitor.incidents("all") if key(each) == STREAMS[fault]]
        assert len(found) == 1, fault.name
        return found[0]


def key(incident: Incident) -> tuple[object, ...]:
    return incident.kind, incident.model, incident.slice


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Month]:
    """The month, looked at once a day, and the service at its end."""
    now = START
    path = tmp_path_factory.mktemp("outages") / "events.db"
    with closing(Monitor.open(str(path), now=lambda: to_datetime(now))) as monitor:
        monitor.configure(CONFIGURATION)
        events = sorted(
            (event.time, at, event)
            for at, (ranking, labels) in enumerate(log_events())
            for event in (ranking, *labels)
        )
        since = START
        active = []
        for until in (DAY_0 + day * DAY + 2 * HOUR for day in range(DAYS)):
            arrived = [event for time, _, event in events if since <= time < until]
            monitor.writer.append(monitor.project, arrived)
            since = now = until
            monitor.evaluate()
            if until == DAY_0 + 2 * HOUR:
                monitor.set_rule(RULE)
            active.append(frozenset(map(key, monitor.incidents())))
        app = make_app(
            monitor.writer,
            Settings(open_project=monitor.project),
            write_log=lambda _line: None,
            now=lambda: now,
        )
        with serve(app, monitor.writer) as url:
            yield Month(monitor, f"{url}/projects/default", tuple(active))


@pytest.mark.parametrize("fault", STREAMS, ids=lambda fault: fault.name)
def test_each_fault_has_an_incident_that_began_when_it_did(month: Month, fault: Fault) -> None:
    incident = month.find(fault)
    begin = to_datetime(DAY_0 + fault.first * DAY)
    assert incident.began is not None
    assert abs(incident.began - begin) <= timedelta(days=1)
    assert begin < incident.opened <= begin + timedelta(days=3)


@pytest.mark.parametrize("fault", STREAMS, ids=lambda fault: fault.name)
def test_an_incident_ends_after_its_fault_is_repaired_and_not_before(
    month: Month, fault: Fault
) -> None:
    incident = month.find(fault)
    if fault.end == DAYS:
        assert incident.is_active
        return
    repaired = to_datetime(DAY_0 + fault.end * DAY)
    assert incident.recovered is not None
    assert repaired < incident.recovered <= repaired + timedelta(days=3)
    assert incident.state in {"recovered", "resolved"}


def test_a_fault_that_begins_during_another_is_not_silent(month: Month) -> None:
    """Televisions are still bad when phones fall, and both are active at a time."""
    assert any({STREAMS[TV], STREAMS[PHONE]} <= seen for seen in month.active)
    assert any({STREAMS[RENAMED], STREAMS[SILENT]} <= seen for seen in month.active)


def test_nothing_else_is_reported(month: Month) -> None:
    """A model whose phones fell has fallen as a whole, too."""
    others = {key(each) for each in month.monitor.incidents("all")} - set(STREAMS.values())
    # Lists in another order are warned of, too.
    warned = {("early", "lambda", (("device", "tv"),)), ("early", "trees", (("device", "phone"),))}
    assert others <= {("quality", "trees", ()), ("quality", "lambda", ())} | warned
    assert not month.active[TV.first]


def test_people_hear_of_each_incident_once_when_it_opens_and_once_when_it_ends(
    month: Month,
) -> None:
    said: dict[tuple[str, str], list[str]] = {}
    for each in month.monitor.notifications(1000):
        if each.channel != "log":
            continue
        for event, incident in Notice.from_json(each.body).parts:
            said.setdefault((incident.incident_id, event), []).append(each.notification_id)
    for fault in STREAMS:
        incident = month.find(fault)
        events = ["opened", *(["recovered"] if fault.end < DAYS else [])]
        for event in events:
            assert len(said.get((incident.incident_id, event), [])) == 1, (fault.name, event)


def test_the_pages_say_what_is_wrong_now_and_what_was(month: Month, browser: Browser) -> None:
    seen: list[str] = []
    active = month.monitor.incidents()
    paths = {"overview": "/?range=30d", "incidents": "/incidents", "rules": "/rules"}
    paths |= {fault.name: month.find(fault).link for fault in STREAMS}
    for size in (DESKTOP, SMALL):
        context = browser.new_context(viewport=size)
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.on("console", lambda said: seen.append(said.text))
        for name, path in paths.items():
            page.goto(month.url + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                assert find_faint_texts(page) == [], (name, scheme)
                take_picture(page, f"month {name} {size['width']} {scheme}".replace(" ", "-"))
        page.goto(f"{month.url}/incidents")
        heading = page.get_by_role("heading", level=1).inner_text()
        assert heading == f"{len(active)} active incident{'s' if len(active) > 1 else ''}"
        for each in active:
            assert page.locator(f'a[href="/projects/default{each.link}"]').count() > 0
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= 3 * SMALL["height"]
        page.goto(month.url)
        assert write_sentence(month.find(RENAMED).reason) in page.locator("main").inner_text()
        # The first screen has it.
        box = page.locator("article.incident").first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < size["height"]
        context.close()
    assert seen == []
    assert to_micros(active[0].opened) < DAY_0 + DAYS * DAY
