"""Brings stored windows up to date: the hours that events or time have changed, and no others.

The windows of an hour are a function of its events and of whether the hour is closed. It is closed
once the attribution window of the last ranking it may have is; until then all of its rankings are
provisional.
"""

from __future__ import annotations

import json
from itertools import groupby

from rankscope.monitor.contexts import Contexts
from rankscope.monitor.evaluating import evaluate_chunks
from rankscope.monitor.find_baseline import find_baseline
from rankscope.monitor.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.maturity import MaturityCurve
from rankscope.monitor.slicing import Slicing, extend_slicing
from rankscope.monitor.spread import SpreadSums
from rankscope.monitor.store.window_table import Progress
from rankscope.monitor.stored_windows import (
    StoredCell,
    add_cells,
    name_place,
    pack_cell,
    pack_hour,
    unpack_cell,
)
from rankscope.monitor.windows import group_rankings, sum_evaluated
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.evaluating import Evaluated
    from rankscope.monitor.store.chunks import Context
    from rankscope.monitor.store.protocol import Store
    from rankscope.monitor.store.window_table import HourRow
    from rankscope.monitor.windows import Key

AGES = tuple(
    minutes * MINUTE
    for minutes in (
        1,
        5,
        15,
        30,
        60,
        120,
        240,
        480,
        720,
        1440,
        2880,
        4320,
        7200,
        10080,
        20160,
        43200,
    )
)
"""The ages by which labels are counted."""

ALL = name_place(())


@record(frozen=True, slots=True)
class Refreshed:
    """What was brought up to date.

    Args:
        hours: How many hours were summed again.
        rankings: How many rankings they have.
        seq: The number of the last event that is in the windows.
        as_of: The moment as of which they are, in microseconds since 1970 in UTC.
        slicing: The slices that they have.
    """

    hours: int
    rankings: int
    seq: int
    as_of: int
    slicing: Slicing


def refresh(
    store: Store,
    project: str,
    configuration: Configuration,
    *,
    now: int,
    threads: int | None = None,
) -> Refreshed:
    """Bring the windows of a project up to date.

    Args:
        store: Where events and windows are.
        project: The name of the project.
        configuration: How it is measured.
        now: The moment, in microseconds since 1970 in UTC.
        threads: How many threads may work; the windows do not depend on it.

    Raises:
        FileError: The store cannot be written.
    """
    digest = configuration.digest
    before = store.progress(project, digest)
    touched = store.touched(project, 0 if before is None else before.seq, HOUR)
    contexts = Contexts(store, project)
    slicing = extend_slicing(_start_slicing(before, configuration), contexts, configuration.most)
    closed = now - configuration.definition.window * SECOND - HOUR
    starts = set(touched.times.tolist())
    starts.update(store.find_open(project, digest, length=HOUR, until=closed + 1, slice=ALL))
    # What is left of an hour whose events were deleted makes no window of it.
    whole_since = store.deleted_before(project)
    if whole_since is not None:
        starts = {start for start in starts if start >= whole_since}
    so_far = Progress(
        0 if before is None else before.seq,
        now,
        write_slicing(slicing),
        "" if before is None else before.baseline,
    )
    rankings = 0
    for day, of_day in groupby(sorted(starts), lambda start: start - start % DAY):
        hours = list(of_day)
        summed = _Hours(hours)
        for some in _batch(hours, closed):
            moment = now if some[0] <= closed else min(now, _open_until(some[0], configuration))
            evaluated = evaluate_chunks(
                store.read(project, some[0], some[-1] + HOUR),
                configuration.definition,
                now=moment,
                threads=threads,
            )
            summed.take(evaluated, contexts, configuration, slicing)
        others = [
            row for row in store.cells(project, digest, day, day + DAY) if row.start not in hours
        ]
        cells = sorted([*summed.cells, *map(unpack_cell, others)], key=lambda one: one.key)
        store.put_windows(
            project,
            digest,
            replaced={HOUR: hours, DAY: [day]},
            cells=[
                *(pack_cell(HOUR, one) for one in summed.cells),
                *(pack_cell(DAY, one) for one in _add_hours(day, cells)),
            ],
            hours=summed.pack(),
            progress=so_far,
        )
        rankings += summed.rankings
    baseline = find_baseline(
        store,
        project,
        configuration,
        slicing,
        known=so_far.baseline,
        changed=starts,
        now=now,
        threads=threads,
    )
    done = Progress(touched.seq, now, so_far.slicing, baseline)
    store.put_windows(project, digest, replaced={}, cells=[], hours=[], progress=done)
    if before is None:
        store.drop_windows(project, digest)
    return Refreshed(len(starts), rankings, touched.seq, now, slicing)


