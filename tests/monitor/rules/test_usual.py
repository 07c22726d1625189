from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from rankscope.monitor.rules.data.usual import (
    LEAST_VARIANCE,
    WINDOWS,
    _measure_variance,
    expect_windows,
    find_fall,
    find_rise,
    find_start,
    learn_usual,
    measure_fall,
    measure_surprise,
    weigh_return,
)

HOURS, WEEK = 24, 168


def fill(daily=2400.0, days=28):
    return np.full(days * HOURS, daily / HOURS)


def test_an_odd_day_hardly_changes_what_is_usual_and_hours_left_out_nothing():
    counts = fill()
    counts[100:200] = np.nan
    counts[: 6 * HOURS] = np.nan
    usual = learn_usual(counts, 2)
    # Up to the rounding of sums.
    assert usual.hours == pytest.approx(np.full(WEEK, 100.0), rel=1e-12)
    assert usual.variance == pytest.approx(LEAST_VARIANCE + 7 / (usual.days * 2400), rel=1e-12)
    counts = fill()
    counts[8 * HOURS : 9 * HOURS] = 0
    counts[15 * HOURS : 16 * HOURS] *= 10
    usual = learn_usual(counts, 0)
    assert usual.daily == pytest.approx(2400, rel=0.05)


def test_weekends_and_nights_are_learned_and_how_much_days_vary():
    week = np.tile(np.where(np.arange(HOURS) < 7, 10.0, 1000.0), 7)
    week[5 * HOURS :] /= 4
    usual = learn_usual(np.tile(week, 4), 0)
    assert usual.hours == pytest.approx(week, rel=0.05)
    chance = np.random.default_rng(1)
    variances = []
    for deviation in (0.0, 0.2, 0.4):
        level = np.repeat(np.exp(chance.normal(0, deviation, 28)), HOURS)
        usual = learn_usual(chance.poisson(100 * level).astype(float), 0)
        variances.append(usual.variance)
    assert variances[0] < 0.2**2 < variances[1] < variances[2] < 1


def learn_week(days):
    """What is usual after four weeks of the same days, Monday first, by day and hour."""
    usual = learn_usual(np.array(days * 4).ravel(), 0)
    return usual.hours.reshape(7, HOURS)


def test_a_weekday_counts_as_much_as_all_days_at_500_rankings_for_hours_and_30_for_its_size():
    early, late = [7.0] * 12 + [3.0] * 12, [3.0] * 12 + [7.0] * 12
    monday, other = (np.array(day) * 125 / 120 for day in (early, late))
    found = learn_week([monday.tolist(), *([other.tolist()] * 6)])
    # Four Mondays with 125 rankings each have 500.
    assert found[0] == pytest.approx((monday + (monday + 6 * other) / 7) / 2, rel=1e-12)
    # Four usual days of 7.5 rankings have 30.
    monday, other = np.full(HOURS, 3.75 / HOURS), np.full(HOURS, 7.5 / HOURS)
    found = learn_week([monday.tolist(), *([other.tolist()] * 6)])
    assert found[0].sum() == pytest.approx((3.75 + 7.5) / 2, rel=1e-12)


def vary(deviation, expected):
    """The variance of blocks that all are so many parts away from what is expected.

    Of a normal distribution, 80 % are within 1.28 standard deviations. Seven weekdays are fitted to
    28 days, and a half is added for what is learned from few blocks.
    """
    square = deviation**2 / NormalDist().inv_cdf(0.9) ** 2
    return (square - 1 / expected) * 28 / (28 - 7) * 1.5


