"""The sign-flip permutation test, and max-T over all its hypotheses."""

from __future__ import annotations

from rankscope._core import count_flips
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family
    from rankscope.stats.test.tested import Sampling

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
    import numpy as np  # noqa: PLC0415 - loads with the first array

    given = []
    for family in families:
        units, values, _ = family.kept()
        given.append((units, values.ravel(), len(values), list(family.pairs)))
    systems, count = families[0].values.shape if families else (0, 0)
    pairs = max((len(family.pairs) for family in families), default=0)
    # A block of flips takes a pass over the units, and a transform of each system.
    flips = sampling.choose(systems * count // 256, 12 * systems + pairs, MOST_WORK)
    statistics, differing, larger, largest, total, is_all = count_flips(
        given, count, flips, sampling.seed, sampling.threads, sampling.check
    )
    counts = np.array(larger, dtype=np.float64).reshape(-1, 2)
    units_that_differ = np.array(differing, dtype=np.float64)
    is_exact = units_that_differ <= MOST_ENUMERATED
    # Flipping all signs changes no size, so at least two flips are as large.
    exact = np.exp2(1 - np.clip(units_that_differ, 1, MOST_ENUMERATED))
    return Tested(
        statistic=np.array(statistics, dtype=np.float64),
        p=counts[:, 0] / counts[:, 1],
        smallest_p=np.where(is_exact, exact, 1 / (flips + 1)),
        max_t=np.array(largest, dtype=np.float64) / total,
        test="permutation",
        permutations=0 if is_all else flips,
        is_exact=bool(is_exact.all()),
        warnings=(),
    )
