"""The simulations of comparisons draw what they say, and report what isn't as promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dev.simulate.compare import cases, corrections
from dev.simulate.compare.chance import ENOUGH, find_error, is_above, is_below
from dev.simulate.compare.worlds import (
    LAYOUTS,
    PAIRS,
    SINGLES,
    UNBOUNDED,
    draw_sample,
    measure_coverage,
)

RANDOM = 20261123


@pytest.mark.parametrize("world", [*SINGLES, *PAIRS, *UNBOUNDED], ids=lambda world: world.name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_samples_of_a_world_have_its_mean(world, layout):
    random = np.random.default_rng(RANDOM)
    sample = draw_sample(layout, 20_000, random)
    values = world.draw(sample.codes, 0.4 if sample.is_clustered else 0.0, random)
    weights = np.ones(len(values)) if sample.weights is None else sample.weights
    residuals = np.bincount(sample.codes, weights=weights * (values - world.mean))
    error = np.sqrt((residuals**2).sum()) / weights.sum()
    assert np.average(values, weights=weights) == pytest.approx(world.mean, abs=4 * error)
    assert world.low <= values.min() <= values.max() <= world.high


@pytest.mark.parametrize(
    ("layout", "effective"),
    [("queries", 41), ("users", 41), ("one heavy user", 80**2 / (40**2 + 40))],
)
def test_the_effective_number_of_users_is_kishs(layout, effective):
    sample = draw_sample(layout, 41, np.random.default_rng(RANDOM))
    assert sample.effective == pytest.approx(effective)


def test_a_world_is_dense_if_there_are_many_for_its_skewness():
    found = measure_coverage(PAIRS[3], 200, trials=2)
    assert found.world.name == "rare gains"
    assert not found.is_dense
    assert replace(found, effective=25 * found.world.moment(3) ** 2 + 1).is_dense
    assert measure_coverage(PAIRS[0], 6, trials=2).is_dense


def test_a_share_may_be_two_errors_off_with_many_trials():
    error = find_error(0.95, ENOUGH)
    assert error == pytest.approx((0.95 * 0.05 / ENOUGH) ** 0.5)
    assert not is_below(0.95 - 1.99 * error, 0.95, ENOUGH)
    assert is_below(0.95 - 2.01 * error, 0.95, ENOUGH)
    assert not is_above(0.05 + 1.99 * error, 0.05, ENOUGH)
    assert is_above(0.05 + 2.01 * error, 0.05, ENOUGH)


def test_runs_that_are_equal_to_the_baseline_have_its_mean():
    random = np.random.default_rng(RANDOM)
    for family in corrections.draw(50_000, 3, True, random):
        means = family.values.sum(axis=1) / family.sizes.sum()
        errors = (family.values - family.values[0]).std(axis=1) / np.sqrt(len(family.sizes))
        off = np.abs(means - means[0]) / np.maximum(errors / corrections.PER_CLUSTER, 1e-9)
        assert (off[1:4] > 20).all()
        assert (off[4:] < 4).all()


def test_an_interval_that_covers_too_rarely_is_reported(monkeypatch):
    monkeypatch.setattr(cases, "COVERED", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr("dev.simulate.compare.worlds.ROUNDING", -1.0)  # nothing is covered
        rows = cases._cover(SINGLES[0], "queries", 4)
    assert rows[0].problem.startswith("bounded covers 0.0% of 4: queries, 6")
