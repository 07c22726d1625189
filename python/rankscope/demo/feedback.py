"""The feedback of listeners on the tracks they were shown, and its events."""

from __future__ import annotations

from rankscope.demo.story import DEVICE, MODEL
from rankscope.monitor.events.limits import HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random
    from typing import Any

    from rankscope.demo.searches import MusicSearch

MILLISECOND = 1000
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
    for track, fit in search.shown:
        liked = fit + chance.gauss(0, 0.6)
        yield track, round(fit) if search.is_example else sum(liked >= least for least in LIKED)


def write_ranking(search: MusicSearch) -> dict[str, Any]:
    """Write a search as the app on its device does."""
    if search.device == DEVICE:
        return _write_group(search)
    if search.device == "desktop":
        return _write_columns(search)
    return _write_plainly(search)


def write_judged(search: MusicSearch, grades: dict[str, int]) -> dict[str, Any]:
    """Write a search of the validation set, with the grades of its tracks."""
    event = _write_group(search) | {"environment": "validation"}
    for item in event["items"]:
        item["gains"] = grades[item["item_id"]]
    return event


def write_label(search: MusicSearch, deed: Deed, event_id: str) -> dict[str, Any]:
    """Write what a listener did: the shop knows of what is bought, the player of the rest."""
    if deed.label == "buy":
        return {
            "event_id": event_id,
            "search_group_id": search.name,
            "item_id": deed.track,
            "timestamp": deed.time // MILLISECOND,
            "relevance_labels": [deed.label],
        }
    return {
        "event_id": event_id,
        "ranking_id": search.name,
        "doc_id": deed.track,
        "time": format_time(deed.time),
        "labels": [deed.label],
    }


def _write_plainly(search: MusicSearch) -> dict[str, Any]:
    return {
        "event_id": f"e-{search.name}",
        "ranking_id": search.name,
        "time": format_time(search.time),
        "query_key": search.query.text,
        "user_id": search.user,
        "model": MODEL,
        "version": search.version,
        "attributes": _attributes(search),
        "items": [
            {"doc_id": track, "rank": rank, "score": score} for rank, track, score in _rank(search)
        ],
    }


def _write_group(search: MusicSearch) -> dict[str, Any]:
    return {
        "event_id": f"e-{search.name}",
        "search_group_id": search.name,
        "timestamp": search.time // MILLISECOND,
        "query": search.query.text,
        "user_id": search.user,
        "model_name": MODEL,
        "model_version": search.version,
        "attributes": _attributes(search),
        "items": [
            {"item_id": track, "rank": rank, "score": score} for rank, track, score in _rank(search)
        ],
    }


def _write_columns(search: MusicSearch) -> dict[str, Any]:
    return {
        "prediction_id": f"e-{search.name}",
        "prediction_group_id": search.name,
        "prediction_timestamp": search.time // MILLISECOND,
        "query_text": search.query.text,
        "client_id": search.user,
        "model_id": MODEL,
        "model_version": search.version,
        "tags": _attributes(search),
        "item_ids": [track for track, _ in search.shown],
        "ranks": list(range(1, len(search.shown) + 1)),
        "scores": list(search.scores),
    }


def _attributes(search: MusicSearch) -> dict[str, str]:
    known = {"country": search.country, "device": search.device, "query_type": search.query.kind}
    return {name: value for name, value in known.items() if value}


def _rank(search: MusicSearch) -> list[tuple[int, str, float]]:
    return [
        (rank, track, score)
        for rank, ((track, _), score) in enumerate(
            zip(search.shown, search.scores, strict=True), start=1
        )
    ]