def read_slicing(text: str) -> Slicing:
    """Read what `write_slicing` gave."""
    given = json.loads(text)
    return Slicing(
        tuple((name, tuple(values)) for name, values in given["values"]),
        tuple((one, other) for one, other in given["pairs"]),
        tuple((name, count) for name, count in given["folded"]),
    )


def write_slicing(slicing: Slicing) -> str:
    """Write slices as JSON."""
    return json.dumps({"values": slicing.values, "pairs": slicing.pairs, "folded": slicing.folded})


def _start_slicing(before: Progress | None, configuration: Configuration) -> Slicing:
    if before is not None:
        return read_slicing(before.slicing)
    names = configuration.attributes
    return Slicing(
        tuple((name, ()) for name in names),
        configuration.all_pairs,
        tuple((name, 0) for name in names),
    )


def _open_until(start: int, configuration: Configuration) -> int:
    """Give the last moment at which no ranking of an hour is mature."""
    return start + configuration.definition.window * SECOND - 1


def _batch(starts: Sequence[int], closed: int) -> Iterator[list[int]]:
    """Put hours together that are closed and follow each other; each that is open stays alone."""
    batch: list[int] = []
    for start in starts:
        if batch and (start > closed or start - batch[-1] > HOUR):
            yield batch
            batch = []
        batch.append(start)
    if batch:
        yield batch


def _add_hours(day: int, cells: Iterable[StoredCell]) -> Iterator[StoredCell]:
    """Add up the hours of a day, cell by cell."""
    found: dict[Key, list[StoredCell]] = {}
    for one in cells:
        found.setdefault(one.key._replace(start=day), []).append(one)
    for key, members in found.items():
        yield StoredCell(key, *add_cells(members))


class _Hours:
    """Hours of a day that are summed.

    Args:
        starts: When they begin, ascending.
    """

    def __init__(self, starts: list[int]) -> None:
        import numpy as np  # noqa: PLC0415 - loads with the first array

        self._starts = starts
        self._ages = np.zeros((len(starts), len(AGES) + 1), dtype=np.int64)
        self._late = np.zeros(len(starts), dtype=np.int64)
        self._unshown = np.zeros(len(starts), dtype=np.int64)
        self.rankings = 0
        self.cells: list[StoredCell] = []

    def take(
        self,
        evaluated: Iterable[Evaluated],
        contexts: Mapping[int, Context],
        configuration: Configuration,
        slicing: Slicing,
    ) -> None:
        """Sum the rankings of some of the hours."""
        spreads = SpreadSums(len(configuration.definition.measures))

        def watch() -> Iterator[Evaluated]:
            for each in evaluated:
                spreads.take(each, *group_rankings(each, contexts))
                self._count(each)
                yield each

        windows = sum_evaluated(watch(), contexts, configuration.definition, slicing)
        found = spreads.finish()
        self.cells += [StoredCell(key, cell, found.get(key)) for key, cell in windows.cells.items()]

    def _count(self, each: Evaluated) -> None:
        """Count the labels of the hours by age, and those that count for nothing."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        graded = each.graded
        hour = np.searchsorted(np.array(self._starts), each.chunk.times, side="right") - 1
        size = len(self._starts)
        self.rankings += len(hour)
        self._late += _sum_by(hour, graded.late, size)
        self._unshown += _sum_by(hour, graded.unshown, size)
        is_final = graded.is_mature[graded.aged]
        places = np.searchsorted(np.array(AGES), graded.ages[is_final], side="left")
        at = hour[graded.aged[is_final]] * (len(AGES) + 1) + places
        self._ages += np.bincount(at, minlength=self._ages.size).reshape(self._ages.shape)

    def pack(self) -> list[HourRow]:
        """Give what is known of the hours besides their cells."""
        columns = zip(
            self._starts,
            self._ages.tolist(),
            self._late.tolist(),
            self._unshown.tolist(),
            strict=True,
        )
        return [
            pack_hour(start, MaturityCurve(AGES, tuple(ages)), late, unshown)
            for start, ages, late, unshown in columns
        ]


def _sum_by(groups: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    # Sums of fewer than 2^53 are whole numbers, exactly.
    return np.bincount(groups, counts, size).astype(np.int64)
