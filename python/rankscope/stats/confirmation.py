"""The check of slices found by a search, on the held-out clusters."""

from __future__ import annotations

from rankscope.results.trace import FoundSlice
from rankscope.stats.change_split import split_change
from rankscope.stats.cluster_bootstrap import Grouped, find_intervals
from rankscope.stats.slice_search import measure_excess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.interval import Interval
    from rankscope.results.decomposition import SliceChange
    from rankscope.results.trace import Ends
    from rankscope.stats.change_split import ChangeSplit
    from rankscope.stats.cluster_bags import ClusterBags
    from rankscope.stats.decomposition import Slice
    from rankscope.stats.query_columns import QueryColumns
    from rankscope.stats.shared_slices import Codes
    from rankscope.stats.slice_search import Candidate


FEWEST_CLUSTERS = 10
"""The minimum number of clusters for a reliable bootstrap."""


def confirm(
    windows: tuple[QueryColumns, QueryColumns],
    groups: tuple[Codes, Codes],
    clusters: ClusterBags,
    found: Sequence[tuple[Candidate, Slice]],
    interval: Interval,
    *,
    sign: float,
) -> tuple[FoundSlice, ...]:
    """Return the result of the held-out check for each slice that was found.

    A slice is confirmed if the interval of its excess over the other queries is on the expected
    side of 0, at a level that holds for all found slices together, and if it has enough clusters.

    Args:
        windows: The queries.
        groups: The group of each query, by window: the slices in the order in which they were
            found, followed by all other queries.
        clusters: The half and the bag of each query.
        found: The slices that were found.
        interval: The settings of the intervals.
        sign: The direction of the search.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if not found:
        return ()
    many = len(found)
    candidates = [candidate for candidate, _ in found]
    kept = [
        np.where(is_searched, -1, codes)
        for is_searched, codes in zip(clusters.is_searched, groups, strict=True)
    ]
    drawn = Grouped(clusters.bags, (kept[0], kept[1]), clusters.count, many + 1)
    totals = drawn.add_up([(windows[0].value, windows[1].value)])

    def measure(summed: NDArray[np.float64]) -> NDArray[np.float64]:
        counts, sums = summed[..., 0, :, :], summed[..., 1, :, :]
        split = split_change(counts, sums)
        each = [take_contribution(split, at, one) for at, one in enumerate(candidates)]
        each += [_take_excess(counts, sums, at, one) for at, one in enumerate(candidates)]
        return np.stack(each, axis=-1)

    value = measure(totals.sum(axis=0)).tolist()
    members = totals[:, 0].any(axis=1).sum(axis=0).tolist()
    # As many intervals decide at once; each errs so much less often (Bonferroni).
    levels = [interval.level] * many + [1 - (1 - interval.level) / many] * many
    ends = find_intervals(totals, measure, interval, levels)
    return tuple(
        FoundSlice(
            slice=name,
            by=candidate.by,
            excess=candidate.excess,
            unsearched_contribution=value[at],
            unsearched_interval=ends[at],
            unsearched_excess=value[many + at],
            unsearched_excess_interval=ends[many + at],
            unsearched_clusters=members[at],
            is_confirmed=members[at] >= FEWEST_CLUSTERS and is_beyond(ends[many + at], sign),
        )
        for at, (candidate, name) in enumerate(found)
    )


def take_contribution(split: ChangeSplit, group: int, candidate: Candidate) -> NDArray[np.float64]:
    """Return the contribution of a slice through its mean or share, as it was found for."""
    if candidate.by == "within":
        return split.within[..., group]
    if candidate.is_steady:
        return split.mix[..., group]
    parts = split.mix + split.within + split.entered + split.left
    contribution: NDArray[np.float64] = parts[..., group]
    return contribution


def contribution_of(change: SliceChange, candidate: Candidate) -> float:
    """Return the same contribution over all queries."""
    if candidate.by == "within":
        return change.within
    return change.mix if candidate.is_steady else change.total


def _take_excess(
    counts: NDArray[np.float64], sums: NDArray[np.float64], group: int, candidate: Candidate
) -> NDArray[np.float64]:
    """Return the excess of a slice over later slices and all other queries."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    inside = counts[..., group : group + 1], sums[..., group : group + 1]
    later = (
        counts[..., group + 1 :].sum(axis=-1, keepdims=True),
        sums[..., group + 1 :].sum(axis=-1, keepdims=True),
    )
    whole = np.maximum(counts.sum(axis=-1), 1)
    excess = measure_excess(inside, later, whole, np.array([candidate.is_steady]))
    return (excess.within if candidate.by == "within" else excess.mix)[..., 0]


def is_beyond(ends: Ends, sign: float) -> bool:
    """Return whether an interval is on one side of 0."""
    return ends is not None and (ends[1] < 0 if sign < 0 else ends[0] > 0)
