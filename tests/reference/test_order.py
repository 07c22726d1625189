"""The order of documents, the logarithm, and means."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import Retrieved, mean, rank
from tests.reference.logarithm import log2

DOCUMENTS = [
    Retrieved("b", 1.0, 1),
    Retrieved("é", 1.0),
    Retrieved("top", 2.0, 0),
    Retrieved("z", 1.0, 2),
    Retrieved("a", 1.0, -1),
    Retrieved("10", 0.0),
    Retrieved("9", -0.0),
]


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("doc_id", ["top", "é", "z", "b", "a", "9", "10"]),
        ("doc_id_asc", ["top", "a", "b", "z", "é", "10", "9"]),
        ("input", ["top", "b", "é", "z", "a", "10", "9"]),
        ("best", ["top", "z", "b", "é", "a", "9", "10"]),
        ("worst", ["top", "a", "é", "b", "z", "9", "10"]),
    ],
)
def test_equal_scores_are_ordered_by_the_policy(ties: str, order: list[str]) -> None:
    assert [document.doc_id for document in rank(DOCUMENTS, ties)] == order


def test_ordering_leaves_the_input_as_it_was() -> None:
    before = list(DOCUMENTS)
    rank(DOCUMENTS)
    assert before == DOCUMENTS


@given(st.integers(1, 10**7))
def test_the_logarithm_is_the_nearest_double(number: int) -> None:
    near = log2(number)
    assert abs(near - math.log2(number)) <= math.ulp(near)


def test_the_logarithm_of_a_power_of_two_is_exact_and_of_others_that_of_the_platform() -> None:
    assert [log2(2**exponent) for exponent in range(64)] == [*range(64)]
    assert log2(2.5) == math.log2(2.5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_a_mean_is_that_of_the_exact_sum(values: list[float]) -> None:
    assert mean(values) == float(sum(map(Fraction, values))) / len(values)
    assert mean(values) == mean(values[::-1])
    assert mean(values, "sum") == float(sum(map(Fraction, values)))


def test_a_geometric_mean_has_a_floor() -> None:
    assert mean([1.0, 0.0], "geometric") == math.exp(math.log(0.00001) / 2)
    assert mean([0.5, 0.5], "geometric") == 0.5


def test_no_values_have_no_mean_but_a_sum() -> None:
    assert math.isnan(mean([]))
    assert math.isnan(mean([], "geometric"))
    assert mean([], "sum") == 0
