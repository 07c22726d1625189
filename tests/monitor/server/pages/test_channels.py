"""Channels as a page: where notifications go, and whether they arrive."""

from __future__ import annotations

import re

import pytest
from rankscope.monitor.server.settings import Settings
from rankscope.records import replace

from tests.monitor.server.pages.site import as_json, check_page, find_links, get, open_monitor
from tests.monitor.server.service import Service
from tests.monitor.server.test_channels import CHANNELS, TOKEN, Services

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx


class Operated(Service):
    """A service whose operator has defined channels."""

    def __init__(self, folder: Path) -> None:
        self.services = Services()
        settings = replace(Settings(open_project="default"), notifying=CHANNELS)
        super().__init__(folder, settings, has_key=False, sender=self.services)


@pytest.fixture
def operated(tmp_path: Path) -> Iterator[Operated]:
    made = Operated(tmp_path)
    open_monitor(made.store)
    yield made
    made.store.close()


def send(site: Service, name: str) -> httpx.Response:
    """Press the button of a channel."""
    browser = site.browser()
    token = re.search(r'name="csrf" value="([^"]+)"', browser.get("/channels").text)
    assert token is not None
    return browser.send(f"/channels/{name}/test", {"csrf": token[1]})


def test_without_channels_it_says_how_to_define_one(site: Service) -> None:
    open_monitor(site.store)
    reader = check_page(get(site, "/channels"))
    assert "Notifications only go to the log" in reader.text
    assert "rankscope serve STORE --config" in reader.text
    assert "/channels" in find_links(check_page(get(site, "/settings")))


def test_channels_are_listed_without_their_addresses(operated: Operated) -> None:
    page = get(operated, "/channels")
    reader = check_page(page)
    for text in ("hook", "inner", "oncall", "Slack", "critical"):
        assert text in reader.text
    assert TOKEN not in page
    told = operated.browser().get("/v1/channels")
    assert [one["name"] for one in as_json(told)["channels"]] == ["log", "hook", "inner", "oncall"]
    assert TOKEN not in told.text


def test_a_test_message_is_sent_and_the_page_says_what_came_of_it(operated: Operated) -> None:
    answer = send(operated, "oncall")
    assert answer.status_code == 200
    assert "The test message to oncall was delivered." in check_page(answer.text).text
    assert [name for name, _ in operated.services.sent] == ["oncall"]
    operated.services.problem = "status <403>"
    answer = send(operated, "oncall")
    assert "was not delivered: status <403>" in check_page(answer.text).text


def test_a_channel_that_is_not_there_is_not_found(operated: Operated) -> None:
    assert send(operated, "none").status_code == 404


def test_who_may_only_read_tests_nothing(operated: Operated) -> None:
    browser = operated.browser()
    browser.sign_in(operated.make_key("default", "read"))
    page = browser.get("/channels").text
    assert [form["action"] for form in check_page(page).all("form")] == ["/sign-out"]
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token is not None
    answer = browser.send("/channels/oncall/test", {"csrf": token[1]})
    assert answer.status_code == 403
    assert operated.services.sent == []
