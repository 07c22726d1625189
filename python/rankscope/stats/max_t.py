"""Tests of many hypotheses at once, whose largest statistic is calibrated by reassigning clusters.

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

from rankscope._core import Reassignments
from rankscope.deferred import np
from rankscope.engine.requests import count_threads
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

PERMUTATIONS = 199


@record(frozen=True, slots=True)
class Effects:
    """What clusters add to the statistics of hypotheses, as the entries of a sparse matrix.

    A hypothesis about a slice only lists the clusters that have values in the slice.

    Args:
        starts: Where the entries of each hypothesis start, and the number of all entries.
        clusters: The cluster of each entry.
        amounts: What the cluster adds if its sign is 1, and takes off if it is -1.
    """

    starts: NDArray[np.int64]
    clusters: NDArray[np.int64]
    amounts: Numbers

    @classmethod
    def of(cls, dense: Numbers) -> Effects:
        """Return the effects in a matrix of one row per cluster and one column per hypothesis."""
        clusters, hypotheses = dense.shape
        return cls(
            np.arange(hypotheses + 1, dtype=np.int64) * clusters,
            np.tile(np.arange(clusters, dtype=np.int64), hypotheses),
            np.ascontiguousarray(dense.T, dtype=np.float64).reshape(-1),
        )

    @property
    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Numbers]:
        """The columns, as the core takes them."""
        return self.starts, self.clusters, self.amounts


@record(frozen=True, slots=True)
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
        found = np.frombuffer(self.drawn.standardize(Effects.of(effects).columns))
        return found.reshape(self.permutations + 1, effects.shape[1])


def reassign(
    is_before: NDArray[np.bool_], is_after: NDArray[np.bool_], permutations: int, seed: int
) -> Reassignment:
    """Draw reassignments of clusters."""
    sides = [np.ascontiguousarray(side).view(np.uint8) for side in (is_before, is_after)]
    drawn = Reassignments(sides[0], sides[1], permutations, seed)
    return Reassignment(drawn, is_before & is_after, permutations)


@record(frozen=True, slots=True)
class MaxT:
    """Statistics of hypotheses, and their p-values adjusted for the number of hypotheses.

    Args:
        statistics: The statistic of each hypothesis, in standard errors.
        p_values: The p-value of each hypothesis. If those up to a level are rejected, the
            probability that any of them is rejected wrongly is at most that level.
    """

    statistics: Numbers
    p_values: Numbers


def max_t(
    effects: Numbers | Effects,
    *,
    clusters: int | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    threads: int | None = None,
    check: Callable[[], None] | None = None,
) -> MaxT:
    """Test whether the mean of each column is 0, with p-values that hold for all columns together.

    Each hypothesis is compared with the largest statistic of those that are not larger than it
    (Westfall and Young's step-down procedure).

    Examples:
        >>> import numpy as np
        >>> random = np.random.default_rng(1)
        >>> differences = random.normal(0, 0.1, (50, 3)) + np.array([0, 0.08, 0])
        >>> found = max_t(differences)
        >>> (found.p_values <= 0.05).tolist()
        [False, True, False]
    """
    if isinstance(effects, Effects):
        shape: tuple[int, ...] = (clusters or 0, len(effects.starts) - 1)
    else:
        effects = np.asarray(effects, dtype=np.float64)
        shape = effects.shape
    is_enough = len(shape) == 2 and shape[0] >= 2 and shape[1] >= 1
    amounts = effects.amounts if isinstance(effects, Effects) else effects
    if not is_enough or not np.isfinite(amounts).all():
        raise UsageError(
            f"expected two or more rows of finite numbers, found an array of shape {shape}",
            hint="pass one row per cluster and one column per hypothesis",
            code="bad_parameter",
        )
    given = effects if isinstance(effects, Effects) else Effects.of(effects)
    is_there = np.ones(shape[0], dtype=np.bool_)
    draws = reassign(is_there, is_there, permutations, seed)
    statistics, larger = draws.drawn.max_t(given.columns, count_threads(threads), check)
    return MaxT(np.array(statistics), (np.array(larger) + 1) / (permutations + 1))
