from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import InputError, UsageError
from rankscope.monitor.sequential.baseline import Anchor, choose_anchor, find_gaps, fit_baseline
from rankscope.monitor.sequential.comparison import compare_versions, follow_difference
from rankscope.monitor.sequential.detector import (
    BETS,
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

from tests.refusals import refuses

# Computed apart from this code: floor 0.7 and L = 1 + 0.8 (0.7 - x).
OBSERVED = (0.8, 0.7, 0.75, 0.6, 0.4, 0.3, 0.35, 0.2, 0.5, 0.3)
ADDING = (0.92, 1.92, 2.8032, 4.107456, 6.333245, 9.679884, 13.670251, 20.538352, 24.984488)
ADDING += (34.299525,)
STARTING = (0.92, 1.0, 0.96, 1.08, 1.3392, 1.767744, 2.262712, 3.167797, 3.674645, 4.850531)

PERIODS = st.lists(st.lists(st.floats(0, 1), max_size=5), max_size=12)


def watch(detector, periods, floor=0.6):
    for values in periods:
        detector = advance(detector, below(np.array(values), floor))
    return detector


def test_periods_of_one_observation_are_those_of_the_paper():
    detector = Detector(run_length=30, bets=(0.8 * (1 - 0.7),))
    for x, adding, starting in zip(OBSERVED, ADDING, STARTING, strict=True):
        detector = advance(detector, below(np.array([x]), floor=0.7))
        assert math.exp(detector.log_evidence) == pytest.approx(adding, abs=1e-6)
        assert math.exp(detector.sums[0]) == pytest.approx(starting, abs=1e-6)
    assert (detector.alarm, detector.observations) == (10, 10)


@given(PERIODS, st.floats(0.05, 0.95))
def test_the_evidence_is_the_sum_over_every_first_period_of_a_drop(periods, floor):
    # Without the recursion: for each bet and each first period, the product of all L since then.
    held = [values for values in periods if values]
    expected = 0.0
    for bet in BETS:
        factors = [
            math.prod(1 + bet * (floor - x) / (1 - floor) for x in values) for values in held
        ]
        expected += sum(math.prod(factors[first:]) for first in range(len(factors))) / len(BETS)
    found = watch(Detector(run_length=10), periods, floor)
    assert found.periods == len(held)
    assert math.exp(found.log_evidence) == pytest.approx(expected, rel=1e-9)


def test_each_period_may_have_a_floor_of_its_own():
    bet = 0.25
    detector = Detector(run_length=10, bets=(bet,))
    for floor, x in ((0.5, 0.25), (0.75, 1.0)):
        detector = advance(detector, below(np.array([x]), floor))
    first, second = 1 + bet * 0.25 / 0.5, 1 + bet * -0.25 / 0.25
    assert math.exp(detector.log_evidence) == pytest.approx((first + 1) * second, rel=1e-14)


@given(PERIODS, st.integers(0, 12))
def test_a_detector_goes_on_where_it_was_put_away(periods, at):
    whole = watch(Detector(run_length=5), periods)
    stored = json.dumps(watch(Detector(run_length=5), periods[:at]).to_dict(), allow_nan=False)
    assert watch(Detector.from_dict(json.loads(stored)), periods[at:]) == whole


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.randoms(use_true_random=False))
def test_the_order_within_a_period_changes_no_bit(values, random):
    mixed = values.copy()
    random.shuffle(mixed)
    assert watch(Detector(run_length=9), [mixed]) == watch(Detector(run_length=9), [values])


def test_a_period_without_observations_is_none():
    detector = watch(Detector(run_length=9), [[0.5]])
    assert watch(detector, [[], []]) == detector
    assert Detector(run_length=9).log_evidence == -math.inf
    assert Detector(run_length=9).since is None


def test_evidence_without_end_does_not_overflow():
    detector = watch(Detector(run_length=9), [[0.0] * 10_000] * 5, floor=0.99)
    largest = math.log1p(BETS[-1] * 0.99 / 0.01)
    assert detector.log_evidence == pytest.approx(50_000 * largest - math.log(len(BETS)))
    assert detector.log_evidence > math.log(1.7e308)
    fallen = watch(Detector(run_length=9), [[1.0] * 10_000] * 5, floor=0.01)
    assert fallen.log_evidence < 0
    assert not fallen.is_alarm


def test_an_alarm_stays_until_the_detector_is_restarted():
    well, ill = [0.8] * 50, [0.2] * 50
    detector = watch(Detector(run_length=1000), [well, well, ill, *[well] * 30])
    assert (detector.alarm, detector.is_alarm) == (3, True)
    assert detector.log_evidence < 0
    assert detector.restart() == Detector(run_length=1000)


