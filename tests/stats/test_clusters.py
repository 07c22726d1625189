"""Means of clusters by period, in the order in which labels mature."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import UsageError
from rankscope.stats.means import average_by_cluster

if TYPE_CHECKING:
    from random import Random

ROWS = st.lists(
    st.tuples(
        st.floats(0, 1) | st.just(math.nan),
        st.sampled_from(["a", "b", "é", "long name", ""]),
        st.integers(-50, 50),
    ),
    max_size=40,
)


@given(ROWS, st.integers(1, 30))
def test_each_cluster_is_averaged_in_each_period(
    rows: list[tuple[float, str, int]], length: int
) -> None:
    held: dict[tuple[int, str], list[float]] = defaultdict(list)
    for value, cluster, time in rows:
        if not math.isnan(value):
            held[time // length, cluster].append(value)
    means = average_by_cluster(
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows], dtype=np.str_),
        np.array([row[2] for row in rows], dtype=np.int64),
        length,
    )
    keys = list(zip(means.period.tolist(), means.cluster.tolist(), strict=True))
    assert keys == sorted(held)
    assert means.rankings.tolist() == [len(held[key]) for key in keys]
    expected = [math.fsum(held[key]) / len(held[key]) for key in keys]
    assert means.value.tolist() == pytest.approx(expected, rel=1e-14)
    assert all(0 <= value <= 1 for value in means.value)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(
    rows: list[tuple[float, str, int]], random: Random
) -> None:
    def average(given: list[tuple[float, str, int]]) -> list[list[object]]:
        values, names, times = (np.array([row[at] for row in given]) for at in range(3))
        means = average_by_cluster(values, names, times.astype(np.int64), 10)
        return [column.tolist() for column in (means.period, means.cluster, means.value)]

    mixed = rows.copy()
    random.shuffle(mixed)
    assert average(mixed) == average(rows)


def test_periods_follow_maturity_and_empty_ones_are_left_out() -> None:
    matured = np.array([49, 1, 48, 2, 0])
    means = average_by_cluster(np.array([0.5, 1, 0, 0.25, math.nan]), np.arange(5), matured, 24)
    assert means.period.tolist() == [0, 0, 2, 2]
    assert means.value.tolist() == [1.0, 0.25, 0.5, 0.0]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(UsageError) as raised:
        average_by_cluster(np.zeros(3), np.zeros(2))
    assert raised.value.code == "column_length"
    with pytest.raises(UsageError) as raised:
        average_by_cluster(np.zeros(3), np.zeros(3), np.zeros(3, dtype=np.int64), 0)
    assert raised.value.code == "bad_period"
