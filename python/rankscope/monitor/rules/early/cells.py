"""Signals by hour and stream, read from their stored cells as arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.definition.slices import MISSING
from rankscope.monitor.evaluate.stored_windows import StoredCell
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import HOURS, PRODUCTION, Segment
from rankscope.monitor.rules.early.usual import Sums, add_up
from rankscope.monitor.store.folding import OTHER

MOST_STREAMS = 100
"""How many streams are watched: those with the most rankings."""
PARTS = len(Sums._fields)


class Hours:
    """Sums of signals by hour.

    Args:
        segments: The streams.
        sums: Their sums, as `Sums` has them: streams × hours × sums × signals.
    """

    def __init__(self, segments: tuple[Segment, ...], sums: NDArray[np.float64]) -> None:
        self.segments = segments
        self.sums = sums

    @cached_property
    def summed(self) -> Sums:
        """The sums added up from the first hour on, with a row for each stream and signal."""
        return add_up(get_rows(self.sums))

    def choose(self, streams: Sequence[int]) -> Hours:
        """Return some of the streams."""
        segments = tuple(self.segments[at] for at in streams)
        return Hours(segments, self.sums[streams])


def get_rows(sums: NDArray[np.float64]) -> Sums:
    """Return the sums of streams with a row for each stream and signal."""
    streams, hours, _, signals = sums.shape
    return Sums(*sums.transpose(2, 0, 3, 1).reshape(PARTS, streams * signals, hours))


class _Day(NamedTuple):
    segments: list[Segment]
    places: NDArray[np.int64]
    hours: NDArray[np.int64]
    sums: NDArray[np.float64]


class Cells:
    """Reads cells by day, each once, and adds them up.

    Args:
        read: Returns the cells from one time to before another.
        columns: The columns of the sums that count.
        spreads: The same columns among those whose clusters are known.
    """

    def __init__(
        self,
        read: Callable[[int, int], Iterable[StoredCell]],
        columns: Sequence[int],
        spreads: Sequence[int] | None = None,
    ) -> None:
        self._read = read
        self._columns = list(columns)
        self._spreads = self._columns if spreads is None else list(spreads)
        self._days: dict[int, _Day] = {}
        self._made: dict[object, tuple[tuple[int, int, int | None], Hours]] = {}

    def load(self, since: int, until: int) -> None:
        """Read the days from one midnight to before another that were not read yet."""
        lacking = [day for day in range(since, until, DAY) if day not in self._days]
        if not lacking:
            return
        cells: dict[int, list[StoredCell]] = {day: [] for day in lacking}
        for cell in self._read(lacking[0], lacking[-1] + DAY):
            day = cell.key.start - cell.key.start % DAY
            if cell.key.environment == PRODUCTION and day in cells:
                cells[day].append(cell)
        self._days |= {day: self._pack(found) for day, found in cells.items()}
        for stale in [day for day in self._days if day < since - DAY]:
            del self._days[stale]

    def _pack(self, cells: Sequence[StoredCell]) -> _Day:
        places: dict[Segment, int] = {}
        numbers, hours = [], []
        sums = np.zeros((len(cells), PARTS, len(self._columns)))
        for at, (key, cell, spread) in enumerate(cells):
            segment = Segment(key.model, key.version, key.slice)
            numbers.append(places.setdefault(segment, len(places)))
            hours.append(key.start % DAY // HOUR)
            count = np.array([cell.defined[each] for each in self._columns], dtype=np.float64)
            totals = _core.round_sums(cell.sums)
            total = np.array([totals[each] for each in self._columns])
            if spread:
                _, *moments = np.array([spread[each] for each in self._spreads]).T
            else:  # as if each ranking were of somebody else, and values were 0 or 1
                moments = [count, total, np.abs(total)]
            sums[at] = [count, total, *moments]
        return _Day(list(places), np.array(numbers, int), np.array(hours, int), sums)

    def add_up(
        self,
        since: int,
        until: int,
        choose: Callable[[Segment], Collection[Segment]],
        most: int | None = None,
    ) -> Hours:
        """Add up the cells of streams, those with the most rankings, once for a day."""
        wanted, made = (since, until, most), self._made.get(choose)
        if made is None or made[0] != wanted:
            made = self._made[choose] = wanted, self._add_up(since, until, choose, most)
        return made[1]

    def _add_up(
        self,
        since: int,
        until: int,
        choose: Callable[[Segment], Collection[Segment]],
        most: int | None,
    ) -> Hours:
        self.load(since, until)
        days = [self._days[day] for day in range(since, until, DAY)]
        counts: dict[Segment, float] = {}
        for day in days:
            sizes = np.bincount(day.places, day.sums[:, 0].max(axis=1), len(day.segments))
            for segment, size in zip(day.segments, sizes.tolist(), strict=True):
                for stream in choose(segment):
                    counts[stream] = counts.get(stream, 0.0) + size
        # Of all rankings first, so that a bounded number leaves none of them out.
        ordered = sorted(counts, key=lambda one: (bool(one.slice), -counts[one], one))
        streams = {stream: at for at, stream in enumerate(ordered[:most])}
        sums = np.zeros((len(streams), len(days) * HOURS, PARTS, len(self._columns)))
        for number, day in enumerate(days):
            chosen = [
                [streams[one] for one in choose(segment) if one in streams]
                for segment in day.segments
            ]
            for turn in range(max(map(len, chosen), default=0)):
                of = np.array([each[turn] if turn < len(each) else -1 for each in chosen], int)
                at = of[day.places]
                np.add.at(
                    sums, (at[at >= 0], number * HOURS + day.hours[at >= 0]), day.sums[at >= 0]
                )
        return Hours(tuple(streams), sums)


def choose_streams(segment: Segment) -> list[Segment]:
    """Return the streams that the rankings of a cell are in: a model, a version, or a slice."""
    model, version, place = segment
    if any(value in {MISSING, OTHER} for _, value in place):
        return []
    if place:
        return [Segment(model, "", place)]
    return [Segment(model), *([Segment(model, version)] if version not in {"", OTHER} else [])]


def choose_parts(segment: Segment) -> list[Segment]:
    """Return the streams that may explain a change: also slices of one version."""
    streams = choose_streams(segment)
    if streams and segment.slice and segment.version not in {"", OTHER}:
        return [*streams, segment]
    return streams
