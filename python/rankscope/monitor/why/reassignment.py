"""Reassignments of clusters, by which tests of many hypotheses at once are calibrated.

Clusters, such as users, are reassigned as a whole between two sides, such as the windows before and
after a release or two systems. Under the null hypothesis, this changes nothing about the statistics
together, however they depend on each other. The share of reassignments whose largest statistic is
as large as the one observed is therefore a p-value for all hypotheses at once (Westfall and Young,
*Resampling-Based Multiple Testing*, 1993). Unlike Bonferroni's correction, it loses nothing when
hypotheses overlap, as slices do.

A cluster that has values on both sides swaps them. Clusters with values on one side only exchange
their sides at random, so that each side keeps its number of clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._core import Reassignments

Numbers: TypeAlias = NDArray[np.float64]


PERMUTATIONS = 199


@dataclass(frozen=True, slots=True)
class Reassignment:
    """Random reassignments of clusters to two sides.

    Args:
        drawn: The reassignments; the first one is what was observed.
        is_paired: Which clusters have values on both sides.
        permutations: The number of reassignments, without what was observed.
    """

    drawn: Reassignments
    is_paired: NDArray[np.bool_]
    permutations: int

    def standardize(self, effects: Numbers) -> Numbers:
        """Return the statistic of each reassignment and hypothesis: a sum in standard errors."""
        clusters, hypotheses = effects.shape
        # The core takes sparse columns: where their entries start, the cluster and amount of each.
        starts = np.arange(hypotheses + 1, dtype=np.int64) * clusters
        rows = np.tile(np.arange(clusters, dtype=np.int64), hypotheses)
        amounts = np.ascontiguousarray(effects.T, dtype=np.float64).reshape(-1)
        found = np.frombuffer(self.drawn.standardize((starts, rows, amounts)))
        return found.reshape(self.permutations + 1, hypotheses)


def reassign(
    is_before: NDArray[np.bool_], is_after: NDArray[np.bool_], permutations: int, seed: int
) -> Reassignment:
    """Draw reassignments of clusters."""
    sides = [np.ascontiguousarray(side).view(np.uint8) for side in (is_before, is_after)]
    drawn = Reassignments(sides[0], sides[1], permutations, seed)
    return Reassignment(drawn, is_before & is_after, permutations)
