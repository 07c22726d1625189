"""Tests of differences pair the values of a query, and p-values are never 0."""

from __future__ import annotations

import pytest
import rankscope as rs
from scipy.stats import tukey_hsd

OLD = [number / 40 for number in range(40)]
NEW = [value + 0.01 + 0.0001 * (number % 3) for number, value in enumerate(OLD)]


def test_the_tukey_test_finds_a_small_difference_that_all_queries_have_in_common() -> None:
    found = rs.compare({"old": OLD, "new": NEW, "same": OLD}, values=True, test="tukey")
    assert found["value", "new"].p < 0.001
    assert tukey_hsd(OLD, NEW, OLD).pvalue[0, 1] > 0.9


@pytest.mark.parametrize("test", ["permutation", "tukey", "bootstrap"])
def test_no_permutation_test_has_a_p_value_of_0(test: str) -> None:
    found = rs.compare({"old": OLD, "new": NEW}, values=True, test=test, permutations=999)
    assert found["value", "new"].p == 1 / 1000


@pytest.mark.parametrize("test", ["permutation", "tukey", "bootstrap"])
def test_a_seed_gives_the_same_p_value_for_any_number_of_threads(test: str) -> None:
    values = {"old": OLD, "new": [value + 0.05 * (-1) ** (n % 5) for n, value in enumerate(OLD)]}
    found = [
        rs.compare(values, values=True, test=test, permutations=999, threads=threads, range=None)
        for threads in (1, 2, 3, 3)
    ]
    assert len({each["value", "new"].p for each in found}) == 1
    assert 1 / 1000 < found[0]["value", "new"].p < 1
