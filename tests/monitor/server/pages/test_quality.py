"""The quality of data as a page: every count has a place."""

from __future__ import annotations

from rankscope.monitor.events.event import Label
from rankscope.monitor.events.limits import DAY

from tests.monitor.server.pages.site import as_json, check_page, get, log_story, open_monitor
from tests.monitor.server.service import NOW, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service


def test_a_new_project_says_what_to_do(site: Service) -> None:
    assert "This project isn’t set up yet" in check_page(get(site, "/quality")).text
    open_monitor(site.store)
    assert "No rankings yet" in check_page(get(site, "/quality")).text


def test_what_was_not_taken_is_counted_by_reason(site: Service) -> None:
    log_story(site.store)
    monitor = open_monitor(site.store)
    monitor.log_rankings([make_ranking(1), make_ranking(1), make_ranking(2, items=7), {}])
    site.store.append("default", [Label("x", "nowhere", "a", NOW - DAY, ("click",))])
    monitor.evaluate()
    quality = monitor.quality()
    reader = check_page(get(site, "/quality"))
    for code, count in quality.events.items():
        if code not in {"accepted", "duplicate", "conflict"}:
            assert code in reader.text
        assert f"{count:,}" in reader.text
    assert quality.pending_labels == 1
    assert "Free disk space" in reader.text
    assert "labels waiting for their ranking" in reader.text
    told = as_json(site.browser().get("/quality.json?range=30d"))
    assert told["quality"]["events"] == dict(quality.events)


def test_shares_have_their_denominators(site: Service) -> None:
    log_story(site.store)
    monitor = open_monitor(site.store)
    reader = check_page(get(site, "/quality?range=30d"))
    shown = monitor.quality().shown
    assert f"{shown['labelled']:,} of {shown['rankings']:,}" in reader.text
    assert f"{shown['unjudged']:,} of {shown['documents']:,}" in reader.text
