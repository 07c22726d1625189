"""The fleet page: its numbers held against plain ones, what it lists, and who sees what."""

from __future__ import annotations

import math
from urllib.parse import urlencode

import pytest
from rankscope.monitor.fleet.rows import DAYS, ORDERS, WORST, read_fleet
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.pages.fleet import MOST_ROWS, draw_sparkline
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.fleet import (
    SEARCH,
    copy_project,
    evaluate,
    log_days,
    make_fall,
    put_incidents,
)
from tests.monitor.server.pages.site import check_page, find_links
from tests.monitor.server.service import NOW, Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.fleet.rows import FleetRow

OWNERS = {"a/b": "search", "films": "shop", "music": "search"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on three projects with values and one that isn't set up; two models in one."""
    made = Service(tmp_path_factory.mktemp("fleet"), Settings(open_project="music"), has_key=False)
    log_days(made.store, "music", days=20, values=3, models=2)
    evaluate(made.store, "music")
    for name in ("films", "a/b"):
        copy_project(made.store, "music", name, owner=OWNERS[name])
    log_days(made.store, "new", days=1, values=1)
    put_incidents(
        made.store,
        "music",
        make_fall(1, 0.125, slice=(("device", "d1"),)),
        make_fall(2, 0.0625),
        make_fall(3, None, model="m1", slice=()),
    )
    put_incidents(made.store, "films", make_fall(4, 0.5, version="9"), make_fall(5, 0.25))
    yield made
    made.store.close()


def find_row(rows: list[FleetRow], project: str, model: str) -> FleetRow:
    (row,) = [each for each in rows if (each.project, each.model) == (project, model)]
    return row


def test_values_traffic_and_loss_are_those_of_a_plain_computation(fleet: Service) -> None:
    rows = read_fleet(fleet.store, ["music"], NOW)
    assert [row.model for row in rows] == ["m0", "m1"]
    monitor = Monitor(fleet.store, "music", clock=lambda: NOW)
    for row in rows:
        series = monitor.series("nDCG@5", every="day", model=row.model)
        assert row.measure == "nDCG@5"
        assert len(row.days) == DAYS
        expected = list(series.values)
        assert [value for value in row.days if not math.isnan(value)] == expected
        assert row.value == expected[-1]
        # The last seven whole days, all of which have rankings.
        assert row.traffic == sum(series.rankings[-7:]) / 7 == 6
    m0, m1 = rows
    # On a third of the rankings the measure fell by 0.125, on all of them by 0.0625.
    assert m0.loss == max(0.125 * 2, 0.0625 * 6)
    assert [each.incident_id[-1] for each in m0.incidents] == ["2", "1"]
    assert (m1.loss, m1.state) == (None, "ALERT")


def test_models_are_ordered_by_what_is_lost(fleet: Service) -> None:
    rows = read_fleet(fleet.store, fleet.store.projects(), NOW)
    told = [(row.project, row.model, row.loss) for row in rows]
    # Of version 9 of films there are no rankings.
    assert told[:3] == [("films", "m0", 0.25 * 6), ("music", "m0", 0.375), ("music", "m1", None)]
    assert all(row.loss == 0 for row in rows[3:])
    states = [WORST.index(row.state) for row in rows[3:]]
    assert states == sorted(states)
    new = find_row(rows, "new", "m0")
    assert (new.state, new.reason, new.owner) == ("INSUFFICIENT", "not set up yet", "")
    assert new.traffic == 0
    assert math.isnan(new.value)


@pytest.mark.parametrize("hours", [23, 24, 25])
def test_a_day_without_rankings_is_said(tmp_path: Path, hours: int) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        log_days(store, "music", days=3, values=1)
        monitor = Monitor(store, "music", clock=lambda: NOW)
        monitor.configure(SEARCH)
        monitor.evaluate()
        newest = max(version.last for version in store.versions("music"))
        (row,) = read_fleet(store, ["music"], newest + hours * 3600 * 10**6)
        assert (row.state == "NO_DATA") == (hours >= 24)
        if hours == 24:
            assert row.reason == "no rankings for 1 day"


def get_fleet(service: Service, **query: object) -> list[dict[str, Any]]:
    answer = service.browser().get(f"/v1/fleet?{urlencode(query)}" if query else "/v1/fleet")
    assert answer.status_code == 200, answer.text
    models: list[dict[str, Any]] = answer.json()["models"]
    return models


def test_filters_are_in_the_address(fleet: Service) -> None:
    everything = get_fleet(fleet)
    assert {each["project"] for each in everything} == {*OWNERS, "new"}
    for query, is_kept in (
        ({"owner": "search"}, lambda one: one["owner"] == "search"),
        ({"state": "alert"}, lambda one: one["state"] == "ALERT"),
        ({"q": "FILM"}, lambda one: one["project"] == "films"),
        ({"q": "m1", "owner": "shop"}, lambda one: (one["model"], one["owner"]) == ("m1", "shop")),
        ({"q": "", "owner": "", "state": ""}, lambda _one: True),
        ({"q": "%"}, lambda _one: False),
    ):
        assert get_fleet(fleet, **query) == [one for one in everything if is_kept(one)]
        page = fleet.browser().get(f"/?{urlencode(query)}")
        assert page.status_code == 200
        reader = check_page(page.text)
        rows = len([one for one in everything if is_kept(one)])
        assert len(reader.all("tr")) == (rows + 1 if rows else 0)
    for order in ORDERS:
        found = get_fleet(fleet, sort=order)
        assert sorted(map(str, found)) == sorted(map(str, everything))
    names = [(one["project"], one["model"]) for one in get_fleet(fleet, sort="name")]
    assert names == sorted(names)
    for query in ({"state": "bad"}, {"sort": "size"}, {"page": "0"}, {"page": "9" * 30}):
        assert fleet.browser().get(f"/?{urlencode(query)}").status_code == 422


def test_the_page_leads_to_each_project_and_incident(fleet: Service) -> None:
    page = fleet.browser().get("/").text
    links = find_links(check_page(page))
    assert "/projects/a%2Fb/?model=m0" in links
    assert "/projects/films/incidents" in links
    for link in {link for link in links if link.startswith("/projects/")}:
        assert fleet.browser().get(link).status_code == 200
    # From a project there is a way back.
    inside = fleet.browser().get("/projects/a%2Fb/incidents").text
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
        told = service.ask("GET", "/v1/fleet", key=key).json()["models"]
        assert [one["project"] for one in told] == ["films"]
        assert service.ask("GET", "/v1/fleet", key=service.key).status_code == 403
        assert service.ask("GET", "/", key=None).status_code == 303


def test_callers_with_other_projects_share_no_answer(tmp_path: Path) -> None:
    service = Service(tmp_path)
    with service.store:
        keys = {}
        for name in ("music", "films"):
            log_days(service.store, name, days=1, values=1)
            keys[name] = service.make_key(name, "read")
        asked = [("GET", "/v1/fleet", b"", service.headers(key)) for key in keys.values()]
        answers = service.ask_all(asked * 20)
        for name, answer in zip([*keys] * 20, answers, strict=True):
            assert {one["project"] for one in answer.json()["models"]} == {name}


def test_many_models_are_on_pages(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(open_project="music"), has_key=False)
    with service.store:
        for number in range(MOST_ROWS + 2):
            log_days(service.store, f"p{number:03}", days=1, values=1)
        counts = []
        for page in (1, 2, 3):
            reader = check_page(service.browser().get(f"/?sort=name&page={page}").text)
            counts.append(len(reader.all("tr")) - 1)
        assert counts == [MOST_ROWS, 2, 2]


@pytest.mark.parametrize(
    ("days", "path"),
    [
        ([], ""),
        ([math.nan] * 3, ""),
        ([0.5], "M0 100"),
        ([0.0, 1.0], "M0 100L100 0"),
        ([math.nan, 1.0, math.nan], "M50 100"),
    ],
)
def test_a_sparkline_has_the_shape_of_its_values(days: list[float], path: str) -> None:
    assert draw_sparkline(days) == path


def test_what_is_read_is_not_what_another_configuration_left(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "events.db") as store:
        log_days(store, "music", days=5, values=2)
        evaluate(store, "music")
        (before,) = read_fleet(store, ["music"], NOW)
        monitor = Monitor(store, "music", clock=lambda: NOW)
        monitor.configure(replace(SEARCH, attributes=()))
        (after,) = read_fleet(store, ["music"], NOW)
        assert not math.isnan(before.value)
        assert math.isnan(after.value)
        monitor.evaluate()
        (again,) = read_fleet(store, ["music"], NOW)
        assert again.days[-5:] == before.days[-5:]
