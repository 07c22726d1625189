"""Rules watch pairs of attributes, and the share of rankings without a relevant document."""

from __future__ import annotations

import pytest
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import DAY
from rankscope.records import replace

from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    START,
    World,
    known_at,
    make_day,
    make_rule,
    show,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events.event import Environment, Event

PAIRED = replace(CONFIGURATION, attributes=("device", "country"))
SLICING = Slicing(
    values=(("device", ("phone", "tv")), ("country", ("at", "jp"))),
    pairs=(("device", "country"),),
)
ALL = (1, 1, 2, 1, 1, 2, 1, 1, 2, 1)
"""Of ten rankings, all have a click."""


def make_countries(
    day: int, fallen: Sequence[int] = GOOD, environment: Environment = "production"
) -> list[Event]:
    """A day on each device in each country; the clicks of televisions in Japan have fallen."""
    events: list[Event] = []
    for device in ("phone", "tv"):
        for country in ("at", "jp"):
            ranks = fallen if (device, country) == ("tv", "jp") else GOOD
            for number in range(40):
                name = f"{environment} {day} {device} {country} {number}"
                events += show(
                    name,
                    START + day * DAY + number,
                    ranks[number % len(ranks)],
                    user=f"user {device} {country} {number}",
                    environment=environment,
                    device=device,
                    country=country,
                )
    return events


def test_the_values_of_a_pair_are_watched_together(world: World) -> None:
    world.log(make_countries(-30, environment="validation"))
    world.put(make_rule(slices=("country:device",)), configuration=PAIRED)
    for day in range(4):
        world.log(make_countries(day, BAD if day else GOOD))
    world.advance(known_at(3), PAIRED, SLICING)
    streams = {stream.slice: stream for stream in world.state_of().streams}
    assert len(streams) == 1 + 4
    fallen = {place for place, stream in streams.items() if place and stream.state == "ALERT"}
    assert fallen == {(("device", "tv"), ("country", "jp"))}


def test_more_rankings_without_a_relevant_document_are_worse(world: World) -> None:
    state = world.watch(make_day(0, ALL), measure="empty", tolerance=0.1)
    assert state.state == "OK"
    (stream,) = state.streams
    assert (stream.value.value, stream.baseline.value) == (0.0, 0.0)
    assert stream.floor == pytest.approx(0.1)
    for day in range(1, 5):
        world.pass_day(day, make_day(day, (*ALL[:6], 0, 0, 0, 0)))
    state = world.state_of()
    assert state.state == "ALERT"
    (stream,) = state.streams
    assert stream.value.value == 0.4
    assert stream.value.lower < 0.4 < stream.value.upper
    assert "documents rose from 0.0000 to 0.4000" in (state.reason)


def test_fewer_rankings_without_a_relevant_document_are_no_alert(world: World) -> None:
    world.log(make_day(-29, (1, 0), environment="validation"))
    world.watch(*(make_day(day) for day in range(4)), measure="empty")
    assert world.state_of().state == "OK"
