"""The sign-flip permutation test, and max-T over all its hypotheses."""

from __future__ import annotations

import math

from rankscope._core import count_flips
from rankscope._core import invert_flips as invert
from rankscope.deferred import np
from rankscope.records import record
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.stats.test.family import Family, Numbers
    from rankscope.stats.test.tested import Sampling

    Columns: TypeAlias = tuple[NDArray[np.int64], Numbers, int, list[tuple[int, int]]]

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
    given = [columns for columns, _ in map(_read, families)]
    count = families[0].values.shape[1] if families else 0
    flips = count_drawn(families, sampling)
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
    )


@record(frozen=True, slots=True)
class Inverted:
    """What a test of sign flips says about all mean differences that there could be.

    Args:
        lower: The lowest mean difference that it doesn't reject; minus infinity if there are too
            few units for it to reject any.
        upper: The highest one.
        p_below: The p-value of minus the margin.
        p_above: The p-value of the margin.
    """

    lower: float
    upper: float
    p_below: float
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
    given = [*map(_read, families)]
    seed, threads = sampling.seed, sampling.threads
    found = invert(given, count, level, margin, flips, seed, threads, sampling.check)
    return [Inverted(*each) for each in found]


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
