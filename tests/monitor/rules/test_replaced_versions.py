"""What becomes of a fall when its version is replaced."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rankscope.monitor.definition.configuration import BASELINES
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.incidents.response import list_incidents
from rankscope.monitor.rules.drop.feed import INHERIT
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.sequential.detector import NEEDED
from rankscope.records import replace

from tests.monitor.rules.world import (
    BAD,
    CONFIGURATION,
    GOOD,
    PROJECT,
    START,
    World,
    known_at,
    make_day,
    make_rule,
)

BY_VERSION = replace(CONFIGURATION, baseline=BASELINES["version"])
WORSE = (2, 1, 2, 2)
"""Reciprocal ranks of 0.625: a smaller fall, which takes days to be found."""


def play(
    world: World, days: Sequence[tuple[str, tuple[int, ...]]], *, baseline: str = "validation"
) -> dict[str, Incident]:
    """Serve a version a day, check the rule for all days, and return the newest incidents."""
    configuration = BY_VERSION if baseline == "version" else CONFIGURATION
    world.put(make_rule(false_alarms=0.05), configuration=configuration)
    for day, (version, ranks) in enumerate(days):
        world.log(make_day(day, ranks, version=version))
    world.advance(known_at(len(days) - 1), configuration)
    return {one.version: one for one in reversed(list_incidents(world.store, PROJECT, "all"))}


@pytest.mark.parametrize("baseline", ["validation", "version"])
def test_the_version_that_follows_goes_on_with_a_fall(world: World, baseline: str) -> None:
    days = [("1", GOOD)] * 4 + [("2", BAD)] * 4 + [("3", BAD)] * 4
    found = play(world, days, baseline=baseline)
    assert (found["2"].state, found["3"].state) == ("superseded", "open")
    assert found["2"].reason.endswith("version 2 is no longer served")
    assert found["3"].began == found["2"].began == to_datetime(START + 4 * DAY)
    assert found["3"].group == found["2"].group
    assert found["3"].reason.endswith("version 2 had fallen before")


def test_a_fall_that_goes_on_needs_less_evidence_than_a_new_one(world: World) -> None:
    found = play(world, [("2", WORSE)] * 12 + [("3", WORSE)] * 12)
    first, second = found["2"], found["3"]
    assert first.opened - to_datetime(START) > second.opened - to_datetime(START + 12 * DAY)
    progress = RuleProgress.from_text(world.store.list_rules(PROJECT)[0].progress)
    (stream,) = progress.streams
    assert second.opened < stream.inherited.came + INHERIT
    assert NEEDED * INHERIT.days < 1800


def test_a_version_that_is_good_again_inherits_nothing(world: World) -> None:
    found = play(world, [("2", BAD)] * 4 + [("3", GOOD)] * 9 + [("3", BAD)] * 4)
    assert found["3"].began == to_datetime(START + 13 * DAY)
    assert found["3"].group != found["2"].group
    assert "had fallen before" not in found["3"].reason
