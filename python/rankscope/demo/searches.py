"""Who searches for what, and which tracks they are shown."""

from __future__ import annotations

from rankscope.demo.story import DEVICE, EXAMPLE, EXAMPLE_GRADES, MILLISECOND, VERSIONS
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from random import Random
    from typing import TypeAlias

    # A track, and how well it fits the query, from 0 to 3.
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


@record(frozen=True, slots=True)
class MusicQuery:
    """A query of the app.

    Args:
        text: As it is typed.
        kind: Its type.
        tracks: The tracks that match it, with how well they fit.
        scores: What the model makes of how well they fit.
    """

    text: str
    kind: str
    tracks: tuple[Track, ...]
    scores: Mapping[str, float]


@record(frozen=True, slots=True)
class MusicSearch:
    """One search, as it happened.

    Args:
        name: The name of its search group.
        time: When, in microseconds since 1970 in UTC.
        user: The listener.
        country: Where; empty where unknown.
        device: On which device.
        query: What for.
        version: The version of the model that ranked.
        shown: The tracks as shown, how well they fit, and their scores.
    """

    name: str
    time: int
    user: str
    country: str
    device: str
    query: MusicQuery
    version: str
    shown: tuple[tuple[str, float, float], ...]

    @property
    def is_example(self) -> bool:
        """Whether its grades are known in advance."""
        return self.query.text == EXAMPLE


class Listeners:
    """People, their devices, and what they search for.

    Args:
        chance: Where chance comes from.
    """

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
