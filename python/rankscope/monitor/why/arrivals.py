"""New values in a slice whose mean changed, such as a version that was rolled out.

Queries with a new value have no counterpart before, so a search for changed means finds the whole
slice. This module finds the new values in it, and their part of its change, compared with the whole
slice before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankscope._stats.sums import sum_all, sum_groups
from rankscope.monitor.why.decomposition import divide
from rankscope.monitor.why.decomposition_result import SliceChange, measure_losses
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.result import Arrival
from rankscope.monitor.why.shared_slices import SliceAxis

LEAST_PART = 0.5
"""The part of the slice's change that a new value must cause to be reported."""
RANKERS = ("model", "version")
"""The attributes of the ranker rather than of the query. Their values in only one window are not
slices that entered or left, but new values in other slices. If several are new, the last is
reported."""
MOST_BEFORE = 0.1
"""A value is new if its share before is less than this part of its share after."""


def find_arrivals(
    windows: tuple[QueryColumns, QueryColumns],
    axes: Sequence[SliceAxis],
    chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    change: SliceChange,
    support: int,
) -> tuple[Arrival, ...]:
    """Return the values of other attributes that are new in a slice and cause its change.

    If the whole slice changed alike, a new value is not the cause. So if the slice has other
    queries after, the new value must differ from them, too.
    """
    before, after = change.means
    if before is None or after is None or before == after:
        return ()
    values = windows[1].value[chosen[1]]
    whole = change.queries
    total = after * whole[1]
    weight = sum(change.shares) / 2
    found = []
    for axis in axes:
        if axis.name in dict(change.slice):
            continue
        codes = [axis.codes[at][chosen[at]] for at in range(2)]
        counts = [np.bincount(each, minlength=len(axis.texts)) for each in codes]
        sums = sum_groups(values, codes[1], len(axis.texts))
        shares = [each / number for each, number in zip(counts, whole, strict=True)]
        for at in np.flatnonzero((counts[1] >= support) & (shares[0] < MOST_BEFORE * shares[1])):
            number = int(counts[1][at])
            mean, share = float(sums[at] / number), float(shares[1][at])
            part = share * (mean - before) / (after - before)
            others = whole[1] - number
            if part < LEAST_PART or (
                others >= support
                and (mean - (total - float(sums[at])) / others) / (mean - before) < LEAST_PART
            ):
                continue
            found.append(
                Arrival(
                    attribute=axis.name,
                    text=axis.texts[at],
                    queries=number,
                    share=share,
                    mean=mean,
                    part=part,
                    contribution=weight * share * (mean - before),
                    losses=_split_losses(windows, chosen, codes[1] == at, change),
                )
            )
    return tuple(sorted(found, key=_order, reverse=True))


def _order(arrival: Arrival) -> tuple[float, int, str, str]:
    # What replaced all else has a part of 1 but for rounding, be it seen as version or as model.
    known = RANKERS.index(arrival.attribute) if arrival.attribute in RANKERS else -1
    return round(arrival.part, 9), known, arrival.attribute, arrival.text


def _split_losses(
    windows: tuple[QueryColumns, QueryColumns],
    chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    is_new: NDArray[np.bool_],
    change: SliceChange,
) -> dict[str, float | None]:
    """Return the contribution of each loss of the new queries, compared with the slice before."""
    weight = sum(change.shares) / 2

    def measure(columns: list[NDArray[np.float64]]) -> float:
        before, after = (column[each] for column, each in zip(columns, chosen, strict=True))
        grown = sum_all(after[is_new]) - int(is_new.sum()) * sum_all(before) / len(before)
        return 0.0 - weight * grown / len(after)

    return measure_losses(windows, measure)


def measure_arrival(
    counts: NDArray[np.float64],
    sums: NDArray[np.float64],
    group: int,
    new_counts: NDArray[np.float64],
    new_sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the contribution of the new queries of a slice, compared with the slice before.

    The contributions of all values of an attribute add up to that of the slice's mean.
    """
    whole = np.maximum(counts.sum(axis=-1), 1)
    weight = (counts[..., group] / whole).mean(axis=-1)
    before = divide(sums[..., 0, group], counts[..., 0, group])
    part = divide(new_sums - new_counts * before, counts[..., 1, group])
    contribution: NDArray[np.float64] = np.where(counts[..., 0, group] > 0, weight * part, 0.0)
    return contribution
