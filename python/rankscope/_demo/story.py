"""The simulated events, when they arrive, and the faults planted in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import Definition, define
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import count_micros, to_datetime
from rankscope.monitor.incidents.incident import Event, Incident
from rankscope.monitor.intake.ingestion import Ingested
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule

Route: TypeAlias = Literal["rankings", "labels"]
Fault: TypeAlias = Literal[
    "", "duplicate", "conflict", "late", "unshown", "orphan", "behind", "rejected"
]

MILLISECOND = SECOND // 1000

POSITIVE = {"click": 1, "favourite": 2, "buy": 3}
"""The feedback of listeners, and what it adds to the grade of a track."""

WINDOW = 48 * HOUR
"""How long after a search feedback counts."""

ATTRIBUTES = ("country", "device", "query_type")
DEVICE = "tv"
"""Where the new version swaps the first and the last track."""

MODEL = "music-search"
VERSIONS = ("3", "4")
"""The old version and the released one."""

EXAMPLE = "sing along"
"""A query whose lists have the same grades each time; it is asked on that device only."""

EXAMPLE_GRADES = (6, 5, 1, 2, 0)
"""Those grades, in the order in which the version in use shows them."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event as it arrives.

    Its fault: it is a `duplicate`; a `conflict`, with the id of another event; it is of something
    that happened `late`, after the attribution window; of a track that was `unshown`; an `orphan`,
    of a ranking that never arrives; it lies `behind`, and arrives after its day was looked at; or
    it is to be `rejected`, for the reason of the code.
    """

    arrives: int  # in microseconds since 1970 in UTC
    route: Route
    event: dict[str, Any]
    fault: Fault = ""
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Events in the order in which they arrive; times are in microseconds since 1970 in UTC."""

    seed: int
    start: int
    release: int  # when the new version is released
    end: int
    validation: tuple[dict[str, Any], ...]  # the set that was judged before, with grades
    deliveries: tuple[Delivery, ...]


def define_story() -> Definition:
    """Return the definition of the values of the story."""
    return define(
        measures=("nDCG@1", "nDCG@5", "nDCG@10"), positive=POSITIVE, window=WINDOW // SECOND
    )


RULE = Rule(name="nDCG@5 of each device", measure="nDCG@5", slices=("device",))
"""The rule of the demo: each version, as a whole and by device."""


class Clock:
    """A clock that is set by hand, to microseconds since 1970 in UTC."""

    def __init__(self, time: int) -> None:
        self.time = time

    def __call__(self) -> datetime:
        """Return the time of the clock."""
        return to_datetime(self.time)


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """A period of production, until `time`, with what people were notified of."""

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
        arrived = [sent for sent in story.deliveries if since <= sent.arrives < until]
        rankings = monitor.log_rankings(sent.event for sent in arrived if sent.route == "rankings")
        labels = monitor.log_labels(sent.event for sent in arrived if sent.route == "labels")
        yield PlayedStep(until, rankings, labels, monitor.evaluate().events)
        since = until


def _list_moments(story: Story, grace: int) -> list[int]:
    released = story.release - story.release % DAY
    weeks = range(story.start + 7 * DAY, released, 7 * DAY)
    days = range(released, story.end + DAY, DAY)
    final = [day + WINDOW % DAY + grace for day in days]
    return sorted({time for time in (*weeks, *days, *final) if time <= story.end})


def list_spans(story: Story) -> tuple[Span, Span]:
    """Return the spans to compare: the old version until the release, and the new one since."""
    before, after = VERSIONS
    return (
        Span(to_datetime(story.start), to_datetime(story.release), version=before),
        Span(to_datetime(story.release), to_datetime(story.end), version=after),
    )