@pytest.mark.parametrize("length", [3, 6, 24])
def test_counts_may_vary_by_3_6_or_24_hours(length):
    expected = np.full(28 * HOURS, 10.0)
    sign = np.where(np.arange(28 * HOURS) // length % 2, 1, -1)
    # NORMAL has five digits.
    assert _measure_variance(expected * (1 + 0.7 * sign), expected, 28.0) == pytest.approx(
        vary(0.7, 10.0 * length), rel=1e-4
    )


def test_a_fifth_of_days_may_be_odd():
    sums = np.where(np.arange(28) < 22, 14.0, 20.0)
    expected = np.zeros((28, HOURS))
    expected[:, 0] = 8.0
    counts = np.zeros((28, HOURS))
    counts[:, 0] = sums
    # The quantile is between the 22nd and the 23rd of the 28 days: 0.8 * 27 is 21.6.
    assert _measure_variance(counts.ravel(), expected.ravel(), 28.0) == pytest.approx(
        0.4 * vary(14 / 8 - 1, 8.0) + 0.6 * vary(20 / 8 - 1, 8.0), rel=1e-4
    )


def test_days_of_five_rankings_tell_how_much_they_vary():
    for daily in (4.99, 5.0, 5.01):
        expected = np.zeros((28, HOURS))
        expected[:, 0] = daily
        variance = vary(2.0, daily) if daily >= 5 else LEAST_VARIANCE
        found = _measure_variance(3 * expected.ravel(), expected.ravel(), 28.0)
        assert found == pytest.approx(variance, rel=1e-4)


def test_the_evidence_is_a_bound_of_the_probability_whatever_means_vary_by():
    # For no event at all, the bound is the probability itself: (s / (s + E))^s with s = 1 / v.
    assert float(measure_surprise(np.array(0.0), np.array(20.0), 0.1)) == pytest.approx(
        10 * np.log(30 / 10), rel=1e-12
    )
    chance = np.random.default_rng(2)
    drawn = chance.poisson(chance.gamma(10, 20 / 10, 200_000))
    for count in (2, 5, 8):
        share = (drawn <= count).mean()
        assert share <= np.exp(
            -float(measure_surprise(np.array(float(count)), np.array(20.0), 0.1))
        )
    chance = np.random.default_rng(3)
    drawn = chance.poisson(200 * np.exp(chance.normal(0, 0.3, 200_000)))
    for count in (60, 80, 100, 120):
        share = (drawn <= count).mean()
        bound = measure_fall(np.array([float(count)]), np.array([200.0]), 0.3**2)
        assert share <= np.exp(-float(bound[0]))


def test_falls_and_rises_are_found_in_the_span_that_says_most():
    _, lowest, highest = expect_windows(np.full(WEEK, 50.0))[:, 0]
    counts = np.full(WEEK, 50.0)
    assert find_fall(counts, lowest, 0.01) is None
    assert find_rise(counts, highest, 0.01) is None
    counts[-6:] = 2
    fall = find_fall(counts, lowest, 0.01)
    assert (fall.hours, fall.count, fall.expected) == (6, 12, 300)
    assert find_start(counts, np.full(WEEK, 50.0)) == 6
    counts[-6:] = 500
    rise = find_rise(counts, highest, 0.01)
    assert rise.hours in WINDOWS
    assert rise.ratio >= 2


@pytest.mark.parametrize("hours", [1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 96, 120, 168])
def test_a_silence_is_seen_in_the_span_that_is_as_long(hours):
    counts = np.full(WEEK, 50.0)
    counts[-hours:] = 0
    found = find_fall(counts, expect_windows(np.full(WEEK, 50.0))[1, 0], 0.01)
    assert (found.hours, found.expected) == (hours, 50.0 * hours)


def test_people_may_come_an_hour_earlier_or_later():
    hours = np.tile(np.where(np.arange(HOURS) < 7, 1.0, 1000.0), 7)
    expected, lowest, highest = expect_windows(hours)[:, 8]
    assert (expected[0], lowest[0], highest[0]) == (1000, 1, 1000)
    assert expected[WINDOWS.index(24)] == hours[:HOURS].sum()
    assert expected[-1] == hours.sum()


def test_an_hour_as_usual_is_evidence_for_the_return_and_a_bad_one_against_it():
    assert weigh_return(50, 50, 0.1, 0.01) > 0 > weigh_return(5, 50, 0.1, 0.01)
    assert weigh_return(50, 50, 4.0, 0.01) > 0 > weigh_return(200, 50, 4.0, 0.01)
    assert weigh_return(0, 0, 0.1, 0.01) == 0


def test_traffic_has_fallen_at_half_and_risen_at_twice_of_what_is_usual_in_three_hours():
    usual = np.full(len(WINDOWS), 1000.0)
    for count in (499.0, 500.0, 501.0):
        assert (find_fall(np.array([count]), usual, 1e-6) is not None) == (count <= 500)
        assert find_start(np.array([1000.0, count]), usual[:2]) == 1
    for count in (1999.0, 2000.0, 2001.0):
        assert (find_rise(np.array([0.0, 0.0, count]), usual, 1e-6) is not None) == (count >= 2000)
    highest = np.full(len(WINDOWS), 1000.0)
    for hours in (2, 3):
        counts = np.zeros(hours)
        counts[-1] = 9000.0
        found = find_rise(counts, highest, 1e-6)
        assert (found is not None and found.evidence > 0) == (hours >= 3)


def test_traffic_is_known_after_a_week():
    for hours in (167, 168, 169):
        counts = np.full(10 * 24, np.nan)
        counts[-hours:] = 100.0
        assert (learn_usual(counts, 0) is not None) == (hours >= 168)


@pytest.mark.parametrize(("days", "least"), [(13, 0.15**2), (14, 0.07**2), (15, 0.07**2)])
def test_two_weeks_tell_how_much_traffic_varies(days, least):
    usual = learn_usual(np.full(days * 24, 1e6), 0)
    unknown = usual.variance - least
    # What is expected isn't known exactly, which adds a little.
    assert 0 <= unknown < 1e-5
