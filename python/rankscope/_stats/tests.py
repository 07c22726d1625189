"""Tests of many pairs: by sign flips, by ranks, and by t; and corrections of p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from rankscope._core import average_units, count_flips, normal_tails, student_tails
from rankscope._core import invert_flips as invert
from rankscope.errors import UsageError

Numbers: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = tuple[NDArray[np.int64], Numbers, int, list[tuple[int, int]]]


class Drawn(TypedDict, total=False):
    """The arguments that decide which permutations are drawn; see `Sampling`."""

    permutations: int | None
    seed: int
    slices: int
    threads: int | None
    check: Callable[[], None] | None


Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]


CHOICES = (99_999, 9_999, 999)
"""The default number of permutations is the first of these that is quick enough, or the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The outcome of tests, with one entry per pair: the pairs of the first family, and so on."""

    statistic: Numbers
    p: Numbers
    smallest_p: Numbers  # that these data could give; 0 without such a limit
    max_t: Numbers | None = None  # corrected by Westfall and Young's step-down max-T
    test: str
    permutations: int = 0  # random ones; 0 if none were needed
    is_exact: bool = False
    warnings: tuple[str, ...] = ()

    __test__ = False  # not a class of tests, for pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a test draws permutations."""

    permutations: int | None = None
    seed: int = 0
    slices: int = 0
    threads: int = 1
    check: Callable[[], None] | None = None  # called often; it stops the test by raising

    def choose(self, for_all: int, for_each: int, most: int) -> int:
        """Return the number of permutations to draw.

        The default is the largest of 99,999, 9,999 and 999 that takes at most so many operations
        for one measure, and 999 if none does. It doesn't depend on which measures are compared
        together.

        Examples:
            >>> sampling = Sampling()
            >>> sampling.choose(1_000, 10, 10**9), sampling.choose(100_000, 10, 10**10)
            (99999, 9999)
        """
        if self.permutations is not None:
            return self.permutations
        # Each query is in one slice.
        work = for_all * (2 if self.slices else 1) + for_each * (1 + self.slices)
        return next((count for count in CHOICES if count * work <= most), CHOICES[-1])


