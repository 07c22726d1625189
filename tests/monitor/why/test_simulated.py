"""Simulated releases have what the record says."""

from __future__ import annotations

import numpy as np
import pytest

from dev.simulate.traces import CASES, LISTS, draw_window


def test_what_fell_has_the_share_and_the_fall_that_its_name_says() -> None:
    random = np.random.default_rng(1)
    (fell,) = (case for case in CASES if case.name == "a pair of 1.7 % falls by 0.35")
    window = draw_window(random, fell)
    device, country = (window.attributes[name].codes for name in ("device", "country"))
    assert ((device == 2) & (country == 1)).mean() == pytest.approx(0.017, abs=0.01)
    assert len(window) == LISTS
