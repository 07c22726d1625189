"""Recomputes stored windows from the events and compares every bit, for `rankscope monitor doctor`.

A checksum shows that a window is what was stored. This shows that what was stored is right.
"""

from __future__ import annotations

import random
from functools import partial
from itertools import groupby

from rankscope.monitor.limits import DAY, HOUR
from rankscope.monitor.refreshing import read_slicing
from rankscope.monitor.summing import find_closed, sum_day
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.store.protocol import Store
    from rankscope.monitor.store.window_table import CellRow, HourRow, Progress
    from rankscope.monitor.summing import SummedDay

    Window: TypeAlias = tuple[int, int]

SAMPLE_HOURS = 24
SAMPLE_RANKINGS = 100_000


@record(frozen=True, slots=True)
class Recomputed:
    """Windows that were recomputed.

    Args:
        hours: How many hours.
        total: How many hours can be recomputed: their events are there, and they are final.
        wrong: The windows whose stored values are not those of their events, such as
            `the hour of 2026-11-21T18:00:00.000000Z`.
    """

    hours: int
    total: int
    wrong: tuple[str, ...]


def recompute_windows(
    store: Store,
    project: str,
    configuration: Configuration,
    *,
    is_complete: bool = False,
    threads: int | None = None,
) -> Recomputed:
    """Recompute windows from their events and compare them with what is stored.

    Hours that are not final are left out, and so are those to which events came since the last
    evaluation, and those whose events were deleted. With an hour, its day is checked: it has to be
    the sum of its hours.

    Args:
        store: Where the events and windows are; another process may write to it.
        project: The name of the project.
        configuration: How it is measured.
        is_complete: Whether to recompute all hours, and not a random sample of 24 with about
            100,000 rankings.
        threads: How many threads may work.

    Raises:
        FileError: The store cannot be read, or a window does not have its checksum.
    """
    digest = configuration.digest
    progress = store.progress(project, digest)
    if progress is None:
        return Recomputed(0, 0, ())
    final = _find_final(store, project, configuration, progress)
    chosen = final
    if not is_complete and len(final) > SAMPLE_HOURS:
        # Another sample each time, so that a check every night covers most hours after a while.
        chosen = sorted(random.SystemRandom().sample(final, SAMPLE_HOURS))
    compute = partial(
        sum_day,
        store,
        project=project,
        configuration=configuration,
        slicing=read_slicing(progress.slicing),
        now=progress.as_of,
        threads=threads,
    )
    hours = rankings = 0
    wrong = set(_find_strays(store, project, digest))
    for _, same_day in groupby(chosen, lambda start: start - start % DAY):
        starts = list(same_day)
        summed = compute(starts)
        wrong.update(_compare(store, project, digest, summed))
        hours += len(starts)
        rankings += sum(summed.rankings)
        if not is_complete and rankings > SAMPLE_RANKINGS:
            break
    if wrong:
        # What another process has changed meanwhile was compared with something else.
        still = set(_find_final(store, project, configuration, progress))
        days = {start - start % DAY for start in still.symmetric_difference(final)}
        wrong = {(length, at) for length, at in wrong if at - at % DAY not in days}
    return Recomputed(hours, len(final), tuple(_name(*window) for window in sorted(wrong)))


def _find_final(
    store: Store, project: str, configuration: Configuration, progress: Progress
) -> list[int]:
    """Find the hours whose windows follow from the events that are stored."""
    if not progress.seq:
        return []
    starts = set(store.touched(project, 0, HOUR).times.tolist())
    starts.difference_update(store.touched(project, progress.seq, HOUR).times.tolist())
    starts.difference_update(hour.start for hour in store.open_hours(project, configuration.digest))
    # The clock may have been set back since they were summed.
    closed = find_closed(configuration, progress.as_of)
    whole_since = store.deleted_before(project)
    return sorted(
        start
        for start in starts
        if start <= closed and (whole_since is None or start >= whole_since)
    )


def _find_strays(store: Store, project: str, digest: bytes) -> Iterator[Window]:
    """Find the windows of hours that have no rankings, though no rankings were deleted."""
    known = store.hours(project, digest, store.deleted_before(project))
    starts = set(store.touched(project, 0, HOUR).times.tolist())
    return ((HOUR, hour.start) for hour in known if hour.start not in starts)


def _compare(store: Store, project: str, digest: bytes, summed: SummedDay) -> Iterator[Window]:
    """Find the windows of a day that are not stored as they were computed."""
    starts = set(summed.starts)
    day = summed.start
    stored = [
        *store.cells(project, digest, day, day + DAY),
        *store.cells(project, digest, day, day + 1, length=DAY),
    ]
    hours = store.hours(project, digest, day, day + DAY)
    for found, computed in (
        (_by_window(stored), _by_window(summed.cells)),
        (_by_window(hours), _by_window(summed.hours)),
    ):
        for window in found.keys() | computed.keys():
            is_compared = window[0] == DAY or window[1] in starts
            if is_compared and found.get(window) != computed.get(window):
                yield window


def _by_window(rows: Iterable[CellRow | HourRow]) -> dict[Window, set[CellRow | HourRow]]:
    found: dict[Window, set[CellRow | HourRow]] = {}
    for row in rows:
        found.setdefault((getattr(row, "length", HOUR), row.start), set()).add(row)
    return found


def _name(length: int, start: int) -> str:
    return f"the {'day' if length == DAY else 'hour'} of {format_time(start)}"
