"""What rules read: each period once, whatever they look at."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.events.event import Label
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.rules.drop.sample import COLUMNS, View, collect_samples
from rankscope.records import replace

from tests.monitor.alerts.world import (
    CLICKS,
    PROJECT,
    START,
    advance,
    known_at,
    make_day,
    make_rule,
    put,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.store.sqlite.store import SQLiteStore

DAYS = 3


def test_a_round_reads_each_day_once_for_all_rules_and_ages(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(DAYS):
        store.append(PROJECT, make_day(day, users=8))
    put(store, make_rule(lanes=("5m", "30m")))
    put(store, make_rule(name="slices", measure="nDCG@3", slices=("device",), lanes=("30m",)))
    asked = []
    read = store.read
    monkeypatch.setattr(
        store, "read", lambda *args, **named: asked.append(args[1:]) or read(*args, **named)
    )
    advanced = advance(store, known_at(DAYS - 1))
    # What is before is the baseline.
    shown = [span for span in asked if span[0] >= START]
    assert shown == [(START + day * DAY, START + (day + 1) * DAY) for day in range(DAYS)]
    # Both have looked at each day, and at its hours once or twice.
    assert advanced.periods >= DAYS * (2 + 24 + 2 * 24)


def test_values_of_several_ages_are_those_that_are_read_one_by_one(store: SQLiteStore) -> None:
    store.append(PROJECT, make_day(0, users=40))
    later = [
        Label(
            f"later {at}", f"production 0 m 1 phone {at}", "c", START + at * MINUTE * 2, ("click",)
        )
        for at in range(40)
    ]
    store.append(PROJECT, later)
    contexts = list(store.contexts(PROJECT))
    views = [
        View(replace(CLICKS, window=600), START + DAY),
        View(replace(CLICKS, window=1800), START + DAY),
        View(CLICKS, START + HOUR + 10 * MINUTE),
    ]
    together = collect_samples(store.read(PROJECT, START, START + DAY), contexts, views)
    for view, found in zip(views, together, strict=True):
        (alone,) = collect_samples(store.read(PROJECT, START, START + DAY), contexts, [view])
        for name in COLUMNS:
            assert np.array_equal(getattr(found, name), getattr(alone, name), equal_nan=True)
        assert found.grades == alone.grades
        for name, values in alone.values.items():
            assert np.array_equal(found.values[name], values, equal_nan=True)
    # A label of minute 2 n is of the ranking of minute n: n minutes old.
    assert [int(one.labels.sum()) for one in together] == [40 + 10, 40 + 30, 11 + 11]
