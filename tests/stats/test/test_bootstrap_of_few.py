"""The bootstrap-shift test of few units is the share of all resamples that there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from rankscope.stats.test import paired
from rankscope.stats.test.family import Family

RESAMPLES = 40_000


def share_of_all(differences: np.ndarray, sizes: np.ndarray) -> float:
    """Return the share of all resamples whose t statistic is as large as the one observed."""
    count = len(differences)

    def studentize(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        mean = values.sum() / weights.sum()
        spread = np.square(values - mean * weights).sum() * count / (count - 1)
        return float(values.sum() ** 2), float(spread)

    sum_squared, spread = studentize(differences, sizes)
    shifted = differences - differences.sum() / sizes.sum() * sizes
    larger = 0
    for drawn in product(range(count), repeat=count):
        own, own_spread = studentize(shifted[list(drawn)], sizes[list(drawn)])
        # Without a division, for a resample of one unit has no spread.
        larger += own * spread >= sum_squared * own_spread - 1e-12
    return larger / count**count


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1.0, 3.0])
def test_resamples_of_few_units_are_as_large_as_all_of_them_say(seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    sizes = np.full(5, size)
    values = np.stack([np.zeros(5), sizes * random.normal(0.6, 1, 5)])
    family = Family(values=values, sizes=sizes, pairs=[(0, 1)])
    [p] = paired.test_pairs([family], test="bootstrap", permutations=RESAMPLES).p
    # Five standard errors.
    assert p == pytest.approx(share_of_all(values[1], sizes), abs=5 * np.sqrt(0.25 / RESAMPLES))
