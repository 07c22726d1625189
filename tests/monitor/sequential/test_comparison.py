from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import UsageError
from rankscope.monitor.sequential.baseline import Baseline
from rankscope.monitor.sequential.comparison import compare_versions, find_factor, follow_difference
from rankscope.monitor.sequential.detector import Detector, advance
from rankscope.monitor.sequential.discoveries import discover
from rankscope.monitor.sequential.effects import (
    CellEffects,
    _chi_square,
    bound_mean,
    estimate_cells,
)
from rankscope.monitor.sequential.observations import DAY, Observations, below, group_units
from rankscope.monitor.sequential.reach import find_reach
from scipy import stats

from dev.simulate.labels import arrived, draw_lists, find_broken
from dev.simulate.traffic import Traffic, World, lower
from tests.generated import examples
from tests.refusals import refuses

LEVEL = 0.025


@examples(50)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=25),
    st.sampled_from([0.2, 0.025, 0.001]),
)
def test_the_bound_is_from_0_to_the_mean_with_one_unseen_user(users, level):
    sums, counts = [value * count for value, count in users], [float(count) for _, count in users]
    bound = bound_mean(np.array(sums), np.array(counts), level)
    # The unseen user is as large as that of a random value.
    unseen = sum(count * count for count in counts) / sum(counts)
    assert 0 <= bound <= sum(sums) / (sum(counts) + unseen) + 1e-12


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=60),
    st.randoms(use_true_random=False),
)
def test_the_order_of_users_changes_no_bit(users, random):
    mixed = users.copy()
    random.shuffle(mixed)
    one, other = (
        bound_mean(
            np.array([value * count for value, count in each]),
            np.array([count for _, count in each], dtype=float),
            LEVEL,
        )
        for each in (users, mixed)
    )
    assert one == other


@pytest.mark.parametrize("size", [5, 30, 300])
@pytest.mark.parametrize("ones", [0.03, 0.5, 0.97])
def test_the_bound_is_rarely_above_the_mean(size, ones):
    draw = np.random.default_rng(3)
    runs = 400
    values = (draw.random((runs, size)) < ones).astype(float)
    above = sum(bound_mean(each, np.ones(size), LEVEL) > ones for each in values)
    assert above / runs <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / runs)


