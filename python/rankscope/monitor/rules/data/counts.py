"""Counts of rankings by hour, model, version and attribute value, read from the windows."""

from __future__ import annotations

import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from operator import add
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.ask.quality import find_mismatches
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import MISSING, Slice, Slicing
from rankscope.monitor.evaluate.days import sum_day
from rankscope.monitor.evaluate.stored_windows import (
    AGES,
    count_labels,
    name_place,
    unpack_ages,
)
from rankscope.monitor.evaluate.windows import COUNTS
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.mismatch import Mismatch
from rankscope.monitor.rules.data.usual import Usual
from rankscope.monitor.rules.run import Scene
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import CellRow, HourRow, Version

Hours: TypeAlias = NDArray[np.float64]


HOURS = DAY // HOUR
RANKINGS, LABELLED, EMPTY = (COUNTS.index(name) for name in ("rankings", "labelled", "empty"))
COUNTED = struct.Struct(f"<{len(COUNTS)}q")
PRODUCTION = "production"
WHOLE = name_place(())


GRADE = "grade"
"""What labels that have a value instead of a name are called."""


class Segment(NamedTuple):
    """What is counted: all rankings, those of a model or a version, or those of a slice.

    Args:
        model: The model; empty for all.
        version: Its version; empty for all.
        slice: An attribute and its value; empty for all.
    """

    model: str = ""
    version: str = ""
    slice: Slice = ()

    @property
    def attribute(self) -> str:
        """The attribute of its slice; empty for none."""
        return self.slice[0][0] if self.slice else ""

    @property
    def value(self) -> str:
        """The value of its slice; empty for none."""
        return self.slice[0][1] if self.slice else ""

    @property
    def is_missing(self) -> bool:
        """Whether it has the rankings without an attribute."""
        return bool(self.slice) and self.value == MISSING

    @property
    def is_named(self) -> bool:
        """Whether it is a value of an attribute, and neither what lacks it nor the rest."""
        return bool(self.slice) and self.value not in {MISSING, OTHER}


TOTAL = Segment()


class DayCounts(NamedTuple):
    """What is known of a day.

    Args:
        rankings: By segment, the number of rankings of each hour.
        sizes: By model, the number of rankings of the day.
        labelled: By model, how many rankings of the day have labels or grades.
        empty: By model, how many rankings of the day have no relevant document.
        ages: How many labels came by which age, as `AGES` has them.
        hours: What the store has of its hours besides.
    """

    rankings: dict[Segment, list[int]]
    sizes: dict[str, int]
    labelled: dict[str, int]
    empty: dict[str, int]
    ages: list[int]
    hours: tuple[HourRow, ...] = ()


