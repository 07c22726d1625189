"""The page that deletes rankings."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import format_time

from tests.monitor.server.pages.site import check_page, get, open_monitor, send
from tests.monitor.server.service import NOW, Service

PATH = "/deletion"


def test_the_page_deletes_once_the_project_is_named(site: Service) -> None:
    monitor = open_monitor(site.store)
    day = f"{format_time(NOW - 2 * DAY)}"[:10]
    ranking = {"ranking_id": "a b", "time": f"{day}T18:00:00Z", "user_id": "u1", "doc_ids": ["a"]}
    monitor.log_rankings([ranking, ranking | {"ranking_id": "c", "user_id": "u2"}])
    page = check_page(get(site, PATH))
    assert "Type default to confirm" in page.text
    fields = {"user": "u1", "rankings": "", "since": day, "until": "", "confirm": "music"}
    refused = send(site, PATH, fields)
    assert refused.status_code == 422
    assert "Nothing has been deleted" in refused.text
    empty = dict.fromkeys(fields, "") | {"confirm": "default"}
    assert "nothing says which rankings" in send(site, PATH, empty).text.lower()
    done = send(site, PATH, fields | {"confirm": "default"})
    assert done.status_code == 200
    assert "Deleted 1 ranking and 0 labels." in done.text
    [left] = monitor.versions()
    assert left.rankings == 1
