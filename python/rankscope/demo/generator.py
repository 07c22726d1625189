"""Generates the story from a seed."""

from __future__ import annotations

from random import Random

from rankscope.demo.feedback import (
    Deed,
    grade_tracks,
    respond,
    write_judged,
    write_label,
    write_ranking,
)
from rankscope.demo.searches import Listeners
from rankscope.demo.story import MILLISECOND, WINDOW, Delivery, Story
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from rankscope.demo.searches import MusicSearch
    from rankscope.demo.story import Fault


SEED = 6
"""Where chance begins unless it is said otherwise."""

WELL = 21
"""Days of production before the day of the release."""

AFTER = 5
"""Days from that day on: what listeners do counts for two more, so that two are known for good."""

RELEASED = 9 * HOUR
"""The time of day of the release."""

VALIDATED = 7
"""Days from which the validation set is."""


def make_story(seed: int = SEED, *, end: int, daily: int = 500) -> Story:
    """Generate a story; equal arguments give equal stories."""
    chance = Random(seed)  # noqa: S311 - nothing is secret here
    listeners = Listeners(chance)
    start = end - (WELL + AFTER) * DAY
    release = end - AFTER * DAY + RELEASED
    before = start - VALIDATED * DAY
    validation = tuple(
        write_judged(search, dict(grade_tracks(search, chance)))
        for search in listeners.search(before, VALIDATED, daily // 2, None)
    )
    deliveries = [
        delivery
        for search in listeners.search(start, WELL + AFTER, daily, release)
        for delivery in send(search, chance)
        if delivery.arrives < end
    ]
    deliveries.sort(key=lambda each: each.arrives)
    return Story(
        seed=seed,
        start=start,
        release=release,
        end=end,
        validation=validation,
        deliveries=tuple(deliveries),
    )


TWICE = 0.01
"""The share of events that are sent twice because the first answer was lost."""

OFFLINE = 0.02
"""The share of searches that are sent hours later, when the app is online again."""

BEHIND = 0.0005
"""The share of searches that are sent days later, after the windows of their day are closed."""

LOST = 0.002
"""The share of searches that are never sent although their feedback is."""

NIGHTLY = 0.03
"""The share of feedback that is sent hours later, in one batch."""

LATE = 0.01
"""The share of feedback that happens after the attribution window."""

UNSHOWN = CHANGED = 0.001
"""The shares of feedback on tracks that were not shown, and of IDs that are used again."""

CORRECTED = 0.03
"""The share of purchases that are returned."""

TAKEN_BACK = 0.002
"""The share of accidental clicks."""

FAULTY = 0.002
"""The share of searches that are followed by an invalid event."""


def send(search: MusicSearch, chance: Random) -> Iterator[Delivery]:
    """Yield the deliveries of a search and its feedback; the example arrives as it should."""
    deeds = list(respond(search, chance))
    if search.is_example:
        yield Delivery(_soon(search.time, chance), "rankings", write_ranking(search))
        for number, deed in enumerate(deeds):
            yield _send_label(search, deed, f"l-{search.name}-{number}", chance)
        return
    is_lost = chance.random() < LOST
    if not is_lost:
        yield from _repeat(_send_ranking(search, chance), chance)
    for number, deed in enumerate(deeds):
        event_id = f"l-{search.name}-{number}"
        for each in _send_deed(search, deed, event_id, chance):
            yield from _repeat(replace(each, fault="orphan") if is_lost else each, chance)
    if chance.random() < FAULTY:
        yield _send_nonsense(search, chance)


def _send_ranking(search: MusicSearch, chance: Random) -> Delivery:
    event = write_ranking(search)
    kind = chance.random()
    if kind < BEHIND:
        late = search.time + WINDOW + DAY + HOUR + chance.randrange(DAY)
        return Delivery(late, "rankings", event, "behind")
    if kind < BEHIND + OFFLINE:
        return Delivery(search.time + HOUR + chance.randrange(5 * HOUR), "rankings", event)
    return Delivery(_soon(search.time, chance), "rankings", event)


def _send_label(
    search: MusicSearch, deed: Deed, event_id: str, chance: Random, fault: Fault = ""
) -> Delivery:
    return Delivery(_soon(deed.time, chance), "labels", write_label(search, deed, event_id), fault)


def _send_deed(
    search: MusicSearch, deed: Deed, event_id: str, chance: Random
) -> Iterator[Delivery]:
    kind = chance.random()
    if kind < LATE:
        late = replace(deed, time=search.time + WINDOW + _after(DAY, chance))
        yield _send_label(search, late, event_id, chance, "late")
        return
    if kind < LATE + UNSHOWN:
        other = replace(deed, track=f"{deed.track}-live")
        yield _send_label(search, other, event_id, chance, "unshown")
        return
    delivery = _send_label(search, deed, event_id, chance)
    if chance.random() < NIGHTLY:
        arrives = delivery.arrives + HOUR + chance.randrange(7 * HOUR)
        delivery = replace(delivery, arrives=arrives)
    yield delivery
    if chance.random() < CHANGED:
        again = delivery.event | {"labels": ["other"]}
        yield Delivery(delivery.arrives + MINUTE, "labels", again, "conflict")
    yield from _take_back(search, deed, event_id, chance)


def _take_back(
    search: MusicSearch, deed: Deed, event_id: str, chance: Random
) -> Iterator[Delivery]:
    """Yield the correction or retraction of feedback."""
    time = deed.time + _after(2 * HOUR, chance)
    if time >= search.time + WINDOW:
        return
    changed = Deed(deed.track, "click", time)
    if deed.label == "buy" and chance.random() < CORRECTED:
        delivery = _send_label(search, changed, f"{event_id}-c", chance)
        yield replace(delivery, event=delivery.event | {"kind": "correction"})
    elif deed.label == "click" and chance.random() < TAKEN_BACK:
        delivery = _send_label(search, changed, f"{event_id}-r", chance)
        del delivery.event["labels"]
        yield replace(delivery, event=delivery.event | {"kind": "retraction"})


def _repeat(delivery: Delivery, chance: Random) -> Iterator[Delivery]:
    """Yield a delivery, sometimes twice."""
    yield delivery
    if chance.random() < TWICE:
        again = delivery.arrives + _after(5 * MINUTE, chance)
        # What was not taken the first time is not taken the second time either.
        fault: Fault = "conflict" if delivery.fault == "conflict" else "duplicate"
        yield replace(delivery, arrives=again, fault=fault)


def _send_nonsense(search: MusicSearch, chance: Random) -> Delivery:
    """Return an invalid search, with one of the mistakes that apps make."""
    name = f"{search.name}-x"
    plain: dict[str, Any] = {
        "event_id": f"e-{name}",
        "ranking_id": name,
        "time": search.time // MILLISECOND,
        "items": [{"doc_id": "a", "rank": 1}, {"doc_id": "b", "rank": 2}],
    }
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("too_old", {"time": search.time // SECOND}),
        ("future_time", {"time": (search.time + 30 * DAY) // MILLISECOND}),
        ("time_zone", {"time": "2026-11-21T18:00:00"}),
        ("duplicate_doc", {"items": ["a", "a"]}),
        ("bad_rank", {"items": [{"doc_id": "a", "rank": "first"}]}),
        ("missing_id", {"ranking_id": ""}),
        ("score_not_number", {"items": [{"doc_id": "a", "score": "high"}]}),
    ]
    code, fields = wrong[chance.randrange(len(wrong))]
    return Delivery(_soon(search.time, chance), "rankings", plain | fields, "rejected", code)


def _soon(time: int, chance: Random) -> int:
    return time + _after(30 * SECOND, chance)


def _after(most: int, chance: Random) -> int:
    return (1 + chance.randrange(most // MILLISECOND)) * MILLISECOND
