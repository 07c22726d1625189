"""Who searches for what, which tracks they are shown, what they do, and when that arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

from rankscope._demo.story import (
    DEVICE,
    EXAMPLE,
    EXAMPLE_GRADES,
    MILLISECOND,
    MODEL,
    VERSIONS,
    WINDOW,
    Delivery,
    Fault,
    Story,
)
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import format_time

Track: TypeAlias = tuple[str, float]

USERS = 700
TRACKS = 12
COUNTRIES = {"de": 40, "fr": 20, "in": 10, "us": 30}
DEVICES = {"phone": 42, "desktop": 28, DEVICE: 30}
SHOWN = {"phone": 6, "desktop": 8, DEVICE: len(EXAMPLE_GRADES)}
"""The number of tracks on a screen."""

MOODS = ("calm", "morning", "summer")
KINDS = {
    "artist": ("choir", "quartet", "trio"),
    "mood": ("mix", "music"),
    "song": ("ballad", "blues", "waltz"),
}
"""By the type of a query, what its last word may be."""

BUSY = (3, 2, 1, 1, 1, 2, 4, 7, 8, 7, 7, 7, 8, 8, 7, 7, 8, 10, 12, 14, 15, 14, 10, 6)
"""The relative number of searches in each hour of the day."""

EXAMPLE_SHARE = 0.08
"""The share of searches on the device that are the example."""

NOTHING_FOUND = 0.003
"""The share of searches without results."""


@dataclass(frozen=True, slots=True)
class MusicQuery:
    """A query of the app, as it is typed, with its type."""

    text: str
    kind: str
    tracks: tuple[Track, ...]  # those that match it, with how well they fit
    scores: Mapping[str, float]  # what the model makes of how well they fit


@dataclass(frozen=True, slots=True)
class MusicSearch:
    """One search, as it happened."""

    name: str
    time: int  # in microseconds since 1970 in UTC
    user: str
    country: str  # empty where unknown
    device: str
    query: MusicQuery
    version: str  # of the model that ranked
    shown: tuple[tuple[str, float, float], ...]  # tracks, how well they fit, and their scores

    @property
    def is_example(self) -> bool:
        """Whether its grades are known in advance."""
        return self.query.text == EXAMPLE


class Listeners:
    """People, their devices, and what they search for."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._queries = [
            self._make_query(f"{mood} {last}", kind)
            for mood in MOODS
            for kind, lasts in KINDS.items()
            for last in lasts
        ]
        chance.shuffle(self._queries)
        # A few queries are asked often, and many seldom.
        self._weights = [1 / (12 + place) for place in range(len(self._queries))]
        self._example = self._make_example()
        self._homes = [self._draw(COUNTRIES) for _ in range(USERS)]

    def search(
        self, since: int, days: int, daily: int, release: int | None
    ) -> Iterator[MusicSearch]:
        """Make the searches of some days."""
        for day in range(since, since + days * DAY, DAY):
            count = round(daily * self._chance.uniform(0.95, 1.05))
            hours = self._chance.choices(range(24), BUSY, k=count)
            offsets = [
                hour * HOUR + self._chance.randrange(HOUR // MILLISECOND) * MILLISECOND
                for hour in hours
            ]
            for number, offset in enumerate(sorted(offsets)):
                is_new = release is not None and day + offset >= release
                name = f"{(day // DAY):05}-{number:04}"
                yield self._make_search(name, day + offset, VERSIONS[is_new])

    def _make_search(self, name: str, time: int, version: str) -> MusicSearch:
        chance = self._chance
        user = chance.randrange(USERS)
        device = self._draw(DEVICES)
        is_example = device == DEVICE and chance.random() < EXAMPLE_SHARE
        query = self._example
        if not is_example:
            query = chance.choices(self._queries, self._weights)[0]
        # Moments differ, so that a query is not ranked the same way each time.
        blur = 0.0 if is_example else 0.2
        scored = sorted(
            ((query.scores[track[0]] + chance.gauss(0, blur), track) for track in query.tracks),
            reverse=True,
        )[: SHOWN[device]]
        if not is_example and chance.random() < NOTHING_FOUND:
            scored = []
        if scored and version == VERSIONS[1] and device == DEVICE:
            scored[0], scored[-1] = scored[-1], scored[0]
        return MusicSearch(
            name,
            time,
            f"u{user:03}",
            self._homes[user] if chance.random() < 0.99 else "",
            device,
            query,
            version,
            tuple((track, fit, round(score, 3)) for score, (track, fit) in scored),
        )

    def _make_query(self, text: str, kind: str) -> MusicQuery:
        chance = self._chance
        fits = sorted((round(chance.uniform(0.6, 3), 2) for _ in range(TRACKS)), reverse=True)
        name = text.replace(" ", "-")
        tracks = tuple((f"{name}-{place:02}", fit) for place, fit in enumerate(fits, start=1))
        scores = {track: fit + chance.gauss(0, 0.3) for track, fit in tracks}
        return MusicQuery(text, kind, tracks, scores)

    def _make_example(self) -> MusicQuery:
        name = EXAMPLE.replace(" ", "-")
        names = [f"{name}-{place:02}" for place in range(1, len(EXAMPLE_GRADES) + 1)]
        tracks = tuple(zip(names, map(float, EXAMPLE_GRADES), strict=True))
        scores = {track: 3.0 - 0.5 * place for place, track in enumerate(names)}
        return MusicQuery(EXAMPLE, "mood", tracks, scores)

    def _draw(self, weights: Mapping[str, int]) -> str:
        return self._chance.choices([*weights], [*weights.values()])[0]


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


@dataclass(frozen=True, slots=True)
class Deed:
    """What a listener did with a track, and when, in microseconds since 1970 in UTC."""

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
    fields = {"country": search.country, "device": search.device, "query_type": search.query.kind}
    return {
        "event_id": f"e-{search.name}",
        "ranking_id": search.name,
        "time": format_time(search.time),
        "query_key": search.query.text,
        "user_id": search.user,
        "model": MODEL,
        "version": search.version,
        "attributes": {name: value for name, value in fields.items() if value},
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


SEED = 6
"""The random seed by default."""

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
    deliveries.sort(key=lambda delivery: delivery.arrives)
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
        for delivery in _send_deed(search, deed, event_id, chance):
            sent = replace(delivery, fault="orphan") if is_lost else delivery
            yield from _repeat(sent, chance)
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
