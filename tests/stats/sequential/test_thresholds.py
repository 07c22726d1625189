"""Thresholds that are held against the mean of a window."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.stats.means import estimate_mean
from rankscope.stats.sequential.threshold import Threshold, judge


def test_a_threshold_is_a_difference_or_a_share() -> None:
    assert Threshold(baseline=0.8, tolerance=0.05).limit == 0.8 - 0.05
    assert Threshold(baseline=0.8, tolerance=0.05, is_relative=True).limit == 0.8 * 0.95


@pytest.mark.parametrize(
    ("fall", "needs", "state"),
    [
        (0.2, "interval", "ALERT"),
        (0.2, "value", "ALERT"),
        (0.001, "interval", "OK"),
        (0.001, "value", "ALERT"),
        (-0.001, "value", "OK"),
        (-0.2, "interval", "OK"),
    ],
)
def test_a_threshold_asks_for_the_value_or_for_all_of_its_interval(
    fall: float, needs: str, state: str
) -> None:
    values, users = np.tile([0.5, 0.9, 0.7, 0.7], 25), np.arange(100)
    centre = math.fsum(values) / 100
    threshold = Threshold(baseline=centre + fall + 0.05, tolerance=0.05, needs=needs)  # type: ignore[arg-type]  # one of two
    verdict = judge(threshold, values, users)
    assert (verdict.state, verdict.limit) == (state, threshold.limit)
    assert verdict.mean == estimate_mean(values, users)


def test_too_few_clusters_have_no_verdict_however_many_rankings_they_have() -> None:
    threshold = Threshold(baseline=0.9, tolerance=0.0, fewest=10)
    values = np.zeros(1000)
    assert judge(threshold, values, np.arange(1000) % 9).state == "INSUFFICIENT"
    assert judge(threshold, values, np.arange(1000) % 10).state == "ALERT"
    assert judge(threshold, np.full(50, math.nan), np.arange(50)).state == "NO_DATA"
    assert judge(threshold, np.zeros(0), np.zeros(0)).state == "NO_DATA"


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        ({"tolerance": -0.1}, "bad_tolerance"),
        ({"tolerance": 0.1, "needs": "luck"}, "bad_threshold"),
        ({"tolerance": 0.1, "fewest": 1}, "bad_threshold"),
    ],
)
def test_what_is_no_threshold_is_refused(choice: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as raised:
        Threshold(baseline=0.8, **choice)  # type: ignore[arg-type]  # that is what is refused
    assert raised.value.code == code
