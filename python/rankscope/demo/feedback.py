"""The feedback of listeners on the tracks they were shown, and its events."""

from __future__ import annotations

from rankscope.demo.story import MILLISECOND, MODEL
from rankscope.monitor.events.limits import HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random
    from typing import Any

    from rankscope.demo.searches import MusicSearch

ABANDONED = 0.3
"""The share of searches without feedback."""

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
"""How well a track must match for a grade of 1, 2 and so on."""

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


def respond(search: MusicSearch, chance: Random) -> Iterator[Deed]:
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


def grade_tracks(search: MusicSearch, chance: Random) -> Iterator[tuple[str, int]]:
    """Return the grades of the tracks of a search for its listener."""
    for track, fit, _ in search.shown:
        liked = fit + chance.gauss(0, 0.6)
        yield track, round(fit) if search.is_example else sum(liked >= least for least in LIKED)


def write_ranking(search: MusicSearch) -> dict[str, Any]:
    """Write a search as the app does."""
    known = {"country": search.country, "device": search.device, "query_type": search.query.kind}
    return {
        "event_id": f"e-{search.name}",
        "ranking_id": search.name,
        "time": format_time(search.time),
        "query_key": search.query.text,
        "user_id": search.user,
        "model": MODEL,
        "version": search.version,
        "attributes": {name: value for name, value in known.items() if value},
        "items": [
            {"doc_id": track, "rank": rank, "score": score}
            for rank, (track, _, score) in enumerate(search.shown, start=1)
        ],
    }


def write_judged(search: MusicSearch, grades: dict[str, int]) -> dict[str, Any]:
    """Write a search of the validation set, with the grades of its tracks."""
    event = write_ranking(search) | {"environment": "validation"}
    for item in event["items"]:
        item["relevance"] = grades[item["doc_id"]]
    return event


def write_label(search: MusicSearch, deed: Deed, event_id: str) -> dict[str, Any]:
    """Write what a listener did."""
    return {
        "event_id": event_id,
        "ranking_id": search.name,
        "doc_id": deed.track,
        "time": format_time(deed.time),
        "labels": [deed.label],
    }
