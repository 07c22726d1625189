"""The difference between two versions while both serve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.monitor.sequential.comparison import compare_versions, follow_difference


def test_a_day_that_is_worse_for_both_versions_is_no_difference_as_the_share_grows() -> None:
    draw = np.random.default_rng(1)
    day = np.repeat(np.arange(20), 300)
    is_new = draw.random(6000) < 0.05 + 0.03 * day
    value = 0.8 - 0.02 * day + draw.normal(0, 0.1, 6000)
    user = np.arange(6000)
    found = follow_difference(value, user, is_new, day)
    plain = compare_versions(value, user, is_new)
    assert [number for number, _ in found] == [*range(20)]
    assert all(each.lower < 0 < each.upper for _, each in found if each.has_interval)
    assert plain.is_worse


def test_the_difference_is_the_mean_of_the_days_weighted_by_their_pairs() -> None:
    value = np.array([0.9, 0.7, 0.5, 0.2, 0.4, 0.6, 0.1])
    is_new = np.array([True, False, False, True, True, False, True])
    day = np.array([0, 0, 0, 1, 1, 1, 2])
    (_, first), (_, last) = follow_difference(value, np.arange(7), is_new, day)
    pairs = 1 * 2 / 3, 2 * 1 / 3
    differences = 0.9 - (0.7 + 0.5) / 2, (0.2 + 0.4) / 2 - 0.6
    assert first.value == pytest.approx(differences[0])
    assert last.value == pytest.approx(np.average(differences, weights=pairs))
    assert last.old == pytest.approx(np.average([(0.7 + 0.5) / 2, 0.6], weights=pairs))
    # The last day has only one version.
    assert last.rankings == (3, 3)


def test_the_error_is_that_of_a_regression_with_clusters() -> None:
    draw = np.random.default_rng(2)
    user = np.append(np.arange(80), draw.integers(0, 80, 320))
    is_new = user % 3 == 0
    value = draw.random(400) * np.where(is_new, 5, 1) + draw.random(80)[user]
    found = compare_versions(value, user, is_new)
    x = is_new - is_new.mean()
    slope = (x @ value) / (x @ x)
    rest = value - value.mean() - slope * x
    sums = np.bincount(user, x * rest)
    factor = 80 / 79 * 400 / (400 - 2)
    assert found.value == pytest.approx(slope)
    assert found.error == pytest.approx(math.sqrt((sums**2).sum() * factor) / (x @ x))


def test_what_a_user_has_in_both_versions_cancels_out() -> None:
    draw = np.random.default_rng(3)
    user = np.tile(np.arange(200), 10)
    quality = draw.normal(0, 0.3, 200)[user]
    value = 0.5 + quality + draw.normal(0, 0.05, 2000)
    mixed = compare_versions(value, user, draw.random(2000) < 0.5)
    apart = compare_versions(value, user, user < 100)
    assert mixed.error < 0.4 * apart.error


def test_users_without_a_bad_ranking_do_not_make_the_interval_narrow() -> None:
    draw = np.random.default_rng(4)
    value = (draw.random(2000) < 0.97).astype(float)
    is_new = np.arange(2000) < 40
    value[is_new] = 1.0
    found = compare_versions(value, np.arange(2000), is_new)
    assert found.has_interval
    assert not found.is_better
    assert found.error >= math.sqrt(0.97 * 0.03 / 40) * 0.8
    ones = compare_versions(np.ones(2000), np.arange(2000), is_new)
    assert ones.lower < 0 < ones.upper


def test_a_user_with_most_of_the_rankings_counts_as_one() -> None:
    draw = np.random.default_rng(5)
    is_new = np.arange(1000) < 500
    user = np.arange(1000)
    user[:400] = 0
    found = compare_versions(draw.random(1000), user, is_new)
    assert found.users == (500, 101)
    assert found.effective_users == pytest.approx(500**2 / (400**2 + 100))
    assert not found.has_interval
