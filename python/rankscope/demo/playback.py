"""Plays the story into a monitor, step by step."""

from __future__ import annotations

from rankscope.demo.story import ATTRIBUTES, WINDOW, define_story
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import count_micros, to_datetime
from rankscope.monitor.rules.kinds import Rule
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from rankscope.demo.story import Story
    from rankscope.monitor.incidents.incident import Event, Incident
    from rankscope.monitor.intake.ingestion import Ingested
    from rankscope.monitor.monitor import Monitor

RULE = Rule(name="nDCG@5 of each device", measure="nDCG@5", slices=("device",))
"""The rule of the demo: each version, as a whole and by device."""


class Clock:
    """A clock that is set by hand.

    Args:
        time: What it says, in microseconds since 1970 in UTC.
    """

    def __init__(self, time: int) -> None:
        self.time = time

    def __call__(self) -> datetime:
        """Return the time of the clock."""
        return to_datetime(self.time)


@record(frozen=True, slots=True)
class PlayedStep:
    """A period of production.

    Args:
        time: When it is over, in microseconds since 1970 in UTC.
        rankings: What became of the rankings that arrived.
        labels: What became of the labels.
        events: What people were notified of: what happened, and the incident.
    """

    time: int
    rankings: Ingested
    labels: Ingested
    events: tuple[tuple[Event, Incident], ...]


def prepare(story: Story, monitor: Monitor) -> Ingested:
    """Configure the project, log the validation set and create the rule.

    The clock of the monitor has to say when the story starts.
    """
    configuration = Configuration(definition=define_story(), attributes=ATTRIBUTES)
    monitor.configure(configuration, actor="story")
    logged = monitor.log_rankings(story.validation)
    monitor.evaluate()
    monitor.set_rule(RULE, actor="story")
    return logged


def play(story: Story, monitor: Monitor, clock: Clock) -> Iterator[PlayedStep]:
    """Play the story and yield each period.

    What is found does not depend on how often the monitor looks, only when: so it looks once a week
    at first, and from the release on when a day is over, and when a day is final.
    """
    since = story.start
    for until in _list_moments(story, count_micros(monitor.configuration.grace)):
        clock.time = until
        arrived = [each for each in story.deliveries if since <= each.arrives < until]
        rankings = monitor.log_rankings(each.event for each in arrived if each.route == "rankings")
        labels = monitor.log_labels(each.event for each in arrived if each.route == "labels")
        yield PlayedStep(until, rankings, labels, monitor.evaluate().events)
        since = until


def _list_moments(story: Story, grace: int) -> list[int]:
    released = story.release - story.release % DAY
    weeks = range(story.start + 7 * DAY, released, 7 * DAY)
    days = range(released, story.end + DAY, DAY)
    known = [day + WINDOW % DAY + grace for day in days]
    return sorted({time for time in (*weeks, *days, *known) if time <= story.end})
