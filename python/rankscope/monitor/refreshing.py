"""Brings stored windows up to date: the hours that events or time have changed, and no others.

The windows of an hour are a function of its events and of whether the hour is closed. It is closed
once the attribution window of the last ranking it may have is; until then all of its rankings are
provisional.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import groupby

from rankscope import engine
from rankscope.monitor.find_baseline import find_baseline
from rankscope.monitor.limits import DAY, HOUR
from rankscope.monitor.slicing import Slicing, extend_slicing
from rankscope.monitor.store.window_table import Progress
from rankscope.monitor.stored_windows import name_place
from rankscope.monitor.summing import find_closed, sum_day
from rankscope.monitor.worker import run_in_order
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.store.protocol import Store
    from rankscope.monitor.summing import SummedDay

ALL = name_place(())
MANY = 100_000
"""Rankings that it takes longer to sum than to start processes for them."""


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
    slicing = extend_slicing(
        _start_slicing(before, configuration), store.contexts(project), configuration.most
    )
    closed = find_closed(configuration, now)
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
    days = [tuple(hours) for _, hours in groupby(sorted(starts), lambda start: start - start % DAY)]
    work = partial(sum_day, project=project, configuration=configuration, slicing=slicing, now=now)
    for summed in _sum_days(store, days, work, engine.count_threads(threads)):
        store.put_windows(
            project,
            digest,
            replaced={HOUR: summed.starts, DAY: [summed.start]},
            cells=summed.cells,
            hours=summed.hours,
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


def _sum_days(
    store: Store,
    days: Sequence[tuple[int, ...]],
    work: Callable[..., SummedDay],
    threads: int,
) -> Iterator[SummedDay]:
    """Sum days in order: the first here, and the others by processes if that one was large."""
    if not days:
        return
    first = work(store, days[0], threads=threads)
    yield first
    others = days[1:]
    most = min(threads, len(others))
    if most > 1 and len(others) * first.rankings >= MANY:
        yield from run_in_order(
            store, (partial(work, starts=day, threads=1) for day in others), most
        )
    else:
        for day in others:
            yield work(store, day, threads=threads)
