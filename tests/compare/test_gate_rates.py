"""The simulation of gates: how often they call what, in worlds whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs

from dev.simulate.compare.gates import find_rates, tilt
from dev.simulate.compare.worlds import PAIRS

if TYPE_CHECKING:
    from dev.simulate.compare.worlds import World


@pytest.mark.parametrize("world", PAIRS, ids=lambda world: world.name)
def test_a_tilted_world_has_the_same_values_and_another_mean(world: World) -> None:
    for mean in (-0.02, 0.0, 0.4):
        tilted = tilt(world, mean)
        assert tilted.mean == pytest.approx(mean, abs=1e-12)
        assert tilted.chances.sum() == pytest.approx(1, rel=1e-12)
        assert np.array_equal(tilted.values, world.values)


def test_gates_are_broken_as_rarely_as_promised() -> None:
    for per_cluster in (1, 5):
        rates = find_rates(
            PAIRS[0],
            100,
            -0.02,
            rs.Budget("value", max_drop=0.02),
            per_cluster=per_cluster,
            trials=300,
        )
        assert rates.promised == pytest.approx(0.025)
        assert rates.broken <= rates.promised + 3 * rates.error
        assert rates.holds + rates.broken + rates.inconclusive == pytest.approx(1)


def test_large_drops_are_broken_and_gains_hold() -> None:
    budget = rs.Budget("value", max_drop=0.02)
    assert find_rates(PAIRS[0], 100, -0.4, budget, trials=20).broken == 1
    assert find_rates(PAIRS[0], 100, 0.4, budget, trials=20).holds == 1
