"""Trace the causes of a change between two windows: slices, losses and confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope._settings import Interval, count_threads
from rankscope._stats.sums import sum_all
from rankscope.errors import LimitError, PolicyError, UsageError
from rankscope.monitor.why.arrivals import RANKERS, measure_arrival
from rankscope.monitor.why.causes import FoundCause, find_causes, find_rollout, leave_out_known
from rankscope.monitor.why.cluster_bags import ClusterBags, place_clusters
from rankscope.monitor.why.cluster_bootstrap import Grouped, find_intervals
from rankscope.monitor.why.decomposition import (
    MOST_VALUES,
    Slice,
    check_alike,
    count_groups,
    decompose_groups,
    split_change,
    sum_windows,
)
from rankscope.monitor.why.decomposition_result import ALL
from rankscope.monitor.why.document_regrets import Codes, split_regrets
from rankscope.monitor.why.fallen_queries import list_fallen
from rankscope.monitor.why.ideal_change import NAMES, judge_ideal, measure_within, take_facts
from rankscope.monitor.why.paired import pair_queries
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.reassignment import PERMUTATIONS, reassign
from rankscope.monitor.why.result import Cause, Ends, FoundSlice, Sampling, Search, Trace
from rankscope.monitor.why.sampling import Sampled, measure_sampling
from rankscope.monitor.why.shared_slices import SliceAxis, share_attribute, share_keys
from rankscope.monitor.why.slice_search import Candidate, Rows, SearchChoices, search_slices
from rankscope.monitor.why.slice_table import (
    find_queries,
    list_attributes,
    list_slices,
    tabulate_all,
)
from rankscope.monitor.why.traffic_shifts import search_shifts

Windows: TypeAlias = tuple[QueryColumns, QueryColumns]
Groups: TypeAlias = tuple[Codes, Codes]
Numbers: TypeAlias = NDArray[np.float64]
T = TypeVar("T")


PARTS = ("change", "mix", "within", "entered", "left")
MOST = {
    "most_values": 250,
    "most_found": 20,
    "most_queries": 1000,
    "support": 2**31,
    "permutations": 100_000,
}
"""The upper limits of the settings; the lower limits are 1."""
MOST_ATTRIBUTES = 20
REASSIGNED_TOGETHER = 2
"""If clusters share bags, so many bags are reassigned together: of many clusters, fewer bags are
enough for a test than for the tails of an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceChoices:
    """The settings of a trace.

    Args:
        attributes: The attributes to search, at most 20 (default: all that both windows have).
        most_values: The maximum number of values of an attribute that are slices of their own, most
            frequent first, from 1 to 250. The others are `<other>`.
        support: The number of queries that a slice must have in a window for its mean to count.
        most_found: The maximum number of slices to find, from 1 to 20.
        most_queries: The maximum number of queries to list for a slice, up to 1000.
        direction: Whether to search for slices that made the mean `fall` or `rise` (default: both,
            because a small slice can fall while the whole rises by chance).
        level: The probability that a trace names a cause where nothing changed. A new version that
            only some queries have is tested at half of it.
        permutations: The number of times that users are reassigned between the windows, at least
            2 / level - 1.
        interval: The settings of the intervals. The seed also determines the reassignments.

    Raises:
        UsageError: A number is out of range, or the direction is unknown.
        PolicyError: The intervals are t intervals, which are only available for means.
    """

    attributes: tuple[str, ...] | None = None
    most_values: int = MOST_VALUES
    support: int = 30
    most_found: int = 5
    most_queries: int = 10
    direction: Literal["fall", "rise"] | None = None
    level: float = 0.025
    permutations: int = PERMUTATIONS
    interval: Interval = field(default_factory=lambda: Interval(resamples=1999))

    @property
    def sign(self) -> float | None:
        """The sign of the changes to search for; `None` for both."""
        return None if self.direction is None else -1.0 if self.direction == "fall" else 1.0

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            number = getattr(self, name)
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= most:
                raise UsageError(
                    f"expected {name} from 1 to {most}, found {number!r}",
                    hint="remove it to use the default",
                    code="bad_parameter",
                )
        if self.direction not in {None, "fall", "rise"}:
            raise UsageError(
                f"expected direction='fall' or 'rise', found {self.direction!r}",
                hint="by default, the search is in both directions",
                code="bad_parameter",
            )
        if not 0 < self.level < 1:
            raise UsageError(
                f"expected a level above 0 and below 1, found {self.level!r}",
                hint="use 0.05 to name a cause in one of 20 traces where nothing changed",
                code="bad_parameter",
            )
        # With fewer reassignments, no p-value would be as small as half the level.
        if (self.permutations + 1) * self.level < 2:
            raise UsageError(
                f"expected at least {math.ceil(2 / self.level) - 1} permutations for a level of "
                f"{self.level:g}, found {self.permutations}",
                hint="raise permutations or level",
                code="bad_parameter",
            )
        if self.interval.method != "auto":
            raise PolicyError(
                "only bootstrap intervals are available for the parts of a change",
                hint="leave the method out",
                code="interval_unavailable",
            )


