"""The Wilcoxon signed-rank test, which doesn't test the mean."""

from __future__ import annotations

import math

from rankscope._core import normal_tails
from rankscope.deferred import np
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family, Numbers

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
    found = [_rank(each) for family in families for each in family.differences()]
    statistic, p, smallest = (np.array([row[at] for row in found]) for at in range(3))
    return Tested(
        statistic=statistic,
        p=p,
        smallest_p=smallest,
        test="wilcoxon",
        is_exact=all(row[3] for row in found),
        warnings=(OF_SYMMETRY, *_warn(families)),
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


def _warn(families: Sequence[Family]) -> list[str]:
    """Return what the sizes and the zeros of the data warn of."""
    warnings = []
    most = max((int((family.sizes > 0).sum()) for family in families), default=0)
    if most > MANY_QUERIES:
        warnings.append(
            f"with {most:,} queries, this test rejects equal means too often (Ihemelandu and "
            "Ekstrand, 2023); use the permutation test or the t test"
        )
    shares = [
        float((each == 0).mean())
        for family in families
        for each in family.differences()
        if len(each)
    ]
    if shares and max(shares) > MANY_ZEROS:
        warnings.append(
            f"this test leaves out queries without a difference, up to {max(shares):.0%} of them"
        )
    return warnings
