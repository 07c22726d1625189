from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import InputError, UsageError
from rankscope.monitor.sequential.baseline import Baseline, find_gaps, fit_baseline
from rankscope.monitor.sequential.detector import Detector, advance
from rankscope.monitor.sequential.effects import bound_mean
from rankscope.monitor.sequential.observations import DAY, HOUR, Observations

from tests.generated import examples

LEVEL = 1 / 40
"""All floors of a rule hold with a probability of 39 in 40."""
DAY_WEIGHT = 3
"""As often the variance between days counts."""
MONDAY = 4 * DAY
DEVICES = (("desktop",), ("phone",), ("tv",))
MEANS = np.array([0.8, 0.6, 0.4])


def observe(value, day, cell=None, **given):
    count = len(value)
    fields = {
        "cluster": np.arange(count),
        "cell": np.zeros(count, dtype=np.int64) if cell is None else cell,
        "time": MONDAY + np.asarray(day, dtype=np.int64) * DAY,
    }
    return Observations(value=np.asarray(value, dtype=float), **(fields | given))


def draw(random, mean):
    return (random.random(len(mean)) < mean).astype(float)


def test_the_floor_is_the_mean_less_the_larger_of_half_width_and_tolerance():
    random = np.random.default_rng(1)
    seen = observe(random.random(600), np.arange(600) % 5)
    bound = bound_mean(seen.value, np.ones(600), LEVEL)
    narrow, wide = (fit_baseline(seen, tolerance=each) for each in (0.0, 0.1))
    assert narrow.mean == pytest.approx(seen.value.mean(), rel=1e-12)
    drift = 1.9599639845400545 * math.sqrt(DAY_WEIGHT * narrow.day_variance / 5)
    assert narrow.half_width == pytest.approx(math.hypot(narrow.mean - bound, drift), abs=1e-6)
    assert narrow.floor == narrow.mean - narrow.half_width
    assert wide.floor == wide.mean - 0.1


def test_a_user_counts_once_a_day():
    value, day = np.array([0.0, 0.0, 0.0, 1.0, 0.5, 0.5]), np.array([0, 0, 0, 0, 1, 1])
    users = np.array(["a", "a", "a", "b", "a", "b"])
    baseline = fit_baseline(observe(value, day, cluster=users), tolerance=0.0)
    assert baseline.mean == pytest.approx((0 + 1 + 0.5 + 0.5) / 4)
    assert (baseline.users, baseline.days) == (2, 2)


@pytest.mark.parametrize(
    ("days", "comes", "is_lasting"), [(28, 7, True), (28, 6, False), (7, 2, True), (6, 2, False)]
)
def test_each_day_of_users_who_come_on_a_quarter_of_a_week_or_more_is_a_draw(
    days, comes, *, is_lasting
):
    random = np.random.default_rng(7)
    users = 40
    day = np.tile(np.arange(days), users)
    user = np.repeat(np.arange(users), days)
    comes_then = (day + user) % days < comes
    day, user = day[comes_then], user[comes_then]
    value = random.random(len(day))
    baseline = fit_baseline(observe(value, day, cluster=user), tolerance=0.0)
    days_alone = bound_mean(value, np.ones(len(value)), LEVEL)
    together = bound_mean(np.bincount(user, value), np.bincount(user).astype(float), LEVEL)
    bound = days_alone if is_lasting else together
    drift = 1.9599639845400545 * math.sqrt(DAY_WEIGHT * baseline.day_variance / days)
    assert days_alone != together
    assert baseline.half_width == pytest.approx(math.hypot(value.mean() - bound, drift), abs=1e-6)


def test_a_shift_of_the_mix_is_no_gap():
    random = np.random.default_rng(2)
    cell = random.integers(0, 3, 30_000)
    baseline = fit_baseline(
        observe(draw(random, MEANS[cell]), np.arange(30_000) % 28, cell, cells=DEVICES),
        tolerance=0.02,
    )
    televisions = np.full(20_000, 2)
    gaps = find_gaps(
        baseline,
        observe(draw(random, MEANS[televisions]), np.full(20_000, 30), televisions, cells=DEVICES),
    )
    assert gaps.expected == pytest.approx(0.4, abs=0.015)
    assert abs(gaps.mean) < gaps.margin
    # A third of the searches know less than all.
    assert gaps.margin >= baseline.half_width * 1.5


def test_a_cell_that_the_baseline_lacks_follows_its_parents_with_a_wide_margin():
    random = np.random.default_rng(3)
    cells = (("tv", "de"), ("tv", "fr"), ("phone", "de"), ("phone", "fr"))
    means = np.array([0.3, 0.4, 0.6, 0.7])
    cell = random.integers(0, 3, 12_000)
    baseline = fit_baseline(
        observe(draw(random, means[cell]), np.arange(12_000) % 28, cell, cells=cells),
        tolerance=0.01,
    )
    new = np.full(500, 3)
    gaps = find_gaps(baseline, observe(np.ones(500), np.full(500, 30), new, cells=cells))
    assert gaps.expected == pytest.approx(0.7, abs=0.05)
    assert gaps.margin > 5 * baseline.half_width


def test_a_small_cell_is_drawn_towards_the_others():
    random = np.random.default_rng(4)
    cell = np.where(np.arange(5000) % 500 == 0, 2, random.integers(0, 2, 5000))
    value = draw(random, np.array([0.62, 0.58, 0.6])[cell])
    value[cell == 2] = 1.0
    baseline = fit_baseline(
        observe(value, np.arange(5000) % 28, cell, cells=DEVICES), tolerance=0.02
    )
    assert 0.55 < baseline.cells.expect([("tv",)])[0] < 0.97