def trace(
    before: QueryColumns,
    after: QueryColumns,
    choices: TraceChoices | None = None,
    *,
    sampled: Sampled | None = None,
    threads: int | None = None,
    check: Callable[[], None] | None = None,
) -> Trace:
    """Return the causes of the change of a mean between two windows.

    Slices of one and two attributes and the change everywhere are tested together. To know what
    chance would find, whole users (clusters) are reassigned between the windows many times. A cause
    is named if the strongest slice stands out more than in nearly all reassignments, so the result
    is valid however many slices were searched. The slices found don't overlap, and their
    contributions add up to the change.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.why.query_columns import QueryColumns, TextColumn
        >>> def window(value_on_tv):
        ...     number = np.arange(2000)
        ...     is_tv = number % 4 == 0
        ...     value = np.where(is_tv, value_on_tv, 0.9) - number % 7 / 100
        ...     none = np.zeros(2000)
        ...     return QueryColumns(
        ...         measure="nDCG@5",
        ...         value=value,
        ...         retrieval=none,
        ...         truncation=none,
        ...         ordering=1 - value,
        ...         undefined=none,
        ...         ideal=none + 1,
        ...         relevant=none + 1,
        ...         key=TextColumn.of(map(str, number)),
        ...         attributes={"device": TextColumn.of(np.where(is_tv, "tv", "phone"))},
        ...     )
        >>> print(str(trace(window(0.9), window(0.5))).splitlines()[0])
        nDCG@5 fell by 0.1000, from 0.8700 to 0.7700: 0.1000 of it within device=tv by ordering
    """
    check_alike(before, after)
    choices = TraceChoices() if choices is None else choices
    windows = (before, after)
    names, left_out = _choose_attributes(windows, choices.attributes)
    axes = [share_attribute(before, after, name, choices.most_values) for name in names]
    clusters = place_clusters(before.clusters, after.clusters, choices.interval.seed)
    rollout = find_rollout(windows, axes, choices.support)
    is_compared = np.ones(len(after), dtype=np.bool_) if rollout is None else rollout[1]
    rows = Rows(
        tuple((axis.codes[0], axis.codes[1][is_compared]) for axis in axes),
        (before.value, after.value[is_compared]),
        (clusters.bags[0], clusters.bags[1][is_compared]),
    )
    search = _search(
        rows,
        axes,
        clusters,
        choices,
        change=_measure_change(windows),
        is_whole=bool(is_compared.all()),
        threads=count_threads(threads),
        check=check,
    )
    check = check or _go_on
    check()
    confirmed = [each for each in search if each.is_confirmed and each.place]
    slices = [*(_name(each, axes) for each in confirmed), ()]
    groups = _group(windows, axes, confirmed)
    whole = decompose_groups(before, after, slices, groups)
    is_everywhere = [each for each in search if each.is_confirmed and not each.place]
    made = find_causes(
        windows,
        axes,
        groups,
        [*zip(range(len(slices)), [*confirmed, *is_everywhere], whole.slices, strict=False)],
        choices.support,
    )
    check()
    keys = share_keys(before, after)
    with _Ahead(count_threads(threads)) as ahead:
        # None of these depends on another.
        pairing = ahead.start(partial(pair_queries, before, after, keys, choices.interval))
        tabulating = ahead.start(partial(tabulate_all, windows, axes))
        parts = _measure_parts(windows, groups, clusters, made, choices.interval, sampled=sampled)
        paired, grids = pairing(), tabulating()
    named = [
        (each, each.measured(ends)) for each, ends in zip(made, parts.contributions, strict=True)
    ]
    check()
    sign = _choose_sign(whole.change, [cause for _, cause in named], choices)
    check()
    counts = count_groups(groups, len(slices))

    return Trace(
        decomposition=whole,
        causes=tuple(cause for _, cause in named if cause.by == "within"),
        shifts=tuple(cause for _, cause in named if cause.by == "mix"),
        found=tuple(_tell(each, _name(each, axes)) for each in search),
        intervals=parts.intervals,
        level=choices.interval.level,
        sign=sign,
        search=Search(
            attributes=tuple(axis.name for axis in axes),
            left_out=left_out,
            folded={axis.name: (axis.folded, axis.folded_queries) for axis in axes if axis.folded},
            new=None if rollout is None else rollout[0].name,
            looked_at=sum(int(grid.counts.any(axis=0).sum()) for grid in grids),
            supported=sum(
                int((grid.counts >= choices.support).all(axis=0).sum()) for grid in grids
            ),
            support=choices.support,
            searched=rows.sizes,
            level=choices.level,
            permutations=choices.permutations,
        ),
        ideal=judge_ideal(
            counts,
            parts.facts,
            parts.fact_intervals,
            sign=1.0 if whole.change > 0 else -1.0,
            value_interval=parts.intervals["change"],
        ),
        paired=paired,
        attributes=list_attributes(grids, axes),
        slices=list_slices(grids, axes, sign=sign, support=choices.support),
        fallen=list_fallen(
            before,
            after,
            keys,
            (groups[0], leave_out_known(groups[1], made)),
            [(each.group, cause.name) for each, cause in named] or [(0, ALL)],
            sign=sign,
            most=choices.most_queries,
        ),
        regrets=()
        if before.documents is None or after.documents is None
        else split_regrets(
            (before.documents, after.documents),
            groups,
            counts,
            [(each.group, each.change.name) for each in made if each.change.slice],
        ),
        sampling=parts.sampling,
    )