class Counts(ABC):
    """How many rankings and labels there are, whatever they are read from.

    Args:
        configuration: The configuration of the project.
        slicing: Which values have slices of their own.
    """

    def __init__(self, configuration: Configuration, slicing: Slicing) -> None:
        self.configuration = configuration
        self.slicing = slicing
        self.window = configuration.definition.window * SECOND
        self.learned: dict[tuple[object, ...], Usual | None] = {}
        self._days: dict[int, DayCounts] = {}
        self._read: tuple[tuple[int, int], dict[Segment, Hours]] = (0, 0), {}

    @property
    @abstractmethod
    def versions(self) -> tuple[Version, ...]:
        """The versions that have rankings in production."""

    @abstractmethod
    def count_days(self, since: int, until: int) -> Mapping[int, DayCounts]:
        """Count the rankings of each day of UTC from one midnight to before another."""

    @abstractmethod
    def count_labels(self, day: int) -> dict[str, dict[str, int]]:
        """Count the labels of a day that came in time to count, by model and kind of label."""

    @abstractmethod
    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether rankings of a span have labels from before a time."""

    def find_mismatches(self, since: int, until: int) -> tuple[Mismatch, ...]:  # noqa: ARG002 - of a store
        """Find names in the rankings of a span, and in their labels, that match nothing."""
        return ()

    @cached_property
    def first(self) -> int | None:
        """The time of the first ranking in production."""
        return min((version.first for version in self.versions), default=None)

    @cached_property
    def last(self) -> int | None:
        """The time of the last ranking in production."""
        return max((version.last for version in self.versions), default=None)

    @cached_property
    def listed(self) -> frozenset[Segment]:
        """The models and versions that are not summed with others: a bounded number."""
        segments = {
            Segment(version.model, version.version)
            for version in self.versions
            if not version.folded
        }
        return frozenset(segments | {Segment(version.model) for version in self.versions})

    def read(self, since: int, until: int) -> dict[Segment, Hours]:
        """Read the rankings of each hour from one midnight to before the end of an hour."""
        size = (until - since) // HOUR
        key = since, -(-until // DAY) * DAY
        if self._read[0] != key:
            self._read = key, self._read_days(*key)
        return {segment: counts[:size] for segment, counts in self._read[1].items()}

    def _read_days(self, since: int, until: int) -> dict[Segment, Hours]:

        size = (until - since) // HOUR
        found: dict[Segment, Hours] = {TOTAL: np.zeros(size)}
        # Most days are known from the hour before; after a start, none is.
        lacking = [day for day in range(since, until, DAY) if day not in self._days]
        if lacking:
            self._days |= self.count_days(lacking[0], lacking[-1] + DAY)
        for day in range(since, until, DAY):
            at = (day - since) // HOUR
            for segment, counts in self.read_day(day).rankings.items():
                if segment not in self.listed and segment.model:
                    continue
                found.setdefault(segment, np.zeros(size))[at : at + HOURS] = counts
        for stale in [day for day in self._days if day < since - DAY]:
            del self._days[stale]
        return found

    def read_day(self, day: int) -> DayCounts:
        """Return the counts of a day of UTC, which are counted once."""
        if day not in self._days:
            self._days |= self.count_days(day, day + DAY)
        return self._days[day]


class DataReader(Counts):
    """Reads how many rankings and labels a project has, and remembers the days that it has read.

    Hours whose windows are not stored, or not up to date, are summed without storing them. So the
    counts are a function of the events alone.

    Args:
        scene: What rules are checked on; the counts do not depend on its threads.
    """

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.configuration, scene.slicing)
        self._scene = scene
        self._store = scene.store
        self._project = scene.project

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The versions that have rankings in production."""
        versions = self._store.versions(self._project)
        return tuple(version for version in versions if version.environment == PRODUCTION)

    def count_labels(self, day: int) -> dict[str, dict[str, int]]:
        """Count the labels of a day that came in time to count, by model and kind of label."""
        known = self.configuration.definition.attribution.weights
        found: dict[str, dict[str, int]] = {}
        for kind, count in count_labels(self.read_day(day).hours).items():
            named = [GRADE] if kind.is_grade else [one for one in kind.labels if one in known]
            for name in named:
                counts = found.setdefault(kind.model, {})
                counts[name] = counts.get(name, 0) + count
        return found

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether rankings of a span have labels from before a time."""
        return self._store.has_labels(self._project, since, until, before)

    def find_mismatches(self, since: int, until: int) -> tuple[Mismatch, ...]:
        """Find names in the rankings of a span, and in their labels, that match nothing."""
        days = range(since - since % DAY, until, DAY)
        hours = [
            row for day in days for row in self.read_day(day).hours if since <= row.start < until
        ]
        return find_mismatches(
            self._store, self._project, self.configuration, since, until, hours=hours
        )

    @cached_property
    def _outdated(self) -> frozenset[int]:
        """The hours whose windows are not stored, or not up to date."""
        stored = self._store.progress(self._project, self.configuration.digest)
        seq = 0 if stored is None else stored.seq
        return frozenset(self._store.touched(self._project, seq, HOUR).times.tolist())

    @cached_property
    def _slices(self) -> tuple[str, ...]:
        singles = (
            name_place(((name, value),))
            for name, values in self.slicing.values
            for value in (*values, MISSING)
        )
        return (WHOLE, *singles)

    def count_days(self, since: int, until: int) -> Mapping[int, DayCounts]:
        """Count the rankings of each day of UTC from one midnight to before another."""
        digest = self.configuration.digest
        cells = self._store.cells(self._project, digest, since, until, slices=self._slices)
        hours = self._store.hours(self._project, digest, since, until)
        outdated = sorted(at for at in self._outdated if since <= at < until)
        if outdated:
            cells = [cell for cell in cells if cell.start not in self._outdated]
            hours = [hour for hour in hours if hour.start not in self._outdated]
        for day, starts in groupby(outdated, lambda start: start - start % DAY):
            summed = sum_day(
                self._store,
                tuple(starts),
                project=self._project,
                configuration=self.configuration,
                slicing=self.slicing,
                # As of when the day is final.
                now=day + DAY + self.window + HOUR,
                threads=self._scene.threads,
            )
            cells += [cell for cell in summed.cells if cell.length == HOUR]
            hours += summed.hours
        return _add_up(since, until, cells, hours, frozenset(self._slices))


def _add_up(
    since: int,
    until: int,
    cells: Iterable[CellRow],
    hours: Sequence[HourRow],
    slices: frozenset[str],
) -> dict[int, DayCounts]:
    """Add up the cells of each day."""
    days = {
        day: DayCounts({}, {}, {}, {}, [0] * (len(AGES) + 1)) for day in range(since, until, DAY)
    }
    for cell in cells:
        if cell.environment != PRODUCTION or cell.slice not in slices:
            continue
        hour = cell.start % DAY // HOUR
        day = days[cell.start - cell.start % DAY]
        counts = COUNTED.unpack(cell.counts)
        for segment in _find_segments(cell.model, cell.version, cell.slice):
            day.rankings.setdefault(segment, [0] * HOURS)[hour] += counts[RANKINGS]
        if cell.slice == WHOLE:
            for of_models, at in (
                (day.sizes, RANKINGS),
                (day.labelled, LABELLED),
                (day.empty, EMPTY),
            ):
                of_models[cell.model] = of_models.get(cell.model, 0) + counts[at]
    for row in hours:
        ages = days[row.start - row.start % DAY].ages
        ages[:] = map(add, ages, unpack_ages(row))
    return {
        start: day._replace(hours=tuple(row for row in hours if start <= row.start < start + DAY))
        for start, day in days.items()
    }


@lru_cache(10_000)
def _find_segments(model: str, version: str, segment: str) -> tuple[Segment, ...]:
    """Return what the rankings of a cell are counted for."""
    if segment != WHOLE:
        return (Segment(slice=tuple((name, value) for name, value in json.loads(segment))),)
    if model in {"", OTHER}:
        return (TOTAL,)
    if version in {"", OTHER}:
        return TOTAL, Segment(model)
    return TOTAL, Segment(model), Segment(model, version)
