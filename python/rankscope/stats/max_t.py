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

from rankscope.errors import UsageError
from rankscope.records import record
from rankscope.stats.exact_sums import take_high_part
from rankscope.stats.scatter import scatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

PERMUTATIONS = 199
STREAM = 5
"""Which random numbers of a seed are used; others are drawn for intervals."""
TINY = 1e-300


@record(frozen=True, slots=True)
class Reassignment:
    """Random reassignments of clusters to two sides.

    Args:
        signs: The side of each cluster in each reassignment, 1 or -1; a cluster with values on both
            sides has 1 where they aren't swapped. The first row is what was observed.
        is_paired: Which clusters have values on both sides.
    """

    signs: Numbers
    is_paired: NDArray[np.bool_]

    @property
    def permutations(self) -> int:
        """The number of reassignments, without what was observed."""
        return len(self.signs) - 1

    def find_moments(self, effects: Numbers) -> tuple[Numbers, Numbers]:
        """Return the mean and the variance of the sums over all reassignments."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        paired = effects if self.is_paired.all() else effects[self.is_paired]
        variance = np.einsum("ij,ij->j", paired, paired)
        single = effects[~self.is_paired]
        many = len(single)
        if many < 2:
            return single.sum(axis=0) * (
                self.signs[0, ~self.is_paired].sum() / max(many, 1)
            ), variance
        on_one = float((self.signs[0, ~self.is_paired] > 0).mean())
        mean = (2 * on_one - 1) * single.sum(axis=0)
        spread = np.square(single - single.mean(axis=0)).sum(axis=0)
        return mean, variance + 4 * on_one * (1 - on_one) * spread * many / (many - 1)

    def standardize(
        self, effects: Numbers, moderate: Callable[[Numbers], Numbers] | None = None
    ) -> Numbers:
        """Return the statistic of each reassignment and hypothesis: a sum in standard errors.

        Args:
            effects: What each cluster adds to the statistic of each hypothesis if its sign is 1,
                and takes off if it is -1. The first axis is that of clusters.
            moderate: Returns the variances to divide by for those over all reassignments (default:
                the same). They must not depend on how clusters are assigned.

        Returns:
            One row per reassignment, the first for what was observed. It doesn't depend on the
            order of the clusters or the number of threads.
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        # Rounded so that the sum over any clusters is exact, in whatever order it is added up.
        exact = np.ascontiguousarray(take_high_part(effects, len(effects)))
        mean, own = self.find_moments(exact)
        variance = own if moderate is None else moderate(own)
        standard: Numbers = self.signs @ exact
        standard -= mean
        standard /= np.sqrt(np.maximum(variance, TINY))
        return standard


def reassign(
    is_before: NDArray[np.bool_], is_after: NDArray[np.bool_], permutations: int, seed: int
) -> Reassignment:
    """Draw reassignments of clusters.

    Args:
        is_before: Which clusters have values before, or on the first side.
        is_after: Which have values after, or on the second side.
        permutations: How many reassignments to draw.
        seed: The random seed.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    count = len(is_before)
    is_paired = is_before & is_after
    single = np.flatnonzero(~is_paired)
    numbers = scatter(np.arange(permutations * count, dtype=np.uint64), STREAM + 8 * seed)
    numbers = numbers.reshape(permutations, count)
    signs = np.empty((permutations + 1, count))
    signs[0] = np.where(is_after, 1.0, -1.0)
    signs[1:] = np.where(numbers >> np.uint64(63), 1.0, -1.0)
    # The clusters with the smallest random numbers get the second side, as many as it had.
    order = numbers[:, single].argsort(axis=1, kind="stable")
    drawn = np.empty(order.shape)
    sides = np.where(np.arange(len(single)) < int(is_after[single].sum()), 1.0, -1.0)
    np.put_along_axis(drawn, order, np.broadcast_to(sides, order.shape), axis=1)
    signs[1:, single] = drawn
    return Reassignment(signs, is_paired)


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


def max_t(effects: Numbers, *, permutations: int = PERMUTATIONS, seed: int = 0) -> MaxT:
    """Test whether the mean of each column is 0, with p-values that hold for all columns together.

    Args:
        effects: One row per cluster, such as a query or a user, and one column per hypothesis, such
            as the difference of two systems. The rows are independent.
        permutations: The number of random sign flips.
        seed: The random seed.

    Raises:
        UsageError: There are fewer than two rows or no columns, or the numbers aren't finite.

    Examples:
        >>> import numpy as np
        >>> random = np.random.default_rng(1)
        >>> differences = random.normal(0, 0.1, (50, 3)) + np.array([0, 0.08, 0])
        >>> found = max_t(differences)
        >>> (found.p_values <= 0.05).tolist()
        [False, True, False]
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    given = np.asarray(effects, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1 or not np.isfinite(given).all():
        raise UsageError(
            f"expected two or more rows of finite numbers, found an array of shape {given.shape}",
            hint="pass one row per cluster and one column per hypothesis",
            code="bad_parameter",
        )
    is_there = np.ones(len(given), dtype=np.bool_)
    found = reassign(is_there, is_there, permutations, seed).standardize(given)
    return MaxT(found[0], step_down(np.abs(found)))


def step_down(statistics: Numbers) -> Numbers:
    """Return the adjusted p-value of each hypothesis.

    Each hypothesis is compared with the largest statistic of those that are not larger than it
    (Westfall and Young's step-down procedure).

    Args:
        statistics: One row per reassignment, the first for what was observed.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    order = np.argsort(-statistics[0], kind="stable")
    largest = np.maximum.accumulate(statistics[1:, order[::-1]], axis=1)[:, ::-1]
    counts = 1 + (largest >= statistics[0, order]).sum(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(counts / len(statistics))
    return adjusted
