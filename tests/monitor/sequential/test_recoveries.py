"""Recoveries, labels, lanes, anchors, comparisons, and the reach of a stream."""

from __future__ import annotations

import json
import math
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from rankscope.errors import UsageError
from rankscope.monitor.sequential.baseline import Anchor, choose_anchor, find_gaps, fit_baseline
from rankscope.monitor.sequential.comparison import compare_versions, follow_difference
from rankscope.monitor.sequential.detector import (
    Detector,
    Recovery,
    advance,
    begin_recovery,
    follow,
)
from rankscope.monitor.sequential.label_rate import LabelRate, fit_label_rate, judge_label_rate
from rankscope.monitor.sequential.lanes import Lane, fit_lane, judge_lane
from rankscope.monitor.sequential.observations import DAY, Observations, below
from rankscope.monitor.sequential.reach import find_reach

Numbers: TypeAlias = NDArray[np.float64]
Lists: TypeAlias = tuple[Observations, Numbers, Numbers]

FLOOR = 0.68


def watch(recovery: Recovery, days: list[float], size: int = 100) -> list[bool]:
    draw = np.random.default_rng(1)
    found = []
    for mean in days:
        values = (draw.random(size) < mean).astype(float)
        recovery = follow(recovery, below(values, FLOOR))
        found.append(recovery.is_recovered)
    return found


def test_a_large_fall_recovers_within_two_days_of_the_fix() -> None:
    found = watch(begin_recovery(fall=0.25, size=300), [0.43] * 20 + [0.7, 0.7])
    assert not any(found[:20])
    assert found[21]


def test_a_fall_that_lasts_does_not_recover() -> None:
    assert not any(watch(begin_recovery(fall=0.1, size=300), [FLOOR - 0.1] * 60))


def test_a_recovery_that_only_gets_halfway_is_none() -> None:
    # The evidence grows, but the mean is still below the floor.
    assert not any(watch(begin_recovery(fall=0.4, size=300), [FLOOR - 0.12] * 20))


def test_a_recovery_goes_on_where_it_was_put_away() -> None:
    recovery = begin_recovery(fall=0.25, size=300)
    for mean in (0.4, 0.5, 0.7):
        recovery = follow(recovery, below(np.full(50, mean), FLOOR))
        assert Recovery.from_dict(json.loads(json.dumps(recovery.to_dict()))) == recovery
    assert recovery.fall == pytest.approx(
        (0.25 * 300 + (FLOOR - 0.4) * 50 + (FLOOR - 0.5) * 50) / 400
    )
    with pytest.raises(UsageError):
        Recovery.from_dict({"total": 1.0})
    with pytest.raises(UsageError):
        begin_recovery(fall=math.nan, size=1)


def test_a_detector_knows_how_far_the_mean_fell() -> None:
    detector = Detector(run_length=1000)
    for mean in (0.9, 0.9, 0.4, 0.4):
        detector = advance(detector, below(np.full(50, mean), FLOOR))
    assert detector.since == 3
    assert detector.fall == pytest.approx(FLOOR - 0.4)
    assert detector.size == 100


def test_labels_that_vary_much_are_lost_beyond_so_many_deviations() -> None:
    days, rankings = np.arange(28), np.full(28, 1000)
    noise = np.random.default_rng(1).normal(0, 150, 28)
    loud = fit_label_rate((1500 + noise).astype(np.int64), rankings, days)
    assert loud.width == pytest.approx(4.9 * loud.deviation)
    assert judge_label_rate(loud, labels=1100, rankings=1000, day=30).state == "usual"
    assert LabelRate.from_dict(json.loads(json.dumps(loud.to_dict()))) == loud


def test_weekends_with_half_the_labels_are_usual() -> None:
    # Day 0 was a Thursday.
    days = np.arange(28)
    labels = np.where((days + 3) % 7 >= 5, 500, 1000)
    rate = fit_label_rate(labels, np.full(28, 1000), days)
    assert judge_label_rate(rate, labels=500, rankings=1000, day=30).state == "usual"
    assert judge_label_rate(rate, labels=500, rankings=1000, day=32).state == "lost"
    assert fit_label_rate(labels[:6], np.full(6, 10), days[:6]) is None


def lists(count: int, day: int, *, kept: float = 1.0, worse: bool = False) -> Lists:
    """Return lists of ten with clicks, their gains and discounts per gain."""
    draw = np.random.default_rng(day)
    clicks = draw.random((count, 10)) < np.linspace(0.5, 0.05, 10)
    clicks = (clicks[:, ::-1] if worse else clicks) & (draw.random((count, 10)) < kept)
    gain = clicks.sum(axis=1).astype(float)
    discounts = 1 / np.log2(np.arange(2, 12))
    reached = clicks @ discounts
    ideal = np.concatenate([[math.nan], discounts.cumsum()])[clicks.sum(axis=1)]
    seen = Observations(
        value=np.minimum(reached / ideal, 1),
        cluster=np.arange(count),
        cell=np.zeros(count, dtype=np.int64),
        time=np.arange(count) * DAY * 14 // count if day < 0 else np.full(count, day * DAY),
    )
    return seen, gain, reached / np.where(gain > 0, gain, math.nan)


