"""Trace the causes of a change between two windows: slices, losses and confidence."""

from __future__ import annotations

from rankscope.data.interval import Interval
from rankscope.errors import LimitError, PolicyError, UsageError
from rankscope.records import record
from rankscope.results.decomposition import ALL
from rankscope.results.trace import Search, Trace
from rankscope.stats.arrivals import RANKERS, measure_arrival
from rankscope.stats.causes import EVERYWHERE, find_causes, find_rollout, leave_out_known
from rankscope.stats.change_split import split_change
from rankscope.stats.cluster_bags import place_clusters
from rankscope.stats.cluster_bootstrap import Grouped, find_intervals
from rankscope.stats.confirmation import (
    FEWEST_CLUSTERS,
    confirm,
    is_beyond,
    take_contribution,
)
from rankscope.stats.decomposition import (
    MOST_VALUES,
    check_alike,
    count_groups,
    decompose_groups,
    sum_windows,
)
from rankscope.stats.document_regrets import split_regrets
from rankscope.stats.exact_sums import sum_all
from rankscope.stats.fallen_queries import list_fallen
from rankscope.stats.ideal_change import NAMES, judge_ideal, measure_within, take_facts
from rankscope.stats.paired import pair_queries
from rankscope.stats.shared_keys import share_keys
from rankscope.stats.shared_slices import share_attribute
from rankscope.stats.slice_search import find_queries, search_slices
from rankscope.stats.slice_table import list_attributes, list_slices, tabulate_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.results.trace import Ends
    from rankscope.stats.causes import FoundCause
    from rankscope.stats.cluster_bags import ClusterBags
    from rankscope.stats.decomposition import Slice
    from rankscope.stats.query_columns import QueryColumns
    from rankscope.stats.shared_slices import Codes, SliceAxis
    from rankscope.stats.slice_search import Candidate

    Windows: TypeAlias = tuple[QueryColumns, QueryColumns]
    Groups: TypeAlias = tuple[Codes, Codes]
    Numbers: TypeAlias = NDArray[np.float64]

PARTS = ("change", "mix", "within", "entered", "left")
MOST = {"most_values": 250, "most_found": 20, "most_queries": 1000, "support": 2**31}
"""The upper limits of the settings; the lower limits are 1."""
MOST_ATTRIBUTES = 20


@record(frozen=True, slots=True, kw_only=True)
class TraceChoices:
    """The settings of a trace.

    Args:
        attributes: The attributes to search, at most 20 (default: all that both windows have).
        most_values: The maximum number of values of an attribute that are slices of their own, most
            frequent first, from 1 to 250. The others are `<other>`.
        support: The number of searched queries that a slice must have in a window for its mean to
            count.
        most_found: The maximum number of slices to find, from 1 to 20.
        most_queries: The maximum number of queries to list for a slice, up to 1000.
        direction: Whether to search for slices that made the mean `fall` or `rise` (default: the
            direction of the change).
        interval: The settings of the intervals. The seed also determines the halves.

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
    interval: Interval = Interval(resamples=1999)

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
                hint="by default, the search is in the direction of the change",
                code="bad_parameter",
            )
        if self.interval.method == "t":
            raise PolicyError(
                "t intervals are only available for means",
                hint='set method="bca"',
                code="interval_unavailable",
            )


def trace(before: QueryColumns, after: QueryColumns, choices: TraceChoices | None = None) -> Trace:
    """Return the causes of the change of a mean between two windows.

    One half of the clusters is searched for slices of one and two attributes. The other half is
    held out to confirm the results, so they are valid however many slices were searched. The slices
    found don't overlap, and their contributions add up to the change.

    Args:
        before: The queries of the first window.
        after: The queries of the second window.
        choices: The settings.

    Returns:
        The causes. They don't depend on the order of the queries or the number of threads.

    Raises:
        UsageError: The windows have different measures, or an attribute doesn't exist.
        LimitError: There are too many attributes to search.

    Examples:
        >>> import numpy as np
        >>> from rankscope.stats.query_columns import QueryColumns, TextColumn
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
    import numpy as np  # noqa: PLC0415 - loads with the first array

    check_alike(before, after)
    choices = TraceChoices() if choices is None else choices
    windows = (before, after)
    names, left_out = _choose_attributes(windows, choices.attributes)
    axes = [share_attribute(before, after, name, choices.most_values) for name in names]
    clusters = place_clusters(before.clusters, after.clusters, choices.interval.seed)
    sign = _choose_sign(windows, choices)
    rollout = find_rollout(windows, axes, choices.support)
    is_compared = np.ones(len(after), dtype=np.bool_) if rollout is None else rollout[1]
    is_searched = clusters.is_searched[0], clusters.is_searched[1] & is_compared
    search = search_slices(
        axes,
        (before.value, after.value),
        is_searched,
        sign=sign,
        support=choices.support,
        most_found=choices.most_found,
        rankers=[at for at, name in enumerate(names) if name in RANKERS],
    )
    candidates = _group(windows, axes, search.found)
    found = confirm(
        windows,
        (candidates[0], np.where(is_compared, candidates[1], np.int32(-1))),
        clusters,
        [(candidate, _name(candidate, axes)) for candidate in search.found],
        choices.interval,
        sign=sign,
    )
    confirmed = [
        candidate for candidate, each in zip(search.found, found, strict=True) if each.is_confirmed
    ]
    slices = [*(_name(candidate, axes) for candidate in confirmed), ()]
    groups = _group(windows, axes, confirmed)
    whole = decompose_groups(before, after, slices, groups)
    made = find_causes(
        windows,
        axes,
        groups,
        [*zip(confirmed or [EVERYWHERE], whole.slices, strict=False)],
        choices.support,
    )
    parts = _measure_parts(windows, groups, clusters, made, choices.interval)
    # What no half has confirmed is a cause where chance alone would not make it.
    causes = {
        each.group: (each, each.measured(ends))
        for each, ends in zip(made, parts.contributions, strict=True)
        if each.candidate.place or (clusters.count >= FEWEST_CLUSTERS and is_beyond(ends, sign))
    }
    keys = share_keys(before, after)
    grids = tabulate_all(windows, axes)
    return Trace(
        decomposition=whole,
        causes=tuple(
            sorted(
                (cause for _, cause in causes.values()),
                key=lambda each: (-sign * each.contribution, each.name),
            )
        ),
        found=found,
        intervals=parts.intervals,
        level=choices.interval.level,
        sign=sign,
        search=Search(
            attributes=tuple(axis.name for axis in axes),
            left_out=left_out,
            folded={axis.name: (axis.folded, axis.folded_queries) for axis in axes if axis.folded},
            new=None if rollout is None else rollout[0].name,
            looked_at=search.looked_at,
            supported=search.supported,
            support=choices.support,
            searched=(int(is_searched[0].sum()), int(is_searched[1].sum())),
            unsearched=(
                int((~clusters.is_searched[0]).sum()),
                int((~clusters.is_searched[1] & is_compared).sum()),
            ),
            found=len(search.found),
        ),
        ideal=judge_ideal(
            count_groups(groups, len(slices)),
            parts.facts,
            parts.fact_intervals,
            sign=1.0 if whole.change > 0 else -1.0,
            value_interval=parts.intervals["change"],
        ),
        paired=pair_queries(before, after, keys, choices.interval),
        attributes=list_attributes(grids, axes),
        slices=list_slices(grids, axes, sign=sign, support=choices.support),
        fallen=list_fallen(
            before,
            after,
            keys,
            (groups[0], leave_out_known(groups[1], [each for each, _ in causes.values()])),
            [(group, cause.name) for group, (_, cause) in causes.items()] or [(0, ALL)],
            sign=sign,
            most=choices.most_queries,
        ),
        regrets=()
        if before.documents is None or after.documents is None
        else split_regrets(
            (before.documents, after.documents),
            groups,
            count_groups(groups, len(slices)),
            [
                (group, cause.change.name)
                for group, (_, cause) in causes.items()
                if cause.change.slice
            ],
        ),
    )


