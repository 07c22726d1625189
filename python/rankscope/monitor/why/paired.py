"""The change of queries that occur in both windows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankscope._settings import Interval
from rankscope._stats.sums import below, number_texts, scatter, sum_all, sum_groups, take_high_part
from rankscope.monitor.why.cluster_bags import MOST_BAGS
from rankscope.monitor.why.cluster_bootstrap import Ends, find_intervals
from rankscope.monitor.why.decomposition import divide, split_change
from rankscope.monitor.why.decomposition_result import measure_losses
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.result import Paired
from rankscope.monitor.why.shared_slices import SharedKeys

Numbers = NDArray[np.float64]


def pair_queries(
    before: QueryColumns, after: QueryColumns, keys: SharedKeys, interval: Interval
) -> Paired | None:
    """Return the change of the queries whose key occurs in both windows.

    Each key is a slice of the change between the windows, weighted by its mean share of queries.
    The contribution of these queries is therefore a part of the whole change.
    """
    common = keys.common
    if not len(common):
        return None
    windows = (before, after)
    values = _sum_by_key([window.value for window in windows], keys)
    split = split_change(keys.counts, values)
    weight = divide(keys.counts, keys.counts.sum(axis=-1, keepdims=True)).mean(axis=0)[common]
    whole = sum_all(weight)
    means = divide(values, keys.counts)[:, common]
    ideals = divide(_sum_by_key([window.ideal for window in windows], keys), keys.counts)
    by_ideal = _split_by_ideal(means, ideals[:, common])
    within = sum_all(split.within)

    def measure(columns: list[Numbers]) -> float:
        lost = split_change(keys.counts, _sum_by_key(columns, keys)).within
        return 0.0 - sum_all(lost) / whole

    return Paired(
        keys=len(common),
        queries=(int(keys.counts[0, common].sum()), int(keys.counts[1, common].sum())),
        means=(sum_all(weight * means[0]) / whole, sum_all(weight * means[1]) / whole),
        change=within / whole,
        interval=_bootstrap(split.within[common], weight, common, keys, interval),
        losses=measure_losses(windows, measure),
        by_ideal=sum_all(weight * by_ideal) / whole,
        other_ideal=int((ideals[0, common] != ideals[1, common]).sum()),
        within=within,
        mix=sum_all(split.mix),
        entered=sum_all(split.entered),
        left=sum_all(split.left),
    )


def _sum_by_key(columns: list[Numbers], keys: SharedKeys) -> Numbers:

    count = len(keys.texts)
    return np.array(
        [
            sum_groups(column, codes, count + 1)[:count]
            for column, codes in zip(columns, keys.codes, strict=True)
        ]
    )


def _split_by_ideal(means: Numbers, ideals: Numbers) -> Numbers:
    """Return the contribution of each key through its ideal, if values are gain / ideal.

    It is the mean of replacing the ideal before and after replacing the gain. For a key without an
    ideal in one window, the whole change is due to the ideal.
    """
    gained = means * ideals
    is_there = (ideals > 0).all(axis=0)
    inverse = 1 / np.where(ideals > 0, ideals, 1.0)
    exchanged: Numbers = gained.mean(axis=0) * (inverse[1] - inverse[0])
    return np.where(is_there, exchanged, means[1] - means[0])


def _bootstrap(
    within: Numbers,
    weight: Numbers,
    common: NDArray[np.int64],
    keys: SharedKeys,
    interval: Interval,
) -> Ends:
    """Return the interval of the mean change, from a bootstrap over keys."""
    texts = [keys.texts[place] for place in common.tolist()]
    count = min(len(texts), MOST_BAGS)
    if len(texts) <= MOST_BAGS:
        order = sorted(range(count), key=texts.__getitem__)
        bags = np.empty(count, dtype=np.int64)
        bags[order] = np.arange(count)
    else:
        bags = below(scatter(number_texts(texts), 3 * interval.seed + 2), count)
    sizes = np.bincount(bags, minlength=count)
    terms = int(sizes.max()) * count
    totals = np.array(
        [
            np.bincount(bags, take_high_part(column, terms), minlength=count)
            for column in (within, weight)
        ]
    ).T[sizes > 0]
    tiny = np.finfo(np.float64).tiny

    def change(summed: Numbers) -> Numbers:
        return summed[..., :1] / np.maximum(summed[..., 1:], tiny)

    return find_intervals(totals, change, interval, [interval.level])[0]
