"""The randomised Tukey HSD test of all pairs of a family."""

from __future__ import annotations

import math

from rankscope._core import count_ranges
from rankscope.deferred import np
from rankscope.settings.interval import stream_of
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family, Numbers
    from rankscope.stats.test.tested import Sampling

MOST_WORK = 1_000_000_000
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
    permutations = sampling.choose(work, 0, MOST_WORK)
    tested = [_test_family(family, permutations, sampling) for family in families]
    statistic, p, smallest = (
        np.concatenate([each[at] for each in tested]) if tested else np.zeros(0) for at in range(3)
    )
    is_exact = all(each[3] for each in tested)
    return Tested(
        statistic=statistic,
        p=p,
        smallest_p=smallest,
        max_t=np.full(len(p), np.nan),
        test="tukey",
        permutations=0 if is_exact else permutations,
        is_exact=is_exact,
    )


def _test_family(
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
