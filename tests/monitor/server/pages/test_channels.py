"""Channels as a page: where notifications go, and whether they arrive."""

from __future__ import annotations

from tests.monitor.notify.test_channel_delivery import Services
from tests.monitor.server.pages.site import check_page, find_links, get, open_monitor, send
from tests.monitor.server.service import Service
from tests.monitor.server.test_webhook import TOKEN


def test_without_channels_it_says_how_to_define_one(site: Service) -> None:
    open_monitor(site.store)
    reader = check_page(get(site, "/channels"))
    assert "Notifications only go to the log" in reader.text
    assert "rankscope serve STORE --config" in reader.text
    assert "/channels" in find_links(check_page(get(site, "/settings")))


def test_channels_are_listed_without_their_addresses(operated: Service) -> None:
    open_monitor(operated.store)
    page = get(operated, "/channels")
    reader = check_page(page)
    for text in ("hook", "inner", "oncall", "Slack", "critical"):
        assert text in reader.text
    assert TOKEN not in page


def test_a_test_message_is_sent_and_the_page_says_what_came_of_it(
    operated: Service, services: Services
) -> None:
    open_monitor(operated.store)
    path = "/channels/oncall/test"
    answer = send(operated, path, {}, "/channels")
    assert answer.status_code == 200
    assert "The test message to oncall was delivered." in check_page(answer.text).text
    assert services.names() == ["oncall"]
    services.failing["oncall"] = "status <403>"
    answer = send(operated, path, {}, "/channels")
    assert "was not delivered: status <403>" in check_page(answer.text).text
    assert send(operated, "/channels/none/test", {}, "/channels").status_code == 404
