"""Intervals, margins and power: against other implementations, in their range, over clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope._settings import Interval
from rankscope._stats import paired
from rankscope._stats.power import estimate_mean, minimum_detectable, power_of, queries_needed
from rankscope._stats.tests import Family
from rankscope.errors import UsageError
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

METHODS = ["auto", "dense", "bounded", "t"]


def estimate(values, method="auto", **others):
    """Return the estimate of values from 0 to 1, unless others say otherwise."""
    interval = Interval(method=method, resamples=999)
    settings = {"interval": interval, "low": 0.0, "high": 1.0} | others
    return estimate_mean(values, **settings)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_t_interval_is_that_of_scipy(level):
    values = np.random.default_rng(1).beta(2, 3, 3000)
    for count in (2, 30, 3000):
        sample = values[:count]
        found = estimate(sample, low=None, high=None, interval=Interval(level, method="t"))
        expected = stats.ttest_1samp(sample, 0).confidence_interval(level)
        assert found.ends == pytest.approx(tuple(expected), rel=1e-8)
        assert (found.method, found.n, found.clusters, found.reason) == ("t", count, None, "")


def bound(values, error):
    """Return the lower bound of a mean of values from 0 to 1, and its Monte Carlo error.

    It is the quantile of means with random weights, with one value of 0 besides those there are.
    """
    draws = 40_000
    weights = np.random.default_rng(9).exponential(size=(draws, len(values) + 1))
    means = np.sort(weights @ np.append(values, 0.0) / weights.sum(axis=1))
    place, spread = draws * error, 4 * math.sqrt(draws * error * (1 - error))
    ends = [means[int(each)] for each in (place - spread, place, place + spread)]
    return ends[1], max(ends[2] - ends[1], ends[1] - ends[0])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0)])
@pytest.mark.parametrize("count", [4, 25, 80])
def test_a_bounded_interval_is_a_quantile_of_random_weights_with_one_unseen_value(low, high, count):
    values = low + (high - low) * np.random.default_rng(count).beta(2, 3, count)
    found = estimate(values, "bounded", low=low, high=high)
    shares = (values - low) / (high - low)
    (lower, error), (upper, other) = bound(shares, 0.025), bound(1 - shares, 0.025)
    # The approximation is a little outside.
    assert (found.lower - low) / (high - low) == pytest.approx(lower, abs=error + 0.002)
    assert (found.upper - low) / (high - low) == pytest.approx(1 - upper, abs=other + 0.002)


@pytest.mark.parametrize(("ones", "count"), [(0, 1), (0, 30), (3, 20), (20, 20), (50, 100)])
def test_of_zeros_and_ones_a_bounded_interval_is_that_of_clopper_and_pearson(ones, count):
    found = estimate(np.arange(count) < ones, "bounded")
    exact = stats.binomtest(ones, count).proportion_ci(0.95, method="exact")
    # The approximation is outside, by a few percent of the tail.
    assert exact.low - 0.002 <= found.lower <= exact.low + 1e-6
    assert exact.high - 1e-6 <= found.upper <= exact.high + 0.002


@pytest.mark.parametrize("count", [6, 12, 16, 17, 40])
def test_a_dense_interval_is_what_a_permutation_test_does_not_reject(count):
    values = np.random.default_rng(count).gamma(1.5, 0.1, count) - 0.05
    found = estimate(values, "dense", low=None, high=None)

    def is_rejected(mean):
        family = Family(
            values=np.array([0 * values, values - mean]), sizes=np.ones(count), pairs=[(0, 1)]
        )
        return bool(paired.test_pairs([family], permutations=999).p[0] < 0.05)

    for inside, outside in (
        (found.lower + 1e-9, found.lower - 1e-9),
        (found.upper - 1e-9, found.upper + 1e-9),
    ):
        assert not is_rejected(inside)
        assert is_rejected(outside)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9)), min_size=1, max_size=60),
    st.sampled_from(METHODS),
    st.booleans(),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_ends_are_in_the_range_and_around_the_mean(rows, method, are_clustered, level):
    values = np.array([value for value, _ in rows])
    interval = Interval(level, method=method, resamples=100)
    codes = np.array([code for _, code in rows]) if are_clustered else None
    found = estimate(values, interval=interval, clusters=codes)
    assert found.n == len(values)
    if found.reason:
        assert method == "t"
        assert math.isnan(found.lower)
        assert math.isnan(found.upper)
    else:
        assert 0 <= found.lower <= found.upper <= 1
        assert found.lower - 1e-12 <= found.value <= found.upper + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_query_change_nothing(method):
    values = np.random.default_rng(5).beta(2, 2, 70)
    alone, clustered = estimate(values, method), estimate(values, method, clusters=np.arange(70))
    assert alone.ends == clustered.ends
    assert (alone.clusters, clustered.clusters) == (None, 70)


@pytest.mark.parametrize("method", ["dense", "bounded", "t"])
def test_queries_that_are_equal_within_clusters_count_once(method):
    users = np.random.default_rng(6).beta(2, 2, 60)
    once = estimate(users, method)
    repeated = estimate(np.repeat(users, 5), method, clusters=np.repeat(np.arange(60), 5))
    assert repeated.ends == pytest.approx(once.ends, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_threads_changes_no_bit(method):
    random = np.random.default_rng(7)
    values, weights = random.random(5000), random.random(5000)
    codes = random.integers(0, 2500, 5000)
    for others in ({}, {"weights": weights}, {"weights": weights, "clusters": codes}):
        one, *more = (estimate(values, method, threads=count, **others) for count in (1, 2, 5))
        assert all(each == one for each in more)


def test_the_method_is_chosen_by_limits_and_the_number_of_queries():
    random = np.random.default_rng(8)
    usual, rare = random.beta(2, 2, 60), np.where(np.arange(60) < 3, 1.0, 0.0)
    for values in (usual, rare, np.ones(60)):
        for count in (1, 5, 6, 60):
            few = count < 6
            assert estimate(values[:count]).method == "bounded"
            assert estimate(values[:count], "dense").method == ("bounded" if few else "dense")
            assert estimate(values[:count], high=None).method == ("" if few else "dense")
    # What users do may go with how often they came: few clusters say too little of that.
    users = [np.arange(count) for count in (19, 20)]
    found = [estimate(usual[: len(codes)], "dense", clusters=codes) for codes in users]
    assert [each.method for each in found] == ["bounded", "dense"]
    # Values that leave their range are not bounded.
    assert estimate(2 * usual).method == "dense"


def test_where_there_is_no_interval_the_reason_says_why():
    few = np.array([0.0, 3.0, 4.0])
    for clusters, found in ((None, "found 3 queries"), (np.array([1, 1, 2]), "found 2 clusters")):
        assert estimate(few, high=None, clusters=clusters).reason.endswith(found)
    assert "with limits" in estimate(few, "bounded", high=None).reason
    assert "2 or more queries, found 1" in estimate(few[:1], "t").reason
    assert "degrees of freedom" in estimate(few, "t", clusters=np.array([1, 1, 2])).reason
    assert "no value" in estimate(np.array([])).reason


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("count", [1, 2, 40, 3000])
def test_a_bounded_interval_of_equal_values_has_a_width(count, value):
    found = estimate(np.full(count, value), "bounded")
    assert found.lower < found.upper
    # What is rarer than this isn't seen in so many queries.
    assert found.upper - found.lower >= 0.99 * (1 - 0.025 ** (1 / count))


def test_weights_have_an_effective_sample_size():
    found = estimate([0.1, 0.2, 0.9], weights=[1.0, 1.0, 2.0])
    assert (found.value, found.effective) == (pytest.approx(0.525), 16 / 6)


SETTINGS = [(0.05, 0.8), (0.01, 0.9), (0.2, 0.5)]


def power_of_test(effect, deviations, n, level):
    shift = effect / math.hypot(*deviations) * math.sqrt(n)
    return power_of(shift, len(deviations) * (n - 1), level)


@pytest.mark.parametrize("n", [2, 3, 10, 50, 250])
@pytest.mark.parametrize("effect", [0.0, 0.05, 0.3])
def test_power_agrees_with_statsmodels(n, effect):
    paired = TTestPower().power(effect, n, 0.05)
    assert power_of_test(effect * 0.2, (0.2,), n, 0.05) == pytest.approx(paired, abs=1e-8)
    unpaired = TTestIndPower().power(effect, n, 0.05)
    assert power_of_test(effect * 0.2, (0.2, 0.2), n, 0.05) == pytest.approx(unpaired, abs=1e-8)


@pytest.mark.parametrize("deviations", [(1.0,), (1.0, 1.0)], ids=["paired", "unpaired"])
@pytest.mark.parametrize(("level", "power"), SETTINGS)
def test_queries_needed_are_the_fewest_that_suffice(deviations, level, power):
    for effect in (0.02, -0.1, 0.5, 3.0):
        needed = queries_needed(effect, deviations, level=level, power=power)
        assert power_of_test(abs(effect), deviations, needed, level) >= power
        assert needed == 2 or power_of_test(abs(effect), deviations, needed - 1, level) < power


@pytest.mark.parametrize("deviations", [(0.3,), (0.3, 0.1)], ids=["paired", "unpaired"])
@pytest.mark.parametrize(("level", "power"), SETTINGS)
def test_the_detectable_difference_has_the_power(deviations, level, power):
    for n in (2, 5, 40, 250):
        effect = minimum_detectable(deviations, n, level=level, power=power)
        assert power_of_test(effect, deviations, n, level) == pytest.approx(power, abs=1e-9)


def test_what_has_no_answer_is_nan_or_0():
    assert math.isnan(minimum_detectable((0.1,), 1))
    assert math.isnan(minimum_detectable((0.1, math.nan), 50))
    assert minimum_detectable((0.0,), 50) == 0


def test_numbers_outside_their_range_are_refused():
    for wrong, named in (
        (lambda: queries_needed(0.0, (0.2,)), "effect"),
        (lambda: queries_needed(1e-9, (1.0,)), "queries are needed"),
        (lambda: queries_needed(0.1, (0.0,)), "standard_deviation"),
        (lambda: queries_needed(0.1, (0.2,), power=0.04), "power"),
        (lambda: queries_needed(0.1, (0.2,), level=1.0), "level"),
    ):
        with pytest.raises(UsageError, match=named):
            wrong()
