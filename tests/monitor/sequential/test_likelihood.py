from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.sequential.baseline import find_gaps, fit_baseline
from rankscope.monitor.sequential.detector import Detector, advance, cap
from rankscope.monitor.sequential.likelihood import _straighten, simulate
from rankscope.monitor.sequential.noise import (
    CHANCES,
    LEAST,
    average,
    find_ratio,
    fit_days,
    read_evidence,
)
from rankscope.monitor.sequential.observations import DAY, Gaps, Likelihood, Observations
from scipy.stats import gamma, multivariate_normal, norm

RANDOM = 20261201
LEVELS = (0.5, 1.0, 2.0, 4.0, 1.25)


def make_gaps(mean, *, day, variance=1e-4, effects=2e-4):
    """A period with a mean gap, of days with a correlation of 0.8."""
    likelihood = Likelihood(
        least=0.04,
        variance=variance,
        skew=0.0,
        day=day,
        day_variance=effects,
        correlation=0.8,
        levels=LEVELS,
    )
    return Gaps(
        gap=np.full(100, mean),
        room=1.0,
        depth=1.0,
        margin=0.02,
        value=0.5 - mean,
        expected=0.5,
        likelihood=likelihood,
    )


def watch(gaps, detector=None):
    detector = detector or Detector(run_length=1800)
    for each in gaps:
        detector = advance(detector, each)
    return detector


@pytest.mark.parametrize("days", [[0, 1, 2, 3, 4, 5], [0, 1, 1, 1, 4, 6]])
def test_the_ratio_is_that_of_normal_days_that_are_alike(days):
    draw = np.random.default_rng(RANDOM)
    means, noise = 0.05 + draw.normal(0, 0.01, len(days)), draw.uniform(1e-4, 4e-4, len(days))
    found = watch(
        [
            make_gaps(mean, day=day, variance=variance)
            for mean, day, variance in zip(means, days, noise, strict=True)
        ]
    )
    apart = np.abs(np.subtract.outer(days, days))
    spread = 2e-4 * 0.8**apart + np.diag(noise)
    quiet = multivariate_normal.logpdf(means, np.zeros(len(days)), spread)
    falls = np.linspace(0.04, 0.2, 16_001)
    for start, ratio in zip(found.starts, found.sums, strict=True):
        since = (np.arange(len(days)) >= start - 1).astype(float)
        inverse = np.linalg.solve(spread, since)
        most = max(0.04, float(inverse @ means / (inverse @ since)))
        assert most <= falls[-1]
        fallen = multivariate_normal.logpdf(means, most * since, spread)
        assert ratio == pytest.approx(fallen - quiet, abs=1e-9)
    assert len(found.starts) > 1


def test_the_hours_of_a_day_say_what_the_day_does():
    days = watch([make_gaps(0.01, day=0), make_gaps(0.06, day=1)])
    hours = [make_gaps(0.06, day=1, variance=24e-4)] * 24
    whole = watch(hours, watch([make_gaps(0.01, day=0)]))
    assert max(whole.sums) == pytest.approx(max(days.sums), rel=1e-12)
    assert whole.effect == pytest.approx(days.effect, rel=1e-12)
    assert whole.spread == pytest.approx(days.spread, rel=1e-12)


@given(st.lists(st.floats(-0.1, 0.2), max_size=40), st.integers(0, 40))
def test_a_detector_goes_on_where_it_was_put_away(means, at):
    gaps = [make_gaps(mean, day=day) for day, mean in enumerate(means)]
    stored = json.dumps(watch(gaps[:at]).to_dict(), allow_nan=False)
    assert watch(gaps[at:], Detector.from_dict(json.loads(stored))) == watch(gaps)


def test_a_fall_is_the_mean_gap_since_its_start_of_which_at_most_30_are_kept():
    found = watch([make_gaps(0.08 if day >= 20 else 0.0, day=day) for day in range(24)])
    assert (found.since, found.size) == (21, 400)
    assert found.fall == pytest.approx(0.08, abs=1e-15)
    assert found.is_alarm
    found = watch([make_gaps(0.2, day=day) for day in range(60)])
    assert len(found.starts) <= 31
    assert found.since == 1


def test_evidence_that_is_capped_is_the_cap_and_grows_again():
    found = watch([make_gaps(0.2, day=day) for day in range(10)])
    most = math.log(5000)
    capped = cap(found, most)
    assert found.log_evidence > most == pytest.approx(capped.log_evidence, rel=1e-12)
    assert cap(capped, most + 1) is capped
    after = advance(capped, make_gaps(0.2, day=10))
    assert after.log_evidence > capped.log_evidence
    assert advance(capped, make_gaps(-0.2, day=10)).log_evidence < capped.log_evidence


@given(st.floats(0, 100), st.floats(0, 100))
def test_evidence_rises_with_the_ratio(one, other):
    low, high = sorted((one, other))
    assert read_evidence(LEVELS, low) <= read_evidence(LEVELS, high)
    assert find_ratio(LEVELS, read_evidence(LEVELS, low)) == pytest.approx(low, abs=1e-12)


def test_evidence_is_the_days_between_what_chance_makes():
    for level, chance in zip(LEVELS, CHANCES, strict=False):
        assert math.exp(read_evidence(LEVELS, level)) == pytest.approx(90 / -math.log(1 - chance))
    # Beyond the last level, a part of the chance is left for each step of the scale.
    rarer = read_evidence(LEVELS, LEVELS[3] + LEVELS[4])
    assert rarer == pytest.approx(read_evidence(LEVELS, LEVELS[3]) + 1, rel=1e-12)