def test_more_users_have_a_higher_bound_and_each_is_one_unit():
    # The mean of each user is 0 or 1: what counts is the number of users.
    users = np.array([0.0, 1.0] * 20)
    alone = bound_mean(users, np.ones(40), LEVEL)
    assert bound_mean(users * 28, np.full(40, 28.0), LEVEL) == pytest.approx(alone, rel=1e-9)
    assert bound_mean(np.tile(users, 28), np.ones(28 * 40), LEVEL) > alone + 0.1
    bounds = [bound_mean(np.full(n, 0.8), np.ones(n), LEVEL) for n in (10, 100, 1000, 10_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > 0.78
    values = np.tile([0.2, 0.9], 50)
    levels = [bound_mean(values, np.ones(100), level) for level in (0.001, 0.025, 0.2)]
    assert levels == sorted(levels)
    assert bound_mean(np.array([]), np.array([]), LEVEL) == 0.0
    assert bound_mean(np.zeros(50), np.ones(50), LEVEL) == 0.0


def test_a_day_that_is_worse_for_both_versions_is_no_difference_as_the_share_grows():
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


def test_the_difference_is_the_mean_of_the_days_weighted_by_their_pairs():
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


def test_the_error_is_that_of_a_regression_with_clusters():
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


def test_what_a_user_has_in_both_versions_cancels_out():
    draw = np.random.default_rng(3)
    user = np.tile(np.arange(200), 10)
    quality = draw.normal(0, 0.3, 200)[user]
    value = 0.5 + quality + draw.normal(0, 0.05, 2000)
    mixed = compare_versions(value, user, draw.random(2000) < 0.5)
    apart = compare_versions(value, user, user < 100)
    assert mixed.error < 0.4 * apart.error


def test_users_without_a_bad_ranking_do_not_make_the_interval_narrow():
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


def test_a_user_with_most_of_the_rankings_counts_as_one():
    draw = np.random.default_rng(5)
    is_new = np.arange(1000) < 500
    user = np.arange(1000)
    user[:400] = 0
    found = compare_versions(draw.random(1000), user, is_new)
    assert found.users == (500, 101)
    assert found.effective_users == pytest.approx(500**2 / (400**2 + 100))
    assert not found.has_interval


@given(st.lists(st.floats(-3, 9), max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_largest_set_that_bears_itself_out_is_named(logs, error):
    evidence = {f"monitor {at}": value for at, value in enumerate(logs)}
    found = discover(evidence, error)
    # A set of k is borne out where each of its members has K / (k error) or more.
    sizes = [
        k
        for k in range(1, len(logs) + 1)
        if sum(math.exp(value) * k * error >= len(logs) for value in logs) >= k
    ]
    assert len(found.names) == max(sizes, default=0)
    named = [evidence[name] for name in found.names]
    assert named == sorted(logs, reverse=True)[: len(named)]
    assert all(value >= found.log_needed for value in named)
    assert found.monitors == len(logs)


def test_one_monitor_is_named_where_its_own_alarm_is():
    detector = Detector(run_length=20)
    for _ in range(30):
        before, detector = detector, advance(detector, below(np.array([0.3]), 0.5))
        named = discover({"all": detector.log_evidence}, 1 / 20).names
        assert bool(named) == (detector.log_evidence >= math.log(20))
        if named:
            assert (before.is_alarm, detector.is_alarm) == (False, True)
            return
    pytest.fail("the drop was not found")


def test_of_many_monitors_few_are_named_by_chance():
    # e-values of expectation 1 for nine of ten, and much evidence for the tenth. All but that one
    # depend on each other as much as can be.
    draw = np.random.default_rng(5)
    error, times, false_shares = 0.1, 2000, []
    for _ in range(times):
        shared = math.log(10) if draw.random() < 0.1 else -math.inf
        evidence = {f"slice {at}": shared for at in range(9)} | {"tv": math.log(1000)}
        names = discover(evidence, error).names
        assert "tv" in names
        false_shares.append((len(names) - 1) / len(names))
    # Three standard errors of a share of `error`.
    assert 0 < np.mean(false_shares) <= error + 3 * math.sqrt(error * (1 - error) / times)


def test_monitors_that_have_seen_nothing_are_not_named_and_evidence_is_a_number():
    found = discover({"new": Detector(run_length=5).log_evidence, "old": 100.0}, 0.2)
    assert found.names == ("old",)
    assert discover({}, 0.2).names == ()
    with refuses(UsageError, "bad_evidence", match="tv"):
        discover({"tv": math.nan}, 0.1)


@pytest.mark.parametrize("error", [0, 1, -0.1, math.nan])
def test_a_level_beyond_0_and_1_is_refused(error):
    with refuses(UsageError, "bad_level"):
        discover({"all": 1.0}, error)


RANDOM = 20261122


def test_a_fall_lowers_the_mean_as_far_as_it_says():
    draw = np.random.default_rng(RANDOM)
    seen = Traffic(World(per_day=2000), draw).draw_baseline()
    mean = float(seen.value.mean())
    falls = seen.value - lower(seen, 0.05, draw, mean).value
    assert falls.mean() == pytest.approx(0.05, abs=4 * falls.std() / np.sqrt(falls.size))


def test_lost_labels_leave_the_discount_per_label_and_reversed_lists_do_not():
    hours = np.zeros(100_000, dtype=np.int64)

    def average(**change):
        lists = draw_lists(np.random.default_rng(RANDOM), hours, **change)
        by_label = np.nansum(lists.discount * lists.gain) / lists.gain.sum()
        return float(lists.gain.mean()), float(by_label), float(np.nanmean(lists.seen.value))

    whole, lost, worse = average(), average(kept=0.6), average(broken=find_broken(0.1))
    assert lost[0] == pytest.approx(0.6 * whole[0], rel=0.02)
    assert lost[1] == pytest.approx(whole[1], abs=0.003)
    assert lost[2] != pytest.approx(whole[2], abs=0.003)
    assert worse[2] == pytest.approx(whole[2] - 0.1, abs=0.004)
    assert worse[1] < whole[1] - 0.02


def test_labels_that_are_four_times_as_slow_arrive_after_four_times_the_time():
    assert arrived(4.0, slower=4.0) == arrived(1.0)
    assert 0 < arrived(1.0) < arrived(4.0) < 1


def observe(count, **given):
    """So many rankings, each of a user of its own, a hundred a day."""
    draw = np.random.default_rng(1)
    columns = {
        "value": draw.random(count),
        "cluster": np.arange(count),
        "cell": np.zeros(count, dtype=np.int64),
        "time": np.arange(count) * (DAY // 100),
    }
    return Observations(**columns | given)


def test_a_version_needs_30_users_for_an_interval_and_30_rankings_explain_values():
    value, user = np.random.default_rng(1).random(200), np.arange(200)
    for count in (29, 30, 31):
        found = compare_versions(value, user, user < count)
        assert found.effective_users == pytest.approx(count, rel=1e-12)
        assert found.has_interval == (count >= 30)
        known = np.where(user < count, value, math.nan)
        found = compare_versions(value, user, user % 2 == 0, covariate=known)
        assert (found.explained > 0) == (count >= 30)


def test_the_interval_of_a_difference_is_tuned_for_500_users():
    # The mixture of normal distributions whose variance suits so many users (Waudby-Smith et al.).
    tuned = -2 * math.log(0.05) + math.log(-2 * math.log(0.05)) + 1
    expected = math.sqrt((tuned + 1) / tuned * math.log((tuned + 1) / 0.05**2))
    assert find_factor(500, 0.05) == pytest.approx(expected, rel=1e-12)
    # It reaches as few standard errors as any.
    assert find_factor(500, 0.05) < min(find_factor(400, 0.05), find_factor(600, 0.05))


def test_a_user_counts_as_much_as_two_of_the_mean_at_most():
    weight = np.array([1.0, 1.0, 1.0, 1.0, 6.0])
    units = group_units(observe(5, time=np.zeros(5, dtype=np.int64), weight=weight), DAY)
    assert units.most == 4.0
    assert units.size.tolist() == [0.25, 0.25, 0.25, 0.25, 1.0]


@pytest.mark.parametrize("count", [199, 200, 201])
def test_the_200_largest_cells_have_a_value_of_their_own(count):
    names = tuple((f"c{at:03}",) for at in range(count))
    # The last cell has one ranking, the others two.
    cell = np.array([*range(count), *range(count - 1)])
    units = group_units(observe(len(cell), cell=cell, cells=names), DAY)
    found = estimate_cells(units, names, mean=0.5)
    assert [name for name, _, _ in found.cells] == [*names[:200]]


@pytest.mark.parametrize("free", [30, 100])
def test_the_variance_between_days_is_bounded_one_standard_deviation_down(free):
    expected = stats.chi2.ppf(stats.norm.cdf(1), free)
    assert _chi_square(free) == pytest.approx(expected, rel=5e-4)


def make_baseline(**given):
    fields = {
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


def test_the_smallest_fall_is_found_in_30_days_and_users_are_needed_for_a_tenth():
    found = find_reach(make_baseline(), run_length=1800, streams=4)
    expected = 0.02 + math.sqrt(2 * 0.04 / 100 * NEEDED / 30)
    assert found.smallest_fall == pytest.approx(expected, rel=1e-12)
    for mean in (expected - 1e-9, expected + 1e-9):
        fall = find_reach(make_baseline(mean=mean), run_length=1800, streams=4).smallest_fall
        assert (fall is not None) == (mean > expected)
    found = find_reach(make_baseline(), run_length=1800, streams=4)
    times = 2 * 0.04 / 100 * NEEDED / 30 / (0.10 - 0.02) ** 2
    assert found.users_needed == math.ceil(1_000_000 * times)
    for mean in (math.nextafter(0.1, 0), 0.1, math.nextafter(0.1, 1)):
        needed = find_reach(make_baseline(mean=mean), run_length=1800, streams=4).users_needed
        assert (needed is not None) == (mean >= 0.1)
    for times, expected in ((0.995e6, pytest.approx(0.995e7, rel=1e-6)), (1.005e6, None)):
        variance = times * 0.08**2 * 30 / (2 * NEEDED) * 1e-3
        baseline = make_baseline(variance=variance, per_day=1e-3, users=10)
        assert find_reach(baseline, run_length=1800, streams=4).users_needed == expected
