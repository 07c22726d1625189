"""How often a run is wrongly called not worse than another, or equivalent to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from rankscope._compare.cases import MeasureValues
from rankscope._compare.pairs import compare_values
from rankscope._compare.promise import Choices

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
    world: World, n: int, difference: float, margin: float, *, trials: int = 1000, seed: int = 0
) -> Verdicts:
    """Return how often a run is called not worse, and equivalent.

    Args:
        world: The differences of queries, which are tilted to the true difference.
        n: The number of queries.
        difference: The true mean difference.
        margin: The margin.
        trials: The number of comparisons.
        seed: The random seed.
    """
    random = np.random.default_rng((seed, crc32(world.name.encode()), n))
    tilted, codes = tilt(world, difference), np.arange(n)
    choices = Choices(margin=margin, permutations=99, threads=1)
    counts = np.zeros(2)
    for _ in range(trials):
        found = tilted.draw(codes, 0.0, random)
        values = np.stack([np.maximum(-found, 0.0), np.maximum(found, 0.0)])
        measure = MeasureValues(name="value", low=0.0, high=1.0, values=values)
        ((pair,), *_) = compare_values([measure], runs=("old", "new"), baseline=0, choices=choices)
        counts += [pair.is_not_worse, pair.is_equivalent]
    return Verdicts(
        not_worse=float(counts[0] / trials), equivalent=float(counts[1] / trials), trials=trials
    )