def test_a_skewed_mean_is_as_rare_as_the_normal_one_that_it_counts_as():
    for skew in (0.1, 0.4, 1.0):
        shape = 4 / skew**2
        for deviation in (0.0, 1.5, 3.0, 4.5):
            chance = gamma.sf(shape + deviation * math.sqrt(shape), shape)
            # The approximation of Wilson and Hilferty, in standard deviations.
            assert _straighten(deviation, skew) == pytest.approx(norm.isf(chance), abs=0.03)
    assert _straighten(4.5, -0.4) == _straighten(4.5, 0.0) == 4.5


@pytest.mark.slow
@pytest.mark.parametrize(("is_hourly", "least"), [(False, 1.9), (True, 1.9), (True, 8.0)])
def test_a_quarter_of_independent_days_has_as_much_evidence_as_was_simulated(is_hourly, least):
    levels = simulate(
        least=least,
        days=84,
        ratio=0.0,
        correlation=0.0,
        has_weekdays=False,
        is_hourly=is_hourly,
    )
    draw = np.random.default_rng(RANDOM)
    looks = 24 if is_hourly else 1
    shift = draw.normal(0, 1 / math.sqrt(84), (200, 1))
    # In units of a day's noise: each look has so many times its variance.
    gaps = shift + math.sqrt(looks) * draw.standard_normal((200, 90 * looks))
    sums = np.cumsum(np.pad(gaps, ((0, 0), (1, 0))), axis=1) / looks
    most = np.zeros(200)
    # The best of all starts, by hand, for falls that are large enough.
    for length in range(1, 61 if is_hourly else 31):
        total, days = sums[:, length:] - sums[:, :-length], length / looks
        fall = np.maximum(total / days, least)
        most = np.maximum(most, (fall * total - fall**2 * days / 2).max(axis=1))
    share = float((most > find_ratio(levels, math.log(90 / -math.log(0.8)))).mean())
    # A chance of 20 %, four standard errors around it.
    assert abs(share - 0.2) < 4 * math.sqrt(0.2 * 0.8 / 200)


def test_an_hour_needs_more_than_a_day_and_hardly_any_noise_needs_the_least():
    settings = {"ratio": 0.5, "correlation": 0.8, "days": 84, "has_weekdays": True}
    days = simulate(least=2.0, is_hourly=False, **settings)
    hours = simulate(least=2.0, is_hourly=True, **settings)
    assert all(hour > day for hour, day in zip(hours[:4], days[:4], strict=True))
    exact = settings | {"ratio": 0.0, "correlation": 0.0}
    assert simulate(least=1000.0, is_hourly=False, **exact) == (*LEAST, 1.0)


@pytest.mark.parametrize(("ratio", "correlation"), [(0.0, 0.0), (1.0, 0.8), (20.0, 0.4)])
def test_days_vary_by_no_more_than_the_bound_in_most_cases(ratio, correlation):
    draw = np.random.default_rng(RANDOM)
    day = np.arange(84)
    apart = np.abs(np.subtract.outer(day, day))
    spread = 1e-4 * (np.eye(84) + ratio * (correlation**apart if correlation else np.eye(84)))
    above = 0
    for level in draw.multivariate_normal(np.zeros(84), spread, 60):
        bound, alike = fit_days(level, np.full(84, 1e-4), day, np.zeros(84, dtype=int))
        long = [
            part * (average(rho, 5) + average(rho, 84))
            for part, rho in ((bound, alike), (ratio, correlation))
        ]
        above += long[0] >= long[1]
    assert above >= 45


def observe(days, users, *, ones=0.0):
    """Forty rankings a day, of users who come again and again."""
    draw = np.random.default_rng(RANDOM)
    count = 40 * days
    value = draw.random(count)
    return Observations(
        value=np.where(draw.random(count) < ones, 1.0, value),
        cluster=np.arange(count) % users,
        cell=np.zeros(count, dtype=np.int64),
        time=np.repeat(np.arange(days), 40) * DAY,
    )


@pytest.mark.parametrize(
    ("days", "users", "ones", "reason"),
    [
        (27, 400, 0.0, "the baseline has 27 of 28 days"),
        (28, 400, 0.0, ""),
        (28, 99, 0.0, "the baseline has 99 of 100 users"),
        (28, 100, 0.0, ""),
        (28, 400, 0.99, "nearly all values of the baseline are the same"),
        (600, 400, 0.99, "too few users in a period, of whom nearly all have the same value"),
    ],
)
def test_a_baseline_says_why_it_is_not_calibrated(days, users, ones, reason):
    found = fit_baseline(observe(days, users, ones=ones), tolerance=0.02, is_calibrated=True)
    assert (found.noise is None, found.uncalibrated) == (bool(reason), reason)


def test_a_calibrated_baseline_finds_a_fall_sooner_and_comes_back_from_its_text():
    seen = observe(84, 400)
    found = {}
    for is_calibrated in (True, False):
        baseline = fit_baseline(seen, tolerance=0.02, is_calibrated=is_calibrated)
        stored = json.loads(json.dumps(baseline.to_dict(), allow_nan=False))
        assert type(baseline).from_dict(stored) == baseline
        detector = Detector(run_length=1800)
        for day in range(100, 140):
            later = Observations(
                value=np.maximum(observe(1, 400).value - 0.15, 0.0),
                cluster=np.arange(40),
                cell=np.zeros(40, dtype=np.int64),
                time=np.full(40, day * DAY),
            )
            detector = advance(detector, find_gaps(baseline, later))
        found[is_calibrated] = detector.alarm
    assert found[True] < found[False]
