"""Sums the hours of a day, and the day: what a store keeps of them.

Days have nothing to do with each other, so that more than one can be summed at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.clusters import SpreadSums
from rankscope.monitor.evaluate.stored_windows import (
    AGES,
    Folded,
    LabelKind,
    StoredCell,
    add_cells,
    pack_cell,
    pack_hour,
    unpack_cell,
)
from rankscope.monitor.evaluate.values import Evaluated, evaluate_chunks
from rankscope.monitor.evaluate.windows import Foldings, Grouping, Key, sum_cells
from rankscope.monitor.events.event import RETRACTION, Environment
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.store.folding import Pair, choose_versions
from rankscope.monitor.store.records import CellRow, Chunk, Context, HourRow
from rankscope.monitor.store.store import StoreReader


class Contexts(dict[int, "Context"]):
    """The contexts of a project by number.

    Rankings are read in other moments than this: what is new by then is looked up when it is met.

    Args:
        store: Where they are.
        project: The name of the project.
    """

    def __init__(self, store: StoreReader, project: str) -> None:
        super().__init__(store.contexts(project))
        self._store = store
        self._project = project

    def __missing__(self, number: int) -> Context:
        self.update(self._store.contexts(self._project))
        if number not in self:
            raise KeyError(number)
        return self[number]


@dataclass(frozen=True, slots=True)
class SummedDay:
    """A day of which some hours were summed again.

    Args:
        start: When it begins.
        starts: When those hours do.
        rankings: How many rankings each of them has.
        cells: The cells of those hours, and of the day.
        hours: What is known of those hours besides.
    """

    start: int
    starts: tuple[int, ...]
    rankings: tuple[int, ...]
    cells: tuple[CellRow, ...]
    hours: tuple[HourRow, ...]


def find_closed(configuration: Configuration, now: int) -> int:
    """Return the latest start of an hour whose attribution windows are closed as of a moment."""
    return now - configuration.definition.window * SECOND - HOUR


def sum_day(
    store: StoreReader,
    starts: Sequence[int],
    *,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    now: int,
    threads: int | None,
) -> SummedDay:
    """Sum hours of one day, and the day, whose other hours are as they were stored."""
    day = starts[0] - starts[0] % DAY
    closed = find_closed(configuration, now)
    contexts = Contexts(store, project)
    foldings = fold_hours(store, project, starts, contexts)
    summed = _Hours(list(starts))
    # Of hours that are open, no ranking is mature yet.
    last = configuration.definition.window * SECOND - 1
    moments = [now if start <= closed else min(now, start + last) for start in starts]
    for some, moment in _batch(starts, moments):
        evaluated = evaluate_chunks(
            store.read(project, some[0], some[-1] + HOUR),
            configuration.definition,
            now=moment,
            threads=threads,
        )
        summed.take(evaluated, contexts, configuration, slicing, foldings)
    stored = store.cells(project, configuration.digest, day, day + DAY)
    others = [unpack_cell(row) for row in stored if row.start not in starts]
    cells = sorted([*summed.cells, *others], key=lambda one: one.key)
    return SummedDay(
        day,
        tuple(starts),
        tuple(summed.rankings.tolist()),
        (
            *(pack_cell(HOUR, cell) for cell in summed.cells),
            *(pack_cell(DAY, hour) for hour in add_hours(day, cells)),
        ),
        tuple(summed.pack(foldings)),
    )


def fold_hours(
    store: StoreReader, project: str, starts: Sequence[int], contexts: Contexts
) -> Foldings:
    """Choose the versions of each hour that have cells of their own, where there are too many.

    All rankings of the hours are counted, so that the choice does not depend on how they are read.
    """
    makers = {(one.environment, one.model, one.version) for one in contexts.values()}
    if not _choose({(0, *maker): 1 for maker in makers}):
        # There are not too many in all hours together.
        return {}
    counted = store.count_by_hour(project, starts[0], starts[-1] + HOUR)
    rankings: Counter[tuple[int, Environment, str, str]] = Counter()
    for start, number, count in counted:
        context = contexts[number]
        rankings[start, context.environment, context.model, context.version] += count
    return _choose(rankings)


def _choose(rankings: Mapping[tuple[int, Environment, str, str], int]) -> Foldings:
    """Choose the versions of each window and environment, where there are too many."""
    found: dict[tuple[int, Environment], dict[Pair, int]] = {}
    for (start, environment, *pair), count in rankings.items():
        model, version = pair
        found.setdefault((start, environment), {})[model, version] = count
    chosen = {place: choose_versions(counts) for place, counts in found.items()}
    return {place: folding for place, folding in chosen.items() if folding.folded}


def _batch(starts: Sequence[int], moments: Sequence[int]) -> list[tuple[list[int], int]]:
    """Group consecutive hours that are evaluated as of one moment, to read them as one span."""
    batches: list[tuple[list[int], int]] = []
    for start, moment in zip(starts, moments, strict=True):
        if not batches or batches[-1][1] != moment or start - batches[-1][0][-1] > HOUR:
            batches.append(([], moment))
        batches[-1][0].append(start)
    return batches


def add_hours(day: int, cells: Iterable[StoredCell]) -> Iterator[StoredCell]:
    """Add up the hours of a day, cell by cell; a day has no more versions than an hour."""
    hours = list(cells)
    rankings: Counter[tuple[int, Environment, str, str]] = Counter()
    for key, cell, _ in hours:
        if not key.slice:
            rankings[day, key.environment, key.model, key.version] += cell.tally("rankings")
    foldings = _choose(rankings)
    found: dict[Key, list[StoredCell]] = {}
    for hour in hours:
        key = hour.key._replace(start=day)
        folding = foldings.get((day, key.environment))
        if folding is not None:
            model, version = folding.place(key.model, key.version)
            key = key._replace(model=model, version=version)
        found.setdefault(key, []).append(hour)
    for key, members in found.items():
        yield StoredCell(key, *add_cells(members))


class _Hours:
    """Hours of a day that are summed.

    Args:
        starts: When they begin, ascending.
    """

    def __init__(self, starts: list[int]) -> None:

        self._starts = starts
        self._ages = np.zeros((len(starts), len(AGES) + 1), dtype=np.int64)
        self._late = np.zeros(len(starts), dtype=np.int64)
        self._unshown = np.zeros(len(starts), dtype=np.int64)
        self._labels: list[Counter[LabelKind]] = [Counter() for _ in starts]
        self.rankings = np.zeros(len(starts), dtype=np.int64)
        self.cells: list[StoredCell] = []

    def take(
        self,
        evaluated: Iterable[Evaluated],
        contexts: Mapping[int, Context],
        configuration: Configuration,
        slicing: Slicing,
        foldings: Foldings,
    ) -> None:
        """Sum the rankings of some of the hours."""
        spreads = SpreadSums(len(configuration.definition.measures))
        grouping = Grouping(contexts, foldings=foldings)

        def watch() -> Iterator[Evaluated]:
            for each in evaluated:
                codes = grouping.divide(each.chunk, each.graded.is_mature)
                spreads.take(each, *codes.group())
                self._count(each)
                self._count_labels(each.chunk, contexts, configuration.definition.window * SECOND)
                yield each

        cells = sum_cells(watch(), contexts, slicing, foldings=foldings)
        found = spreads.finish()
        self.cells += [StoredCell(key, cell, found.get(key, ())) for key, cell in cells.items()]

    def _count(self, each: Evaluated) -> None:
        """Count the labels of the hours by age, and those that count for nothing."""
        graded = each.graded
        hour = np.searchsorted(np.array(self._starts), each.chunk.times, side="right") - 1
        size = len(self._starts)
        self.rankings += np.bincount(hour, minlength=size)
        self._late += _sum_by(hour, graded.late, size)
        self._unshown += _sum_by(hour, graded.unshown, size)
        is_final = graded.is_mature[graded.aged]
        places = np.searchsorted(np.array(AGES), graded.ages[is_final], side="left")
        at = hour[graded.aged[is_final]] * (len(AGES) + 1) + places
        self._ages += np.bincount(at, minlength=self._ages.size).reshape(self._ages.shape)

    def _count_labels(self, chunk: Chunk, contexts: Mapping[int, Context], window: int) -> None:
        """Count the labels of the rankings of production that came in time to count, by kind."""
        labels = chunk.labels
        ages = labels.times - chunk.times[labels.rankings]
        kept = np.flatnonzero((labels.kinds != RETRACTION) & (ages < window))
        theirs = labels.rankings[kept]
        hours = np.searchsorted(np.array(self._starts), chunk.times[theirs], side="right") - 1
        is_grade = ~np.isnan(labels.values[kept])
        columns = (hours, chunk.contexts[theirs], labels.codes[kept], is_grade)
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
        keys, counts = np.unique(np.ravel_multi_index(columns, sizes), return_counts=True)
        places = (column.tolist() for column in np.unravel_index(keys, sizes))
        for hour, number, code, graded, count in zip(*places, counts.tolist(), strict=True):
            context = contexts[number]
            if context.environment == "production":
                kind = LabelKind(context.model, labels.names[code], bool(graded))
                self._labels[hour][kind] += count

    def pack(self, foldings: Foldings) -> list[HourRow]:
        """Return the rows of the hours: ages of labels, late labels and folded versions."""
        columns = zip(
            self._starts,
            self._ages.tolist(),
            self._late.tolist(),
            self._unshown.tolist(),
            self._labels,
            strict=True,
        )
        packed = []
        for start, ages, late, unshown, labels in columns:
            folding = foldings.get((start, "production"))
            folded = None if folding is None else Folded(folding.folded, folding.rest)
            packed.append(pack_hour(start, ages, late, unshown, labels=labels, folded=folded))
        return packed


def _sum_by(groups: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:

    # Sums of fewer than 2^53 are whole numbers, exactly.
    return np.bincount(groups, counts, size).astype(np.int64)
