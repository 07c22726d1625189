"""Floors of detectors, made from baselines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.data.interval import Interval
from rankscope.errors import UsageError
from rankscope.stats.clusters import average_by_cluster
from rankscope.stats.floor import find_floor
from rankscope.stats.means import estimate_mean


def test_a_floor_is_the_lower_end_less_the_tolerance() -> None:
    draw = np.random.default_rng(1)
    values, users, days = draw.random(400), draw.integers(0, 50, 400), draw.integers(0, 14, 400)
    means = average_by_cluster(values, users, days)
    floor = find_floor(means, 0.03, Interval(method="t"))
    assert floor.value == floor.baseline.lower - 0.03
    assert floor.baseline.value == math.fsum(means.value) / len(means.value)
    assert floor.baseline == estimate_mean(
        means.value, np.arange(len(means.value)), Interval(method="t")
    )


@pytest.mark.parametrize(
    ("values", "tolerance", "code"),
    [
        ([0.5, 0.6], -0.1, "bad_tolerance"),
        ([0.5, 0.6], math.nan, "bad_tolerance"),
        ([0.05, 0.05], 0.1, "bad_floor"),
        ([0.5], 0.1, "bad_floor"),
        ([], 0.1, "bad_floor"),
    ],
)
def test_a_baseline_that_gives_no_floor_is_refused(
    values: list[float], tolerance: float, code: str
) -> None:
    means = average_by_cluster(np.array(values), np.arange(len(values)))
    with pytest.raises(UsageError) as raised:
        find_floor(means, tolerance)
    assert raised.value.code == code
