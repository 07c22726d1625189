"""How often a run is wrongly called not worse than another, or equivalent to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from rankscope._compare.pairs import compare_values, list_pairs
from rankscope._compare.promise import Choices, MeasureValues

from dev.simulate.compare.gates import tilt

if TYPE_CHECKING:
    from dev.simulate.compare.worlds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """How often comparisons with a margin gave each verdict.

    Args:
        not_worse: The share in which the run is not worse.
        equivalent: The share in which both are equivalent.
        trials: The number of comparisons.
    """

    not_worse: float
    equivalent: float
    trials: int


def find_verdicts(
    world: World,
    n: int,
    difference: float,
    margin: float,
    *,
    runs: int = 1,
    trials: int = 1000,
    seed: int = 0,
) -> Verdicts:
    """Return how often any of some runs is called not worse than a baseline, and equivalent.

    Args:
        world: The differences of queries, which are tilted to the true difference.
        n: The number of queries.
        difference: The true mean difference.
        margin: The margin.
        runs: The number of runs that are compared with the baseline.
        trials: The number of comparisons.
        seed: The random seed.
    """
    random = np.random.default_rng((seed, crc32(world.name.encode()), n))
    tilted, codes = tilt(world, difference), np.arange(n)
    # The interval of one of several runs is far out, and needs more flips.
    choices = Choices(margin=margin, permutations=99 if runs == 1 else 1999, threads=1)
    names = ["old", *map(str, range(runs))]
    counts = np.zeros(2)
    for _ in range(trials):
        drawn = np.stack([tilted.draw(codes, 0.0, random) for _ in range(runs)])
        baseline = np.maximum(-drawn, 0.0).max(axis=0)
        values = np.vstack([baseline, baseline + drawn])
        measure = MeasureValues(name="value", low=0.0, high=float(min(runs, 2)), values=values)
        against = list_pairs(len(names), 0)
        compared = compare_values([measure], runs=names, pairs=against, choices=choices)
        counts += [
            any(pair.is_not_worse for pair in compared.comparisons),
            any(pair.is_equivalent for pair in compared.comparisons),
        ]
    return Verdicts(
        not_worse=float(counts[0] / trials), equivalent=float(counts[1] / trials), trials=trials
    )
