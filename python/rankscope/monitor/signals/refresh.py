"""Stores the signals of each hour once it is over, and their sums by day.

An hour is computed once, in the order of time: when it and the grace of the project are over. What
arrives later doesn't count. Its values are a function of its rankings, and of what the same model
showed on the 7 days before its day.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope._settings import count_threads
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.baseline import join_hours
from rankscope.monitor.evaluate.days import Contexts, add_hours, fold_hours
from rankscope.monitor.evaluate.refresh import has_slice
from rankscope.monitor.evaluate.stored_windows import (
    StoredCell,
    pack_cell,
    unpack_cell,
    unpack_cells,
)
from rankscope.monitor.evaluate.windows import Grouping
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import count_micros
from rankscope.monitor.signals.cells import CellSums
from rankscope.monitor.signals.kinds import digest
from rankscope.monitor.signals.lists import ContextCodes, read_lists
from rankscope.monitor.signals.reference import Reference, find_references, list_hours
from rankscope.monitor.signals.values import ListValues, measure_lists
from rankscope.monitor.store.ahead import map_ahead
from rankscope.monitor.store.records import CellRow, Chunk, Progress
from rankscope.monitor.store.store import Store, StoreReader

FIRST_DAYS = 42
"""How far back signals are computed when they are computed for the first time."""
FIRST_RANKINGS = 2_000_000
"""How many rankings are read then, at most, unless the last hour alone has more."""


@dataclass(frozen=True, slots=True)
class RefreshedSignals:
    """What a refresh of signals has computed.

    Args:
        hours: How many hours with rankings were computed.
        is_new: Whether the project had no signals of these slices before.
    """

    hours: int
    is_new: bool


def refresh_signals(
    store: Store,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    *,
    now: int,
    threads: int | None = None,
) -> RefreshedSignals:
    """Compute and store the signals of the hours that are over."""
    before = store.progress(project, digest(configuration))
    is_new = before is None
    over = now - count_micros(configuration.grace)
    over -= over % HOUR
    if before is not None and before.as_of >= over:
        return RefreshedSignals(0, is_new)
    newest = store.find_newest_time(project)
    # What comes in one piece once a day is computed when it is there.
    until = over if newest is None else min(over, newest - newest % HOUR + HOUR)
    if newest is None or (before is not None and before.as_of >= until):
        return RefreshedSignals(0, is_new)
    work = _Work(store, project, configuration, slicing, threads=threads)
    begin = work.begin(until) if before is None else work.resume(before)
    hours = 0
    while begin < until:
        end = min(until, begin - begin % DAY + DAY)
        hours += work.store_hours(begin, end)
        begin = end
    return RefreshedSignals(hours, is_new)


def _find_first(store: StoreReader, project: str, codes: ContextCodes, until: int) -> int:
    """Return the start of the first hour that is computed when there are no signals yet."""
    since = until - until % DAY - FIRST_DAYS * DAY
    hours = Counter[int]()
    for counts in list_hours(store, project, codes, since, until).values():
        hours.update(counts)
    first, total = until - HOUR, 0
    for start in sorted(hours, reverse=True):
        total += hours[start]
        if total > FIRST_RANKINGS and start < first:
            break
        first = start
    return first


def _take_over(
    store: StoreReader, project: str, configuration: Configuration, before: int
) -> tuple[int, list[CellRow]] | None:
    """Return the signals that other slices had before an hour, and since when; `None` for none."""
    for text in store.configurations(project):
        try:
            known = Configuration.from_json(text)
        except UsageError:  # of an earlier version of the rules
            continue
        theirs = digest(known)
        progress = store.progress(project, theirs)
        if progress is not None and theirs != digest(configuration):
            rows = [
                row
                for length in (HOUR, DAY)
                for row in store.cells(project, theirs, None, before, length=length)
                if has_slice(configuration, unpack_cell(row).key.slice)
            ]
            since: int = json.loads(progress.baseline)["since"]
            return since, rows
    return None


class _Work:
    """The computation of signals of a project, with what all of its hours have in common.

    Args:
        store: The store.
        project: The name of the project.
        configuration: Its configuration.
        slicing: Its slices.
        threads: How many threads compute.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        configuration: Configuration,
        slicing: Slicing,
        *,
        threads: int | None,
    ) -> None:
        self.store, self.project, self.slicing = store, project, slicing
        self.configuration, self.digest = configuration, digest(configuration)
        self.since = 0
        self.threads = count_threads(threads)
        self.contexts = Contexts(store, project)
        left_out = configuration.definition.left_out
        self.codes = ContextCodes(self.contexts, slicing, left_out)

    def resume(self, before: Progress) -> int:
        """Return the first hour that isn't computed yet."""
        self.since = json.loads(before.baseline)["since"]
        return before.as_of

    def begin(self, until: int) -> int:
        """Return the first hour to compute where there are no signals of these slices yet."""
        first = self.since = _find_first(self.store, self.project, self.codes, until)
        taken = _take_over(self.store, self.project, self.configuration, first)
        if taken is not None and taken[0] < first:
            self.since, rows = taken
            self._put(first, rows, {})
        return first

    def store_hours(self, begin: int, end: int) -> int:
        """Compute and store the hours of a span within a day, and the day as far as it is known."""
        store, project, codes = self.store, self.project, self.codes
        day = begin - begin % DAY
        # What is left of an hour whose events were deleted has no signals.
        whole_since = max(begin, store.deleted_before(project) or begin)
        counts = list_hours(store, project, codes, whole_since, end)
        starts = sorted(
            {start for hours in counts.values() for start in hours if start >= whole_since}
        )
        stored = [unpack_cell(row) for row in store.cells(project, self.digest, day, begin)]
        cells: list[StoredCell] = []
        days: list[StoredCell] = []
        if starts:
            cells += self._sum_hours(starts, find_references(store, project, codes, day))
            days += add_hours(day, sorted([*stored, *cells], key=lambda one: one.key))
        rows = [pack_cell(HOUR, cell) for cell in cells] + [pack_cell(DAY, cell) for cell in days]
        self._put(end, rows, {HOUR: starts, DAY: [day] if days else []})
        return len(starts)

    def _put(
        self, as_of: int, rows: Sequence[CellRow], replaced: Mapping[int, Sequence[int]]
    ) -> None:
        said = json.dumps({"since": self.since})
        self.store.put_windows(
            self.project,
            self.digest,
            replaced=replaced,
            cells=rows,
            hours=[],
            open_hours=[],
            progress=Progress(0, as_of, self.slicing.to_json(), said),
        )

    def _sum_hours(
        self,
        starts: Sequence[int],
        references: Mapping[str, Reference],
    ) -> Iterator[StoredCell]:
        """Sum the signals of hours."""
        foldings = fold_hours(self.store, self.project, starts, self.contexts)
        grouping = Grouping(self.contexts, self.slicing, foldings)

        def measure(chunk: Chunk) -> tuple[Chunk, NDArray[np.int64], ListValues]:
            rows = self.codes.choose(chunk)
            lists, dimensions = read_lists(chunk, rows), self.slicing.dimensions()
            return chunk, rows, measure_lists(lists, self.codes, references, dimensions)

        for begin, end in join_hours(starts):
            sums = CellSums(grouping, self.slicing)
            for measured in map_ahead(
                measure, self.store.read(self.project, begin, end), self.threads
            ):
                sums.add(*measured)
            yield from sums.finish()


def read_signals(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    since: int | None = None,
    until: int | None = None,
    *,
    length: int = HOUR,
    slice: str | None = None,  # noqa: A002 - the field's word
) -> Iterator[StoredCell]:
    """Read the stored signals of a span, by hour or day; columns are in the order of `NAMES`.

    Args:
        store: The store.
        project: The name of the project.
        configuration: Its configuration.
        since: The earliest start of a window, in microseconds since 1970.
        until: The first start that is not read.
        length: `HOUR` or `DAY`.
        slice: Only this slice, as `name_place` writes it (default: all).
    """
    rows = store.cells(project, digest(configuration), since, until, length=length, slice=slice)
    return unpack_cells(rows)


def find_known(
    store: StoreReader, project: str, configuration: Configuration
) -> tuple[int, int] | None:
    """Return from when and up to when signals are known, `None` if there are none yet."""
    progress = store.progress(project, digest(configuration))
    return None if progress is None else (json.loads(progress.baseline)["since"], progress.as_of)
