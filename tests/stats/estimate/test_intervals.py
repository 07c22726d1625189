"""Intervals of means: against other implementations, in their range, and over clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.data.interval import Interval
from rankscope.errors import UsageError
from rankscope.stats.estimate.interval import Estimate, estimate_mean
from scipy import stats

from dev.simulate.compare.worlds import PAIRS, SINGLES, measure_coverage

METHODS = ["auto", "bca", "t", "betting"]


def estimate(values: object, method: str = "auto", **others: object) -> Estimate:
    """Return the estimate of values from 0 to 1, unless others say otherwise."""
    interval = Interval(method=method, resamples=999)  # type: ignore[arg-type]  # one of them
    settings = {"interval": interval, "low": 0.0, "high": 1.0} | others
    return estimate_mean(values, **settings)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_t_interval_is_that_of_scipy(level: float) -> None:
    values = np.random.default_rng(1).beta(2, 3, 3000)
    for count in (2, 30, 3000):
        sample = values[:count]
        found = estimate(sample, low=None, high=None, interval=Interval(level, method="t"))
        expected = stats.ttest_1samp(sample, 0).confidence_interval(level)
        assert found.ends == pytest.approx(tuple(expected), rel=1e-8)
        assert (found.method, found.n, found.clusters, found.reason) == ("t", count, None, "")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_bootstrap_interval_is_that_of_scipy_at_the_level_of_student(
    *, is_weighted: bool
) -> None:
    random = np.random.default_rng(3)
    values = random.exponential(0.2, 60).clip(0, 1)
    weights = random.integers(1, 4, 60).astype(float) if is_weighted else np.ones(60)

    def mean(values: object, weights: object, axis: int) -> object:
        return np.sum(np.multiply(values, weights), axis=axis) / np.sum(weights, axis=axis)

    # Ours has the quantiles of t, and divides the variance by n - 1.
    wider = math.sqrt(60 / 59) * stats.t.ppf(0.975, 59)
    theirs = stats.bootstrap(
        (values, weights),
        mean,
        paired=True,
        method="BCa",
        confidence_level=1 - 2 * stats.norm.sf(wider),
        n_resamples=19_999,
        rng=random,
    )
    found = estimate(values, weights=weights, interval=Interval(method="bca", resamples=99_999))
    # An end is a quantile of 19,999 draws: its error is the root of p (1 - p) / 19,999 over the
    # density there, which is about that of the normal distribution. Allow four of them.
    tail = 0.025
    density = stats.norm.pdf(stats.norm.ppf(tail)) / theirs.standard_error
    error = math.sqrt(tail * (1 - tail) / 19_999) / density
    assert found.ends == pytest.approx(tuple(theirs.confidence_interval), abs=4 * error)


def bet(values: list[float], error: float) -> float:
    """Return the betting bound below a mean, by bisection of the money in the plainest way."""

    def has_won(mean: float) -> bool:
        money = 0.0
        for variance, share in (
            (1 / 4, 0.3),
            (1 / 16, 0.3),
            (1 / 64, 0.2),
            (1 / 256, 0.1),
            (0, 0.1),
        ):
            bet = 0.98 / mean
            if variance:
                bet = min(bet, math.sqrt(2 * math.log(1 / error) / (len(values) * variance)))
            money += share * math.prod(1 + bet * (value - mean) for value in values)
        return money >= 1 / error

    low, high = 0.0, sum(values) / len(values)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle and has_won(middle) else (low, middle)
    return low


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0)])
@pytest.mark.parametrize("count", [4, 25, 80])
def test_a_betting_interval_is_where_neither_bet_wins(low: float, high: float, count: int) -> None:
    random = np.random.default_rng(count)
    values = (low + (high - low) * random.beta(2, 3, count)).tolist()
    found = estimate(values, "betting", low=low, high=high)
    shares = [(value - low) / (high - low) for value in values]
    lower, upper = bet(shares, 0.025), 1 - bet([1 - share for share in shares], 0.025)
    expected = (low + (high - low) * lower, low + (high - low) * upper)
    # The search ends a little outside.
    assert found.ends == pytest.approx(expected, abs=1e-6)
    assert found.lower <= expected[0] + 1e-12
    assert found.upper >= expected[1] - 1e-12


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9)), min_size=1, max_size=60),
    st.sampled_from(METHODS),
    st.booleans(),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_ends_are_in_the_range_and_around_the_mean(
    rows: list[tuple[float, int]], method: str, are_clustered: bool, level: float
) -> None:
    values = np.array([value for value, _ in rows])
    interval = Interval(level, method=method, resamples=100)  # type: ignore[arg-type]  # one of them
    codes = np.array([code for _, code in rows]) if are_clustered else None
    found = estimate(values, interval=interval, clusters=codes)
    assert found.n == len(values)
    if found.reason:
        assert method == "t"
        assert math.isnan(found.lower)
        assert math.isnan(found.upper)
    else:
        assert 0 <= found.lower <= found.upper <= 1
        if found.method != "bca":
            assert found.lower - 1e-12 <= found.value <= found.upper + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_query_change_nothing(method: str) -> None:
    values = np.random.default_rng(5).beta(2, 2, 70)
    alone, clustered = estimate(values, method), estimate(values, method, clusters=np.arange(70))
    assert alone.ends == clustered.ends
    assert (alone.clusters, clustered.clusters) == (None, 70)


@pytest.mark.parametrize("method", ["bca", "t", "betting"])
def test_queries_that_are_equal_within_clusters_count_once(method: str) -> None:
    users = np.random.default_rng(6).beta(2, 2, 60)
    once = estimate(users, method)
    repeated = estimate(np.repeat(users, 5), method, clusters=np.repeat(np.arange(60), 5))
    assert repeated.ends == pytest.approx(once.ends, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_threads_changes_no_bit(method: str) -> None:
    random = np.random.default_rng(7)
    values, weights = random.random(5000), random.random(5000)
    codes = random.integers(0, 2500, 5000)
    for others in ({}, {"weights": weights}, {"weights": weights, "clusters": codes}):
        one, *more = (estimate(values, method, threads=count, **others) for count in (1, 2, 5))
        assert all(each == one for each in more)


def test_the_method_is_chosen_by_the_values() -> None:
    random = np.random.default_rng(8)
    usual = random.beta(2, 2, 60)
    rare = np.where(np.arange(60) < 3, 1.0, 0.0)
    assert estimate(usual).method == "bca"
    assert estimate(usual[:29]).method == "betting"
    assert estimate(rare).method == "betting"
    assert estimate(np.ones(60)).method == "betting"
    assert estimate(usual[:19], "bca").method == "betting"
    assert estimate(usual[:20], "bca").method == "bca"
    assert estimate(usual, high=None).method == "bca"
    # Values that leave their range are not bounded.
    assert estimate(2 * usual[:40]).reason.startswith("the measure has no upper limit")


def test_where_there_is_no_interval_the_reason_says_why() -> None:
    few = np.array([0.0, 3.0, 4.0])
    assert "50 or more queries, found 3" in estimate(few, high=None).reason
    assert (
        "20 or more clusters, found 2"
        in estimate(few, "bca", high=None, clusters=np.array([1, 1, 2])).reason
    )
    assert "bounded" in estimate(few, "betting", high=None).reason
    assert "2 or more queries, found 1" in estimate(few[:1], "t").reason
    assert "same value" in estimate(np.full(60, 3.0), high=None).reason
    assert "no value" in estimate(np.array([])).reason


def test_weights_have_an_effective_sample_size() -> None:
    found = estimate([0.1, 0.2, 0.9], weights=[1.0, 1.0, 2.0])
    assert (found.value, found.effective) == (pytest.approx(0.525), 16 / 6)


def test_columns_of_other_lengths_are_refused() -> None:
    for name in ("weights", "clusters"):
        with pytest.raises(UsageError, match=f"expected {name} for 3 values, found 2") as caught:
            estimate(np.ones(3), **{name: np.array([1, 2])})
        assert caught.value.code == "column_length"


@pytest.mark.parametrize(("n", "per_cluster"), [(10, 1), (50, 1), (250, 5)])
@pytest.mark.parametrize("world", [*SINGLES, *PAIRS], ids=lambda world: world.name)
def test_intervals_cover_as_often_as_they_say(world: object, n: int, per_cluster: int) -> None:
    found = measure_coverage(world, n, "auto", per_cluster=per_cluster, trials=200)  # type: ignore[arg-type]
    assert found.given == 1.0
    # Two Monte Carlo errors, and one more for 27 comparisons.
    assert found.covered >= found.level - 3 * found.error
