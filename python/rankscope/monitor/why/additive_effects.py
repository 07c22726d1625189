"""What the values of attributes add to the mean, so that a shift of the mix isn't taken for a fall.

The means of one window's slices differ from each other. If queries move from good slices to bad
ones, the mean of a third slice falls although none of its queries is ranked worse. Residuals from
the additive effects of all attributes, estimated over both windows together, don't fall then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.why.document_regrets import Codes
from rankscope.monitor.why.slice_table import SliceGrid

Numbers: TypeAlias = NDArray[np.float64]


LEAST_OVERLAP = 0.5
"""The part of the queries whose values of an attribute must be common to both windows. An attribute
that tells the windows apart, such as a release, would take the whole change for its effect."""
ROUNDS = 200
CLOSE = 1e-12


def fit_effects(
    grids: Sequence[SliceGrid], sizes: Sequence[int], left_out: Collection[int] = ()
) -> list[Numbers]:
    """Return the additive effect of each value of each attribute, by least squares.

    The effects are fitted to the counts and sums of slices, one attribute after another, so the
    queries themselves aren't read again.
    """
    if not sizes:
        return []
    starts = np.concatenate([[0], np.cumsum(sizes)])
    spans = [slice(int(one), int(other)) for one, other in pairwise(starts)]
    together = np.zeros((int(starts[-1]), int(starts[-1])))
    counts, sums = np.zeros(int(starts[-1])), np.zeros(int(starts[-1]))
    for grid in grids:
        if len(grid.axes) == 1:
            counts[spans[grid.axes[0]]] = grid.counts.sum(axis=0)
            sums[spans[grid.axes[0]]] = grid.sums.sum(axis=0)
        else:
            one, other = (spans[axis] for axis in grid.axes)
            both = grid.counts.sum(axis=0).reshape(-1, grid.width)
            together[one, other], together[other, one] = both, both.T
    total = max(float(counts[spans[0]].sum()), 1.0)
    sums -= counts * (float(sums[spans[0]].sum()) / total)
    fitted = [
        spans[grid.axes[0]]
        for grid in grids
        if len(grid.axes) == 1
        and grid.axes[0] not in left_out
        and _measure_overlap(grid) >= LEAST_OVERLAP
    ]
    effects = np.zeros(len(counts))
    least = np.maximum(counts, 1)
    for _ in range(ROUNDS):
        last = effects.copy()
        for span in fitted:
            # Unlike a product of matrices, this doesn't depend on the number of threads.
            known = np.einsum("ij,j->i", together[span], effects)
            effects[span] = (sums[span] - known) / least[span]
        if np.abs(effects - last).max(initial=0.0) < CLOSE:
            break
    return [effects[span] for span in spans]


def _measure_overlap(grid: SliceGrid) -> float:
    """Return the part of the queries of both windows with the same values."""
    shares = grid.counts / np.maximum(grid.counts.sum(axis=1, keepdims=True), 1)
    return float(shares.min(axis=0).sum())


def take_residuals(values: Numbers, codes: Sequence[Codes], effects: Sequence[Numbers]) -> Numbers:
    """Return the values of a window minus the effects of their attributes."""
    residuals = values
    for code, effect in zip(codes, effects, strict=True):
        residuals = residuals - effect[code]
    return residuals
