"""What listeners do with the tracks that they were shown, and when."""

from __future__ import annotations

from rankscope.monitor.limits import HOUR, MINUTE, SECOND
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from rankscope.monitor.story.searches import Search

MILLISECOND = 1000
ABANDONED = 0.3
"""The share of searches after which nobody does anything."""

DEEDS = (
    (),
    ("click",),
    ("click", "click"),
    ("click", "favourite"),
    ("click", "click", "favourite"),
    ("click", "click", "buy"),
    ("click", "favourite", "buy"),
)
"""By grade, what is done with a track that gets it."""

LIKED = (2.2, 2.6, 2.9, 3.2, 3.6, 4.0)
"""How well a track must fit for a grade of 1, 2 and so on."""

DELAYS = {
    "click": (5 * SECOND, 20 * MINUTE),
    "favourite": (MINUTE, 6 * HOUR),
    "buy": (10 * MINUTE, 40 * HOUR),
}
"""By what is done, how soon and how late that is."""


@record(frozen=True, slots=True)
class Deed:
    """Something that a listener did.

    Args:
        track: With which track.
        label: What.
        time: When, in microseconds since 1970 in UTC.
    """

    track: str
    label: str
    time: int


def respond(search: Search, chance: Random) -> Iterator[Deed]:
    """Do something with the tracks of a search, wherever in the list they stand."""
    if not search.is_example and chance.random() < ABANDONED:
        return
    for track, grade in grade_tracks(search, chance):
        for label in DEEDS[grade]:
            soonest, latest = DELAYS[label]
            # Most things happen soon.
            delay = soonest * (latest / soonest) ** chance.random()
            rounded = round(delay / MILLISECOND) * MILLISECOND
            yield Deed(track, label, search.time + rounded)


def grade_tracks(search: Search, chance: Random) -> Iterator[tuple[str, int]]:
    """Give each track of a search the grade that it has for who searched."""
    for track, fit in search.shown:
        liked = fit + chance.gauss(0, 0.6)
        yield track, round(fit) if search.is_example else sum(liked >= least for least in LIKED)
