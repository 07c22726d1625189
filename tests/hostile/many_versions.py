"""A log with a version for each request, beside the versions of real releases."""

from __future__ import annotations

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import HOUR, MINUTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event

PROJECT = "music"
MUSIC = Configuration(
    definition=define(measures=["nDCG@1", "nDCG@3"], positive="click", window=3600),
    attributes=("device",),
    baseline=None,
)
START = 480_000 * HOUR
NOW = START + 40 * HOUR


def show(name: str, time: int, version: str, model: str = "search") -> list[Event]:
    """Return a ranking and a click on one of its documents."""
    number = sum(name.encode())
    shown = Ranking(
        name,
        name,
        time,
        Items(("a", "b", "c"), (1, 2, 3)),
        user_id=f"u{number % 7}",
        query_key=f"q{number % 5}",
        model=model,
        version=version,
        attributes=(("device", ("tv", "phone")[number % 2]),),
    )
    return [shown, Label(f"{name} click", name, "abc"[number % 3], time + MINUTE, ("click",))]


def make_log(requests: int, hours: int = 3, releases: int = 4) -> list[Event]:
    """Return rankings of requests that are versions, and some of releases in every hour.

    Args:
        requests: How many versions have a single ranking.
        hours: Over how many hours all is spread.
        releases: How many rankings an hour each of the releases "3" and "4" has.
    """
    events: list[Event] = []
    for number in range(requests):
        time = START + number * hours * HOUR // requests
        events += show(f"request {number}", time, f"id-{number:05}")
    for hour in range(hours):
        for number in range(releases):
            for version in ("3", "4"):
                time = START + hour * HOUR + number * MINUTE
                events += show(f"release {version} {hour} {number}", time, version)
    return events
