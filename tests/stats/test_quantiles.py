"""Quantiles of losses: order statistics beside SciPy's binomial distribution, and clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.stats.quantiles import count_needed, estimate_quantile, find_design_effect
from scipy.stats import binom, norm


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
