"""A set that was replaced leaves nothing behind, and no evaluation sees parts of two sets."""

from __future__ import annotations

import random

import pytest
from rankscope import UsageError
from rankscope.errors import FormatError
from rankscope.monitor import BaselineChoice, Configuration, define
from rankscope.monitor.evaluate import refresh as refreshing
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance import read_back
from tests.refusals import refuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.events.event import Environment, Event
    from rankscope.monitor.store.store import Store

NOW = 60 * HOUR
ITEMS = Items(("a", "b", "c"), (1, 2, 3))
TRAINING = Configuration(
    definition=define(measures=["nDCG@3"], positive={"click": 1}, window="2h"),
    attributes=("device",),
    baseline=BaselineChoice(environment="training"),
)


def make_events(
    seed: int, hours: range, environment: Environment, prefix: str = "t", count: int = 60
) -> list[Event]:
    """Rankings with a click each, in some hours."""
    generator = random.Random(seed)
    events: list[Event] = []
    for number in range(count):
        time = generator.choice(hours) * HOUR + generator.randrange(60) * MINUTE
        name = f"{prefix}{number}"
        device, user = ("device", ("tv", "phone")[number % 2]), f"u{number % 7}"
        shown = Ranking(
            f"e{name}",
            name,
            time,
            ITEMS,
            user_id=user,
            environment=environment,
            attributes=(device,),
        )
        clicked = generator.choice("abc")
        events += [shown, Label(f"l{name}", name, clicked, time + MINUTE, ("click",))]
    return events


PRODUCTION = make_events(0, range(20, 50), "production", "p")
OLD = make_events(1, range(10, 30), "training")
# Some of the same ids, other hours, other clicks.
NEW = make_events(2, range(5, 22), "training", count=40)


def open_monitor(path: Path) -> Monitor:
    return Monitor.open(str(path), now=lambda: to_datetime(NOW), threads=1)


def describe(monitor: Monitor) -> dict[str, Any]:
    """What an evaluation has left, but for what events are numbered as."""
    store, digest = monitor.store, TRAINING.digest
    progress = store.progress(monitor.project, digest)
    empty = {hour.start for hour in store.hours(monitor.project, digest)} - {
        cell.start for cell in store.cells(monitor.project, digest)
    }
    return {
        "events": read_back(store, monitor.project),
        "baseline": progress.baseline,
        "hours": [hour for hour in store.hours(monitor.project, digest) if hour.start not in empty],
        "cells": [
            store.cells(monitor.project, digest, length=length) for length in (HOUR, 24 * HOUR)
        ],
        "versions": store.versions(monitor.project),
        "behind": [hour for hour in store.open_hours(monitor.project, digest) if hour.is_behind],
    }


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, Any]:
    """What is left where there never was another set."""
    with open_monitor(tmp_path / "expected.db") as monitor:
        monitor.configure(TRAINING)
        monitor.writer.append("default", PRODUCTION + NEW)
        monitor.evaluate()
        return describe(monitor)


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    """A project whose old set was evaluated."""
    made = open_monitor(tmp_path / "events.db")
    made.configure(TRAINING)
    made.writer.append("default", PRODUCTION + OLD)
    made.evaluate()
    return made


def test_nothing_of_the_old_set_is_left(monitor: Monitor, expected: dict[str, Any]) -> None:
    assert describe(monitor) != expected
    deleted = monitor.writer.replace_set("default", "training", NEW)
    assert (deleted.rankings, deleted.labels) == (60, 60)
    monitor.evaluate()
    assert describe(monitor) == expected
    monitor.close()
    with SQLiteStore(monitor.store.path) as store:  # type: ignore[attr-defined]  # of SQLite
        store.verify()
        assert read_back(store, "default") == expected["events"]


def test_a_set_can_be_replaced_before_anything_was_evaluated(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    with open_monitor(tmp_path / "new.db") as monitor:
        monitor.configure(TRAINING)
        monitor.writer.append("default", OLD + PRODUCTION)
        monitor.writer.replace_set("default", "training", NEW)
        monitor.evaluate()
        assert describe(monitor) == expected


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["sum_day", "find_baseline"])
@pytest.mark.parametrize("is_before", [True, False])
def test_an_evaluation_never_sees_parts_of_two_sets(
    moment: str,
    is_before: bool,
    monitor: Monitor,
    expected: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = getattr(refreshing, moment)
    calls = []

    def interrupted(store: Store, *args: object, **named: Any) -> object:  # noqa: ANN401
        calls.append(1)
        if len(calls) == 1 and is_before:
            monitor.writer.replace_set("default", "training", NEW)
        found = original(store, *args, **named)
        if len(calls) == 1 and not is_before:
            monitor.writer.replace_set("default", "training", NEW)
        return found

    monkeypatch.setattr(refreshing, moment, interrupted)
    # Something new, so that hours of the old set are summed again.
    monitor.writer.append(
        "default", [Label("late", f"t{at}", "a", 29 * HOUR, ("click",)) for at in range(1)]
    )
    monitor.evaluate()
    assert len(calls) > 1
    assert describe(monitor) == expected


def test_an_id_outside_the_set_leaves_it_as_it_was(monitor: Monitor) -> None:
    before = describe(monitor)
    stored = read_back(monitor.store, "default")
    taken = NEW + make_events(3, range(20, 21), "training", "p", count=1)
    with refuses(UsageError, "set_conflict", match="stays as it was"):
        monitor.writer.replace_set("default", "training", taken)
    assert read_back(monitor.store, "default") == stored
    monitor.evaluate()
    assert describe(monitor) == before
    monitor.close()


def test_labels_that_came_before_the_new_set_do_not_wait_any_more(monitor: Monitor) -> None:
    early = Label("early", "new", "a", 12 * HOUR, ("click",))
    monitor.writer.append("default", [early])
    assert monitor.store.count_pending("default") == 1
    shown = Ranking("e", "new", 11 * HOUR, Items(("a",), (1,)), environment="training")
    monitor.writer.replace_set("default", "training", [shown])
    assert monitor.store.count_pending("default") == 0
    monitor.verify()
    monitor.close()


def test_a_set_of_objects_is_replaced_as_one_of_events(monitor: Monitor) -> None:
    new = [
        {
            "ranking_id": f"n{number}",
            "time": to_datetime(HOUR + number * MINUTE),
            "environment": "training",
            "doc_ids": ["a", "b", "c"],
            "relevance": [1, 0, 0],
        }
        for number in range(3)
    ]
    with pytest.raises(FormatError, match="1 of 4 rankings were rejected"):
        monitor.replace_set("training", [*new, {**new[0], "environment": "production"}])
    assert monitor.replace_set("training", new).accepted == len(new)
    stored = {
        name
        for name, (shown, *_) in read_back(monitor.store, "default").items()
        if isinstance(shown, Ranking) and shown.environment == "training"
    }
    assert stored == {"n0", "n1", "n2"}
    with pytest.raises(UsageError, match="expected validation or training"):
        monitor.replace_set("production", new)  # type: ignore[arg-type]  # as a caller may
    monitor.close()
