"""The list of what is left to set up: each line turns green, and then the list is gone."""

from __future__ import annotations

from typing import Any

import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.pages.overview import view_overview
from rankscope.monitor.server.pages.overview_range import Choice
from rankscope.monitor.store.keys import TESTED, AuditEntry

from tests.monitor.notify.test_channel_delivery import Services
from tests.monitor.server.pages.site import (
    DEFINITION,
    WINDOW,
    check_page,
    find_links,
    get,
    log_story,
    open_monitor,
    send,
)
from tests.monitor.server.service import NOW, Service

NEEDED = {"Rankings", "Labels that count", "First final hour", "Baseline", "Rule", "Channel"}
RECOMMENDED = {"Versions", "Users", "Attributes"}


def list_done(monitor: Monitor) -> set[str]:
    """The titles of the lines that are green."""
    return {task.title for task in view_overview(monitor).tasks if task.is_done}


def log(monitor: Monitor, at: int, **more: Any) -> None:  # noqa: ANN401 - as `Ranking` takes them
    """Log a ranking, and whatever it has besides."""
    name = f"r{at}"
    items = Items(("a", "b"), (1, 2))
    monitor.writer.append("default", [Ranking(f"e{name}", name, at, items, model="m", **more)])


def test_of_a_project_that_has_nothing_no_line_is_done(site: Service) -> None:
    monitor = open_monitor(site.store)
    tasks = view_overview(monitor).tasks
    assert {task.title for task in tasks if task.is_needed} == NEEDED
    assert {task.title for task in tasks if not task.is_needed} == RECOMMENDED
    assert list_done(monitor) == set()
    reader = check_page(get(site, "/"))
    assert "Set up monitoring" in reader.text
    assert "rankscope monitor ingest STORE rankings.parquet" in reader.text
    assert "rankscope monitor rule add STORE quality --measure nDCG@5" in reader.text
    assert {"/settings", "/rules/new", "/channels"} <= set(find_links(reader))


def test_each_line_is_done_by_what_it_says(site: Service) -> None:
    monitor = open_monitor(site.store)
    old = NOW - 2 * WINDOW
    log(monitor, old)
    monitor.evaluate()
    assert list_done(monitor) == {"Rankings", "First final hour"}
    log(monitor, NOW - 2 * HOUR, version="3")
    monitor.evaluate()
    assert list_done(monitor) == {"Rankings", "First final hour", "Versions"}
    log(monitor, NOW - HOUR, version="3", user_id="u")
    monitor.evaluate()
    assert "Users" in list_done(monitor)
    label = Label("l", f"r{old}", "b", old + HOUR, ("other",))
    monitor.writer.append("default", [label])
    monitor.evaluate()
    assert "Labels that count" not in list_done(monitor)
    monitor.writer.append("default", [Label("m", f"r{old}", "b", old + HOUR, ("buy",))])
    monitor.evaluate()
    assert "Labels that count" in list_done(monitor)
    monitor.set_rule(Rule(name="data", kind="data"))
    assert "Rule" not in list_done(monitor)
    monitor.set_rule(Rule(name="quality", measure="nDCG@5"))
    assert "Rule" in list_done(monitor)
    assert "Baseline" not in list_done(monitor)
    monitor.configure(Configuration(definition=DEFINITION, attributes=("device",), baseline=None))
    log(monitor, NOW - HOUR // 2, attributes=(("device", "tv"),))
    monitor.evaluate()
    assert {"Baseline", "Attributes"} <= list_done(monitor)


def test_the_list_is_gone_once_a_channel_was_tested(operated: Service, services: Services) -> None:
    log_story(operated.store)
    monitor = open_monitor(operated.store)
    monitor.set_rule(Rule(name="quality", measure="nDCG@5"))
    left = {task.title for task in view_overview(monitor).tasks if not task.is_done}
    assert left == {"Channel"}
    services.failing["oncall"] = "status 403"
    send(operated, "/channels/oncall/test", {}, "/channels")
    assert "Set up monitoring" in get(operated, "/")
    services.failing.clear()
    send(operated, "/channels/oncall/test", {}, "/channels")
    assert operated.store.audit("default")[-1].action == TESTED
    assert view_overview(monitor).tasks == ()
    assert "Set up monitoring" not in get(operated, "/")


@pytest.mark.parametrize("choice", [Choice(range="1d"), Choice(version="3"), Choice(every="day")])
def test_a_part_of_the_project_has_no_list(choice: Choice, site: Service) -> None:
    assert view_overview(open_monitor(site.store), choice).tasks == ()


def test_hostile_names_are_shown_as_they_are(site: Service) -> None:
    markup = "<b onclick=x>"
    monitor = open_monitor(site.store)
    monitor.configure(Configuration(definition=define(positive=markup, window="1h")))
    page = get(site, "/")
    assert f"Log labels: {markup}." in check_page(page).text
    assert "<b onclick" not in page


def test_a_test_in_another_project_is_none_of_this_one(site: Service) -> None:
    site.store.record_audit("other", AuditEntry(NOW, "ann", TESTED, "oncall"))
    assert "Channel" not in list_done(open_monitor(site.store))
