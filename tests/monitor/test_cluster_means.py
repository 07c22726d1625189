"""Means of clusters by period, in the order in which labels mature."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.evaluate.means import average_by_cluster

if TYPE_CHECKING:
    from random import Random

ROWS = st.lists(
    st.tuples(
        st.floats(0, 1) | st.just(math.nan),
        st.sampled_from(["a", "b", "é", "long name", ""]),
    ),
    max_size=40,
)


def average(rows: list[tuple[float, str]]) -> tuple[list[float], list[int]]:
    values, names = (np.array([row[at] for row in rows]) for at in range(2))
    means, counts = average_by_cluster(values.astype(np.float64), names)
    return means.tolist(), counts.tolist()


@given(ROWS)
def test_each_cluster_is_averaged(rows: list[tuple[float, str]]) -> None:
    held: dict[str, list[float]] = defaultdict(list)
    for value, cluster in rows:
        if not math.isnan(value):
            held[cluster].append(value)
    means, counts = average(rows)
    assert counts == [len(held[key]) for key in sorted(held)]
    expected = [math.fsum(held[key]) / len(held[key]) for key in sorted(held)]
    assert means == pytest.approx(expected, rel=1e-14)
    assert all(0 <= value <= 1 for value in means)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(rows: list[tuple[float, str]], random: Random) -> None:
    mixed = rows.copy()
    random.shuffle(mixed)
    assert average(mixed) == average(rows)
