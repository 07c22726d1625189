"""What clicks can tell at the limits: just below, at and just above each of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs
from rankscope.clicks.estimators import Estimator, Strata, Weighted, conclude, evaluate
from rankscope.clicks.off_policy import _read_mapping
from rankscope.clicks.reliability import Reliability
from scipy import stats

from tests.refusals import refuses_if

if TYPE_CHECKING:
    from numpy.typing import NDArray


def find_refusal(weights: NDArray[np.float64]) -> bool:
    """Whether a log of such weights has no interval because their mean isn't 1."""
    count = len(weights)
    log = Weighted(
        rewards=(np.arange(count) % 4 < 2).astype(np.float64),
        weights=weights,
        strata=Strata(
            codes=np.zeros(count, dtype=np.int64),
            counts=np.array([float(count)]),
            shares=np.ones(1),
        ),
        clusters=None,
        cluster_count=None,
        predicted=None,
        unsupported=None,
    )
    found = evaluate(log, method=None, clip=10, level=0.95, what="clicks")
    return "the mean weight" in found.column("refused")[0]


@pytest.mark.parametrize(
    ("weight", "is_refused"),
    [
        (0.98995, True),
        (0.99, False),
        (0.99005, False),
        (1.00995, False),
        (1.01, False),
        (1.01005, True),
    ],
)
def test_a_mean_weight_is_refused_if_it_is_more_than_a_hundredth_from_1(
    weight: float, *, is_refused: bool
) -> None:
    # All weights are equal, so that their mean is certain.
    assert find_refusal(np.full(128, weight)) == is_refused


@pytest.mark.parametrize("side", [-1, 1])
def test_a_mean_weight_is_refused_if_its_interval_at_999_of_1000_leaves_out_1(side: int) -> None:
    spread, count = 0.25, 200
    half = stats.t.ppf(0.9995, count - 1) * spread / math.sqrt(count - 1)
    for times, is_refused in ((0.999, False), (1.001, True)):
        mean = 1 + side * (0.01 + half * times)
        weights = mean + spread * (-1.0) ** np.arange(count)
        assert find_refusal(weights) == is_refused


RELIABLE = Reliability(n=1000, effective=1000.0, heavy=1000.0, rewarded=1000.0, clusters=None)


@pytest.mark.parametrize(("times", "is_refused"), [(0.995, True), (1.005, False)])
def test_values_that_differ_by_rounding_are_the_same(times: float, *, is_refused: bool) -> None:
    # The root of the sum of 100 squares is 10 times each: 1e-12 of the value, which is 2.
    influences = 2e-13 * times * (-1.0) ** np.arange(100)
    found = Estimator(value=2.0, influences=influences, floor=0.0, reliability=RELIABLE)
    concluded = conclude(found, found, None, 0.95, bounds=(-math.inf, math.inf))
    assert ("the same value" in concluded.reason) == is_refused


@pytest.mark.parametrize(("off", "is_refused"), [(0.995e-6, False), (1.005e-6, True)])
def test_probabilities_sum_up_to_1_within_a_millionth(off: float, *, is_refused: bool) -> None:
    for total in (1 + off, 1 - off):
        chances = {"a": 0.5, "b": total - 0.5}
        with refuses_if(is_refused, rs.FormatError, match="sum up to 1"):
            assert _read_mapping(chances) == chances
