"""The page of bots, and what the API says of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rankscope.monitor.events.times import to_datetime

from tests.monitor.server.pages.site import HOSTILE, as_json, check_page, get, open_monitor, send
from tests.monitor.server.service import NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service

PATH = "/bots"


@pytest.mark.slow
def test_users_are_left_out_and_taken_back(site: Service) -> None:
    monitor = open_monitor(site.store)
    for user in HOSTILE:
        monitor.log_rankings(
            [
                {
                    "ranking_id": f"{user} {number}",
                    "time": (to_datetime(NOW) - timedelta(minutes=300 - 5 * number)).isoformat(),
                    "user_id": user,
                    "doc_ids": ["a"],
                }
                for number in range(40)
            ]
        )
    monitor.evaluate()
    page = check_page(get(site, PATH))
    assert not page.all("img")
    assert "One ranking every 300 seconds, 40 times" in page.text
    boxes = [each["value"] for each in page.all("input") if each.get("type") == "checkbox"]
    assert sorted(map(str, boxes)) == sorted(HOSTILE)
    one = HOSTILE[0]
    assert send(site, PATH, {"user": one, "change": "leave_out"}).status_code == 303
    assert open_monitor_left(site) == [one]
    monitor.evaluate()
    page = check_page(get(site, PATH))
    assert "Count these users again" in page.text
    assert "1 user is left out" in check_page(get(site, "/")).text
    answer = as_json(site.browser().get("/v1/bots"))
    assert (answer["left_out"], answer["left_out_rankings"]) == (1, 40)
    assert send(site, PATH, {"user": one, "change": "take_back"}).status_code == 303
    assert open_monitor_left(site) == []
    assert send(site, PATH, {"user": one, "change": "other"}).status_code == 422


def open_monitor_left(site: Service) -> list[str]:
    """Who is left out, as the API says."""
    told = as_json(site.browser().get("/v1/configuration"))
    return list(told["definition"].get("left_out", []))
