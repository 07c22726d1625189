"""Recomputes the stored windows of the hours that new events or time have changed.

The windows of an hour are a function of its events and of whether the hour is closed. It is closed
once the attribution window of the last ranking it may have is; until then all of its rankings are
provisional.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import groupby

from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.evaluate.days import find_closed, sum_day
from rankscope.monitor.evaluate.retained import take_over
from rankscope.monitor.evaluate.stored_baseline import find_baseline
from rankscope.monitor.evaluate.worker import run_in_order
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.records import OpenHour, Progress
from rankscope.records import record
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.evaluate.days import SummedDay
    from rankscope.monitor.store.store import Store, StoreReader

MANY = 100_000
"""Rankings that it takes longer to sum than to start processes for them."""
FEW = 50_000
"""Rankings that can always be summed: that takes some two seconds."""
SHARE = 8
"""An open hour that is large waits for this part of its age."""


@record(frozen=True, slots=True)
class Refreshed:
    """What a refresh has recomputed.

    Args:
        hours: How many hours were summed again.
        rankings: How many rankings they have.
        later: How many hours are to be summed again later.
        seq: The number of the last event that is in the windows, but for those hours.
        slicing: The slices that they have.
    """

    hours: int
    rankings: int
    later: int
    seq: int
    slicing: Slicing


def refresh(
    store: Store,
    project: str,
    configuration: Configuration,
    *,
    now: int,
    threads: int | None = None,
    is_thorough: bool = True,
) -> Refreshed:
    """Recompute the windows of a project that have changed."""
    refreshed = None
    while refreshed is None:
        # Once more if a set was replaced meanwhile: parts of both may have been read.
        refreshed = _refresh_once(
            store, project, configuration, now=now, threads=threads, is_thorough=is_thorough
        )
    return refreshed


def _refresh_once(
    store: Store,
    project: str,
    configuration: Configuration,
    *,
    now: int,
    threads: int | None,
    is_thorough: bool,
) -> Refreshed | None:
    """Recompute the windows; `None` if a set was replaced before all of them were written."""
    replaced = store.count_replaced(project)
    digest = configuration.digest
    before = store.progress(project, digest)
    touched = store.touched(project, 0 if before is None else before.seq, HOUR)
    slicing = extend_slicing(
        _start_slicing(before, configuration), store.contexts(project), configuration.most
    )
    closed = find_closed(configuration, now)
    known = {hour.start: hour for hour in store.open_hours(project, digest)}
    starts = set(touched.times.tolist())
    starts.update(hour.start for hour in known.values() if hour.is_behind or hour.start <= closed)
    # What is left of an hour whose events were deleted makes no window of it.
    whole_since = store.deleted_before(project)
    if whole_since is not None:
        if before is None:
            slices = write_slicing(slicing)
            take_over(store, project, configuration, slicing=slices, until=whole_since, now=now)
        starts = {start for start in starts if start >= whole_since}
    later = [] if is_thorough else find_later(known.values(), starts, closed, now)
    starts.difference_update(hour.start for hour in later)
    so_far = Progress(
        0 if before is None else before.seq,
        now,
        write_slicing(slicing),
        "" if before is None else before.baseline,
    )
    rankings = 0
    days = [tuple(hours) for _, hours in groupby(sorted(starts), lambda start: start - start % DAY)]
    work = partial(sum_day, project=project, configuration=configuration, slicing=slicing, now=now)
    for summed in _sum_days(store, days, work, count_threads(threads)):
        is_written = store.put_windows(
            project,
            digest,
            replaced={HOUR: summed.starts, DAY: [summed.start]},
            cells=summed.cells,
            hours=summed.hours,
            open_hours=[
                OpenHour(start, now, count, is_behind=False)
                for start, count in zip(summed.starts, summed.rankings, strict=True)
                if start > closed
            ],
            progress=so_far,
            replaced_rankings=replaced,
        )
        if not is_written:
            return None
        rankings += sum(summed.rankings)
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
    is_written = store.put_windows(
        project,
        digest,
        replaced={},
        cells=[],
        hours=[],
        open_hours=later,
        progress=done,
        replaced_rankings=replaced,
    )
    if not is_written:
        return None
    if before is None:
        store.drop_windows(project, digest)
    return Refreshed(len(starts), rankings, len(later), touched.seq, slicing)


def find_later(
    known: Iterable[OpenHour], starts: Collection[int], closed: int, now: int
) -> list[OpenHour]:
    """Find the large hours with new events that are left for a later refresh.

    To sum an hour takes as long as it has rankings, however few of them have changed; and while
    attribution windows are open, labels come to all hours of them, again and again. Where these
    hours are large, each is summed only once it is older by an eighth than when that was done last:
    a label a minute after the ranking is there after seconds, one that came a day later after
    three hours at most. Once an hour is closed, it is summed whatever happens.

    Examples:
        >>> early = OpenHour(0, as_of=100 * HOUR, rankings=40_000, is_behind=False)
        >>> young = early._replace(start=99 * HOUR)
        >>> now = 101 * HOUR
        >>> [hour.start // HOUR for hour in find_later([early, young], {0, 99 * HOUR}, -1, now)]
        [0]
        >>> find_later([early], {0}, -1, now)
        []
    """
    wanted = [hour for hour in known if hour.start in starts and hour.start > closed]
    if sum(hour.rankings for hour in wanted) < FEW:
        return []
    return [
        hour._replace(is_behind=True)
        for hour in wanted
        if 0 <= now - hour.as_of < (now - hour.start) / SHARE
    ]


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


def find_slicing(store: StoreReader, project: str, configuration: Configuration) -> Slicing:
    """Return the slices that the windows of a project have once they are up to date."""
    before = store.progress(project, configuration.digest)
    start = _start_slicing(before, configuration)
    return extend_slicing(start, store.contexts(project), configuration.most)


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
    if most > 1 and len(others) * sum(first.rankings) >= MANY:
        yield from run_in_order(
            store, (partial(work, starts=day, threads=1) for day in others), most
        )
    else:
        for day in others:
            yield work(store, day, threads=threads)
