"""How often each test rejects on data without a difference: its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rankscope._stats import paired
from rankscope._stats.paired import sum_by_cluster
from rankscope._stats.tests import Family

from dev.simulate.compare.worlds import draw_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

WORLDS = ("symmetric", "skewed", "mass", "users", "unequal users", "one heavy user")
CLUSTERED = WORLDS[3:]


def draw(world: str, n: int, random: Generator) -> Family:
    """Return the values of two systems with equal means.

    Args:
        world: `"symmetric"` has symmetric, heavy-tailed differences: two independent draws of one
            skewed distribution. `"skewed"` has differences with a mean of 0 and a skewness of 2:
            many queries lose a little, and a few win much. `"mass"` has values in 0 to 1 with much
            mass at 0 and 1, such as RR. The others have users, as in `draw_sample`, whose queries'
            differences have half of their variance in common.
        n: The number of queries, or of users.
        random: The source of the values.
    """
    ones = np.ones(n)
    if world == "symmetric":
        values = random.beta(0.4, 0.8, (2, n))
    elif world == "skewed":
        values = np.stack([np.zeros(n), random.exponential(1, n) - 1])
    elif world == "mass":
        values = np.where(random.random((2, n)) < 0.5, 1 / random.integers(1, 6, (2, n)), 0.0)
    elif world in CLUSTERED:
        codes = draw_sample(world, n, random).codes
        shared = random.normal(0, 1, n)[codes]
        values = np.stack([np.zeros(len(codes)), shared + random.normal(0, 1, len(codes))])
        sums, sizes = sum_by_cluster(values, codes, n)
        return Family(values=sums, sizes=sizes, pairs=[(0, 1)])
    else:
        raise ValueError(f"expected one of {', '.join(WORLDS)}, found {world}")
    return Family(values=values, sizes=ones, pairs=[(0, 1)])


def find_sizes(
    world: str,
    n: int,
    *,
    tests: Sequence[paired.Test] = paired.TESTS,
    level: float = 0.05,
    samples: int = 2_000,
    permutations: int = 999,
    seed: int = 0,
) -> dict[str, float]:
    """Return the share of samples in which each test has a p-value of at most `level`.

    Tests that don't support clusters are left out where the queries are clustered. A sample in
    which a test has no p-value isn't rejected.

    Args:
        world: How the values are drawn; see `draw`.
        n: The number of queries or users of a sample.
        tests: The tests.
        level: The significance level.
        samples: The number of samples. The Monte Carlo error of a share s is
            sqrt(s (1 - s) / samples).
        permutations: The number of permutations.
        seed: The random seed. Each sample has random numbers of its own.
    """
    chosen = [test for test in tests if world not in CLUSTERED or test != "wilcoxon"]
    p: NDArray[np.float64] = np.ones((samples, len(chosen)))
    for sample in range(samples):
        family = draw(world, n, np.random.default_rng([seed, n, sample]))
        for at, test in enumerate(chosen):
            found = paired.test_pairs(
                [family], test=test, permutations=permutations, seed=sample, threads=1
            )
            p[sample, at] = found.p[0]
    rates = (p <= level).mean(axis=0)  # no p-value is no rejection
    return dict(zip(chosen, rates.tolist(), strict=True))
