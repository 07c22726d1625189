"""Rules conclude what the plainest way of saying it does, whenever and however events came."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from rankscope.monitor.alerts.management import list_alerts
from rankscope.monitor.events.limits import DAY

from tests.monitor.alerts.plain import PlainRule
from tests.monitor.alerts.world import (
    PROJECT,
    START,
    advance,
    known_at,
    make_rule,
    put,
    show,
    state_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.sqlite.store import SQLiteStore

DAYS = 9
RUN_LENGTH = 20.0


def draw_day(drawn: random.Random, day: int) -> list[tuple[str, str, str, int]]:
    """Version, device, user, and the rank of the click or 0, of some rankings; of none at times."""
    rows = []
    versions = drawn.choice([["1"], ["1", "2"], ["2"], []]) if day else ["1"]
    for version in versions:
        for device in ("phone", "tv", "car"):
            ranks = drawn.choice([(1, 1, 1, 2), (1, 1, 2, 0), (3, 2, 3, 2), (0, 0, 0, 0, 0, 1)])
            rows += [
                (version, device, f"u{drawn.randrange(30)}", drawn.choice(ranks))
                for _ in range(drawn.randrange(40))
            ]
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_a_rule_concludes_what_the_plain_one_does(store: SQLiteStore, seed: int) -> None:
    drawn = random.Random(seed)
    put(store, make_rule(slices=("device",), run_length=RUN_LENGTH))
    days = [draw_day(drawn, day) for day in range(DAYS)]
    sent: list[list[Event]] = []
    for day, rows in enumerate(days):
        events: list[Event] = []
        for number, (version, device, user, rank) in enumerate(rows):
            name, at = f"{day} {number}", START + day * DAY + number
            events += show(name, at, rank, user=user, version=version, device=device)
        drawn.shuffle(events)
        sent.append(events)
    plain = None
    waiting: list[list[tuple[str, str, str, int]]] = []
    named = []
    for day, events in enumerate(sent):
        for at in range(0, len(events), 50):
            store.append(PROJECT, events[at : at + 50])
        waiting.append(days[day])
        if drawn.random() < 0.3 and day < DAYS - 1:
            continue
        advance(store, known_at(day))
        state = state_of(store)
        if plain is None:
            floors = {
                dict(stream.slice).get("device", ""): stream.floor
                for stream in state.streams
                if stream.floor is not None
            }
            # All devices have the same validation set, but for the names of their users.
            alike = floors.get("phone", floors.get("tv", math.nan))
            floors = {"phone": alike, "tv": alike} | floors
            plain = PlainRule(floors, RUN_LENGTH)
        for rows in waiting:
            plain.look(rows)
        waiting = []
        found = {
            (stream.version, dict(stream.slice).get("device", "")): (
                stream.periods,
                stream.is_named,
                [math.exp(one) for one in stream.detector.evidence] if stream.detector else None,
            )
            for stream in state.streams
        }
        expected = {
            key: (
                stream.periods,
                stream.is_named,
                pytest.approx(stream.since_any, rel=1e-9) if stream.periods else None,
            )
            for key, stream in plain.streams.items()
        }
        assert found == expected
        named.append(any(stream.is_named for stream in plain.streams.values()))
        assert (state.state == "ALERT") is named[-1]
    turns = [alert.after for alert in list_alerts(store, PROJECT)]
    assert all(one != other for one, other in pairwise(turns))
