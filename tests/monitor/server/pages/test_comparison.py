"""Two versions beside each other as a page."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.settings import Settings

from tests.monitor.served import CONFIGURATION, DAYS, make_served
from tests.monitor.server.pages.site import (
    HOSTILE,
    as_json,
    check_page,
    find_links,
    get,
    open_monitor,
)
from tests.monitor.server.service import NOW, Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
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
def monitor(served: Service) -> Monitor:
    """The monitor of its project."""
    return Monitor(served.store, clock=lambda: NOW)


def test_without_two_versions_it_says_so(site: Service) -> None:
    open_monitor(site.store)
    reader = check_page(get(site, "/comparison"))
    assert "No two versions of a model served at the same time." in reader.text


def test_the_page_says_which_version_is_worse(served: Service, monitor: Monitor) -> None:
    found = monitor.compare()
    reader = check_page(get(served, "/comparison"))
    assert found.sentence in reader.text
    assert "Version 4 is worse" in reader.text
    assert len(reader.all("tr")) == 1 + len(found.days)


def test_the_overview_links_to_it(served: Service) -> None:
    reader = check_page(get(served, "/"))
    assert "Versions 3 and 4 of m served at the same time." in reader.text
    assert "/comparison?model=m&old=3&new=4" in find_links(reader)
    assert "Version 4 is worse" in check_page(get(served, "/comparison?model=m&old=3&new=4")).text


def test_what_can_not_be_compared_is_said_beside_the_form(served: Service) -> None:
    for query, words in (
        ("slice=device", "Enter an attribute and its value"),
        ("since=x", "Enter a time in UTC"),
        ("new=9", "There are no rankings of version"),
        ("slice=app%3Dx", "There is no attribute"),
        ("measure=AP", "expected one of"),
    ):
        assert words.lower() in check_page(get(served, f"/comparison?{query}")).text.lower()


def test_a_slice_is_compared_over_http_as_in_python(served: Service, monitor: Monitor) -> None:
    found = monitor.compare(slice=(("device", "phone"),))
    browser = served.browser()
    answer = browser.get("/v1/comparison?slice=device%3Dphone&old=3&new=4")
    assert as_json(answer) == found.to_dict()
    for query in ("new=9", "slice=app%3Dx", "old=4&new=4", "measure=AP"):
        answer = browser.get(f"/v1/comparison?{query}")
        assert answer.status_code == 422
        assert answer.json()["error"]["hint"]


def test_hostile_texts_are_shown_as_texts(served: Service) -> None:
    for text in HOSTILE:
        check_page(get(served, f"/comparison?{urlencode({'new': text, 'slice': text})}"))
