"""Which weights a fusion tries."""

from __future__ import annotations

import math

import pytest
from rankscope.fusion.compute import _search


@pytest.mark.parametrize("runs", [4, 5, 6])
def test_all_tenths_are_tried_as_weights_of_five_runs(runs: int) -> None:
    tried = set()

    def measure(weights: tuple[float, ...]) -> float:
        tried.add(weights)
        return weights[0]

    assert _search(runs, measure)[0] == 1.0
    # Of six, the share of one run after another is changed.
    combinations = math.comb(10 + runs - 1, runs - 1)
    assert (len(tried) == combinations) == (runs <= 5)
    assert len(tried) <= combinations


def test_a_search_among_values_that_are_undefined_ends() -> None:
    calls = 0

    def measure(_: tuple[float, ...]) -> float:
        nonlocal calls
        calls += 1
        assert calls < 10_000
        return math.nan

    assert _search(6, measure) == (1 / 6,) * 6
