"""Tests of pairs: beside SciPy and statsmodels, by all flips, and over slices and clusters."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import _core
from rankscope._stats import paired
from rankscope._stats.paired import sum_by_cluster
from rankscope._stats.tests import Family, correct
from rankscope.errors import DeadlineError, UsageError
from scipy import stats


def test_one(test, differences):
    """Test one pair with these differences."""
    values = np.stack([np.zeros(len(differences)), differences])
    family = Family(values=values, sizes=np.ones(len(differences)), pairs=[(0, 1)])
    return paired.test_pairs([family], test=test)


test_one.__test__ = False


@pytest.mark.parametrize("count", [3, 8, 25, 50])
def test_wilcoxon_is_exact_for_few_differences(count):
    differences = np.random.default_rng(count).normal(0.3, 1, count)
    expected = stats.wilcoxon(differences, method="exact")
    found = test_one("wilcoxon", np.append(differences, [0.0, 0.0]))
    assert found.statistic[0] == expected.statistic
    assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.is_exact
    assert found.smallest_p[0] == 2 / 2**count


@pytest.mark.parametrize("has_ties", [False, True])
def test_wilcoxon_is_normal_for_many_differences_or_ties(has_ties):
    differences = np.random.default_rng(7).normal(0.1, 1, 300)
    if has_ties:
        differences = np.round(differences[:40], 1)
    expected = stats.wilcoxon(differences, method="asymptotic", zero_method="wilcox")
    found = test_one("wilcoxon", differences)
    assert found.statistic[0] == expected.statistic
    assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert not found.is_exact


def test_differences_that_are_equal_but_for_rounding_are_ties():
    differences = np.array([0.1 + 0.2, -0.3, 0.5, 0.7, -0.2, 0.05])
    found = test_one("wilcoxon", differences)
    expected = stats.wilcoxon(np.round(differences, 6), method="asymptotic")
    assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-9)


def test_warnings_say_when_wilcoxon_misleads():
    differences = np.random.default_rng(3).normal(0, 1, 1001)
    many = " ".join(test_one("wilcoxon", differences).warnings)
    assert "1,001 queries" in many
    assert "not whether" in many
    differences[:400] = 0
    few = " ".join(test_one("wilcoxon", differences[:1000]).warnings)
    assert "1,000 queries" not in few
    assert "40% of them" in few


def test_clusters_have_the_error_cr2_and_satterthwaites_degrees():
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
def test_clusters_need_four_degrees_of_freedom(sizes, *, is_enough):
    sums = np.array([np.zeros(len(sizes)), np.arange(len(sizes)) * 1.0])
    family = Family(values=sums, sizes=np.array(sizes, dtype=float), pairs=[(0, 1)])
    found = paired.test_pairs([family], test="t")
    assert math.isnan(found.p[0]) != is_enough
    assert any("too unequal" in each for each in found.warnings) != is_enough


def test_no_difference_has_p_1_and_a_constant_one_has_none():
    assert test_one("wilcoxon", np.zeros(5)).p.tolist() == [1]
    values = np.add.outer([0.0, 0.0, 0.1], np.random.default_rng(3).random(20))
    family = Family(values=values, sizes=np.ones(20), pairs=[(0, 1), (0, 2)])
    found = paired.test_pairs([family], test="t")
    assert found.p[0] == 1
    assert math.isnan(found.p[1])


def test_fewer_than_two_queries_have_no_p_value():
    values = np.array([[0.1, 0.2], [0.4, 0.1]])
    family = Family(values=values, sizes=np.array([1.0, 0.0]), pairs=[(0, 1)])
    assert np.isnan(paired.test_pairs([family], test="t").p).all()


@pytest.mark.parametrize("degrees", [1, 2, 3, 9, 49, 249, 5_000, 1_000_000])
def test_tails_agree_with_scipy_far_out(degrees):
    for statistic in (0.01, 0.5, 1.0, 1.7, 2.0, 5.0, 20.0):
        expected = 2 * stats.t.sf(statistic, degrees)
        assert _core.student_tails(statistic, degrees) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shift", [0.0, 0.3, 2.8, 8.0])
def test_the_noncentral_t_agrees_with_scipy(shift):
    for degrees in (1, 2, 4, 9, 49, 999):
        for statistic in (-2.0, 0.0, 1.96, 4.0, 12.0):
            expected = stats.nct.cdf(statistic, degrees, shift)
            found = _core.noncentral_t_lower(statistic, degrees, shift)
            assert found == pytest.approx(expected, abs=1e-9)


P_VALUES = st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=20)


@given(P_VALUES)
def test_holm_is_its_definition(p):
    corrected = correct(np.array(p), "holm").tolist()
    known = sorted(value for value in p if value == value)  # noqa: PLR0124 - NaN differs from itself
    for value, found in zip(p, corrected, strict=True):
        if np.isnan(value):
            assert np.isnan(found)
            continue
        smaller = [
            (len(known) - place) * other for place, other in enumerate(known) if other <= value
        ]
        assert found == min(1.0, max(smaller))


@given(P_VALUES)
def test_benjamini_and_hochberg_agree_with_scipy(p):
    values = np.array(p)
    found = correct(values, "bh")
    tested = ~np.isnan(values)
    assert np.isnan(found[~tested]).all()
    if tested.any():
        expected = stats.false_discovery_control(values[tested])
        assert found[tested] == pytest.approx(expected, rel=1e-12)


def make_pairs(values, pairs=None):
    """Return a family of single queries, with all pairs of systems unless some are given."""
    every = list(combinations(range(len(values)), 2))
    return Family(values=values, sizes=np.ones(values.shape[1]), pairs=pairs or every)


def flip_all(values, pairs):
    """Return the statistic of each flip and pair; the first flip is what was observed."""
    signs = np.array([*product([1, -1], repeat=values.shape[1])])
    differences = np.array([values[other] - values[one] for one, other in pairs]).T
    return signs @ differences / np.sqrt(np.square(differences).sum(axis=0))


def step_down(statistics):
    """Return adjusted p-values by Westfall and Young's definition, one hypothesis at a time."""
    observed = statistics[0]
    p = {}
    least = 0.0
    for at in sorted(range(len(observed)), key=lambda one: -observed[one]):
        left = [other for other in range(len(observed)) if other not in p]
        largest = statistics[:, left].max(axis=1)
        least = max(least, float((largest >= observed[at] - 1e-9).mean()))
        p[at] = least
    return [p[at] for at in range(len(observed))]


