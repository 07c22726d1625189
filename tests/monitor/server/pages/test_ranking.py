"""A ranking as a page: each number of its explanation, for any id."""

from __future__ import annotations

import math
from urllib.parse import quote

import pytest
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR

from tests.monitor.server.pages.site import HOSTILE, as_json, check_page, get, open_monitor
from tests.monitor.server.service import NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.monitor.server.service import Service


def log(site: Service, ranking_id: str = "r1", doc: str = "a", time: int = NOW - 3 * DAY) -> None:
    """Log a ranking whose last document was bought, and a label that came too late."""
    shown = Ranking(
        "e1",
        ranking_id,
        time,
        Items(("c", "b", doc), (1, 2, 3)),
        query_key=doc,
        user_id=doc,
        attributes=((doc, doc),),
    )
    labels = [
        Label("l1", ranking_id, doc, time + HOUR, ("buy",)),
        Label("l2", ranking_id, "b", time + 30 * HOUR, ("click",)),
    ]
    site.store.append("default", [shown, *labels])
    open_monitor(site.store)


def test_it_shows_each_number_of_the_value(site: Service) -> None:
    log(site)
    reader = check_page(get(site, "/rankings?id=r1&measure=nDCG@5"))
    discount = 1 / math.log2(3 + 1)
    assert f"{discount:.4f}" in reader.text  # the value: 3 * discount / 3
    assert f"{3 * discount:.4f}" in reader.text  # what it adds
    assert f"{1 - discount:.4f}" in reader.text  # what is lost by ordering
    assert "not observable" in reader.text
    assert "after the attribution window" in reader.text
    told = as_json(site.browser().get("/v1/rankings/r1?measure=nDCG@5"))
    assert told["value"] == discount
    assert [each["contribution"] for each in told["documents"]] == [0, 0, 3 * discount]


def test_what_may_change_is_said_to_be_not_final(site: Service) -> None:
    log(site, time=NOW - 2 * HOUR)
    reader = check_page(get(site, "/rankings?id=r1"))
    assert "provisional" in reader.text
    assert "2 of 3 documents have no grade yet" in reader.text
    assert "pending" in reader.text


def test_another_measure_is_a_link_away(site: Service) -> None:
    log(site)
    reader = check_page(get(site, "/rankings?id=r1"))
    current = [link for link in reader.all("a") if link.get("aria-current") == "true"]
    assert current == [{"href": "/rankings?id=r1&measure=nDCG%405", "aria-current": "true"}]
    assert "0.0000" in check_page(get(site, "/rankings?id=r1&measure=nDCG%401")).text


def test_without_an_id_it_asks_for_one(site: Service) -> None:
    log(site)
    assert "Ranking ID" in check_page(get(site, "/rankings")).text


def test_a_ranking_that_is_not_there_is_not_found(site: Service) -> None:
    log(site)
    reader = check_page(get(site, "/rankings?id=r2", 404))
    assert "Page not found" in reader.text


def test_a_project_that_is_not_configured_explains_nothing(site: Service) -> None:
    assert "rankscope monitor configure" in check_page(get(site, "/rankings?id=r2", 409)).text


@pytest.mark.parametrize("text", HOSTILE)
def test_any_id_has_a_page(site: Service, text: str) -> None:
    log(site, ranking_id=text, doc=text[:100])
    page = get(site, f"/rankings?id={quote(text, safe='')}")
    reader = check_page(page)
    assert not reader.all("img")
    assert len(reader.all("script")) == 1
    assert "\u202e" not in page
    assert "\u0007" not in page
    told = as_json(site.browser().get(f"/v1/rankings/{quote(text, safe='')}"))
    assert told["ranking_id"] == text
