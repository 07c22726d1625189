"""Rules conclude what the plainest way of saying it does, whenever and however events came."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.incidents.response import find_incident, list_incidents
from rankscope.monitor.rules.drop.confirm import Confirmation

from tests.monitor.rules.plain import PlainRule, PlainUsual
from tests.monitor.rules.world import PROJECT, START, World, known_at, make_rule, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.rules.stream import Stream

DAYS = 7
"""From then on, a day with an unusual number of labels is judged by their ranks."""
FALSE_ALARMS = 0.9


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


def read_usual(stream: Stream) -> PlainUsual:
    """Read what is expected of a stream: all rankings of the validation set are alike."""
    usual = stream.final.usual.value
    return PlainUsual(
        usual.mean,
        usual.half_width,
        usual.tolerance,
        {cell[0]: variance for cell, _, variance in usual.cells.cells if cell},
        usual.share_error,
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_rule_concludes_what_the_plain_one_does(
    world: World, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The plain rule doesn't ask users for confirmation, for which these are too few.
    monkeypatch.setattr(Confirmation, "judge", lambda *_: None)
    drawn = random.Random(seed)
    world.put(make_rule(slices=("device",), false_alarms=FALSE_ALARMS))
    days = [draw_day(drawn, day) for day in range(DAYS)]
    sent: list[list[Event]] = []
    for day, rows in enumerate(days):
        events: list[Event] = []
        for number, (version, device, user, rank) in enumerate(rows):
            name, at = f"{day} {number}", START + day * DAY + number
            events += show(name, at, rank, user=user, version=version, device=device)
        drawn.shuffle(events)
        sent.append(events)
    plain = PlainRule(90 / FALSE_ALARMS)
    for day, events in enumerate(sent):
        for at in range(0, len(events), 50):
            world.log(events[at : at + 50])
        world.advance(known_at(day))
        state = world.state_of()
        usual = {
            (stream.version, dict(stream.slice).get("device", "")): read_usual(stream)
            for stream in state.streams
        }
        plain.look(days[day], usual)
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
                # Other sums of logarithms than products give.
                pytest.approx(stream.since_any if stream.periods else [], rel=1e-9)
                if stream.is_watched
                else None,
            )
            for key, stream in plain.streams.items()
        }
        assert found == expected
        is_named = any(stream.is_named for stream in plain.streams.values())
        assert (state.state == "ALERT") is is_named
    for incident in list_incidents(world.store, PROJECT, "all"):
        _, history = find_incident(world.store, PROJECT, incident.incident_id)
        assert all(one.action != other.action for one, other in pairwise(history))
