"""Adjusted p-values are those of Westfall and Young, whatever the order of the clusters."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from rankscope.errors import DeadlineError, UsageError
from rankscope.stats.max_t import Effects, max_t, reassign


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


def draw_signs(clusters: int, permutations: int, seed: int) -> np.ndarray:
    """Return the signs of clusters: the statistics of effects of one cluster each."""
    is_there = np.ones(clusters, dtype=bool)
    return reassign(is_there, is_there, permutations, seed).standardize(np.eye(clusters))


def step_down(statistics: np.ndarray) -> list[float]:
    """Return adjusted p-values as Westfall and Young define them, one hypothesis at a time.

    Args:
        statistics: Their sizes, one row per reassignment, the first for what was observed.
    """
    observed = statistics[0]
    p_values = {}
    least = 0.0
    for at in sorted(range(len(observed)), key=lambda one: -observed[one]):
        not_larger = [other for other in range(len(observed)) if other not in p_values]
        largest = statistics[:, not_larger].max(axis=1)
        least = max(least, float((largest >= observed[at]).mean()))
        p_values[at] = least
    return [p_values[at] for at in range(len(observed))]


def test_p_values_step_down_as_their_definition_does() -> None:
    random = np.random.default_rng(13)
    # Multiples of 1/8, so that any sum is exact and equal sums are ties.
    values = np.round(random.normal(0.3, 1, (25, 50)) * 8) / 8
    signs = draw_signs(25, 299, seed=4)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    sizes = np.abs(signs @ values) / np.sqrt(np.square(values).sum(axis=0))
    found = max_t(values, permutations=299, seed=4)
    assert np.abs(found.statistics).tolist() == sizes[0].tolist()
    assert found.p_values.tolist() == step_down(sizes)
    assert len(set(found.p_values)) > 5


def test_entries_that_are_not_zero_are_enough() -> None:
    """A slice only lists the users that are in it."""
    random = np.random.default_rng(15)
    dense = np.where(random.random((60, 40)) < 0.2, random.normal(0.2, 1, (60, 40)), 0.0)
    rows = [np.flatnonzero(column) for column in dense.T]
    entries = Effects(
        starts=np.cumsum([0, *map(len, rows)]),
        clusters=np.concatenate(rows),
        amounts=np.concatenate([dense[row, at] for at, row in enumerate(rows)]),
    )
    sparse, whole = max_t(entries, clusters=60), max_t(dense)
    assert sparse.statistics.tolist() == whole.statistics.tolist()
    assert sparse.p_values.tolist() == whole.p_values.tolist()


def test_the_number_of_threads_changes_nothing() -> None:
    values = np.random.default_rng(17).normal(0.1, 1, (300, 80))
    found = [max_t(values, permutations=999, threads=threads) for threads in (1, 2, 3, 7)]
    assert {tuple(one.p_values) for one in found} == {tuple(found[0].p_values)}
    assert {tuple(one.statistics) for one in found} == {tuple(found[0].statistics)}


def test_a_test_stops_when_its_deadline_is_over() -> None:
    def stop() -> None:
        raise DeadlineError("too late", hint="wait longer", code="read_timeout")

    with pytest.raises(DeadlineError, match="too late"):
        max_t(np.ones((10, 2)), check=stop)


def test_the_order_of_columns_changes_nothing() -> None:
    random = np.random.default_rng(7)
    values = random.normal(0.2, 1, (40, 5))
    order = random.permutation(5)
    one, other = max_t(values), max_t(values[:, order])
    assert one.p_values[order].tolist() == other.p_values.tolist()
    assert one.statistics[order].tolist() == other.statistics.tolist()


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


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((1, 2)),
        np.zeros(3),
        np.full((3, 1), np.nan),
        Effects(np.array([0, 1]), np.array([0]), np.array([1.0])),
    ],
    ids=["one row", "no columns", "not finite", "no number of clusters"],
)
def test_what_cannot_be_tested_is_refused(values: np.ndarray | Effects) -> None:
    with pytest.raises(UsageError) as caught:
        max_t(values)
    assert caught.value.code == "bad_parameter"
