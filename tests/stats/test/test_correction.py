"""Corrections are those of Holm, and of Benjamini and Hochberg."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.stats.test.tested import correct
from scipy import stats

P_VALUES = st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=20)


@given(P_VALUES)
def test_holm_is_its_definition(p: list[float]) -> None:
    corrected = correct(np.array(p), "holm").tolist()
    known = sorted(value for value in p if value == value)  # noqa: PLR0124 - NaN differs from itself
    for value, found in zip(p, corrected, strict=True):
        if np.isnan(value):
            assert np.isnan(found)
            continue
        smaller = [
            (len(known) - place) * other for place, other in enumerate(known) if other <= value
        ]
        assert found == min(1.0, max(smaller))


@given(P_VALUES)
def test_benjamini_and_hochberg_agree_with_scipy(p: list[float]) -> None:
    values = np.array(p)
    found = correct(values, "bh")
    tested = ~np.isnan(values)
    assert np.isnan(found[~tested]).all()
    if tested.any():
        expected = stats.false_discovery_control(values[tested])
        assert found[tested] == pytest.approx(expected, rel=1e-12)


def test_no_correction_changes_nothing() -> None:
    p = np.array([0.5, np.nan, 0.01])
    assert correct(p, "none").tolist()[::2] == [0.5, 0.01]
