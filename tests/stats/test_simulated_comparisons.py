"""The simulations of comparisons draw what they say, and report what isn't as promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dev.simulate.case import Case, Row
from dev.simulate.compare import cases, corrections
from dev.simulate.compare.chance import ENOUGH, RARE, find_error, is_above, is_below
from dev.simulate.compare.gates import tilt
from dev.simulate.compare.page import COMPARISONS
from dev.simulate.compare.worlds import (
    LAYOUTS,
    PAIRS,
    SINGLES,
    UNBOUNDED,
    World,
    draw_sample,
    measure_coverage,
)

RANDOM = 20261123


SHORT = [case for case in COMPARISONS.list_cases() if case.short]


def name_kind(case: Case) -> str:
    """The name of a case without its world: its rows are those of others of this kind."""
    first, *others = case.name.split(", ")
    return ", ".join([first, *others[1:]])


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Row]]:
    """The rows of one case of each kind, with two trials each."""
    return {kind: case.rows(2) for kind, case in {name_kind(each): each for each in SHORT}.items()}


@pytest.mark.parametrize("world", [*SINGLES, *PAIRS, *UNBOUNDED], ids=lambda world: world.name)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_samples_of_a_world_have_its_mean(world: World, layout: str) -> None:
    random = np.random.default_rng(RANDOM)
    sample = draw_sample(layout, 20_000, random)
    values = world.draw(sample.codes, 0.4 if sample.is_clustered else 0.0, random)
    weights = np.ones(len(values)) if sample.weights is None else sample.weights
    residuals = np.bincount(sample.codes, weights=weights * (values - world.mean))
    error = np.sqrt((residuals**2).sum()) / weights.sum()
    assert np.average(values, weights=weights) == pytest.approx(world.mean, abs=4 * error)
    assert world.low <= values.min() <= values.max() <= world.high


@pytest.mark.parametrize("world", PAIRS, ids=lambda world: world.name)
def test_a_tilted_world_has_the_same_values_and_another_mean(world: World) -> None:
    for mean in filter(world.reaches, (-0.02, 0.0, 0.4)):
        tilted = tilt(world, mean)
        assert tilted.mean == pytest.approx(mean, abs=1e-12)
        assert tilted.chances.sum() == pytest.approx(1, rel=1e-12)
        assert np.array_equal(tilted.values, world.values)


def test_queries_of_a_user_are_alike() -> None:
    codes = np.arange(50_000) // 5
    values = SINGLES[0].draw(codes, 0.4, np.random.default_rng(RANDOM)).reshape(-1, 5)
    alike = np.corrcoef(values[:, 0], values[:, 1])[0, 1]
    assert 0.25 < alike < 0.45


@pytest.mark.parametrize(
    ("layout", "effective"),
    [("queries", 41), ("users", 41), ("one heavy user", 80**2 / (40**2 + 40))],
)
def test_the_effective_number_of_users_is_kishs(layout: str, effective: float) -> None:
    sample = draw_sample(layout, 41, np.random.default_rng(RANDOM))
    assert sample.effective == pytest.approx(effective)


def test_intervals_count_by_the_method_that_is_shown() -> None:
    found = measure_coverage(SINGLES[0], 50, trials=20)
    assert {method: each.given for method, each in found.methods.items()} == {
        "bounded": 20,
        "dense": 20,
        "t": 20,
    }
    few = measure_coverage(UNBOUNDED[0], 5, trials=20, methods=("dense", "bounded"))
    assert (few.methods, few.refused) == ({}, {"dense": 20, "bounded": 20})


def test_a_world_is_dense_if_there_are_many_for_its_skewness() -> None:
    found = measure_coverage(PAIRS[3], 200, trials=2)
    assert found.world.name == "rare gains"
    assert not found.is_dense
    assert replace(found, effective=25 * found.world.moment(3) ** 2 + 1).is_dense
    assert measure_coverage(PAIRS[0], 6, trials=2).is_dense


def test_a_share_may_be_two_errors_off_with_many_trials() -> None:
    error = find_error(0.95, ENOUGH)
    assert error == pytest.approx((0.95 * 0.05 / ENOUGH) ** 0.5)
    assert not is_below(0.95 - 1.99 * error, 0.95, ENOUGH)
    assert is_below(0.95 - 2.01 * error, 0.95, ENOUGH)
    assert not is_above(0.05 + 1.99 * error, 0.05, ENOUGH)
    assert is_above(0.05 + 2.01 * error, 0.05, ENOUGH)


@pytest.mark.parametrize("trials", [20, 100, 400])
def test_with_few_trials_chance_hardly_ever_makes_a_row_wrong(trials: int) -> None:
    failing = [count for count in range(trials + 1) if is_below(count / trials, 0.95, trials)]
    assert binom.cdf(max(failing), trials, 0.95) < RARE
    assert binom.cdf(max(failing) + 1, trials, 0.95) >= RARE


def test_the_short_form_fails_by_chance_less_often_than_once_in_ten_thousand_times(
    rows: dict[str, list[Row]],
) -> None:
    assert all(case.short < ENOUGH for case in SHORT)
    # What is checked is in a cell.
    cells = {kind: sum(len(row.cells) for row in of_kind) for kind, of_kind in rows.items()}
    assert sum(cells[name_kind(case)] for case in SHORT) * RARE < 1e-4


def test_runs_that_are_equal_to_the_baseline_have_its_mean() -> None:
    random = np.random.default_rng(RANDOM)
    for family in corrections.draw(50_000, 3, True, random):
        means = family.values.sum(axis=1) / family.sizes.sum()
        errors = (family.values - family.values[0]).std(axis=1) / np.sqrt(len(family.sizes))
        off = np.abs(means - means[0]) / np.maximum(errors / corrections.PER_CLUSTER, 1e-9)
        assert (off[1:4] > 20).all()
        assert (off[4:] < 4).all()


def test_an_interval_that_covers_too_rarely_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "COVERED", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr("dev.simulate.compare.worlds.ROUNDING", -1.0)  # nothing is covered
        rows = cases._cover(SINGLES[0], "queries", 4)
    assert rows[0].problem.startswith("bounded covers 0.0% of 4: queries, 6")
