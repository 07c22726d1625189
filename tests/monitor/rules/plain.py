"""What a rule about drops concludes, said in the plainest way: by loops, and one day at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean
from typing import NamedTuple

BETS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8)
NEEDED = 20.0


class PlainUsual(NamedTuple):
    """What is expected: the same of all rankings, with errors that differ by device."""

    mean: float
    half_width: float
    tolerance: float
    errors: Mapping[str, float]
    """The variance of what is expected, by device."""
    share_error: float
    """That of the baseline's own mix."""

    def find_margin(self, users):
        """How far the mean of some users may be below: more if they are of little known devices."""
        if not self.share_error:
            return max(self.half_width, self.tolerance)
        parts = defaultdict(float)
        for seen in users:
            for device, _ in seen:
                parts[device] += 1 / len(seen)
        error = sum(
            (part / len(users)) ** 2 * self.errors.get(device, 0.0)
            for device, part in parts.items()
        )
        return max(self.half_width * math.sqrt(max(error / self.share_error, 1.0)), self.tolerance)


class PlainRecovery:
    """The evidence that a drop has ended, from the sum of the gaps since it and their number."""

    def __init__(self, total, size):
        self.total, self.size = total, size
        self.later_total, self.later_size = 0.0, 0
        self.evidence = [1.0] * len(BETS)
        self.margin = 0.0

    def look(self, gaps, mean, margin):
        halfway = max((self.total / self.size + margin) / 2, margin)
        if fmean(self.evidence) <= 1:
            self.total, self.size = self.total + self.later_total, self.size + self.later_size
            self.later_total, self.later_size = 0.0, 0
        self.later_total, self.later_size = (
            self.later_total + sum(gaps),
            self.later_size + len(gaps),
        )
        self.margin = margin
        for place, bet in enumerate(BETS):
            gain = math.prod(1 + bet * (halfway - gap) / (mean - halfway) for gap in gaps)
            self.evidence[place] = max(self.evidence[place], 1.0) * gain

    @property
    def is_over(self):
        if not self.later_size or fmean(self.evidence) < NEEDED:
            return False
        return self.later_total / self.later_size <= self.margin


class PlainStream:
    def __init__(self):
        self.absent = 0
        self.is_watched = False
        self.restart()

    def restart(self):
        self.since_any = [0.0] * len(BETS)
        self.since_best = [0.0] * len(BETS)
        self.falls = [0.0] * len(BETS)
        self.sizes = [0] * len(BETS)
        self.periods = 0
        self.is_named = False
        self.recovery = None

    def look(self, users, usual):
        """Look at the users of a day."""
        if not users:
            return
        gaps = [usual.mean - fmean(value for _, value in seen) for seen in users]
        margin = usual.find_margin(users)
        self.is_watched = True
        self.periods += 1
        for place, bet in enumerate(BETS):
            worst = 1 - usual.mean + margin
            gain = math.prod(1 + bet * (gap - margin) / worst for gap in gaps)
            self.since_any[place] = (self.since_any[place] + 1) * gain
            if self.since_best[place] <= 1:
                self.falls[place], self.sizes[place] = 0.0, 0
            self.falls[place] += sum(gaps)
            self.sizes[place] += len(gaps)
            self.since_best[place] = max(self.since_best[place], 1) * gain
        if self.recovery is not None:
            self.recovery.look(gaps, usual.mean, margin)

    def name(self):
        """Name it, from the beginning that the best bet sees."""
        best = self.since_best.index(max(self.since_best))
        self.is_named = True
        self.recovery = PlainRecovery(self.falls[best], self.sizes[best])


class PlainRule:
    def __init__(self, run_length):
        self.run_length = run_length
        self.streams = {}
        self.shares = []

    def look(self, day, usual):
        """Look at a day: version, device, user, and the rank of the click or 0."""
        before = [sum(column) for column in zip(*self.shares, strict=True)] or [0, 0]
        labelled = sum(rank > 0 for *_, rank in day)
        self.shares.append((labelled, len(day)))
        is_late = bool(day and before[1]) and labelled / len(day) * 2 < before[0] / before[1]
        users = defaultdict(lambda: defaultdict(list))
        for version, device, user, rank in day:
            for place in ("", *((device,) if device != "car" else ())):
                values = users[version, place][user]
                values += [(device, 1 / rank)] if rank else []
        for key in users:
            self.streams.setdefault(key, PlainStream())
        versions = {version for version, *_ in day}
        for key, stream in list(self.streams.items()):
            stream.absent = 0 if key[0] in versions else stream.absent + bool(day)
            if stream.absent == 2:
                del self.streams[key]
            elif not is_late and key in users:
                stream.look([seen for seen in users[key].values() if seen], usual[key])
        self._name()

    def _name(self):
        """Name as many as there can be whose evidence is enough for so many."""
        told = {key: one for key, one in self.streams.items() if one.is_watched}
        most = 0
        for count in range(1, len(told) + 1):
            needed = len(told) * self.run_length / count
            if sum(fmean(one.since_any) >= needed for one in told.values()) >= count:
                most = count
        ordered = sorted(told, key=lambda key: -fmean(told[key].since_any))
        for key, stream in told.items():
            if stream.recovery is not None and stream.recovery.is_over:
                stream.restart()
                continue
            if key in ordered[:most] and not stream.is_named:
                stream.name()
            cap = len(told) * self.run_length * len(BETS)
            stream.since_any = [min(one, cap) for one in stream.since_any]
            stream.since_best = [min(one, cap) for one in stream.since_best]
