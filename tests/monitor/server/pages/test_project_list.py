"""The list of projects: its numbers held against plain ones, what it lists, and who sees what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.projects import WORST, list_projects
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.many_projects import (
    SEARCH,
    copy_project,
    evaluate,
    log_days,
    make_fall,
    put_incidents,
)
from tests.monitor.server.pages.site import check_page, find_links
from tests.monitor.server.service import NOW, Service


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on three projects with values and one that isn't set up; two models in one."""
    folder = tmp_path_factory.mktemp("projects")
    made = Service(folder, Settings(open_project="music"), has_key=False)
    log_days(made.store, "music", days=20, values=3, models=2)
    evaluate(made.store, "music")
    for name in ("films", "a/b"):
        copy_project(made.store, "music", name)
    log_days(made.store, "new", days=1, values=1)
    put_incidents(made.store, "films", make_fall(1), make_fall(2))
    yield made
    made.store.close()


def test_values_are_those_of_the_series(projects: Service) -> None:
    (row,) = list_projects(projects.store, ["music"], NOW)
    monitor = Monitor(projects.store, "music", clock=lambda: NOW)
    series = monitor.series(row.measure, every="day")
    assert row.measure == "nDCG@10"
    final = zip(series.values, series.is_final, strict=True)
    assert row.value == [value for value, is_final in final if is_final][-1]
    assert row.newest == max(version.last for version in projects.store.versions("music"))


def test_those_that_need_most_care_come_first(projects: Service) -> None:
    rows = list_projects(projects.store, projects.store.projects(), NOW)
    assert (rows[0].project, rows[0].state, rows[0].incidents) == ("films", "ALERT", 2)
    states = [WORST.index(row.state) for row in rows]
    assert states == sorted(states)
    (new,) = [row for row in rows if row.project == "new"]
    assert (new.state, new.reason) == ("INSUFFICIENT", "not set up yet")
    assert math.isnan(new.value)


@pytest.mark.parametrize("hours", [23, 24, 25])
def test_a_day_without_rankings_is_said(tmp_path: Path, hours: int) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        log_days(store, "music", days=3, values=1)
        monitor = Monitor(store, "music", clock=lambda: NOW)
        monitor.configure(SEARCH)
        monitor.evaluate()
        newest = max(version.last for version in store.versions("music"))
        (row,) = list_projects(store, ["music"], newest + hours * 3600 * 10**6)
        assert (row.state == "NO_DATA") == (hours >= 24)
        if hours == 24:
            assert row.reason == "no rankings for 1 day"


@pytest.mark.slow
def test_the_page_leads_to_each_project_and_its_incidents(projects: Service) -> None:
    reader = check_page(projects.browser().get("/").text)
    assert len(reader.all("tr")) == 5
    links = find_links(reader)
    assert "/projects/a%2Fb/" in links
    assert "/projects/films/incidents" in links
    for link in {link for link in links if link.startswith("/projects/")}:
        assert projects.browser().get(link).status_code == 200
    # From a project there is a way back.
    inside = projects.browser().get("/projects/a%2Fb/incidents").text
    assert "/" in find_links(check_page(inside))
    assert "All projects" in inside


def test_who_may_see_one_project_goes_on_to_it_and_sees_no_other(tmp_path: Path) -> None:
    service = Service(tmp_path)
    with service.store:
        for name in ("music", "films"):
            log_days(service.store, name, days=1, values=1)
        key = service.make_key("films", "read")
        away = service.ask("GET", "/", key=key)
        assert (away.status_code, away.headers["location"]) == (303, "/projects/films/")
        told = service.ask("GET", "/v1/projects", key=key).json()["projects"]
        assert [one["project"] for one in told] == ["films"]
        assert service.ask("GET", "/v1/projects", key=service.key).status_code == 403
        assert service.ask("GET", "/", key=None).status_code == 303


def test_callers_with_other_projects_share_no_answer(tmp_path: Path) -> None:
    service = Service(tmp_path)
    with service.store:
        keys = {}
        for name in ("music", "films"):
            log_days(service.store, name, days=1, values=1)
            keys[name] = service.make_key(name, "read")
        asked = [("GET", "/v1/projects", b"", service.headers(key)) for key in keys.values()]
        answers = service.ask_all(asked * 20)
        for name, answer in zip([*keys] * 20, answers, strict=True):
            assert {one["project"] for one in answer.json()["projects"]} == {name}


def test_what_is_read_is_not_what_another_configuration_left(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        log_days(store, "music", days=5, values=2)
        evaluate(store, "music")
        (before,) = list_projects(store, ["music"], NOW)
        monitor = Monitor(store, "music", clock=lambda: NOW)
        monitor.configure(replace(SEARCH, attributes=()))
        (after,) = list_projects(store, ["music"], NOW)
        assert not math.isnan(before.value)
        assert math.isnan(after.value)
        monitor.evaluate()
        (again,) = list_projects(store, ["music"], NOW)
        assert again.value == before.value
