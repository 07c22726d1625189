"""The simulation of gates: how often they call what, in worlds whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs

from dev.simulate.compare.gates import find_rates, follow_plans, tilt
from dev.simulate.compare.margins import find_verdicts
from dev.simulate.compare.worlds import PAIRS

if TYPE_CHECKING:
    from dev.simulate.compare.worlds import World


@pytest.mark.parametrize("world", PAIRS, ids=lambda world: world.name)
def test_a_tilted_world_has_the_same_values_and_another_mean(world: World) -> None:
    for mean in (-0.02, 0.0, 0.4):
        if not world.reaches(mean):
            continue
        tilted = tilt(world, mean)
        assert tilted.mean == pytest.approx(mean, abs=1e-12)
        assert tilted.chances.sum() == pytest.approx(1, rel=1e-12)
        assert np.array_equal(tilted.values, world.values)


def test_gates_are_broken_as_rarely_as_promised() -> None:
    for layout, slices in (("queries", 1), ("unequal users", 1), ("queries", 8)):
        budget = rs.Budget("value", max_drop=0.02)
        rates = find_rates(PAIRS[0], 50, -0.02, budget, layout=layout, slices=slices, trials=200)
        assert rates.promised == pytest.approx(0.025)
        assert rates.broken <= rates.promised + 3 * rates.error
        assert rates.holds <= rates.promised + 3 * rates.error
        assert rates.holds + rates.broken + rates.inconclusive == pytest.approx(1, abs=0.1)


def test_large_drops_are_broken_and_gains_hold() -> None:
    budget = rs.Budget("value", max_drop=0.02)
    assert find_rates(PAIRS[0], 100, -0.4, budget, trials=20).broken == 1
    assert find_rates(PAIRS[0], 100, 0.4, budget, trials=20).holds == 1


def test_a_gate_of_200_steady_queries_finds_a_drop_and_passes_a_gain() -> None:
    """Differences with a standard deviation of 0.15: the least that a gate has to decide."""
    budget = rs.Budget("value", max_drop=0.02)
    assert find_rates(PAIRS[0], 200, -0.08, budget, trials=60).broken > 0.9
    assert find_rates(PAIRS[0], 200, 0.04, budget, trials=60).holds > 0.9


def test_plans_hold_as_often_as_they_say() -> None:
    found = follow_plans(PAIRS[0], 100, rs.Budget("value", max_drop=0.05), trials=100)
    error = (0.8 * 0.2 / found.plans) ** 0.5
    assert found.held[1] == pytest.approx(0.8, abs=3 * error + 0.02)


def test_the_upper_end_of_a_plan_holds_where_rare_queries_make_up_the_variance() -> None:
    rare_gains = next(world for world in PAIRS if world.name == "rare gains")
    found = follow_plans(rare_gains, 30, rs.Budget("value", max_drop=0.02), trials=60)
    fewest, middle, most = found.middle
    assert fewest < middle < most
    # Of 30 queries, half of the samples hardly show the gains.
    assert found.held[1] < 0.75
    assert found.held[2] > 0.9


def test_a_margin_is_rarely_met_by_a_run_that_is_worse_by_it() -> None:
    lose_all = next(world for world in PAIRS if world.name == "two in 100")
    for n in (5, 10, 20):
        found = find_verdicts(lose_all, n, -0.02, 0.02, trials=100)
        assert (found.not_worse, found.equivalent) == (0.0, 0.0)
