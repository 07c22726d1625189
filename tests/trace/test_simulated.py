"""Simulated releases have what the record says, and are traced so for a few seeds."""

from __future__ import annotations

import numpy as np
import pytest

from dev.simulate.traces import CASES, LISTS, count_named, draw_window, simulate_traces

BY_NAME = {case.name: case for case in CASES}
FELL = BY_NAME["a pair of 1.7 % falls by 0.35"]


def test_what_fell_has_the_share_and_the_fall_that_its_name_says() -> None:
    random = np.random.default_rng(1)
    window = draw_window(random, FELL)
    device, country = (window.attributes[name].codes for name in ("device", "country"))
    assert ((device == 2) & (country == 1)).mean() == pytest.approx(0.017, abs=0.01)
    assert len(window) == LISTS


def test_a_planted_slice_is_named_first() -> None:
    assert count_named(FELL, 3) == 3


def test_nothing_is_named_where_nothing_changed() -> None:
    assert count_named(BY_NAME["nothing changed but the mix"], 3) == 0


def test_a_row_says_what_is_required() -> None:
    (row,) = simulate_traces(1, (FELL,))
    assert row.cells == (FELL.name, "100.0% of 1", "at least 95%")
    assert row.problem == ""