def _go_on() -> None:
    """Check nothing."""


class _Ahead:
    """Does work by a thread beside the caller if there may be more than one.

    Args:
        threads: The number of threads.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(1, "rankscope-trace") if threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start work, and return a function that waits for what it gives."""
        return work if self._pool is None else self._pool.submit(work).result


def _search(
    rows: Rows,
    axes: Sequence[SliceAxis],
    clusters: ClusterBags,
    choices: TraceChoices,
    *,
    change: float,
    is_whole: bool,
    threads: int,
    check: Callable[[], None] | None,
) -> list[Candidate]:
    """Return the slices whose quality changed, followed by those whose share changed."""
    together = REASSIGNED_TOGETHER if clusters.are_shared else 1
    bags = [each // together for each in rows.bags]
    is_there = [np.bincount(each, minlength=clusters.count) > 0 for each in bags]
    is_used = is_there[0] | is_there[1]
    number = np.cumsum(is_used) - 1
    rows = Rows(rows.codes, rows.values, (number[bags[0]], number[bags[1]]))
    # Few numbers of 16 bits are sorted by counting them.
    narrow = np.uint16 if clusters.count <= np.iinfo(np.uint16).max else np.int64
    rows = rows.take([each.astype(narrow).argsort(kind="stable") for each in rows.bags])
    settings = SearchChoices(
        sizes=tuple(len(axis.texts) for axis in axes),
        draws=reassign(
            is_there[0][is_used],
            is_there[1][is_used],
            choices.permutations,
            choices.interval.seed,
        ),
        support=choices.support,
        most_found=choices.most_found,
        # A new version that only some have was chosen for its mean among others, so half is left.
        level=choices.level if is_whole else choices.level / 2,
        direction=choices.sign,
        rankers=frozenset(at for at, axis in enumerate(axes) if axis.name in RANKERS),
        threads=threads,
        check=check,
    )
    found = search_slices(rows, settings)
    whole = sum(rows.sizes)
    for each in found:
        if each.is_confirmed and each.place:
            rows = rows.remove(each.place)
    return found + search_shifts(rows, settings, change=change, whole=whole)


def _tell(each: Candidate, name: Slice) -> FoundSlice:
    return FoundSlice(
        slice=name,
        by=each.by,
        difference=each.difference,
        interval=each.interval,
        statistic=each.statistic,
        p_value=each.p_value,
        is_confirmed=each.is_confirmed,
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """Intervals and sums over all queries.

    Args:
        intervals: The intervals of the change and its parts.
        contributions: The intervals of the contributions of the slices found.
        facts: The sums of each fact about the ideal, by window and group.
        fact_intervals: The intervals of the change of each fact within groups.
        sampling: What a sample of users adds to the uncertainty; `None` if all are there.
    """

    intervals: dict[str, Ends]
    contributions: list[Ends]
    facts: list[Numbers]
    fact_intervals: list[Ends]
    sampling: Sampling | None


def _measure_parts(
    windows: Windows,
    groups: Groups,
    clusters: ClusterBags,
    made: Sequence[FoundCause],
    interval: Interval,
    *,
    sampled: Sampled | None,
) -> _Parts:
    """Return the intervals and sums over all queries."""
    facts = [*zip(*map(take_facts, windows), strict=True)]
    # What is new in a slice is added up by itself, in a group after all slices and the others.
    whole = 1 + sum(bool(each.change.slice) for each in made)
    added = [each for each in made if each.arrivals]
    place_of = {each.group: place for place, each in enumerate(added, start=whole)}
    apart = groups[1].copy()
    for each in added:
        apart[each.is_new] = place_of[each.group]
    drawn = Grouped(clusters.bags, (groups[0], apart), clusters.count, whole + len(added))
    totals = drawn.add_up([(windows[0].value, windows[1].value), *facts])

    def measure(summed: Numbers) -> Numbers:
        joined = summed[..., :whole].copy()
        for group, place in place_of.items():
            joined[..., group] += summed[..., place]
        counts, sums, *others = (joined[..., at, :, :] for at in range(joined.shape[-3]))
        split = split_change(counts, sums)
        found = [split.change, *(getattr(split, part).sum(axis=-1) for part in PARTS[1:])]
        for each in made:
            if each.arrivals:
                new = summed[..., :2, 1, place_of[each.group]]
                found.append(measure_arrival(counts, sums, each.group, new[..., 0], new[..., 1]))
            else:
                found.append(each.take_contribution(split))
        found += [measure_within(counts, other) for other in others]
        return np.stack(found, axis=-1)

    count = len(PARTS) + len(made) + len(NAMES)
    ends = find_intervals(totals, measure, interval, [interval.level] * count)
    names = [each.measured(None).name for each in made]
    return _Parts(
        dict(zip(PARTS, ends, strict=False)),
        ends[len(PARTS) : len(PARTS) + len(made)],
        [sum_windows(columns, groups, whole) for columns in facts],
        ends[len(PARTS) + len(made) :],
        None
        if sampled is None or min(sampled.rates) == 1
        else measure_sampling(sampled, totals, measure, PARTS, names),
    )


def _choose_attributes(
    windows: Windows, given: str | Sequence[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """Return the attributes to search, by default those that both windows have.

    Attributes of the ranker are searched even if they are missing before, for example in an
    uploaded set. The ranker after is new in any case.
    """
    before, after = (window.attributes for window in windows)
    if given is None:
        names = [
            name
            for name in {**before, **after}
            if name in RANKERS or (name in before and name in after)
        ]
        left_out = [name for name in {**before, **after} if name not in names]
    else:
        names, left_out = list(dict.fromkeys([given] if isinstance(given, str) else given)), []
    if len(names) > MOST_ATTRIBUTES:
        raise LimitError(
            f"expected at most {MOST_ATTRIBUTES} attributes to search, found {len(names)}",
            hint="choose some of them: attributes=('device', 'version')",
            code="slices",
        )
    return names, tuple(left_out)


def _measure_change(windows: Windows) -> float:
    before, after = (sum_all(window.value) / len(window) for window in windows)
    return after - before


def _choose_sign(change: float, causes: Sequence[Cause], choices: TraceChoices) -> float:
    """Return the direction of the causes: that of the change, unless all causes oppose it."""
    if choices.sign is not None:
        return choices.sign
    sign = 1.0 if change > 0 else -1.0
    opposed = [each.contribution * sign < 0 for each in causes]
    return -sign if opposed and all(opposed) else sign


def _name(candidate: Candidate, axes: Sequence[SliceAxis]) -> Slice:
    return tuple((axes[at].name, axes[at].texts[value]) for at, value in candidate.place)


def _group(windows: Windows, axes: Sequence[SliceAxis], found: Sequence[Candidate]) -> Groups:
    """Return the first slice found that each query is in, or the group of all others."""
    groups = [np.full(len(window), len(found), dtype=np.int32) for window in windows]
    for number, candidate in reversed([*enumerate(found)]):
        for at in range(2):
            groups[at][find_queries([axis.codes[at] for axis in axes], candidate.place)] = number
    return groups[0], groups[1]
