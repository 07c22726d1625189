"""Lower bounds of means: they hold for any distribution, and don't depend on the order of users."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.sequential.effects import bound_mean

from tests.generated import examples

LEVEL = 0.025


@examples(50)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=25),
    st.sampled_from([0.2, 0.025, 0.001]),
)
def test_the_bound_is_from_0_to_the_mean_with_one_unseen_user(
    users: list[tuple[float, int]], level: float
) -> None:
    sums, counts = [value * count for value, count in users], [float(count) for _, count in users]
    bound = bound_mean(np.array(sums), np.array(counts), level)
    # The unseen user is as large as that of a random value.
    unseen = sum(count * count for count in counts) / sum(counts)
    assert 0 <= bound <= sum(sums) / (sum(counts) + unseen) + 1e-12


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=60),
    st.randoms(use_true_random=False),
)
def test_the_order_of_users_changes_no_bit(users: list[tuple[float, int]], random: Random) -> None:
    mixed = users.copy()
    random.shuffle(mixed)
    one, other = (
        bound_mean(
            np.array([value * count for value, count in each]),
            np.array([count for _, count in each], dtype=float),
            LEVEL,
        )
        for each in (users, mixed)
    )
    assert one == other


@pytest.mark.parametrize("size", [5, 30, 300])
@pytest.mark.parametrize("ones", [0.03, 0.5, 0.97])
def test_the_bound_is_rarely_above_the_mean(size: int, ones: float) -> None:
    draw = np.random.default_rng(3)
    runs = 400
    values = (draw.random((runs, size)) < ones).astype(float)
    above = sum(bound_mean(each, np.ones(size), LEVEL) > ones for each in values)
    assert above / runs <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / runs)


def test_users_with_many_values_are_single_units() -> None:
    # The mean of each user is 0 or 1: what counts is the number of users.
    users = np.array([0.0, 1.0] * 20)
    alone = bound_mean(users, np.ones(40), LEVEL)
    assert bound_mean(users * 28, np.full(40, 28.0), LEVEL) == pytest.approx(alone, rel=1e-9)
    assert bound_mean(np.tile(users, 28), np.ones(28 * 40), LEVEL) > alone + 0.1


def test_more_users_or_a_larger_level_give_a_higher_bound() -> None:
    bounds = [bound_mean(np.full(n, 0.8), np.ones(n), LEVEL) for n in (10, 100, 1000, 10_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > 0.78
    values = np.tile([0.2, 0.9], 50)
    levels = [bound_mean(values, np.ones(100), level) for level in (0.001, 0.025, 0.2)]
    assert levels == sorted(levels)


def test_nobody_or_nothing_is_bounded_by_0() -> None:
    assert bound_mean(np.array([]), np.array([]), LEVEL) == 0.0
    assert bound_mean(np.zeros(50), np.ones(50), LEVEL) == 0.0
