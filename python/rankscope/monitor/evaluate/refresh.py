"""Recomputes the stored windows of the hours that new events or time have changed.

The windows of an hour are a function of its events and of whether the hour is closed. It is closed
once the attribution window of the last ranking it may have is; until then all of its rankings are
provisional.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from rankscope import _core
from rankscope._settings import count_threads
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slice, Slicing, extend_slicing
from rankscope.monitor.evaluate.baseline import find_baseline
from rankscope.monitor.evaluate.days import SummedDay, find_closed, sum_day
from rankscope.monitor.evaluate.stored_windows import StoredCell, pack_cell, unpack_cell
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.evaluate.windows import Cell
from rankscope.monitor.evaluate.worker import run_in_order
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.records import CellRow, OpenHour, Progress
from rankscope.monitor.store.store import Store, StoreReader

MANY = 100_000
"""Rankings that it takes longer to sum than to start processes for them."""
FEW = 50_000
"""Rankings that can always be summed: that takes some two seconds."""
SHARE = 8
"""An open hour that is large waits for this part of its age."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh has recomputed.

    Args:
        hours: How many hours were summed again.
        rankings: How many rankings they have.
        later: How many hours are to be summed again later.
        seq: The number of the last event that is in the windows, but for those hours.
        slicing: The slices that they have.
        is_new: Whether the project had no windows of this configuration before.
    """

    hours: int
    rankings: int
    later: int
    seq: int
    slicing: Slicing
    is_new: bool


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
    digest = configuration.digest
    replaced = store.count_replaced(project)
    put = partial(store.put_windows, project, digest, replaced_rankings=replaced)
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
            slices = slicing.to_json()
            take_over(store, project, configuration, slicing=slices, until=whole_since, now=now)
        starts = {start for start in starts if start >= whole_since}
    later = [] if is_thorough else find_later(known.values(), starts, closed, now)
    starts.difference_update(hour.start for hour in later)
    so_far = Progress(
        0 if before is None else before.seq,
        now,
        slicing.to_json(),
        "" if before is None else before.baseline,
    )
    rankings = 0
    days = [tuple(hours) for _, hours in groupby(sorted(starts), lambda start: start - start % DAY)]
    work = partial(sum_day, project=project, configuration=configuration, slicing=slicing, now=now)
    for summed in _sum_days(store, days, work, count_threads(threads)):
        is_written = put(
            replaced={HOUR: summed.starts, DAY: [summed.start]},
            cells=summed.cells,
            hours=summed.hours,
            open_hours=[
                OpenHour(start, now, count, is_behind=False)
                for start, count in zip(summed.starts, summed.rankings, strict=True)
                if start > closed
            ],
            progress=so_far,
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
    if not put(replaced={}, cells=[], hours=[], open_hours=later, progress=done):
        return None
    return Refreshed(len(starts), rankings, len(later), touched.seq, slicing, is_new=before is None)


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


def find_slicing(store: StoreReader, project: str, configuration: Configuration) -> Slicing:
    """Return the slices that the windows of a project have once they are up to date."""
    before = store.progress(project, configuration.digest)
    start = _start_slicing(before, configuration)
    return extend_slicing(start, store.contexts(project), configuration.most)


def _start_slicing(before: Progress | None, configuration: Configuration) -> Slicing:
    if before is not None:
        return Slicing.from_json(before.slicing)
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


NOTHING = (0.0, 0.0, 0.0, 0.0)


def take_over(
    store: Store, project: str, configuration: Configuration, *, slicing: str, until: int, now: int
) -> None:
    """Take over the windows from before a time from the configuration that was evaluated last."""
    before = _find_before(store, project, configuration)
    if before is None:
        return
    convert = _make_converter(before, configuration)
    cells = [
        convert(row)
        for length in (HOUR, DAY)
        for row in store.cells(project, before.digest, None, until, length=length)
        if has_slice(configuration, unpack_cell(row).key.slice)
    ]
    store.put_windows(
        project,
        configuration.digest,
        replaced={},
        cells=cells,
        hours=store.hours(project, before.digest, None, until),
        open_hours=[],
        progress=Progress(0, now, slicing, ""),
    )


def _find_before(
    store: StoreReader, project: str, configuration: Configuration
) -> Configuration | None:
    """Return the last configuration that has windows, if its values can be those of another."""
    for text in store.configurations(project):
        try:
            known = Configuration.from_json(text)
        except UsageError:  # of an earlier version of the rules
            continue
        if store.progress(project, known.digest) is not None:
            return known if _basis(known) == _basis(configuration) else None
    return None


def _basis(configuration: Configuration) -> dict[str, Any]:
    """Return what decides the value of a measure beside the measure."""
    said = configuration.definition.to_dict()
    return {name: part for name, part in said.items() if name != "measures"}


def has_slice(configuration: Configuration, place: Slice) -> bool:
    """Return whether a configuration slices by the attributes of a slice."""
    names = tuple(name for name, _ in place)
    if len(names) < 2:
        return set(names) <= set(configuration.attributes)
    return names in configuration.all_pairs


def _make_converter(old: Configuration, new: Configuration) -> Callable[[CellRow], CellRow]:
    """Return what makes cells of one configuration cells of another with the same basis."""
    columns = {name: at for at, name in enumerate(name_columns(old.definition))}
    places = [columns.get(name) for name in name_columns(new.definition)]
    measures = {one.name: at for at, one in enumerate(old.definition.measures)}
    spreads = [measures.get(measure.name) for measure in new.definition.measures]

    def convert(row: CellRow) -> CellRow:
        key, cell, spread = unpack_cell(row)
        defined = tuple(0 if at is None else cell.defined[at] for at in places)
        chosen = Cell(cell.counts, defined, _core.choose_sums(cell.sums, places))
        if spread:
            spread = tuple(NOTHING if at is None else spread[at] for at in spreads)
        return pack_cell(row.length, StoredCell(key, chosen, spread))

    return convert
