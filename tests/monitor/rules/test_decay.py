"""Slow decay: found and named as one, and told from a release that is worse."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.evaluate.refresh import refresh
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.rules.drop import decay
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.stats.decline import FEWEST, find_decline

from tests.monitor.rules.world import (
    CONFIGURATION,
    PROJECT,
    START,
    advance,
    known_at,
    make_day,
    put,
    state_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.sqlite.store import SQLiteStore

DAYS, BEGIN = 64, 32
USERS = 150


def play(store: SQLiteStore, falls: np.ndarray, release: int = DAYS) -> list[tuple[str, str]]:
    """Let days pass whose mean reciprocal rank is lower by some amounts; return open incidents."""
    events: list[Event] = []
    for day, fall in enumerate(falls.tolist()):
        # A click at the second rank instead of the first is worth a half less.
        low = round(USERS * (0.25 + 2 * fall))
        ranks = [2 if (number * 37) % USERS < low else 1 for number in range(USERS)]
        events += make_day(day, ranks, users=USERS, version="2" if day >= release else "1")
    store.append(PROJECT, events)
    now = known_at(len(falls) - 1)
    refresh(store, PROJECT, CONFIGURATION, now=now, threads=1)
    # The rule begins late: what happened before is known from the stored days.
    since = to_datetime(START + 60 * DAY)
    rule = DropRule(name="quality", measure="RR@3", lanes=(), anchor=False, since=since)
    put(store, rule, now=now)
    advance(store, now)
    return [(one.kind, one.reason) for one in list_incidents(store, PROJECT) if not one.slice]


def test_a_slow_decline_is_an_incident_of_its_own_that_names_its_slope(store: SQLiteStore) -> None:
    weekly = 0.02
    [(kind, reason)] = play(store, weekly * np.maximum(0, np.arange(DAYS) - BEGIN) / 7)
    assert kind == decay.KIND
    assert reason.startswith("RR@3 has fallen from 0.87")
    assert "it falls by about 0.02" in reason
    assert reason.endswith("; no single release fits")
    state = state_of(store)
    assert state.state == "ALERT"
    assert state.reason == reason


def test_values_that_do_not_decline_and_a_worse_release_are_no_decay(store: SQLiteStore) -> None:
    found = play(store, 0.1 * (np.arange(DAYS) >= 50), release=50)
    assert decay.KIND not in {kind for kind, _ in found}


def test_a_step_is_told_from_a_decline_by_the_days() -> None:
    draw = np.random.default_rng(3)
    noise, errors = 0.005 * draw.normal(size=70), np.full(70, 0.005**2)
    at = np.arange(70)
    step = find_decline(noise - 0.05 * (at >= 45), errors)
    assert step is not None
    assert (step.shape, step.step_days) == ("step", 25)
    assert step.step == pytest.approx(0.05, abs=0.005)
    line = find_decline(noise - 0.01 * np.maximum(0, at - 28) / 7, errors)
    assert line is not None
    assert (line.shape, line.days) == ("decline", 42)
    assert line.weekly == pytest.approx(0.01, abs=0.002)
    none = find_decline(noise, errors)
    assert none is not None
    assert abs(none.score) < 3
    assert none.shape == ""


@pytest.mark.parametrize(("days", "is_enough"), [(FEWEST - 1, False), (FEWEST, True)])
def test_a_decline_needs_six_weeks(days: int, *, is_enough: bool) -> None:
    values = np.full(84, np.nan)
    values[-days:] = 0.5 + 0.01 * np.sin(np.arange(days))
    assert (find_decline(values, np.full(84, 1e-4)) is not None) == is_enough
