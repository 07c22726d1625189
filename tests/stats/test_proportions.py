"""Intervals of proportions and of their quotients."""

from __future__ import annotations

import math

import pytest
from rankscope.stats.quantiles import divide, quantile_of, wilson
from scipy.stats import binomtest, norm


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