def test_a_drop_is_dated():
    draw = np.random.default_rng(20261121)
    detector = Detector(run_length=1000)
    for day in range(60):
        detector = advance(detector, below(draw.beta(4 if day < 40 else 3, 1, 100), floor=0.78))
    assert 40 < detector.alarm <= 50
    assert detector.since == pytest.approx(41, abs=3)


@pytest.mark.parametrize("shape", ["all or nothing", "mostly one", "spread"])
def test_false_alarms_are_as_rare_as_promised(shape):
    # The mean is the floor itself, where false alarms are the most frequent.
    draw = np.random.default_rng(7)
    runs, periods, size, floor, run_length = 80, 40, 8, 0.6, 100
    if shape == "all or nothing":
        observed = (draw.random((runs, periods, size)) < floor).astype(float)
    elif shape == "mostly one":
        observed = np.where(draw.random((runs, periods, size)) < 0.8, 0.7, 0.2)
    else:
        observed = draw.beta(3, 2, (runs, periods, size))
    alarms = sum(watch(Detector(run_length=run_length), run, floor).is_alarm for run in observed)
    bound = periods / run_length
    # Three standard errors of a share that is at the bound.
    assert alarms / runs <= bound + 3 * math.sqrt(bound * (1 - bound) / runs)


def test_the_promise_holds_where_means_follow_from_the_past():
    # Nothing need be alike from period to period: the mean is at the floor or above, as a player
    # who knows the evidence chooses.
    draw = np.random.default_rng(11)
    runs, periods, run_length, floor = 80, 40, 400, 0.5
    alarms = 0
    for _ in range(runs):
        detector = Detector(run_length=run_length)
        for _ in range(periods):
            if detector.log_evidence > 0:
                values = (draw.random(4) < floor).astype(float)
            else:
                values = np.full(20, 0.55)
            detector = advance(detector, below(values, floor))
        alarms += detector.is_alarm
    bound = periods / run_length
    assert alarms / runs <= bound + 3 * math.sqrt(bound * (1 - bound) / runs)


@pytest.mark.parametrize("floor", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_a_floor_that_nothing_can_fall_below_is_refused(floor):
    with refuses(UsageError, "bad_floor", match="between 0 and 1"):
        below(np.array([0.5]), floor)


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf])
def test_a_value_beyond_0_and_1_is_refused(value):
    with refuses(InputError, "bad_observation", match="from 0 to 1"):
        below(np.array([0.5, value]), 0.5)


@pytest.mark.parametrize(
    "change",
    [
        {"run_length": 0.5},
        {"run_length": math.inf},
        {"bets": []},
        {"bets": [1.0]},
        {"bets": [0.5]},
        {"periods": 0},
        {"evidence": [0.0]},
        {"evidence": [math.nan] * len(BETS)},
        {"sums": [math.inf] * len(BETS)},
        {"starts": []},
        {"falls": []},
        {"sizes": []},
        {"starts": [-1] * len(BETS)},
        {"periods": "1"},
        {"observations": -1},
        {"alarm": "yes"},
        {"run_length": "1000"},
        {"evidence": None},
        {"wealth": 3},
    ],
)
def test_what_is_no_detector_is_refused(change):
    stored = watch(Detector(run_length=9), [[0.5]]).to_dict()
    with refuses(UsageError, "bad_detector"):
        Detector.from_dict(stored | change)


FLOOR = 0.68


def watch_recovery(recovery, days, size=100):
    draw = np.random.default_rng(1)
    found = []
    for mean in days:
        values = (draw.random(size) < mean).astype(float)
        recovery = follow(recovery, below(values, FLOOR))
        found.append(recovery.is_recovered)
    return found


def test_a_large_fall_recovers_within_two_days_of_the_fix_and_no_sooner():
    found = watch_recovery(begin_recovery(fall=0.25, size=300), [0.43] * 20 + [0.7, 0.7])
    assert not any(found[:20])
    assert found[21]
    assert not any(watch_recovery(begin_recovery(fall=0.1, size=300), [FLOOR - 0.1] * 60))
    # The evidence grows, but the mean is still below the floor.
    assert not any(watch_recovery(begin_recovery(fall=0.4, size=300), [FLOOR - 0.12] * 20))


def test_a_recovery_goes_on_where_it_was_put_away():
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


def test_a_detector_knows_how_far_the_mean_fell():
    detector = Detector(run_length=1000)
    for mean in (0.9, 0.9, 0.4, 0.4):
        detector = advance(detector, below(np.full(50, mean), FLOOR))
    assert detector.since == 3
    assert detector.fall == pytest.approx(FLOOR - 0.4)
    assert detector.size == 100


