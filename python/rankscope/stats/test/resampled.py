"""The bootstrap-shift test of a mean difference of 0, and the randomised Tukey HSD test."""

from __future__ import annotations

import math

from rankscope._core import count_ranges, count_shifted
from rankscope.deferred import np
from rankscope.settings.interval import stream_of
from rankscope.stats.test.student import average
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family, Numbers
    from rankscope.stats.test.tested import Sampling


MOST_WORK = 2_000_000_000
"""About how many additions are quick enough: a few seconds of one core."""


FEW_UNITS = 25


def test_by_bootstrap(families: Sequence[Family], sampling: Sampling) -> Tested:
    """Test all pairs of all families with the studentized bootstrap of shifted differences.

    The differences are shifted to a mean of 0, and units are drawn with replacement. The p-value is
    (1 + resamples whose t statistic is as large) / (1 + resamples). All pairs of a family use the
    same resamples, and each measure has its own. There is no p-value where the t test has none.
    """
    work = max((len(family.sizes) * (len(family.pairs) + 2) for family in families), default=0)
    resamples = sampling.choose(work, 0, MOST_WORK)
    tested = [_test_family(family, resamples, sampling) for family in families]
    statistic, p = (
        np.concatenate([each[at] for each in tested]) if tested else np.zeros(0) for at in (0, 1)
    )
    fewest = min((int((family.sizes > 0).sum()) for family in families), default=FEW_UNITS)
    is_few = fewest < FEW_UNITS
    return Tested(
        statistic=statistic,
        p=p,
        smallest_p=np.full(len(p), 1 / (resamples + 1)),
        test="bootstrap",
        permutations=resamples,
        warnings=(WITH_FEW.format(fewest),) if is_few else (),
    )


WITH_FEW = (
    "with {} queries or clusters, bootstrap samples repeat few values; the permutation test is "
    "more reliable"
)


def _test_family(family: Family, resamples: int, sampling: Sampling) -> tuple[Numbers, Numbers]:

    _, _, sizes = family.kept()
    differences = list(family.differences())
    found = [average(each, sizes) for each in differences]
    statistic = np.array([each.statistic for each in found])
    p = np.where(np.isnan(statistic), np.nan, 1.0)
    # Where nothing differs, p is 1.
    chosen = [at for at, each in enumerate(found) if each.standard_error > 0]
    if chosen:
        residuals = np.stack([differences[at] - found[at].mean * sizes for at in chosen], axis=1)
        counts = count_shifted(
            sizes,
            np.ascontiguousarray(residuals).ravel(),
            np.square(statistic[chosen]),
            resamples,
            stream_of(sampling.seed, family.measure),
            sampling.threads,
            sampling.check,
        )
        p[chosen] = (np.array(counts) + 1) / (resamples + 1)
    return statistic, p


MOST_SHUFFLED = 1_000_000_000
"""About how many shuffled values are quick enough: a few seconds of one core."""


def test_by_range(families: Sequence[Family], sampling: Sampling) -> Tested:
    """Test the pairs of each family with the randomised Tukey HSD test.

    Each permutation shuffles the values of every unit among the systems that are in a pair. The
    p-value of a pair is the share of permutations whose largest difference of means is at least
    that of the pair. Each measure has its own permutations. It is corrected for all pairs of
    the family, but not for several families. All permutations are counted where there are at
    most 65,536.
    """
    work = max((family.values.size for family in families), default=0)
    permutations = sampling.choose(work, 0, MOST_SHUFFLED)
    tested = [_test_by_range(family, permutations, sampling) for family in families]
    statistic, p, smallest = (
        np.concatenate([each[at] for each in tested]) if tested else np.zeros(0) for at in range(3)
    )
    is_exact = all(each[3] for each in tested)
    return Tested(
        statistic=statistic,
        p=p,
        smallest_p=smallest,
        test="tukey",
        permutations=0 if is_exact else permutations,
        is_exact=is_exact,
    )


def _test_by_range(
    family: Family, permutations: int, sampling: Sampling
) -> tuple[Numbers, Numbers, Numbers, bool]:
    """Return the differences of means, their p-values, the smallest ones, and if they are exact."""
    _, values, sizes = family.kept()
    systems = sorted({system for pair in family.pairs for system in pair})
    if not systems:
        return np.zeros(0), np.zeros(0), np.zeros(0), True
    pairs = [(systems.index(one), systems.index(other)) for one, other in family.pairs]
    rows = np.ascontiguousarray(values[systems].T)
    counts, total, is_all = count_ranges(
        rows.ravel(),
        len(systems),
        pairs,
        permutations,
        stream_of(sampling.seed, family.measure),
        sampling.threads,
        sampling.check,
    )
    queries = float(sizes.sum())
    sums = values.sum(axis=1)
    differences = [float(sums[other] - sums[one]) for one, other in family.pairs]
    statistic = np.array(differences) / queries if queries else np.full(len(pairs), np.nan)
    # Giving the systems other names in all units changes no range.
    alike = math.factorial(len(systems)) if is_all else 1
    smallest = np.full(len(pairs), min(1.0, alike / total))
    return statistic, np.array(counts) / total, smallest, is_all
