"""Baselines: means with intervals over users, of a set, a period or the version before."""

from __future__ import annotations

import math
import statistics

import pytest
from rankscope import UsageError
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.baseline import find_previous
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import CLICKS, show
from tests.refusals import refuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.evaluate.baseline import Baseline
    from rankscope.monitor.events.event import Event

NOW = 10 * HOUR


def search(name: str, time: int, version: str, rank: int, **said: Any) -> list[Event]:  # noqa: ANN401
    """A ranking of the user whose letter it begins with, and a click at a rank."""
    return show(name, time, rank, user=name[0], version=version, **said)


EVENTS = [
    *search("u1", 0, "1", 1),
    *search("u2", HOUR, "2", 1),
    *search("v1", HOUR, "2", 2),
    *search("v2", 2 * HOUR, "2", 3),
    *search("w1", 3 * HOUR, "2", 0),
    *search("w2", 4 * HOUR, "3", 1),
    *search("x1", NOW - 1, "2", 1),
    *search("x2", 5 * HOUR, "2", 1, environment="validation"),
    *search("y1", 99 * HOUR, "2", 2, environment="validation"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(tmp_path / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


def find(store: SQLiteStore, now: int = NOW, **chosen: Any) -> Baseline | None:  # noqa: ANN401 - as a choice has them
    monitor = Monitor(store, "music", clock=lambda: now, threads=1)
    choice = BaselineChoice(**chosen)
    monitor.configure(Configuration(definition=CLICKS, baseline=choice))
    monitor.evaluate()
    return monitor.baseline()


def test_a_set_counts_as_it_is(store: SQLiteStore) -> None:
    baseline = find(store)
    assert (baseline.kind, baseline.of, baseline.rankings) == ("set", "validation", 2)
    assert baseline.means["RR@3"].value == (1 / 1 + 1 / 2) / 2


def test_a_period_has_its_mature_rankings(store: SQLiteStore) -> None:
    span = {"since": to_datetime(HOUR), "until": to_datetime(NOW)}
    baseline = find(store, kind="period", version="2", **span)
    assert baseline.of == "1970-01-01T01:00:00.000000Z to 1970-01-01T10:00:00.000000Z 2"
    mean = baseline.means["RR@3"]
    # What has no relevant document is not in the mean, but among the rankings.
    assert (baseline.rankings, mean.rankings, mean.clusters) == (4, 3, 2)
    assert mean.value == math.fsum([1, 1 / 2, 1 / 3]) / 3
    assert baseline.means["nDCG@3"].value == pytest.approx(
        statistics.mean([1, 1 / math.log2(3), 1 / 2]), abs=1e-15
    )
    assert mean.lower < mean.value < mean.upper


def test_the_order_of_events_does_not_matter(store: SQLiteStore, tmp_path: Path) -> None:
    baseline = find(store, kind="version")
    with SQLiteStore(tmp_path / "other.db") as other:
        other.append("music", EVENTS[::-1])
        assert find(other, kind="version") == baseline
    assert (baseline.kind, baseline.of) == ("version", "m 2")
    assert baseline.means["RR@3"].value == math.fsum([1, 1 / 2, 1 / 3]) / 3


@pytest.mark.parametrize(
    ("version", "previous"), [("1", None), ("2", "1"), ("3", "2"), ("4", None)]
)
def test_the_version_before_is_that_shown_last_before(
    store: SQLiteStore, version: str, previous: str | None
) -> None:
    assert find_previous(store.versions("music"), model="m", version=version) == previous


def test_nothing_is_no_baseline(store: SQLiteStore) -> None:
    assert find(store, environment="training") is None
    assert find(store, model="other") is None
    span = {"since": to_datetime(0), "until": to_datetime(HOUR)}
    assert find(store, kind="period", **span) is not None
    # Its attribution windows are open.
    assert find(store, kind="period", now=HOUR - 1, **span) is None
    # There is none before the only version.
    assert find(store, kind="version", model="other") is None


def test_values_of_another_definition_are_not_held_against_it(store: SQLiteStore) -> None:
    baseline = find(store)
    alone = define(measures="RR@3", positive="click", window=CLICKS.window)
    assert baseline.find("RR@3", alone) == baseline.means["RR@3"]
    other = define(measures="RR@3", positive="click", window=CLICKS.window + 1)
    with refuses(UsageError, "other_definition"):
        baseline.find("RR@3", other)
