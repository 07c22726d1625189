"""The paired t test, plain and cluster-robust."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope import _core
from rankscope.stats.test import paired
from rankscope.stats.test.family import Family, sum_by_cluster
from scipy import stats


def test_clusters_have_the_error_cr2_and_satterthwaites_degrees() -> None:
    """The residuals of each cluster count 1 / (1 - its share of the queries)."""
    random = np.random.default_rng(2)
    clusters = random.integers(0, 30, 150) % random.integers(5, 30, 150)
    values = random.random((2, 150)) + random.normal(0, 0.3, 30)[clusters] * [[0], [1]]
    sums, sizes = sum_by_cluster(values, clusters, 30)
    found = paired.test_pairs([Family(values=sums, sizes=sizes, pairs=[(0, 1)])], test="t")
    difference = values[1] - values[0]
    residuals = np.bincount(clusters, weights=difference - difference.mean(), minlength=30)
    factors = 1 / (1 - sizes / 150)
    expected = difference.mean() / (math.sqrt((factors * residuals**2).sum()) / 150)
    matrix = np.diag(sizes) - np.outer(sizes, sizes) / 150
    matrix *= np.sqrt(np.outer(factors, factors))
    degrees = np.trace(matrix) ** 2 / np.square(matrix).sum()
    assert found.statistic[0] == pytest.approx(expected, rel=1e-10)
    assert found.p[0] == pytest.approx(2 * stats.t.sf(abs(expected), degrees), rel=1e-9)


@pytest.mark.parametrize(
    ("sizes", "is_enough"), [([3] * 5, True), ([3] * 4, False), ([90] + [3] * 9, False)]
)
def test_clusters_need_four_degrees_of_freedom(sizes: list[int], *, is_enough: bool) -> None:
    sums = np.array([np.zeros(len(sizes)), np.arange(len(sizes)) * 1.0])
    family = Family(values=sums, sizes=np.array(sizes, dtype=float), pairs=[(0, 1)])
    found = paired.test_pairs([family], test="t")
    assert math.isnan(found.p[0]) != is_enough
    assert any("too unequal" in each for each in found.warnings) != is_enough


def test_no_difference_has_p_1_and_a_constant_one_has_none() -> None:
    values = np.add.outer([0.0, 0.0, 0.1], np.random.default_rng(3).random(20))
    family = Family(values=values, sizes=np.ones(20), pairs=[(0, 1), (0, 2)])
    found = paired.test_pairs([family], test="t")
    assert found.p[0] == 1
    assert math.isnan(found.p[1])


def test_fewer_than_two_queries_have_no_p_value() -> None:
    values = np.array([[0.1, 0.2], [0.4, 0.1]])
    family = Family(values=values, sizes=np.array([1.0, 0.0]), pairs=[(0, 1)])
    assert np.isnan(paired.test_pairs([family], test="t").p).all()


@pytest.mark.parametrize("degrees", [1, 2, 3, 9, 49, 249, 5_000, 1_000_000])
def test_tails_agree_with_scipy_far_out(degrees: int) -> None:
    for statistic in (0.01, 0.5, 1.0, 1.7, 2.0, 5.0, 20.0):
        expected = 2 * stats.t.sf(statistic, degrees)
        assert _core.student_tails(statistic, degrees) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.3, 2.8, 8.0])
def test_the_noncentral_t_agrees_with_scipy(shift: float) -> None:
    for degrees in (1, 2, 4, 9, 49, 999):
        for statistic in (-2.0, 0.0, 1.96, 4.0, 12.0):
            expected = stats.nct.cdf(statistic, degrees, shift)
            found = _core.noncentral_t_lower(statistic, degrees, shift)
            assert found == pytest.approx(expected, abs=1e-9)
