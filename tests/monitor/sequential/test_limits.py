"""What baselines and comparisons of versions decide at the limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rankscope.monitor.sequential.baseline import Baseline
from rankscope.monitor.sequential.comparison import compare_versions, find_factor
from rankscope.monitor.sequential.effects import CellEffects, _chi_square, estimate_cells
from rankscope.monitor.sequential.observations import DAY, Observations, group_units
from rankscope.monitor.sequential.reach import find_reach
from scipy import stats


def observe(count: int, **given: Any) -> Observations:  # noqa: ANN401 - columns of any type
    """So many rankings, each of a user of its own, a hundred a day."""
    draw = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "value": draw.random(count),
        "cluster": np.arange(count),
        "cell": np.zeros(count, dtype=np.int64),
        "time": np.arange(count) * (DAY // 100),
    }
    return Observations(**columns | given)


def test_a_version_needs_30_users_for_an_interval_and_30_rankings_explain_values() -> None:
    value, user = np.random.default_rng(1).random(200), np.arange(200)
    for count in (29, 30, 31):
        found = compare_versions(value, user, user < count)
        assert found.effective_users == pytest.approx(count, rel=1e-12)
        assert found.has_interval == (count >= 30)
        known = np.where(user < count, value, math.nan)
        found = compare_versions(value, user, user % 2 == 0, covariate=known)
        assert (found.explained > 0) == (count >= 30)


def test_the_interval_of_a_difference_is_tuned_for_500_users() -> None:
    # The mixture of normal distributions whose variance suits so many users (Waudby-Smith et al.).
    tuned = -2 * math.log(0.05) + math.log(-2 * math.log(0.05)) + 1
    expected = math.sqrt((tuned + 1) / tuned * math.log((tuned + 1) / 0.05**2))
    assert find_factor(500, 0.05) == pytest.approx(expected, rel=1e-12)
    # It reaches as few standard errors as any.
    assert find_factor(500, 0.05) < min(find_factor(400, 0.05), find_factor(600, 0.05))


def test_a_user_counts_as_much_as_two_of_the_mean_at_most() -> None:
    weight = np.array([1.0, 1.0, 1.0, 1.0, 6.0])
    units = group_units(observe(5, time=np.zeros(5, dtype=np.int64), weight=weight), DAY)
    assert units.most == 4.0
    assert units.size.tolist() == [0.25, 0.25, 0.25, 0.25, 1.0]


@pytest.mark.parametrize("count", [199, 200, 201])
def test_the_200_largest_cells_have_a_value_of_their_own(count: int) -> None:
    names = tuple((f"c{at:03}",) for at in range(count))
    # The last cell has one ranking, the others two.
    cell = np.array([*range(count), *range(count - 1)])
    units = group_units(observe(len(cell), cell=cell, cells=names), DAY)
    found = estimate_cells(units, names, mean=0.5)
    assert [name for name, _, _ in found.cells] == [*names[:200]]


@pytest.mark.parametrize("free", [30, 100])
def test_the_variance_between_days_is_bounded_one_standard_deviation_down(free: int) -> None:
    expected = stats.chi2.ppf(stats.norm.cdf(1), free)
    assert _chi_square(free) == pytest.approx(expected, rel=5e-4)


def make_baseline(**given: Any) -> Baseline:  # noqa: ANN401 - fields of any type
    fields: dict[str, Any] = {
        "mean": 0.5,
        "half_width": 0.0,
        "tolerance": 0.02,
        "cells": CellEffects(mean=0.5),
        "variance": 0.04,
        "days": 28,
        "users": 1_000_000,
        "per_day": 100.0,
    }
    return Baseline(**fields | given)


# What the evidence of six bets must reach on average.
NEEDED = math.log(1800 * 4) + math.log(6)


def test_the_smallest_fall_is_found_within_30_days() -> None:
    found = find_reach(make_baseline(), run_length=1800, streams=4)
    expected = 0.02 + math.sqrt(2 * 0.04 / 100 * NEEDED / 30)
    assert found.smallest_fall == pytest.approx(expected, rel=1e-12)
    for mean in (expected - 1e-9, expected + 1e-9):
        fall = find_reach(make_baseline(mean=mean), run_length=1800, streams=4).smallest_fall
        assert (fall is not None) == (mean > expected)


def test_users_are_needed_for_a_fall_of_a_tenth() -> None:
    found = find_reach(make_baseline(), run_length=1800, streams=4)
    times = 2 * 0.04 / 100 * NEEDED / 30 / (0.10 - 0.02) ** 2
    assert found.users_needed == math.ceil(1_000_000 * times)
    for mean in (math.nextafter(0.1, 0), 0.1, math.nextafter(0.1, 1)):
        needed = find_reach(make_baseline(mean=mean), run_length=1800, streams=4).users_needed
        assert (needed is not None) == (mean >= 0.1)


def test_no_more_than_a_million_times_the_users_are_needed() -> None:
    for times, expected in ((0.995e6, pytest.approx(0.995e7, rel=1e-6)), (1.005e6, None)):
        variance = times * 0.08**2 * 30 / (2 * NEEDED) * 1e-3
        baseline = make_baseline(variance=variance, per_day=1e-3, users=10)
        assert find_reach(baseline, run_length=1800, streams=4).users_needed == expected