def test_a_lane_judges_the_discount_while_the_gain_per_list_is_unusual() -> None:
    lists(10, 1)
    lane = fit_lane(*lists(14_000, 13), tolerance=0.02)
    assert Lane.from_dict(json.loads(json.dumps(lane.to_dict()))) == lane
    usual = judge_lane(lane, *lists(2000, 20))
    assert (usual.judged, abs(usual.gaps.mean) < usual.gaps.margin) == ("value", True)
    few = lists(2000, 20, kept=0.4)
    slower, value = judge_lane(lane, *few), find_gaps(lane.value, few[0])
    assert slower.judged == "discount"
    assert abs(slower.gaps.mean) < slower.gaps.margin < abs(value.mean)
    worse = judge_lane(lane, *lists(2000, 20, kept=0.4, worse=True))
    assert worse.gaps.mean > 2 * worse.gaps.margin
    assert worse.judged == "discount"


def test_the_gain_of_the_last_day_counts_where_a_period_is_short() -> None:
    lane = fit_lane(*lists(14_000, 13), tolerance=0.02)
    few = lists(20, 20, kept=0.4)
    assert judge_lane(lane, *few, recent_gain=lane.gain).judged == "value"
    assert judge_lane(lane, *few, recent_gain=0.8 * lane.gain).judged == "discount"
    assert judge_lane(lane, *few, recent_gain=lane.gain, has_usual_labels=False).judged == (
        "discount"
    )


def test_the_anchor_is_up_to_84_days_before_it_is_first_compared_with() -> None:
    assert choose_anchor(100 * DAY, 200 * DAY) == Anchor(116 * DAY, 200 * DAY)
    assert choose_anchor(180 * DAY, 200 * DAY) == Anchor(180 * DAY, 200 * DAY)
    assert choose_anchor(100 * DAY, 200 * DAY, longest=3 * DAY) == Anchor(197 * DAY, 200 * DAY)
    assert choose_anchor(186 * DAY, 200 * DAY) == Anchor(186 * DAY, 200 * DAY)
    assert choose_anchor(186 * DAY + 1, 200 * DAY) is None
    assert choose_anchor(116 * DAY - 1, 200 * DAY) == Anchor(116 * DAY, 200 * DAY)


def test_versions_are_compared_within_the_cells_that_have_both() -> None:
    value = np.array([0.9, 0.7, 0.5, 0.1, 0.3])
    is_new = np.array([False, True, False, True, True])
    cell = np.array([0, 0, 0, 1, 1])
    found = compare_versions(value, np.arange(5), is_new, cell=cell)
    assert found.value == pytest.approx(0.7 - 0.7)
    assert found.rankings == (2, 1)
    assert math.isnan(found.lower)
    assert compare_versions(value, np.arange(5), np.full(5, fill_value=True)) is None


def test_a_rollout_to_the_worst_device_first_is_no_difference() -> None:
    draw = np.random.default_rng(2)
    cell = draw.integers(0, 2, 8000)
    is_new = draw.random(8000) < np.where(cell == 1, 0.8, 0.05)
    value = (draw.random(8000) < np.where(cell == 1, 0.4, 0.8)).astype(float)
    found = compare_versions(value, np.arange(8000), is_new, cell=cell)
    plain = compare_versions(value, np.arange(8000), is_new)
    assert found.lower < 0 < found.upper
    assert plain.is_worse


def test_a_covariate_makes_the_interval_narrower_and_leaves_the_difference() -> None:
    draw = np.random.default_rng(3)
    query = draw.random(6000)
    is_new = draw.random(6000) < 0.5
    value = np.clip(0.8 * query + 0.1 * draw.random(6000) + 0.05 * is_new, 0, 1)
    plain = compare_versions(value, np.arange(6000), is_new)
    adjusted = compare_versions(value, np.arange(6000), is_new, covariate=query)
    assert adjusted.explained > 0.9
    assert adjusted.upper - adjusted.lower < 0.3 * (plain.upper - plain.lower)
    assert adjusted.lower < 0.05 < adjusted.upper


def test_the_interval_of_a_difference_holds_at_all_times_in_95_percent_of_the_runs() -> None:
    draw = np.random.default_rng(4)
    runs, missed = 80, 0
    for _ in range(runs):
        # Users come back, and have a quality of their own.
        user = draw.integers(0, 1500, 3000)
        quality = draw.normal(0, 0.15, 1500)[user]
        is_new = draw.random(3000) < 0.5
        value = np.clip(0.5 + quality + draw.normal(0, 0.2, 3000), 0, 1)
        looks = follow_difference(value, user, is_new, np.arange(3000) // 375)
        missed += any(look.is_worse or look.is_better for _, look in looks)
    assert missed / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_a_fall_within_reach_is_found_in_30_days_and_a_smaller_one_takes_longer() -> None:
    draw = np.random.default_rng(5)
    count = 28 * 60
    seen = Observations(
        value=(draw.random(count) < 0.7).astype(float),
        cluster=np.arange(count),
        cell=np.zeros(count, dtype=np.int64),
        time=np.arange(count) // 60 * DAY,
    )
    baseline = fit_baseline(seen, tolerance=0.02)
    reach = find_reach(baseline, run_length=1800, streams=1)
    found = []
    for fall in (reach.smallest_fall, reach.smallest_fall / 2):
        alarms = 0
        for _ in range(30):
            detector = Detector(run_length=1800)
            for _ in range(30):
                values = (draw.random(60) < baseline.mean - fall).astype(float)
                detector = advance(detector, below(values, baseline.floor))
            alarms += detector.is_alarm
        found.append(alarms)
    # Half of them, less three standard errors.
    assert found[0] >= 15 - 3 * math.sqrt(30) / 2
    assert found[1] < found[0]
    more = find_reach(baseline, run_length=1800, streams=100)
    assert more.smallest_fall > reach.smallest_fall
