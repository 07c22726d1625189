"""Stores the signals of each hour once it is over, and those of each day.

An hour is computed once, in the order of time: when it and the grace of the project are over. What
arrives later doesn't count. Its values are a function of its rankings, and of what the same model
showed on the 7 days before its day.
"""

from __future__ import annotations

import json

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.evaluate.days import Contexts, add_hours, fold_hours
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.stored_windows import (
    StoredCell,
    pack_cell,
    unpack_cell,
    unpack_cells,
)
from rankscope.monitor.evaluate.windows import COUNTS, Cell, Grouping
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import count_micros
from rankscope.monitor.signals.daily import add_days
from rankscope.monitor.signals.kinds import HOURLY, NAMES, digest
from rankscope.monitor.signals.lists import ContextCodes, read_lists
from rankscope.monitor.signals.reference import build_references
from rankscope.monitor.signals.values import measure_lists
from rankscope.monitor.store.ahead import map_ahead
from rankscope.monitor.store.merging import choose
from rankscope.monitor.store.records import Progress
from rankscope.records import record
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slicing
    from rankscope.monitor.evaluate.clusters import Spread
    from rankscope.monitor.evaluate.windows import Foldings, Key
    from rankscope.monitor.signals.reference import Reference
    from rankscope.monitor.signals.values import ListValues
    from rankscope.monitor.store.records import Chunk
    from rankscope.monitor.store.store import Store, StoreReader

FIRST_DAYS = 42
"""How far back signals are computed when they are computed for the first time."""
FIRST_RANKINGS = 2_000_000
"""How many rankings are read then, at most, unless the last hour alone has more."""


@record(frozen=True, slots=True)
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
    if before is None:
        begin = since = _find_first(store, project, until)
    else:
        begin, since = before.as_of, json.loads(before.baseline)["since"]
    work = _Work(store, project, configuration, slicing, since=since, threads=threads)
    hours = 0
    while begin < until:
        end = min(until, begin - begin % DAY + DAY)
        hours += work.store_hours(begin, end)
        begin = end
    return RefreshedSignals(hours, is_new)


def _find_first(store: StoreReader, project: str, until: int) -> int:
    """Return the start of the first hour that is computed when there are no signals yet."""
    contexts = Contexts(store, project)
    since = until - until % DAY - FIRST_DAYS * DAY
    hours: dict[int, int] = {}
    for start, number, count in store.count_by_hour(project, since, until):
        if contexts[number].environment == "production":
            hours[start] = hours.get(start, 0) + count
    first, total = until - HOUR, 0
    for start in sorted(hours, reverse=True):
        total += hours[start]
        if total > FIRST_RANKINGS and start < until - HOUR:
            break
        first = start
    return first