def test_labels_that_vary_much_are_lost_beyond_so_many_deviations():
    days, rankings = np.arange(28), np.full(28, 1000)
    noise = np.random.default_rng(1).normal(0, 150, 28)
    loud = fit_label_rate((1500 + noise).astype(np.int64), rankings, days)
    assert loud.width == pytest.approx(4.9 * loud.deviation)
    assert judge_label_rate(loud, labels=1100, rankings=1000, day=30).state == "usual"
    assert LabelRate.from_dict(json.loads(json.dumps(loud.to_dict()))) == loud


def test_weekends_with_half_the_labels_are_usual():
    # Day 0 was a Thursday.
    days = np.arange(28)
    labels = np.where((days + 3) % 7 >= 5, 500, 1000)
    rate = fit_label_rate(labels, np.full(28, 1000), days)
    assert judge_label_rate(rate, labels=500, rankings=1000, day=30).state == "usual"
    assert judge_label_rate(rate, labels=500, rankings=1000, day=32).state == "lost"
    assert fit_label_rate(labels[:6], np.full(6, 10), days[:6]) is None


def lists(count, day, *, kept=1.0, worse=False):
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


def test_a_lane_judges_the_discount_while_the_gain_per_list_is_unusual():
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


def test_the_gain_of_the_last_day_counts_where_a_period_is_short():
    lane = fit_lane(*lists(14_000, 13), tolerance=0.02)
    few = lists(20, 20, kept=0.4)
    assert judge_lane(lane, *few, recent_gain=lane.gain).judged == "value"
    assert judge_lane(lane, *few, recent_gain=0.8 * lane.gain).judged == "discount"
    assert judge_lane(lane, *few, recent_gain=lane.gain, has_usual_labels=False).judged == (
        "discount"
    )


def test_the_anchor_is_up_to_84_days_before_it_is_first_compared_with():
    assert choose_anchor(100 * DAY, 200 * DAY) == Anchor(116 * DAY, 200 * DAY)
    assert choose_anchor(180 * DAY, 200 * DAY) == Anchor(180 * DAY, 200 * DAY)
    assert choose_anchor(100 * DAY, 200 * DAY, longest=3 * DAY) == Anchor(197 * DAY, 200 * DAY)
    assert choose_anchor(186 * DAY, 200 * DAY) == Anchor(186 * DAY, 200 * DAY)
    assert choose_anchor(186 * DAY + 1, 200 * DAY) is None
    assert choose_anchor(116 * DAY - 1, 200 * DAY) == Anchor(116 * DAY, 200 * DAY)


def test_versions_are_compared_within_the_cells_that_have_both():
    value = np.array([0.9, 0.7, 0.5, 0.1, 0.3])
    is_new = np.array([False, True, False, True, True])
    cell = np.array([0, 0, 0, 1, 1])
    found = compare_versions(value, np.arange(5), is_new, cell=cell)
    assert found.value == pytest.approx(0.7 - 0.7)
    assert found.rankings == (2, 1)
    assert math.isnan(found.lower)
    assert compare_versions(value, np.arange(5), np.full(5, fill_value=True)) is None


def test_a_rollout_to_the_worst_device_first_is_no_difference():
    draw = np.random.default_rng(2)
    cell = draw.integers(0, 2, 8000)
    is_new = draw.random(8000) < np.where(cell == 1, 0.8, 0.05)
    value = (draw.random(8000) < np.where(cell == 1, 0.4, 0.8)).astype(float)
    found = compare_versions(value, np.arange(8000), is_new, cell=cell)
    plain = compare_versions(value, np.arange(8000), is_new)
    assert found.lower < 0 < found.upper
    assert plain.is_worse


def test_a_covariate_makes_the_interval_narrower_and_leaves_the_difference():
    draw = np.random.default_rng(3)
    query = draw.random(6000)
    is_new = draw.random(6000) < 0.5
    value = np.clip(0.8 * query + 0.1 * draw.random(6000) + 0.05 * is_new, 0, 1)
    plain = compare_versions(value, np.arange(6000), is_new)
    adjusted = compare_versions(value, np.arange(6000), is_new, covariate=query)
    assert adjusted.explained > 0.9
    assert adjusted.upper - adjusted.lower < 0.3 * (plain.upper - plain.lower)
    assert adjusted.lower < 0.05 < adjusted.upper


def test_the_interval_of_a_difference_holds_at_all_times_in_95_percent_of_the_runs():
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


def test_a_fall_within_reach_is_found_in_30_days_and_a_smaller_one_takes_longer():
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
