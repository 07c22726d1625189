"""Search for the slices whose share of the queries changed, and so moved the mean.

A shift of the mix isn't a change of quality, so it is reported apart from causes. A slice moves the
mean by its share if its share changed and if it is better or worse than the other queries; the
weaker of the two decides.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._stats.sums import sum_all, sum_groups
from rankscope.monitor.why.decomposition import divide
from rankscope.monitor.why.reassignment import Reassignment
from rankscope.monitor.why.slice_search import FEWEST_CLUSTERS, Candidate, Rows, SearchChoices
from rankscope.monitor.why.slice_table import SliceGrid

Numbers: TypeAlias = NDArray[np.float64]


LEAST_PART = 0.1
"""The part of the whole change below which the share of a slice isn't worth a line."""


def search_shifts(
    rows: Rows, choices: SearchChoices, *, change: float, whole: int
) -> list[Candidate]:
    """Return the slices of one attribute that moved the mean by their share, strongest first."""
    candidates: list[Candidate] = []
    while min(rows.sizes) and len(candidates) < choices.most_found:
        candidate = _find_shift(
            rows, choices, least=LEAST_PART * abs(change) * whole / sum(rows.sizes)
        )
        if candidate is None:
            break
        candidates.append(candidate)
        rows = rows.remove(candidate.place)
    return candidates


def _find_shift(rows: Rows, choices: SearchChoices, *, least: float) -> Candidate | None:

    bags = len(choices.draws.is_paired)
    whole = np.array(rows.sizes, dtype=np.float64)
    by_bag = [np.bincount(each, minlength=bags) for each in rows.bags]
    totals = np.array([sum_all(each) for each in rows.values])
    largest = np.zeros(choices.draws.permutations + 1)
    listed = []
    for axis, (codes, size) in enumerate(zip(rows.codes, choices.sizes, strict=True)):
        if choices.check is not None:
            choices.check()
        grid = _count(axis, codes, rows.values, size)
        enough = grid.counts >= choices.support
        shares = grid.counts / whole[:, None]
        # Where a mean is unknown in a window, its share must have at least doubled or halved.
        has_moved = 2 * shares.min(axis=0) < shares.max(axis=0)
        is_steady = np.asarray(enough.all(axis=0))
        can = is_steady | (enough.any(axis=0) & has_moved)
        can &= grid.counts.sum(axis=0) < whole.sum()
        # If a version is only in one window, it was replaced, so shares of versions say nothing.
        if axis in choices.rankers and (enough[0] ^ enough[1]).any():
            continue
        if not can.any():
            continue
        counts = [
            np.bincount(rows.bags[at] * size + codes[at], minlength=bags * size).reshape(-1, size)
            for at in (0, 1)
        ]
        can &= ((counts[0] + counts[1]) > 0).sum(axis=0) >= FEWEST_CLUSTERS
        standard = _standardize(counts, by_bag, whole, choices.draws)
        unlike = _compare_means(grid, rows, totals)
        strength = np.minimum(np.abs(standard), np.abs(unlike)) * can
        largest = np.maximum(largest, strength.max(axis=1))
        amounts, grown = _measure_mix(grid, whole, totals, is_steady)
        if choices.direction is not None:
            can &= amounts * choices.direction > 0
        mean_share = np.maximum(shares.mean(axis=0), np.finfo(np.float64).tiny)
        listed += [
            (
                float(abs(amounts[cell] * grown[cell]) / mean_share[cell]),
                float(strength[0, cell]),
                (axis, int(cell)),
                bool(is_steady[cell]),
                float(standard[0, cell]),
                float(grown[cell]),
            )
            for cell in np.flatnonzero(can & (np.abs(amounts) >= least))
        ]
    critical = float(np.quantile(largest[1:], 1 - choices.level, method="higher"))
    p_values = {
        place: float((largest[1:] >= strength).sum() + 1) / len(largest)
        for _, strength, place, *_ in listed
    }
    listed = [each for each in listed if p_values[each[2]] <= choices.level]
    if not listed:
        return None
    _, _, place, steady, statistic, grown_by = max(listed)
    half = abs(grown_by / statistic) * critical
    return Candidate(
        place=(place,),
        by="mix",
        is_steady=steady,
        statistic=statistic,
        p_value=p_values[place],
        difference=grown_by,
        interval=(grown_by - half, grown_by + half),
        is_confirmed=True,
    )


def _count(
    axis: int,
    codes: tuple[NDArray[np.int32], NDArray[np.int32]],
    values: tuple[Numbers, Numbers],
    size: int,
) -> SliceGrid:

    counts = [np.bincount(each, minlength=size).astype(np.float64) for each in codes]
    sums = [sum_groups(value, code, size) for value, code in zip(values, codes, strict=True)]
    return SliceGrid((axis,), size, np.array(counts), np.array(sums))


def _standardize(
    counts: list[NDArray[np.int64]],
    by_bag: list[NDArray[np.int64]],
    whole: Numbers,
    draws: Reassignment,
) -> Numbers:
    """Return the change of each share, in standard errors, for each reassignment."""
    share = (counts[0] + counts[1]).sum(axis=0) / whole.sum()
    before, after = (
        (each - bag[:, None] * share) / size
        for each, bag, size in zip(counts, by_bag, whole, strict=True)
    )
    both = (1 / whole).sum() / 2
    single = (before * whole[0] + after * whole[1]) * both
    return draws.standardize(np.where(draws.is_paired[:, None], after - before, single))


def _compare_means(grid: SliceGrid, rows: Rows, totals: Numbers) -> Numbers:
    """Return how far slices differ from the other queries of both windows, in standard errors."""
    count = grid.counts.sum(axis=0)
    rest = np.maximum(sum(rows.sizes) - count, 1)
    total = grid.sums.sum(axis=0)
    unlike = divide(total, count) - (totals.sum() - total) / rest
    values = np.sort(np.concatenate(rows.values))
    variance = max(float(values.var()), np.finfo(np.float64).tiny)
    standard: Numbers = unlike / np.sqrt(variance * (1 / np.maximum(count, 1) + 1 / rest))
    return standard


def _measure_mix(
    grid: SliceGrid, whole: Numbers, totals: Numbers, is_steady: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Return the contribution of slices through their share, and the change of the share."""
    shares = grid.counts / whole[:, None]
    means = divide(grid.sums, grid.counts)
    centre = (totals / whole).mean()
    grown = shares[1] - shares[0]
    one_sided = shares * (means - centre)
    amounts = np.where(
        is_steady, grown * (means.mean(axis=0) - centre), one_sided[1] - one_sided[0]
    )
    return amounts, grown