@record(frozen=True, slots=True)
class _Parts:
    """Intervals and sums over all queries.

    Args:
        intervals: The intervals of the change and its parts.
        contributions: The intervals of the contributions of the slices found.
        facts: The sums of each fact about the ideal, by window and group.
        fact_intervals: The intervals of the change of each fact within groups.
    """

    intervals: dict[str, Ends]
    contributions: list[Ends]
    facts: list[Numbers]
    fact_intervals: list[Ends]


def _measure_parts(
    windows: Windows,
    groups: Groups,
    clusters: ClusterBags,
    made: Sequence[FoundCause],
    interval: Interval,
) -> _Parts:
    """Return the intervals and sums over all queries."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    facts = [*zip(*map(take_facts, windows), strict=True)]
    # What is new in a slice is added up by itself, in a group after all slices and the others.
    whole = 1 + sum(bool(each.candidate.place) for each in made)
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
                found.append(take_contribution(split, each.group, each.candidate))
        found += [measure_within(counts, other) for other in others]
        return np.stack(found, axis=-1)

    count = len(PARTS) + len(made) + len(NAMES)
    ends = find_intervals(totals, measure, interval, [interval.level] * count)
    return _Parts(
        dict(zip(PARTS, ends, strict=False)),
        ends[len(PARTS) : len(PARTS) + len(made)],
        [sum_windows(columns, groups, whole) for columns in facts],
        ends[len(PARTS) + len(made) :],
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


def _choose_sign(windows: Windows, choices: TraceChoices) -> float:
    """Return the direction of the search."""
    if choices.direction is not None:
        return -1.0 if choices.direction == "fall" else 1.0
    before, after = (sum_all(window.value) / len(window) for window in windows)
    return 1.0 if after > before else -1.0


def _name(candidate: Candidate, axes: Sequence[SliceAxis]) -> Slice:
    return tuple((axes[at].name, axes[at].texts[value]) for at, value in candidate.place)


def _group(windows: Windows, axes: Sequence[SliceAxis], found: Sequence[Candidate]) -> Groups:
    """Return the first slice found that each query is in, or the group of all others."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    groups = [np.full(len(window), len(found), dtype=np.int32) for window in windows]
    for number, candidate in reversed([*enumerate(found)]):
        for at in range(2):
            groups[at][find_queries([axis.codes[at] for axis in axes], candidate)] = number
    return groups[0], groups[1]
