"""Sums of arrays are those of `math.fsum`, in any order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rankscope.stats.exact_sums import split_exactly, sum_all, sum_groups, take_high_part

if TYPE_CHECKING:
    from random import Random

NUMBERS = st.floats(-1e99, 1e99, allow_subnormal=True)


@given(st.lists(NUMBERS, max_size=30))
def test_a_sum_is_rounded_once(values: list[float]) -> None:
    assert sum_all(np.array(values)) == math.fsum(values)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 3)), max_size=30), st.randoms())
def test_a_sum_of_a_group_is_next_to_the_exact_one(
    rows: list[tuple[float, int]], random: Random
) -> None:
    def add(rows: list[tuple[float, int]]) -> list[float]:
        values = np.array([value for value, _ in rows])
        return sum_groups(values, np.array([group for _, group in rows], dtype=int), 5).tolist()

    found = add(rows)
    for group in range(5):
        exact = math.fsum(value for value, which in rows if which == group)
        assert abs(found[group] - exact) <= math.ulp(exact)
    random.shuffle(rows)
    assert add(rows) == found


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_parts_add_up_to_each_value(values: list[float]) -> None:
    parts = split_exactly(np.array(values))
    for at, value in enumerate(values):
        assert math.fsum(part[at] for part in parts) == value


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms())
def test_high_parts_add_up_alike_in_any_order(values: list[float], random: Random) -> None:
    high = take_high_part(np.array(values), 50).tolist()
    assert np.allclose(high, values, rtol=0, atol=2**-45)
    total = sum(high)
    random.shuffle(high)
    assert sum(high) == total == math.fsum(high)