def test_weekdays_are_expected_to_differ_where_they_do():
    random = np.random.default_rng(5)
    day = np.repeat(np.arange(28), 1000)
    level = np.where(day % 7 >= 5, 0.6, 0.8)
    baseline = fit_baseline(observe(draw(random, level), day), tolerance=0.02)
    effects = np.array(baseline.weekdays)
    # 5 days at 0.8 and 2 at 0.6 around their mean.
    assert effects[:5] == pytest.approx(0.4 / 7, abs=0.02)
    assert effects[5:] == pytest.approx(-1 / 7, abs=0.02)
    sunday = find_gaps(baseline, observe(draw(random, np.full(5000, 0.6)), np.full(5000, 34)))
    assert abs(sunday.mean) < 0.02
    assert baseline.day_deviation < 0.01


def test_day_effects_make_evidence_smaller_and_the_absence_of_them_does_not():
    random = np.random.default_rng(6)
    day = np.repeat(np.arange(28), 2000)
    shared = random.normal(0, 0.03, 28)[day]
    noisy, plain = (
        fit_baseline(observe(draw(random, 0.6 + effect), day), tolerance=0.02)
        for effect in (shared, 0 * shared)
    )
    assert 0.01 < noisy.day_deviation < 0.05
    period = observe(draw(random, np.full(2000, 0.6)), np.full(2000, 30))
    gaps = find_gaps(noisy, period)
    expected = 1 / (1 + DAY_WEIGHT * 2000 * noisy.day_variance / noisy.variance)
    assert gaps.gamma == pytest.approx(expected, rel=1e-9)
    assert find_gaps(plain, period).gamma > 10 * gaps.gamma
    # The hours of a day share its effect.
    part = observe(draw(random, np.full(100, 0.6)), np.full(100, 30))
    assert find_gaps(noisy, part, shared=2000).gamma == pytest.approx(expected, rel=1e-9)


def test_gamma_multiplies_the_logarithm_of_the_evidence():
    random = np.random.default_rng(7)
    seen = observe(random.random(300), np.arange(300) % 10)
    gaps = find_gaps(fit_baseline(seen, tolerance=0.02), observe(np.zeros(40), np.full(40, 12)))
    bet = 0.5
    detector = Detector(run_length=100, bets=(bet,))
    whole = advance(detector, replace(gaps, gamma=1.0)).log_evidence
    assert advance(detector, replace(gaps, gamma=0.25)).log_evidence == pytest.approx(whole / 4)


@examples(25)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rankings_changes_no_bit(shuffle):
    random = np.random.default_rng(8)
    count = 400
    columns = {
        "value": random.random(count),
        "cluster": random.integers(0, 60, count),
        "cell": random.integers(0, 3, count),
        "time": MONDAY + random.integers(0, 20 * 24, count) * HOUR,
        "weight": random.integers(0, 4, count).astype(float),
    }
    order = list(range(count))
    shuffle.shuffle(order)
    one = Observations(**columns, cells=DEVICES)
    other = Observations(**{name: column[order] for name, column in columns.items()}, cells=DEVICES)
    baselines = [fit_baseline(each, tolerance=0.02) for each in (one, other)]
    assert baselines[0] == baselines[1]
    found = [
        advance(Detector(run_length=100), find_gaps(baselines[0], each)) for each in (one, other)
    ]
    assert found[0] == found[1]
    stored = json.dumps(baselines[0].to_dict(), allow_nan=False)
    assert Baseline.from_dict(json.loads(stored)) == baselines[0]


def test_a_baseline_or_a_period_without_values_is_refused_or_no_evidence():
    with pytest.raises(UsageError, match="no values"):
        fit_baseline(observe(np.array([math.nan]), np.array([0])), tolerance=0.02)
    with pytest.raises(InputError, match="from 0 to 1"):
        fit_baseline(observe(np.array([0.5, 1.5]), np.array([0, 1])), tolerance=0.02)
    with pytest.raises(UsageError, match="tolerance"):
        fit_baseline(observe(np.array([0.5]), np.array([0])), tolerance=-0.1)
    random = np.random.default_rng(9)
    baseline = fit_baseline(observe(random.random(100), np.arange(100) % 10), tolerance=0.02)
    gaps = find_gaps(baseline, observe(np.array([math.nan]), np.array([12])))
    detector = Detector(run_length=100)
    assert advance(detector, gaps) == detector


def test_an_hour_adds_its_share_and_the_first_one_that_of_a_day():
    random = np.random.default_rng(10)
    baseline = fit_baseline(observe(random.random(100), np.arange(100) % 10), tolerance=0.02)
    # A bet that neither wins nor loses: the evidence is the sum of what was staked.
    gaps = find_gaps(baseline, observe(np.array([0.5]), np.array([12])))
    gaps = replace(gaps, gap=np.array([gaps.margin]))
    detector = Detector(run_length=1000)
    staked = []
    for _ in range(30):
        detector = advance(detector, gaps, share=1 / 24)
        staked.append(math.exp(detector.log_evidence))
    assert staked[:24] == pytest.approx([1.0] * 24)
    assert staked[24:] == pytest.approx([1 + (hour + 1) / 24 for hour in range(6)])