def correct(p: NDArray[np.float64], method: Correction = "holm") -> NDArray[np.float64]:
    """Correct p-values for the number of tests.

    Examples:
        >>> import numpy as np
        >>> p = np.array([0.01, 0.04, np.nan, 0.03])
        >>> correct(p, "holm").round(4).tolist()
        [0.03, 0.06, nan, 0.06]
        >>> correct(p, "bonferroni").round(4).tolist()
        [0.03, 0.12, nan, 0.09]
        >>> correct(p, "bh").round(4).tolist()
        [0.03, 0.04, nan, 0.04]
    """
    corrected = np.array(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(corrected))
    if method == "none" or len(tested) == 0:
        return corrected
    order = tested[np.argsort(corrected[tested], kind="stable")]
    count = len(order)
    if method == "bonferroni":
        corrected[order] = np.minimum(corrected[order] * count, 1.0)
    elif method == "holm":
        scaled = corrected[order] * np.arange(count, 0, -1)
        corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    else:
        scaled = corrected[order] * count / np.arange(1, count + 1)
        corrected[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return corrected


MOST_ENUMERATED = 16
"""All flips are counted where at most so many units differ."""
MOST_WORK = 20_000_000_000
"""About how many additions are quick enough: a few seconds of one core."""


def test_by_flips(families: Sequence[Family], sampling: Sampling) -> Tested:
    """Test all pairs of all families with the same sign flips.

    Each unit has the same flips in all families, even if others don't include it, so that the
    p-value of a pair doesn't depend on the other families. All flips are counted for a pair
    with at most 16 differing units. Otherwise, p = (1 + flips as large) / (1 + flips), which is
    never 0 (Phipson and Smyth, *Permutation p-values should never be zero*, 2010). A flip is as
    large if its sum differs from the one observed only by rounding: by less than 1e-12 of the
    sum of the absolute values of both systems. The statistic, which max-T compares, is the sum
    of differences in standard errors under random flips: divided by the root of their sum of
    squares.
    """
    columns = [_read(family)[0] for family in families]
    count = families[0].values.shape[1] if families else 0
    flips = count_drawn(families, sampling)
    statistics, units, larger, largest, total, is_all = count_flips(
        columns, count, flips, sampling.seed, sampling.threads, sampling.check
    )
    counts = np.array(larger, dtype=np.float64).reshape(-1, 2)
    differing = np.array(units, dtype=np.float64)
    is_exact = differing <= MOST_ENUMERATED
    # Flipping all signs changes no size, so at least two flips are as large.
    exact = np.exp2(1 - np.clip(differing, 1, MOST_ENUMERATED))
    return Tested(
        statistic=np.array(statistics, dtype=np.float64),
        p=counts[:, 0] / counts[:, 1],
        smallest_p=np.where(is_exact, exact, 1 / (flips + 1)),
        max_t=np.array(largest, dtype=np.float64) / total,
        test="permutation",
        permutations=0 if is_all else flips,
        is_exact=bool(is_exact.all()),
    )


@dataclass(frozen=True, slots=True)
class Inverted:
    """What a test of sign flips says about all mean differences that there could be."""

    lower: float  # the lowest difference that isn't rejected
    upper: float
    p_below: float  # the p-value of minus the margin
    p_above: float


NO_FLIPS = Inverted(-math.inf, math.inf, 1.0, 1.0)
"""What no flips say: nothing is rejected."""


def invert_flips(
    families: Sequence[Family], sampling: Sampling, *, level: float, margin: float
) -> list[Inverted]:
    """Return which mean differences the test doesn't reject, for all pairs of all families.

    They are what has a p-value of 1 - level or more, with the flips of `test_by_flips`: of values
    from which a difference is taken off, that test gives the p-value of the difference.
    """
    count = families[0].values.shape[1] if families else 0
    flips = count_drawn(families, sampling)
    columns = [*map(_read, families)]
    seed, threads = sampling.seed, sampling.threads
    pairs = invert(columns, count, level, margin, flips, seed, threads, sampling.check)
    return [Inverted(*pair) for pair in pairs]


def count_drawn(families: Sequence[Family], sampling: Sampling) -> int:
    """Return how many flips are drawn where not all are counted."""
    systems, count = families[0].values.shape if families else (0, 0)
    pairs = max((len(family.pairs) for family in families), default=0)
    # A block of flips takes a pass over the units, and a transform of each system.
    return sampling.choose(systems * count // 256, 12 * systems + pairs, MOST_WORK)


def _read(family: Family) -> tuple[Columns, Numbers]:
    """Return the units of a family as the core takes them, and their sizes."""
    units, values, sizes = family.kept()
    return (units, values.ravel(), len(values), list(family.pairs)), sizes


MOST_EXACT = 50
"""Up to so many differences, the distribution of rank sums is computed."""
MANY_QUERIES = 1_000
"""With more queries, the test gets a warning."""
MANY_ZEROS = 0.3
"""So does a larger share of queries without a difference."""

OF_SYMMETRY = (
    "the Wilcoxon test asks whether the differences are symmetric around 0, not whether their mean "
    "is 0; skewed differences can be significant although the means are equal"
)


def test_by_ranks(families: Sequence[Family]) -> Tested:
    """Test all pairs of all families with the Wilcoxon signed-rank test.

    Differences of 0 are left out, as Wilcoxon did (*Individual comparisons by ranking methods*,
    1945). The p-value is exact for up to 50 differences without ties. Otherwise, it is that of the
    normal approximation, with the variance corrected for ties and without a continuity correction.
    """
    differences = [column for family in families for column in family.differences()]
    statistic, p, smallest, is_exact = zip(*map(_rank, differences), strict=True)
    return Tested(
        statistic=np.array(statistic),
        p=np.array(p),
        smallest_p=np.array(smallest),
        test="wilcoxon",
        is_exact=all(is_exact),
        warnings=(OF_SYMMETRY, *_warn(families, differences)),
    )


def _rank(differences: Numbers) -> tuple[float, float, float, bool]:
    """Return the smaller sum of ranks, its p-value, the smallest one, and if they are exact."""
    differing = differences[differences != 0]
    count = len(differing)
    if count == 0:
        return 0.0, 1.0, 1.0, True
    # Sizes that differ only by rounding are tied.
    scale = float(np.abs(differing).max())
    sizes, places, ties = np.unique(
        np.round(np.abs(differing) / scale, 12), return_inverse=True, return_counts=True
    )
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[places]
    upper = float(ranks[differing > 0].sum())
    total = count * (count + 1) / 2
    lower = min(upper, total - upper)
    if len(sizes) == count <= MOST_EXACT:
        return lower, min(1.0, 2 * _share_up_to(int(lower), count)), 2.0 ** (1 - count), True
    variance = count * (count + 1) * (2 * count + 1) / 24 - float((ties**3 - ties).sum()) / 48
    deviation = math.sqrt(variance)
    p = normal_tails((lower - total / 2) / deviation)
    return lower, p, normal_tails(total / 2 / deviation), False


def _share_up_to(highest: int, count: int) -> float:
    """Return the share of all signs whose sum of positive ranks is at most so high."""
    ways = [1] + [0] * highest
    for rank in range(1, count + 1):
        for total in range(highest, rank - 1, -1):
            ways[total] += ways[total - rank]
    return float(sum(ways) / 2**count)


def _warn(families: Sequence[Family], differences: Sequence[Numbers]) -> Iterator[str]:
    """Yield what the sizes and the zeros of the data warn of."""
    most = max((int((family.sizes > 0).sum()) for family in families), default=0)
    if most > MANY_QUERIES:
        yield (
            f"with {most:,} queries, this test rejects equal means too often (Ihemelandu and "
            "Ekstrand, 2023); use the permutation test or the t test"
        )
    zeros = max((float((column == 0).mean()) for column in differences if len(column)), default=0)
    if zeros > MANY_ZEROS:
        yield f"this test leaves out queries without a difference, up to {zeros:.0%} of them"


FEW = "with fewer than two queries or clusters, there is no standard error and no p-value"
FEWEST_DEGREES = 4.0
"""With fewer effective degrees of freedom, clusters have no t."""
UNEQUAL = (
    "the clusters are too few, or too unequal in size, for a t test: it needs 4 or more effective "
    "degrees of freedom; use the permutation test"
)
CONSTANT = "all differences of a pair are equal, so there is no standard error and no p-value"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """The mean of differences, and its standard error."""

    mean: float
    standard_error: float
    degrees: float  # effective ones: Satterthwaite's

    @property
    def statistic(self) -> float:
        """The mean in standard errors; NaN if these can't be estimated."""
        if self.standard_error > 0:
            return self.mean / self.standard_error
        return 0.0 if self.mean == self.standard_error == 0 else math.nan


def average(differences: Numbers, sizes: Numbers) -> MeanDifference:
    """Return the mean of differences and its standard error.

    For clusters of unequal size, the error is the cluster-robust one known as CR2 (Bell and
    McCaffrey, *Bias reduction in standard errors for linear regression with multi-stage samples*,
    2002).

    Examples:
        >>> import numpy as np
        >>> estimate = average(np.array([0.0, 0.2, 0.1]), np.ones(3))
        >>> round(estimate.mean, 4), round(estimate.standard_error, 4), estimate.degrees
        (0.1, 0.0577, 2.0)
    """
    if not sizes.any():
        return MeanDifference(mean=math.nan, standard_error=math.nan, degrees=0)
    mean, error, degrees = average_units(differences, sizes)
    return MeanDifference(mean=mean, standard_error=error, degrees=degrees)


def test_by_t(families: Sequence[Family]) -> Tested:
    """Test all pairs of all families with the paired t test.

    A pair without any difference has p = 1. There is no p-value where there are fewer than two
    units, where clusters have too few effective degrees of freedom, or where all differences are
    equal but not 0.
    """
    means, p = [], []
    warnings = dict.fromkeys((FEW, CONSTANT, UNEQUAL), False)
    for family in families:
        sizes = family.kept()[2]
        for differences in family.differences():
            mean = average(differences, sizes)
            is_enough = not family.is_clustered or mean.degrees >= FEWEST_DEGREES
            means.append(mean.statistic)
            p.append(student_tails(mean.statistic, mean.degrees) if is_enough else math.nan)
            warnings[FEW] |= mean.degrees == 0
            warnings[CONSTANT] |= mean.degrees > 0 and math.isnan(mean.statistic)
            warnings[UNEQUAL] |= mean.degrees > 0 and not is_enough
    return Tested(
        statistic=np.array(means),
        p=np.array(p),
        smallest_p=np.zeros(len(p)),
        test="t",
        warnings=tuple(warning for warning, is_shown in warnings.items() if is_shown),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The values of systems on independent units, for one measure on one slice.

    A unit is a query, or a cluster of queries that depend on each other, such as those of a user.
    """

    values: Numbers  # one row per system and one column per unit; of a cluster, the sum
    sizes: Numbers  # how many queries a unit has in this slice; 0 if it isn't in the slice
    pairs: Sequence[tuple[int, int]]  # the rows of the baseline and of the run
    measure: str = ""

    def __post_init__(self) -> None:
        if not np.isfinite(self.values[:, self.sizes > 0]).all():
            raise UsageError(
                "expected finite values, found NaN or infinity",
                hint="set the size of units without a value to 0",
                code="bad_parameter",
            )

    @property
    def is_clustered(self) -> bool:
        """Whether a unit has several queries, or a weight."""
        return bool(((self.sizes != 0) & (self.sizes != 1)).any())

    def kept(self) -> tuple[NDArray[np.int64], Numbers, Numbers]:
        """Return the units of the slice, their values, and their sizes."""
        units = np.flatnonzero(self.sizes > 0)
        values = np.ascontiguousarray(self.values[:, units], dtype=np.float64)
        return units, values, np.asarray(self.sizes[units], dtype=np.float64)

    def differences(self) -> Iterator[Numbers]:
        """Yield the differences of each pair, 0 where values are equal except for rounding."""
        _, values, _ = self.kept()
        for baseline, run in self.pairs:
            differences = values[run] - values[baseline]
            scale = np.maximum(np.abs(values[run]), np.abs(values[baseline]))
            differences[np.abs(differences) <= CLOSE * scale] = 0.0
            yield differences


CLOSE = 1e-12
"""Values that differ by less, relative to the larger one, differ by rounding only."""
