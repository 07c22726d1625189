"""The best swap is the best of all swaps."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.derivation.derive.swap import find_best_swap

gains = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0, 7.0]), max_size=12)
discounts = st.lists(st.floats(0, 1), min_size=12, max_size=12)


def total(gains: list[float], discounts: list[float]) -> float:
    return sum(gain * weight for gain, weight in zip(gains, discounts, strict=False))


@given(gains=gains, discounts=discounts)
def test_no_other_swap_gains_more(gains: list[float], discounts: list[float]) -> None:
    best = 0.0
    for one, other in combinations(range(len(gains)), 2):
        swapped = [*gains]
        swapped[one], swapped[other] = gains[other], gains[one]
        best = max(best, total(swapped, discounts) - total(gains, discounts))
    found = find_best_swap(gains, discounts)
    assert (found.gained if found else 0.0) == pytest.approx(best, abs=1e-12)


def test_a_long_list_is_searched_by_halves() -> None:
    # Of 20,000 different gains in the best order but for two, no other pair gains anything.
    gains = [1 / rank for rank in range(1, 20_001)]
    gains[5000], gains[7000] = gains[7000], gains[5000]
    discounts = [1 / rank for rank in range(1, 20_001)]
    found = find_best_swap(gains, discounts)
    assert found is not None
    assert (found.rank, found.other_rank) == (5001, 7001)
