"""The quality of data as a page: every count has a place."""

from __future__ import annotations

from urllib.parse import quote

from rankscope.monitor.events.event import Label
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime

from tests.monitor.lake.lakes import write_table
from tests.monitor.server.pages.site import as_json, check_page, get, open_monitor
from tests.monitor.server.service import NOW, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from tests.monitor.server.service import Service


def test_a_new_project_says_what_to_do(site: Service) -> None:
    open_monitor(site.store)
    assert "No rankings yet" in check_page(get(site, "/quality")).text


def test_what_was_not_taken_is_counted_by_reason(story: Service) -> None:
    monitor = open_monitor(story.store)
    monitor.log_rankings([make_ranking(1), make_ranking(1), make_ranking(2, items=7), {}])
    story.store.append("default", [Label("x", "nowhere", "a", NOW - DAY, ("click",))])
    monitor.evaluate()
    quality = monitor.quality()
    reader = check_page(get(story, "/quality"))
    for code, count in quality.events.items():
        if code not in {"accepted", "duplicate", "conflict"}:
            assert code in reader.text
        assert f"{count:,}" in reader.text
    assert quality.pending_labels == 1
    assert "Free disk space" in reader.text
    assert "labels waiting for their ranking" in reader.text
    told = as_json(story.browser().get("/v1/quality"))
    assert told["events"] == dict(quality.events)


def test_shares_have_their_denominators(told_story: Service) -> None:
    monitor = open_monitor(told_story.store)
    reader = check_page(get(told_story, "/quality?range=30d"))
    shown = monitor.quality().shown
    assert f"{shown['labelled']:,} of {shown['rankings']:,}" in reader.text
    assert f"{shown['unjudged']:,} of {shown['documents']:,}" in reader.text


def test_files_of_a_lake_that_are_left_out_are_on_the_pages(site: Service, tmp_path: Path) -> None:
    monitor = open_monitor(site.store)
    at = to_datetime(NOW - DAY)
    rows = [{"ranking_id": "r1", "time": at, "doc_ids": ["a", "b"]}]
    write_table(tmp_path / "lake" / "good.parquet", rows)
    monitor.connect_lake(tmp_path / "lake")
    monitor.evaluate()
    assert "1 of 1 files are read" in check_page(get(site, "/quality")).text
    assert "incomplete" not in check_page(get(site, "/")).text
    (tmp_path / "lake" / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    monitor.evaluate()
    told = check_page(get(site, "/quality")).text
    assert "1 of 2 files are read" in told
    assert "bad.parquet" in told.replace("\u200b", "")
    assert "1 of 2 files of the data lake can’t be read" in check_page(get(site, "/")).text
    browser = site.browser()
    coverage = as_json(browser.get("/v1/quality"))["coverage"]
    assert (coverage["files"], coverage["share"]) == (2, 0.5)
    series = as_json(browser.get(f"/v1/series?measure={quote(monitor.measures[0])}&every=day"))
    assert series["coverage"] == coverage
    assert coverage["left_out"][0]["path"].endswith("bad.parquet")
