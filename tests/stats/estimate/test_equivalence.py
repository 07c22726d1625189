"""Tests against a margin are one-sided t tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.stats.estimate import equivalence
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW


@pytest.mark.parametrize("shift", [-0.03, 0.0, 0.015, 0.2])
def test_both_p_values_agree_with_scipy_and_statsmodels(shift: float) -> None:
    differences = np.random.default_rng(1).normal(shift, 0.1, 60)
    error = differences.std(ddof=1) / math.sqrt(60)
    found = equivalence.test_margin(differences.mean(), error, 59, 0.04)
    lower = stats.ttest_1samp(differences, -0.04, alternative="greater")
    assert found.p_not_worse == pytest.approx(lower.pvalue, rel=1e-9)
    expected = DescrStatsW(differences).ttost_mean(-0.04, 0.04)[0]
    assert found.p_equivalent == pytest.approx(expected, rel=1e-9)


def test_without_spread_the_answer_is_certain() -> None:
    assert equivalence.test_margin(-0.01, 0, 9, 0.02).p_equivalent == 0
    found = equivalence.test_margin(0.03, 0, 9, 0.02)
    assert (found.p_not_worse, found.p_equivalent) == (0, 1)


def test_an_unknown_standard_error_has_no_p_value() -> None:
    assert math.isnan(equivalence.test_margin(0.1, math.nan, 0, 0.02).p_not_worse)


@pytest.mark.parametrize("margin", [0.0, -0.1, math.nan])
def test_a_margin_is_above_0(margin: float) -> None:
    with pytest.raises(UsageError, match="margin above 0"):
        equivalence.test_margin(0.1, 0.1, 9, margin)
