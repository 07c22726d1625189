"""The story in a monitor: every number equals the reference, and a difference is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.demo import Story, make_story
from rankscope.demo.playback import Clock, prepare
from rankscope.demo.verification import check_monitor, list_spans
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.monitor import Monitor
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

END = 20_778 * DAY
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def story() -> Story:
    """A story of few searches."""
    return make_story(3, end=END, daily=60)


@pytest.fixture(scope="module")
def monitor(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    """A monitor that gets all of the story at its end."""
    clock = Clock(story.start)
    with Monitor.open(str(tmp_path_factory.mktemp("story") / "story.db"), now=clock) as opened:
        assert prepare(story, opened).accepted == len(story.validation)
        clock.time = story.end
        for route, log in (("rankings", opened.log_rankings), ("labels", opened.log_labels)):
            log([each.event for each in story.deliveries if each.route == route])
        opened.evaluate()
        yield opened


def test_every_number_is_that_of_the_reference(story: Story, monitor: Monitor) -> None:
    checked = check_monitor(story, monitor, monitor.trace(*list_spans(story), "nDCG@5"))
    assert checked.differing == ()
    assert checked.numbers > 100


def test_a_number_that_differs_is_told(story: Story, monitor: Monitor) -> None:
    """Held against the story of another seed, all that can differ does."""
    trace = monitor.trace(*list_spans(story), "nDCG@5")
    other = replace(make_story(4, end=END, daily=60), deliveries=story.deliveries)
    differing = check_monitor(other, monitor, trace).differing
    assert {each.split(":")[0] for each in differing} == {
        f"baseline {measure}" for measure in monitor.measures
    }
