"""Quantiles, proportions and sums: beside SciPy and the standard library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.stats.exact_sums import split_exactly, sum_all, sum_groups, take_high_part
from rankscope.stats.quantiles import (
    count_needed,
    divide,
    estimate_quantile,
    find_design_effect,
    quantile_of,
    wilson,
)
from scipy.stats import binom, binomtest, norm

if TYPE_CHECKING:
    from random import Random


@pytest.mark.parametrize("count", [1, 5, 71, 72, 100, 1000, 20_000])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_the_ends_are_the_order_statistics_of_the_binomial_distribution(
    count: int, probability: float, level: float
) -> None:
    found = estimate_quantile(np.arange(1.0, count + 1), probability, level=level, low=0, high=1e6)
    tail = (1 - level) / 2
    ranks = np.arange(count + 2)
    # The largest j with P(B < j) <= tail, and the smallest k with P(B >= k) <= tail.
    lower = ranks[binom.cdf(ranks - 1, count, probability) <= tail].max()
    upper = ranks[binom.sf(ranks - 1, count, probability) <= tail].min()
    assert found.value == math.ceil(round(count * probability, 9))
    assert found.lower == lower
    assert found.upper == (1e6 if upper > count else upper)


def test_equal_clusters_count_as_one_value_each() -> None:
    values = np.arange(100.0)
    clusters = np.repeat(np.arange(100), 5)
    whole = estimate_quantile(np.repeat(values, 5), 0.9, clusters=clusters)
    alone = estimate_quantile(values, 0.9)
    # The variance of a share has 100 - 1 in its denominator, that of independent values 100.
    assert whole.effective == pytest.approx(99, rel=1e-12)
    assert whole.lower <= alone.lower
    assert whole.upper >= alone.upper


def test_clusters_of_one_value_are_independent_values() -> None:
    is_above = np.arange(50) % 5 == 0
    assert find_design_effect(is_above, np.arange(50)) == pytest.approx(50 / 49, rel=1e-12)


def test_without_values_above_each_cluster_counts_as_one_value() -> None:
    assert find_design_effect(np.zeros(60, dtype=bool), np.repeat(np.arange(12), 5)) == 5


def test_the_number_needed_is_that_of_a_test_of_a_proportion() -> None:
    share, allowed = 0.02, 0.05
    spread = norm.ppf(0.975) * math.sqrt(allowed * (1 - allowed))
    spread += norm.ppf(0.8) * math.sqrt(share * (1 - share))
    expected = math.ceil((spread / (allowed - share)) ** 2)
    assert count_needed(share, 0.95, level=0.95, power=0.8) == expected


def test_if_no_value_is_above_the_number_needed_gives_an_upper_end() -> None:
    for probability in (0.9, 0.95, 0.99):
        needed = count_needed(0.0, probability, level=0.95, power=0.8)
        assert needed is not None
        assert estimate_quantile(np.zeros(needed), probability).upper == 0


def test_no_number_shows_on_which_side_of_itself_a_share_is() -> None:
    assert count_needed(0.05, 0.95, level=0.95, power=0.8) is None


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("clicks", "count"), [(0, 7), (1, 3), (13, 3322), (50, 100), (9, 9)])
def test_the_interval_of_a_share_is_that_of_scipy(clicks: int, count: int, level: float) -> None:
    assert quantile_of(level) == pytest.approx(norm.ppf((1 + level) / 2), rel=1e-12)
    expected = binomtest(clicks, count).proportion_ci(level, method="wilson")
    found = wilson(clicks / count, count, quantile_of(level))
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(
    ("top", "bottom"), [((14, 3412), (13, 3322)), ((1, 10), (9, 10)), ((30, 40), (1, 90))]
)
def test_the_ends_of_a_quotient_are_where_the_recovered_variances_say(
    top: tuple[int, int], bottom: tuple[int, int]
) -> None:
    (one, other) = (clicks / count for clicks, count in (top, bottom))
    ends = wilson(one, top[1], 1.96)
    below = wilson(other, bottom[1], 1.96)
    lower, upper = divide(one, ends, other, below)
    assert lower < one / other < upper
    # A quotient x is an end where the distance of one - x other from 0 is its own half width.
    for end, of_one, of_other in ((lower, ends[0], below[1]), (upper, ends[1], below[0])):
        distance = (one - end * other) ** 2
        assert distance == pytest.approx((one - of_one) ** 2 + end**2 * (other - of_other) ** 2)


def test_a_rank_without_clicks_has_an_upper_end() -> None:
    ends, below = wilson(0, 100, 1.96), wilson(0.5, 100, 1.96)
    lower, upper = divide(0.0, ends, 0.5, below)
    assert lower == 0
    assert upper == pytest.approx(ends[1] / math.sqrt(below[0] * (2 * 0.5 - below[0])))


NUMBERS = st.floats(-1e99, 1e99, allow_subnormal=True)


@given(st.lists(NUMBERS, max_size=30))
def test_a_sum_is_rounded_once(values: list[float]) -> None:
    assert sum_all(np.array(values)) == math.fsum(values)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 3)), max_size=30), st.randoms())
def test_a_sum_of_a_group_is_next_to_the_exact_one(
    rows: list[tuple[float, int]], random: Random
) -> None:
    def add(rows: list[tuple[float, int]]) -> list[float]:
        values = np.array([value for value, _ in rows])
        return sum_groups(values, np.array([group for _, group in rows], dtype=int), 5).tolist()

    found = add(rows)
    for group in range(5):
        exact = math.fsum(value for value, which in rows if which == group)
        assert abs(found[group] - exact) <= math.ulp(exact)
    random.shuffle(rows)
    assert add(rows) == found


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_parts_add_up_to_each_value(values: list[float]) -> None:
    parts = split_exactly(np.array(values))
    for at, value in enumerate(values):
        assert math.fsum(part[at] for part in parts) == value


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms())
def test_high_parts_add_up_alike_in_any_order(values: list[float], random: Random) -> None:
    high = take_high_part(np.array(values), 50).tolist()
    assert np.allclose(high, values, rtol=0, atol=2**-45)
    total = sum(high)
    random.shuffle(high)
    assert sum(high) == total == math.fsum(high)
