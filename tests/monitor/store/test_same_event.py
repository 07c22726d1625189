"""Two events with one id are the same if everything that they say is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLICK = Label("l", "r", "a", 5, ("click",))
GRADE = Label("l", "r", "a", 5, (), 2.0)
SHOWN = Ranking("e", "r", 5, Items(("a", "b"), (1, 2), (0.0, -1.5), (0.0, 2.0)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        yield opened


def send_again(store: SQLiteStore, first: Any, second: Any) -> str:  # noqa: ANN401 - any event
    """Return what becomes of an event after another one with its id."""
    accepted, again = (store.append("music", [event])[0].status for event in (first, second))
    assert accepted == "accepted"
    return again


@pytest.mark.parametrize(
    ("first", "change"),
    [
        (CLICK, {"ranking_id": "s"}),
        (CLICK, {"doc_id": "b"}),
        (CLICK, {"time": 6}),
        (CLICK, {"labels": ("buy",)}),
        (CLICK, {"labels": ("click", "buy")}),
        (CLICK, {"kind": "correction"}),
        (GRADE, {"value": 2.5}),
        (GRADE, {"value": None, "labels": ("click",)}),
        (SHOWN, {"items": replace(SHOWN.items, scores=(0.0, -1.25))}),
        (SHOWN, {"items": replace(SHOWN.items, relevance=(0.0, None))}),
        (SHOWN, {"model": "m"}),
    ],
)
def test_an_event_that_says_something_else_is_a_conflict(
    store: SQLiteStore,
    first: Any,  # noqa: ANN401 - any event
    change: dict[str, Any],
) -> None:
    assert send_again(store, first, replace(first, **change)) == "conflict"


@pytest.mark.parametrize(
    ("first", "change"),
    [
        (CLICK, {}),
        (replace(GRADE, value=0.0), {"value": -0.0}),
        (SHOWN, {"items": replace(SHOWN.items, scores=(-0.0, -1.5))}),
        (SHOWN, {"items": replace(SHOWN.items, relevance=(-0.0, 2.0))}),
    ],
)
def test_an_event_that_says_the_same_is_a_duplicate(
    store: SQLiteStore,
    first: Any,  # noqa: ANN401 - any event
    change: dict[str, Any],
) -> None:
    # The two zeros are equal.
    assert send_again(store, first, replace(first, **change)) == "duplicate"
