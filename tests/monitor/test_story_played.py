"""The story, played into a monitor: it finds what the reference says, step by step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.demo import Story, make_story
from rankscope.demo.expected import TAKEN
from rankscope.demo.playback import Clock, PlayedStep, play, prepare
from rankscope.demo.verification import check_monitor, list_spans
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.monitor import Monitor
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

END = 20_778 * DAY


@pytest.fixture(scope="module")
def story() -> Story:
    """A story of few searches."""
    return make_story(3, end=END, daily=60)


@pytest.fixture(scope="module")
def clock(story: Story) -> Clock:
    """The clock of the monitor."""
    return Clock(story.start)


@pytest.fixture(scope="module")
def monitor(clock: Clock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    """A monitor of its own."""
    path: Path = tmp_path_factory.mktemp("story") / "story.db"
    with Monitor.open(str(path), now=clock) as opened:
        yield opened


@pytest.fixture(scope="module")
def steps(story: Story, monitor: Monitor, clock: Clock) -> list[PlayedStep]:
    """All of the story, in the monitor."""
    assert prepare(story, monitor).accepted == len(story.validation)
    return list(play(story, monitor, clock))


@pytest.mark.slow
def test_time_goes_by_until_the_story_ends(
    story: Story, clock: Clock, steps: list[PlayedStep]
) -> None:
    times = [step.time for step in steps]
    assert times == sorted(set(times))
    assert times[-1] == story.end == clock.time


def test_what_becomes_of_events_is_what_was_planted(story: Story, steps: list[PlayedStep]) -> None:
    planted: Counter[str] = Counter()
    for each in story.deliveries:
        planted["accepted" if each.fault in TAKEN else each.fault] += 1
    found: Counter[str] = Counter()
    for step in steps:
        for done in (step.rankings, step.labels):
            for status in ("accepted", "duplicate", "conflict", "rejected"):
                found[status] += getattr(done, status)
    assert found == planted


def test_every_number_is_that_of_the_reference(
    story: Story, monitor: Monitor, steps: list[PlayedStep]
) -> None:
    assert steps
    trace = monitor.trace(*list_spans(story), "nDCG@5")
    checked = check_monitor(story, monitor, trace)
    assert checked.differing == ()
    assert checked.numbers > 100


def test_a_number_that_differs_is_told(
    story: Story, monitor: Monitor, steps: list[PlayedStep]
) -> None:
    """Held against the story of another seed, all that can differ does."""
    assert steps
    trace = monitor.trace(*list_spans(story), "nDCG@5")
    other = replace(make_story(4, end=END, daily=60), deliveries=story.deliveries)
    differing = check_monitor(other, monitor, trace).differing
    assert {each.split(":")[0] for each in differing} == {
        f"baseline {measure}" for measure in monitor.measures
    }
