"""What a rule about drops concludes, said in the plainest way: by loops, and one day at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    # Version, and device or nothing.
    Key: TypeAlias = tuple[str, str]

BETS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)


class PlainStream:
    """The evidence of one version and device, bet by bet."""

    def __init__(self) -> None:
        self.since_any = [0.0] * len(BETS)
        self.since_best = [0.0] * len(BETS)
        self.periods = 0
        self.absent = 0
        self.is_named = False

    def look(self, means: Iterable[float], floor: float) -> None:
        """Look at the means of the users of a day."""
        told = list(means)
        if not told:
            return
        self.periods += 1
        for place, bet in enumerate(BETS):
            gain = math.prod(1 + bet * (floor - mean) / (1 - floor) for mean in told)
            self.since_any[place] = (self.since_any[place] + 1) * gain
            self.since_best[place] = max(self.since_best[place], 1) * gain


class PlainRule:
    """A rule about drops by device.

    Args:
        floors: What the means of each device, and of all together, are held against.
        run_length: The promise.
    """

    def __init__(self, floors: Mapping[str, float], run_length: float) -> None:
        self.floors = floors
        self.run_length = run_length
        self.streams: dict[Key, PlainStream] = {}
        self.shares: list[tuple[int, int]] = []

    def look(self, day: Iterable[tuple[str, str, str, int]]) -> None:
        """Look at a day: version, device, user, and the rank of the click or 0."""
        shown = list(day)
        before = [sum(column) for column in zip(*self.shares, strict=True)] or [0, 0]
        labelled = sum(rank > 0 for *_, rank in shown)
        self.shares.append((labelled, len(shown)))
        is_late = bool(shown and before[1]) and labelled / len(shown) * 2 < before[0] / before[1]
        users: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for version, device, user, rank in shown:
            for place in ("", device):
                if place in self.floors:
                    values = users[version, place][user]
                    values += [1 / rank] if rank else []
        for key in users:
            self.streams.setdefault(key, PlainStream())
        versions = {version for version, *_ in shown}
        for key, stream in list(self.streams.items()):
            stream.absent = 0 if key[0] in versions else stream.absent + bool(shown)
            if stream.absent == 2:
                del self.streams[key]
            elif not is_late:
                means = [fmean(values) for values in users[key].values() if values]
                stream.look(means, self.floors[key[1]])
        self._name()

    def _name(self) -> None:
        """Name as many as there can be whose evidence is enough for so many."""
        told = {key: one for key, one in self.streams.items() if one.periods}
        most = 0
        for count in range(1, len(told) + 1):
            needed = len(told) * self.run_length / count
            if sum(fmean(one.since_any) >= needed for one in told.values()) >= count:
                most = count
        ordered = sorted(told, key=lambda key: -fmean(told[key].since_any))
        for key, stream in told.items():
            lasts = stream.is_named and fmean(stream.since_best) >= 1
            stream.is_named = key in ordered[:most] or lasts
            cap = len(told) * self.run_length * len(BETS)
            stream.since_any = [min(one, cap) for one in stream.since_any]
            stream.since_best = [min(one, cap) for one in stream.since_best]
