"""Power, sizes and detectable differences agree with statsmodels."""

from __future__ import annotations

import math

import pytest
from rankscope.errors import UsageError
from rankscope.stats.estimate.power import minimum_detectable, power_of, queries_needed
from statsmodels.stats.power import TTestIndPower, TTestPower

SETTINGS = [(0.05, 0.8), (0.01, 0.9), (0.2, 0.5)]


def power_of_test(effect: float, deviations: tuple[float, ...], n: int, level: float) -> float:
    shift = effect / math.hypot(*deviations) * math.sqrt(n)
    return power_of(shift, len(deviations) * (n - 1), level)


@pytest.mark.parametrize("n", [2, 3, 10, 50, 250])
@pytest.mark.parametrize("effect", [0.0, 0.05, 0.3])
def test_power_agrees_with_statsmodels(n: int, effect: float) -> None:
    paired = TTestPower().power(effect, n, 0.05)
    assert power_of_test(effect * 0.2, (0.2,), n, 0.05) == pytest.approx(paired, abs=1e-8)
    unpaired = TTestIndPower().power(effect, n, 0.05)
    assert power_of_test(effect * 0.2, (0.2, 0.2), n, 0.05) == pytest.approx(unpaired, abs=1e-8)


@pytest.mark.parametrize("deviations", [(1.0,), (1.0, 1.0)], ids=["paired", "unpaired"])
@pytest.mark.parametrize(("level", "power"), SETTINGS)
def test_queries_needed_are_the_fewest_that_suffice(
    deviations: tuple[float, ...], level: float, power: float
) -> None:
    for effect in (0.02, -0.1, 0.5, 3.0):
        needed = queries_needed(effect, deviations, level=level, power=power)
        assert power_of_test(abs(effect), deviations, needed, level) >= power
        assert needed == 2 or power_of_test(abs(effect), deviations, needed - 1, level) < power


@pytest.mark.parametrize("deviations", [(0.3,), (0.3, 0.1)], ids=["paired", "unpaired"])
@pytest.mark.parametrize(("level", "power"), SETTINGS)
def test_the_detectable_difference_has_the_power(
    deviations: tuple[float, ...], level: float, power: float
) -> None:
    for n in (2, 5, 40, 250):
        effect = minimum_detectable(deviations, n, level=level, power=power)
        assert power_of_test(effect, deviations, n, level) == pytest.approx(power, abs=1e-9)


def test_what_has_no_answer_is_nan_or_0() -> None:
    assert math.isnan(minimum_detectable((0.1,), 1))
    assert math.isnan(minimum_detectable((0.1, math.nan), 50))
    assert minimum_detectable((0.0,), 50) == 0


def test_numbers_outside_their_range_are_refused() -> None:
    for wrong, named in (
        (lambda: queries_needed(0.0, (0.2,)), "effect"),
        (lambda: queries_needed(1e-9, (1.0,)), "queries are needed"),
        (lambda: queries_needed(0.1, (0.0,)), "standard_deviation"),
        (lambda: queries_needed(0.1, (0.2,), power=0.04), "power"),
        (lambda: queries_needed(0.1, (0.2,), level=1.0), "level"),
    ):
        with pytest.raises(UsageError, match=named):
            wrong()
