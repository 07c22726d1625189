"""The randomised Tukey HSD test counts permutations, and the bootstrap-shift test resamples."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from rankscope import _core
from rankscope.stats.test import paired
from rankscope.stats.test.family import Family

PAIRS = list(combinations(range(3), 2))


def make_family(values: np.ndarray, sizes: np.ndarray | None = None) -> Family:
    """Return a family of three systems with all pairs."""
    return Family(
        values=values, sizes=np.ones(values.shape[1]) if sizes is None else sizes, pairs=PAIRS
    )


def count_ranges(values: np.ndarray) -> list[float]:
    """Return the p-values of all pairs by the ranges of all permutations of all queries."""
    totals = np.zeros((1, len(values)))
    for column in values.T:
        orders = np.array([*permutations(column)])
        totals = (totals[:, None] + orders).reshape(-1, len(values))
    ranges = np.ptp(totals, axis=1)
    sums = values.sum(axis=1)
    return [float((ranges >= abs(sums[one] - sums[other]) - 1e-9).mean()) for one, other in PAIRS]


def test_tukey_counts_all_permutations_of_a_small_table() -> None:
    values = np.random.default_rng(1).integers(0, 11, (3, 4)) / 10
    found = paired.test_pairs([make_family(values)], test="tukey")
    assert found.p.tolist() == count_ranges(values)
    assert found.is_exact
    assert found.permutations == 0
    # All 6 orders of the systems, of 6^4.
    assert found.smallest_p.tolist() == pytest.approx([6 / 6**4] * 3)
    sums = values.sum(axis=1)
    assert found.statistic == pytest.approx([(sums[b] - sums[a]) / 4 for a, b in PAIRS])


def test_tukey_samples_permutations_of_a_larger_table() -> None:
    values = np.random.default_rng(2).random((3, 7))
    values[2] += 0.3
    found = paired.test_pairs([make_family(values)], test="tukey", permutations=20_000)
    assert not found.is_exact
    # Five standard errors of 20,000 permutations.
    assert found.p == pytest.approx(count_ranges(values), abs=5 * np.sqrt(0.25 / 20_000))


def test_tukey_with_two_systems_is_the_permutation_test() -> None:
    values = np.random.default_rng(3).random((2, 12))
    family = Family(values=values, sizes=np.ones(12), pairs=[(1, 0)])
    tukey, flips = (paired.test_pairs([family], test=name) for name in ("tukey", "permutation"))
    assert tukey.p.tolist() == flips.p.tolist()
    assert tukey.smallest_p.tolist() == flips.smallest_p.tolist()


def test_only_systems_in_a_pair_are_shuffled() -> None:
    values = np.random.default_rng(4).random((3, 6))
    values[1] += 100
    pair = Family(values=values, sizes=np.ones(6), pairs=[(0, 2)])
    alone = Family(values=values[[0, 2]], sizes=np.ones(6), pairs=[(0, 1)])
    found, expected = (paired.test_pairs([each], test="tukey").p for each in (pair, alone))
    assert found.tolist() == expected.tolist()


def resample(values: np.ndarray, sizes: np.ndarray, resamples: int) -> float:
    """Return the p-value of the studentized bootstrap of shifted differences, by its definition."""

    def studentize(differences: np.ndarray, sizes: np.ndarray) -> float:
        count = len(differences)
        mean = differences.sum() / sizes.sum()
        squares = np.square(differences - mean * sizes).sum()
        return float(mean * sizes.sum() / np.sqrt(squares * count / (count - 1)))

    differences = values[1] - values[0]
    observed = abs(studentize(differences, sizes))
    shifted = differences - differences.sum() / sizes.sum() * sizes
    random = np.random.default_rng(9)
    larger = 0
    for _ in range(resamples):
        drawn = random.integers(0, len(sizes), len(sizes))
        larger += abs(studentize(shifted[drawn], sizes[drawn])) >= observed
    return (larger + 1) / (resamples + 1)


@pytest.mark.parametrize("is_clustered", [False, True])
def test_the_bootstrap_is_its_definition(is_clustered: bool) -> None:
    random = np.random.default_rng(5)
    sizes = random.integers(1, 5, 40).astype(float) if is_clustered else np.ones(40)
    values = np.stack([np.zeros(40), sizes * random.exponential(1, 40) - sizes * 0.75])
    family = Family(values=values, sizes=sizes, pairs=[(0, 1)])
    found = paired.test_pairs([family], test="bootstrap", permutations=20_000)
    expected = resample(values, sizes, 4000)
    # Four standard errors of the smaller number of resamples.
    assert found.p[0] == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 4000))
    assert found.smallest_p.tolist() == [1 / 20_001]
    student = paired.test_pairs([family], test="t")
    assert found.statistic.tolist() == student.statistic.tolist()


def test_the_bootstrap_has_no_p_value_where_the_t_test_has_none() -> None:
    values = np.stack([np.zeros(30), np.full(30, 0.5), np.zeros(30)])
    found = paired.test_pairs([make_family(values)], test="bootstrap", permutations=99)
    assert np.isnan(found.p[[0, 2]]).all()
    assert found.p[1] == 1
    assert not found.warnings
    few = paired.test_pairs([make_family(values[:, :20])], test="bootstrap", permutations=99)
    assert "with 20 queries" in few.warnings[0]


def test_the_core_refuses_what_does_not_fit() -> None:
    numbers = np.zeros(5)
    with pytest.raises(ValueError, match="do not fit"):
        _core.count_ranges(numbers, 2, [(0, 1)], 99, 0, 1, None)
    with pytest.raises(ValueError, match="do not fit"):
        _core.count_shifted(numbers, numbers, np.zeros(2), 99, 0, 1, None)
