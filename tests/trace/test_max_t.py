"""Adjusted p-values are those of Westfall and Young, whatever the order of the clusters."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.stats.max_t import max_t, reassign, step_down


def test_a_p_value_is_the_share_of_all_sign_flips() -> None:
    """With 12 rows that all agree, only 2 of 4096 flips are as strong."""
    values = np.full((12, 1), 0.5)
    found = max_t(values, permutations=4000, seed=3)
    assert found.statistics[0] == pytest.approx(np.sqrt(12))
    assert found.p_values[0] < 0.003


def test_the_p_value_of_a_hypothesis_is_near_that_of_all_flips() -> None:
    random = np.random.default_rng(5)
    values = random.normal(0.3, 1, (10, 2))
    signs = np.array([*product([-1, 1], repeat=10)])
    every = np.abs(signs @ values) / np.sqrt(np.square(values).sum(axis=0))
    observed = np.abs(values.sum(axis=0)) / np.sqrt(np.square(values).sum(axis=0))
    largest = every.max(axis=1)
    strong = int(observed.argmax())
    exact = (largest >= observed[strong] - 1e-12).mean()
    found = max_t(values, permutations=20_000)
    # Four standard errors of 20,000 draws.
    assert found.p_values[strong] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_stepping_down_compares_with_what_is_not_larger() -> None:
    statistics = np.array([[3.0, 2.0, 1.0], [2.5, 0.0, 0.5], [0.0, 2.2, 0.0], [4.0, 0.0, 0.0]])
    # Largest of all: 2.5, 2.2, 4; without the first: 0.5, 2.2, 0; the last alone: 0.5, 0, 0.
    assert step_down(statistics).tolist() == [2 / 4, 2 / 4, 2 / 4]
    assert step_down(statistics[:, ::-1]).tolist() == [2 / 4, 2 / 4, 2 / 4]
    apart = np.array([[5.0, 2.0], [1.0, 0.0], [1.0, 0.0], [1.0, 3.0]])
    assert step_down(apart).tolist() == [1 / 4, 2 / 4]


def test_the_order_of_columns_changes_nothing() -> None:
    random = np.random.default_rng(7)
    values = random.normal(0.2, 1, (40, 5))
    order = random.permutation(5)
    one, other = max_t(values), max_t(values[:, order])
    assert one.p_values[order].tolist() == other.p_values.tolist()
    assert one.statistics[order].tolist() == other.statistics.tolist()


def test_each_side_keeps_its_number_of_single_clusters() -> None:
    is_before = np.array([True] * 8 + [False] * 3)
    is_after = np.array([True] * 2 + [False] * 6 + [True] * 3)
    draws = reassign(is_before, is_after, permutations=200, seed=1)
    assert draws.is_paired.tolist() == [True] * 2 + [False] * 9
    assert ((draws.signs[:, 2:] > 0).sum(axis=1) == 3).all()
    assert draws.signs[0].tolist() == [1, 1, *[-1] * 6, 1, 1, 1]
    assert set(np.unique(draws.signs)) == {-1.0, 1.0}


def test_statistics_have_mean_0_and_variance_1_over_reassignments() -> None:
    random = np.random.default_rng(9)
    is_before = np.arange(60) < 50
    is_after = (np.arange(60) < 20) | ~is_before
    effects = random.exponential(1, (60, 4))
    standard = reassign(is_before, is_after, 20_000, seed=2).standardize(effects)[1:]
    assert standard.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.04)
    assert standard.var(axis=0) == pytest.approx(np.ones(4), abs=0.05)


def test_nothing_is_named_more_often_than_the_level_says() -> None:
    """Ten columns without an effect: 5 % of 400 are 20."""
    random = np.random.default_rng(11)
    named = sum(
        bool(
            (max_t(random.normal(0, 1, (30, 10)), permutations=99, seed=run).p_values <= 0.05).any()
        )
        for run in range(400)
    )
    # More than 35 have a probability below 0.001.
    assert named <= 35


@pytest.mark.parametrize("values", [np.zeros((1, 2)), np.zeros(3), np.full((3, 1), np.nan)])
def test_what_cannot_be_tested_is_refused(values: np.ndarray) -> None:
    with pytest.raises(UsageError) as caught:
        max_t(values)
    assert caught.value.code == "bad_parameter"
