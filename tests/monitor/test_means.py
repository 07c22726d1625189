"""Means of clustered values, with their intervals, and the means of the clusters."""

from __future__ import annotations

import math
from collections import defaultdict
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.evaluate.means import average_by_cluster, estimate_mean
from rankscope.settings.interval import Interval
from scipy.stats import t

VALUES = np.array([0.1, 0.9, 0.4, math.nan, 0.4, 0.7, 0.2, 1.0, 0.3, 0.0])
USERS = np.array(["a", "b", "a", "a", "c", "b", "d", "e", "e", "e"])
ROWS = st.lists(
    st.tuples(
        st.floats(0, 1) | st.just(math.nan), st.sampled_from(["a", "b", "é", "long name", ""])
    ),
    max_size=40,
)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_is_that_of_the_cluster_robust_error(level: float) -> None:
    mean = estimate_mean(VALUES, USERS, Interval(level, method="t"))
    kept = ~np.isnan(VALUES)
    centre = math.fsum(VALUES[kept]) / 9
    assert (mean.value, mean.clusters, mean.rankings, mean.level) == (centre, 5, 9, level)
    # Liang and Zeger: residuals are added up within clusters before they are squared.
    sums = [math.fsum(VALUES[kept & (user == USERS)] - centre) for user in "abcde"]
    error = math.sqrt(math.fsum(each * each for each in sums) * 5 / 4) / 9
    half = t.ppf((1 + level) / 2, df=4) * error
    assert (mean.lower, mean.upper) == pytest.approx((centre - half, centre + half), abs=1e-9)


@pytest.mark.parametrize("threads", [2, 7])
def test_draws_of_clusters_do_not_depend_on_threads(threads: int) -> None:
    draw = np.random.default_rng(3)
    values, users = draw.random(3000), draw.integers(0, 900, 3000)
    interval = Interval(resamples=2000, seed=5)
    one = estimate_mean(values, users, interval)
    assert estimate_mean(values, users, interval, threads) == one
    shuffled = draw.permutation(3000)
    assert estimate_mean(values[shuffled], users[shuffled], interval) == one


@pytest.mark.parametrize("method", ["t", "bca"])
def test_intervals_cover_although_users_are_alike_within(method: str) -> None:
    # What a user does depends mostly on the user, and heavy users are not like others.
    draw = np.random.default_rng(20261121)
    truth, covered, naive, times = 0.0, 0, 0, 200
    sizes = np.array([1, 2, 12])
    levels = np.array([0.5, 0.6, 0.8])
    truth = float((sizes * levels).sum() / sizes.sum())
    for _ in range(times):
        kind = draw.integers(0, 3, 60)
        taste = np.clip(levels[kind] + draw.normal(0, 0.15, 60), 0, 1)
        users = np.repeat(np.arange(60), sizes[kind])
        values = np.clip(taste[users] + draw.uniform(-0.05, 0.05, len(users)), 0, 1)
        interval = Interval(method=method, resamples=200)
        mean = estimate_mean(values, users, interval)
        covered += mean.lower <= truth <= mean.upper
        alone = estimate_mean(values, np.arange(len(values)), interval)
        naive += alone.lower <= truth <= alone.upper
    # Clipping moves the truth by less than 0.01; so few clusters cost some coverage.
    assert covered / times > 0.9
    assert naive / times < 0.8


@pytest.mark.parametrize("values", [[], [math.nan], [0.5], [0.5, 0.7]])
def test_one_cluster_has_no_interval(values: list[float]) -> None:
    mean = estimate_mean(np.array(values), np.array(["a"] * len(values), dtype=np.str_))
    assert math.isnan(mean.lower)
    assert math.isnan(mean.upper)
    assert mean.rankings == len([value for value in values if not math.isnan(value)])


def average(rows: list[tuple[float, str]]) -> tuple[list[float], list[int]]:
    values, names = (np.array([row[at] for row in rows]) for at in range(2))
    means, counts = average_by_cluster(values.astype(np.float64), names)
    return means.tolist(), counts.tolist()


@given(ROWS)
def test_each_cluster_is_averaged(rows: list[tuple[float, str]]) -> None:
    held: dict[str, list[float]] = defaultdict(list)
    for value, cluster in rows:
        if not math.isnan(value):
            held[cluster].append(value)
    means, counts = average(rows)
    assert counts == [len(held[key]) for key in sorted(held)]
    expected = [math.fsum(held[key]) / len(held[key]) for key in sorted(held)]
    assert means == pytest.approx(expected, rel=1e-14)
    assert all(0 <= value <= 1 for value in means)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(rows: list[tuple[float, str]], random: Random) -> None:
    mixed = rows.copy()
    random.shuffle(mixed)
    assert average(mixed) == average(rows)
