"""Power, sizes and detectable differences agree with statsmodels."""

from __future__ import annotations

import math

import pytest
from rankscope.errors import UsageError
from rankscope.stats.estimate import power as planned
from statsmodels.stats.power import TTestIndPower, TTestPower

SETTINGS = [(0.05, 0.8), (0.01, 0.9), (0.2, 0.5)]


@pytest.mark.parametrize("n", [2, 3, 10, 50, 250])
@pytest.mark.parametrize("effect", [0.0, 0.05, 0.3])
def test_power_agrees_with_statsmodels(n: int, effect: float) -> None:
    paired, unpaired = TTestPower(), TTestIndPower()
    found = planned.power_of(effect * 0.2, 0.2, n)
    assert found == pytest.approx(paired.power(effect, n, 0.05), abs=1e-8)
    assert planned.power_of(-effect * 0.2, 0.2, n) == found
    expected = unpaired.power(effect, n, 0.05)
    found = planned.power_unpaired(effect * 0.2, (0.2, 0.2), n)
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("level", "power"), SETTINGS)
@pytest.mark.parametrize("effect", [0.02, 0.1, 0.5, 3.0])
def test_queries_needed_are_the_fewest_that_suffice(
    effect: float, level: float, power: float
) -> None:
    needed = planned.queries_needed(effect, 1.0, level=level, power=power)
    assert planned.power_of(effect, 1.0, needed, level=level) >= power
    if needed > 2:
        assert planned.power_of(effect, 1.0, needed - 1, level=level) < power
    each = planned.queries_needed_unpaired(effect, (1.0, 1.0), level=level, power=power)
    assert planned.power_unpaired(effect, (1.0, 1.0), each, level=level) >= power
    if each > 2:
        assert planned.power_unpaired(effect, (1.0, 1.0), each - 1, level=level) < power


@pytest.mark.parametrize(("level", "power"), SETTINGS)
@pytest.mark.parametrize("n", [2, 5, 40, 250])
def test_the_detectable_difference_has_the_power(n: int, level: float, power: float) -> None:
    effect = planned.minimum_detectable(0.3, n, level=level, power=power)
    assert planned.power_of(effect, 0.3, n, level=level) == pytest.approx(power, abs=1e-9)
    effect = planned.minimum_detectable_unpaired((0.3, 0.1), n, level=level, power=power)
    found = planned.power_unpaired(effect, (0.3, 0.1), n, level=level)
    assert found == pytest.approx(power, abs=1e-9)


def test_the_detectable_difference_agrees_with_statsmodels() -> None:
    expected = TTestPower().solve_power(None, 100, 0.05, 0.8)
    assert planned.minimum_detectable(1.0, 100) == pytest.approx(expected, rel=1e-5)


def test_what_has_no_answer_is_nan_or_0() -> None:
    assert math.isnan(planned.minimum_detectable(0.1, 1))
    assert math.isnan(planned.minimum_detectable(math.nan, 50))
    assert math.isnan(planned.minimum_detectable_unpaired((0.1, math.nan), 50))
    assert planned.minimum_detectable(0.0, 50) == 0


def test_numbers_outside_their_range_are_refused() -> None:
    for wrong, named in (
        (lambda: planned.queries_needed(0.0, 0.2), "effect"),
        (lambda: planned.queries_needed(1e-9, 1.0), "queries are needed"),
        (lambda: planned.queries_needed(0.1, 0.0), "standard_deviation"),
        (lambda: planned.queries_needed(0.1, 0.2, power=0.04), "power"),
        (lambda: planned.queries_needed(0.1, 0.2, level=1.0), "level"),
        (lambda: planned.power_of(0.1, 0.2, 1), "n to be"),
    ):
        with pytest.raises(UsageError, match=named):
            wrong()
