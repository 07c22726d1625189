"""A model stops, then most traffic, then all of it: people hear of each, and of each end."""

from __future__ import annotations

from contextlib import closing

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.events.limits import HOUR, MINUTE
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import CONFIGURATION, PROJECT, START, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.events.event import Event

AN_HOUR, OF_TREES = 20, 8
STOPS, FALLS, ENDS, BACK, OVER = (24 * day for day in (9, 10, 11, 13, 14))
"""When gbdt stops, nine of ten rankings of trees stop, all stop, trees is back, and gbdt is."""


def log_hours(since: int, until: int) -> Iterator[Event]:
    """Yield the events of some hours."""
    for hour in range(since, until):
        for number in range(AN_HOUR):
            model = "trees" if number < OF_TREES else "gbdt"
            is_lost = (model == "gbdt" and STOPS <= hour < OVER) or (
                FALLS <= hour < BACK and (hour >= ENDS or (number + hour) % 10)
            )
            if not is_lost:
                time = START + hour * HOUR + number * MINUTE
                yield from show(f"{hour} {number}", time, 1, model=model, device="phone")


@pytest.mark.slow
def test_each_outage_is_told_of_while_others_last_and_ends_by_itself(tmp_path: Path) -> None:
    hour = 0
    store = SQLiteStore(tmp_path / "events.db", group_seconds=0)
    told: dict[int, list[tuple[str, str, str]]] = {}
    reasons: dict[str, str] = {}
    with closing(Monitor(store, PROJECT, clock=lambda: START + hour * HOUR, threads=1)) as monitor:
        monitor.configure(CONFIGURATION)
        for until in (STOPS, FALLS, ENDS, BACK, OVER, OVER + 24):
            store.append(PROJECT, [*log_hours(hour, until)])
            since, hour = hour, until
            events = monitor.evaluate().events
            told[since] = [(event, one.kind, one.model) for event, one in events]
            reasons |= {one.kind: one.reason for event, one in events if event == "opened"}
    assert told[0] == []
    assert told[STOPS] == [("opened", "versions", "gbdt")]
    assert ("opened", "volume", "") in told[FALLS]
    assert ("opened", "freshness", "") in told[ENDS]
    over = {(kind, model) for event, kind, model in told[BACK] if event == "recovered"}
    assert over == {("volume", ""), ("freshness", "")}
    assert ("recovered", "versions", "gbdt") in told[OVER]
    began = describe_time(START + ENDS * HOUR)
    assert reasons["freshness"] == (
        f"No rankings have arrived since {began}; before, about {OF_TREES * 24} a day."
    )