def test_exact_p_values_are_shares_of_all_flips():
    # Multiples of 0.1: many flips tie with what was observed, up to rounding.
    values = np.random.default_rng(3).integers(0, 11, (4, 11)) / 10
    family = make_pairs(values)
    found = paired.test_pairs([family])
    every = np.abs(flip_all(values, list(family.pairs)))
    assert found.is_exact
    assert found.permutations == 0
    assert found.p.tolist() == (every >= every[0] - 1e-9).mean(axis=0).tolist()
    assert found.max_t.tolist() == pytest.approx(step_down(every), rel=1e-12)


def test_sampled_p_values_are_near_the_exact_ones():
    random = np.random.default_rng(5)
    values = np.round(random.random((3, 17)), 3)
    values[1] += 0.2
    family = make_pairs(values)
    exact = np.abs(flip_all(values, list(family.pairs)))
    found = paired.test_pairs([family], permutations=40_000)
    assert not found.is_exact
    assert found.permutations == 40_000
    error = 5 * np.sqrt(0.25 / 40_000)
    assert found.p == pytest.approx((exact >= exact[0] - 1e-9).mean(axis=0), abs=error)
    assert found.max_t == pytest.approx(step_down(exact), abs=error)
    # The statistic is signed, and in standard errors under random flips.
    assert np.abs(found.statistic) == pytest.approx(exact[0], rel=1e-12)
    assert (found.statistic[0] > 0) == (values[1].sum() > values[0].sum())


def test_a_pair_that_differs_on_few_queries_is_exact_beside_others():
    random = np.random.default_rng(8)
    values = random.random((3, 50))
    values[2] = values[0]
    values[2, :6] += 0.125
    found = paired.test_pairs([make_pairs(values, [(0, 1), (0, 2)])], permutations=999)
    assert found.p[1] == 2 / 2**6 == found.smallest_p[1]
    assert found.smallest_p[0] == 1 / 1000


def test_identical_systems_have_p_1():
    same = np.ones((2, 1)) * np.linspace(0, 1, 40)
    found = paired.test_pairs([make_pairs(same), make_pairs(same + 1e-17)])
    assert found.p.tolist() == found.max_t.tolist() == found.smallest_p.tolist() == [1, 1]


def test_families_share_flips_whatever_their_slices():
    values = np.random.default_rng(9).random((2, 80))
    whole = make_pairs(values)
    part = Family(values=values, sizes=(np.arange(80) % 2).astype(float), pairs=[(0, 1)])
    apart = paired.test_pairs([whole], permutations=9999)
    together = paired.test_pairs([whole, part, whole], permutations=9999)
    assert together.p[0] == together.p[2] == apart.p[0]
    assert (together.max_t >= together.p).all()


def test_a_check_can_stop_the_flips():
    def stop():
        raise DeadlineError("too late")

    with pytest.raises(DeadlineError, match="too late"):
        paired.test_pairs([make_pairs(np.random.default_rng(1).random((2, 40)))], check=stop)


def test_pairs_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="finite"):
        make_pairs(np.array([[0.0, np.nan], [0.0, 1.0]]))
    units = np.arange(3)
    with pytest.raises(ValueError, match="do not fit"):
        _core.count_flips([(units, np.zeros(5), 2, [(0, 1)])], 3, 99, 0, 1, None)
    for wrong in (units - 1, units + 1):
        with pytest.raises(ValueError, match="do not fit"):
            _core.count_flips([(wrong, np.zeros(6), 2, [(0, 1)])], 3, 99, 0, 1, None)


def test_no_correction_changes_nothing():
    p = np.array([0.5, np.nan, 0.01])
    assert correct(p, "none").tolist()[::2] == [0.5, 0.01]


def test_bonferroni_multiplies_each_p_value_by_their_number():
    p = np.array([0.5, np.nan, 0.01, 0.02])
    assert correct(p, "bonferroni")[2:] == pytest.approx([0.03, 0.06])
    assert correct(p, "bonferroni")[0] == 1
