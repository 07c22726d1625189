"""Channels as a page: where notifications go, and whether they arrive."""

from __future__ import annotations

import pytest
from rankscope.monitor.server.http.settings import Settings
from rankscope.records import replace

from tests.monitor.server.pages.site import check_page, find_links, get, open_monitor, send
from tests.monitor.server.service import Service
from tests.monitor.server.test_webhook import CHANNELS, TOKEN, Services

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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


def test_a_test_message_is_sent_and_the_page_says_what_came_of_it(operated: Operated) -> None:
    path = "/channels/oncall/test"
    answer = send(operated, path, {}, "/channels")
    assert answer.status_code == 200
    assert "The test message to oncall was delivered." in check_page(answer.text).text
    assert [name for name, _ in operated.services.sent] == ["oncall"]
    operated.services.problem = "status <403>"
    answer = send(operated, path, {}, "/channels")
    assert "was not delivered: status <403>" in check_page(answer.text).text
    assert send(operated, "/channels/none/test", {}, "/channels").status_code == 404