class _Work:
    """The computation of signals of a project, with what all of its hours have in common.

    Args:
        store: The store.
        project: The name of the project.
        configuration: Its configuration.
        slicing: Its slices.
        since: The start of the first hour with signals.
        threads: How many threads compute.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        configuration: Configuration,
        slicing: Slicing,
        *,
        since: int,
        threads: int | None,
    ) -> None:
        self.store, self.project, self.slicing = store, project, slicing
        self.digest, self.since = digest(configuration), since
        self.threads = count_threads(threads)
        self.contexts = Contexts(store, project)
        self.codes = ContextCodes(self.contexts, slicing)

    def store_hours(self, begin: int, end: int) -> int:
        """Compute and store the hours of a span within a day, and the day as far as it is known."""
        store, project = self.store, self.project
        day = begin - begin % DAY
        counts = store.count_by_hour(project, begin, end)
        starts = sorted(
            {
                start
                for start, number, _ in counts
                if self.contexts[number].environment == "production"
            }
        )
        is_over = end == day + DAY
        cells: list[StoredCell] = []
        stored = [unpack_cell(row) for row in store.cells(project, self.digest, day, begin)]
        if starts or (is_over and stored):
            references = build_references(store, project, self.codes, day)
            foldings = fold_hours(store, project, starts, self.contexts) if starts else {}
            for start in starts:
                cells += self._sum_hour(start, references, foldings)
            days = [*add_hours(day, sorted([*stored, *cells], key=lambda one: one.key))]
            if is_over and days:
                days = add_days(store, project, self.codes, references, days)
        else:
            days = []
        rows = [pack_cell(HOUR, cell) for cell in cells] + [pack_cell(DAY, cell) for cell in days]
        store.put_windows(
            project,
            self.digest,
            replaced={HOUR: range(begin, end, HOUR), DAY: [day] if days else []},
            cells=rows,
            hours=[],
            open_hours=[],
            progress=Progress(0, end, self.slicing.to_json(), json.dumps({"since": self.since})),
        )
        return len(starts)

    def _sum_hour(
        self, start: int, references: Mapping[str, Reference], foldings: Foldings
    ) -> Iterator[StoredCell]:
        """Sum the signals of an hour."""

        def measure(chunk: Chunk) -> tuple[Chunk, ListValues]:
            rows = self.codes.choose(chunk.contexts, "production")
            if len(rows) < len(chunk.seqs):
                chunk = choose(chunk, rows)
            lists = read_lists(chunk)
            dimensions = self.slicing.dimensions()
            return chunk, measure_lists(lists, self.codes, references, dimensions)

        chunks = self.store.read(self.project, start, start + HOUR)
        sums = CellSums(Grouping(self.contexts, self.slicing, foldings), self.slicing)
        for chunk, values in map_ahead(measure, chunks, self.threads):
            sums.add(chunk, values)
        yield from sums.finish()


class CellSums:
    """Sums the signals of rankings by version and slice.

    Args:
        grouping: Tells the cells of rankings.
        slicing: The slices.
    """

    def __init__(self, grouping: Grouping, slicing: Slicing) -> None:
        self._grouping = grouping
        self._dimensions = slicing.dimensions()
        self._cells: dict[Key, Cell] = {}
        self._numbers: dict[Key, int] = {}
        self._clusters = _core.ClusterSums(len(HOURLY))

    def add(self, chunk: Chunk, values: ListValues) -> None:
        """Add the rankings of a chunk, in the order of time."""
        count = len(chunk.seqs)
        if not count:
            return
        parts = self._grouping.divide(chunk, np.ones(count, dtype=np.bool_))
        nothing, none = np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.int64)
        marks = {
            "missing": values.columns["no_results"],
            "tied": np.nan_to_num(values.columns["tied"]),
        }
        amounts = {"documents": np.diff(chunk.items.offsets)}
        names = [chunk.user_ids, chunk.query_keys, chunk.ranking_ids]
        undefined = [np.full(count, np.nan)] * (len(NAMES) - len(HOURLY))
        for attributes in self._dimensions:
            keys, groups = parts.group(attributes)
            columns = values.list_columns(attributes)
            [(counts, defined, sums)] = _core.sum_cells(
                groups,
                len(keys),
                [
                    (marks[name] > 0).view(np.uint8) if name in marks else nothing
                    for name in COUNTS[1:7]
                ],
                [amounts.get(name, none) for name in COUNTS[7:]],
                [*columns, *undefined],
                [(np.arange(len(keys)), len(keys))],
            )
            table = zip(
                keys,
                read_integers(counts).reshape(len(keys), -1).tolist(),
                read_integers(defined).reshape(len(keys), -1).tolist(),
                sums,
                strict=True,
            )
            for key, counted, known, packed in table:
                cell = Cell(tuple(counted), tuple(known), packed)
                here = self._cells.get(key)
                self._cells[key] = cell if here is None else here.merge(cell)
            if len(attributes) < 2:
                numbers = [self._numbers.setdefault(key, len(self._numbers)) for key in keys]
                self._clusters.take(np.array(numbers, dtype=np.int64)[groups], names, columns)

    def finish(self) -> Iterator[StoredCell]:
        """Return the cells."""
        nothing = ((0.0, 0.0, 0.0, 0.0),) * (len(NAMES) - len(HOURLY))
        for key, cell in self._cells.items():
            number = self._numbers.get(key)
            spread: Spread = ()
            if number is not None:
                spread = (*self._clusters.close(number), *nothing)
            yield StoredCell(key, cell, spread)


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
