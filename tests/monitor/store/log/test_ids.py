"""A text can be the id of an event and that of another ranking; each is found in its role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope import _core
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.events.event import Event

# "x" is the id of a label of "r" and of a ranking whose event is "e".
SHOWN = Ranking("r", "r", 5, Items(("a",), (1,)))
TOLD = Label("x", "r", "a", 6, ("click",))
NAMED = Ranking("e", "x", 7, Items(("b",), (1,)))
CLICK = Label("c", "x", "b", 8, ("click",))


@pytest.fixture(params=["label first", "ranking first"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[SQLiteStore]:
    first = [SHOWN, TOLD], [NAMED]
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        for events in first if request.param == "label first" else first[::-1]:
            opened.append("music", events)
        yield opened


def statuses(store: SQLiteStore, *events: Event) -> list[str]:
    return [outcome.status for outcome in store.append("music", events)]


def test_both_are_known_in_their_roles(store: SQLiteStore) -> None:
    assert statuses(store, TOLD, NAMED, CLICK) == ["duplicate", "duplicate", "accepted"]
    assert statuses(store, replace(TOLD, time=7), replace(NAMED, time=6)) == ["conflict"] * 2
    assert statuses(store, replace(NAMED, event_id="other")) == ["duplicate"]
    assert store.find_ranking("music", "x") == NAMED
    assert store.find_labels("music", "x") == [CLICK]
    assert store.find_labels("music", "r") == [TOLD]
    store.verify()


@pytest.mark.parametrize("gone", ["r", "x"])
def test_one_is_still_known_when_the_other_is_deleted(store: SQLiteStore, gone: str) -> None:
    deleted = store.erase("music", Chosen(ranking_ids=(gone,)))
    store.verify()
    if gone == "r":
        assert deleted == Deleted(1, 1)
        assert store.find_ranking("music", "x") == NAMED
        assert statuses(store, NAMED, CLICK, SHOWN, TOLD) == [
            "duplicate", "accepted", "accepted", "accepted"
        ]  # fmt: skip
        assert store.count_pending("music") == 0
    else:
        assert deleted == Deleted(1, 0)
        assert store.find_labels("music", "r") == [TOLD]
        assert statuses(store, TOLD, NAMED) == ["duplicate", "accepted"]
    store.verify()


def test_projects_know_each_their_own_ids(tmp_path: Path) -> None:
    assert _core.hash_ids(1, ["r"]) != _core.hash_ids(2, ["r"])
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as store:
        store.append("music", [SHOWN])
        assert store.append("films", [SHOWN])[0].status == "accepted"
        store.delete_before("films", DAY)
        assert store.append("music", [SHOWN])[0].status == "duplicate"
        store.verify()
