"""Kernels are their twins, and logarithms and sums are exact."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from random import Random

import pytest
import rankscope
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Policy, _core
from rankscope._settings import CHOICES
from rankscope.measures import TABLE

from tests.generated import examples
from tests.invariance.lists import judged_queries
from tests.invariance.variants import VARIANTS, values_of, variants

policies = st.builds(
    Policy,
    ties=st.sampled_from([ties for ties in CHOICES["ties"] if ties != "average"]),
    unjudged=st.sampled_from(CHOICES["unjudged"]),
    negative=st.sampled_from(["nonrelevant", "gain"]),
    empty=st.just("nan"),
)

ROWS = [row for row in TABLE.values() if row.of_grades]


def test_every_parameter_of_every_row_is_varied():
    for row in ROWS:
        for parameter in row.parameters:
            found = {
                repr(variant.parameters[parameter.name])
                for variant in VARIANTS
                if variant.row.name == row.name
            }
            given_values = [one for one in values_of(parameter) if one is not None]
            assert len(found) >= len(given_values), (row.name, parameter.name)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@given(queries=st.lists(judged_queries(), min_size=1, max_size=2), policy=policies)
@examples(30)  # each of them goes through all variants of the row
def test_a_kernel_is_its_twin(row, queries, policy):
    qrels = {f"q{number}": query.grades for number, query in enumerate(queries)}
    run = {f"q{number}": query.scores for number, query in enumerate(queries)}
    measures = variants(row)
    evaluation = rankscope.evaluate(qrels, run, measures, policy=policy)
    expected = [query.values(measures, policy) for query in queries]
    for measure, *values in zip(measures, *expected, strict=True):
        found = evaluation.per_query_list(measure)
        assert list(map(repr, found)) == list(map(repr, values)), measure


LAST_OF_THE_C_LIBRARY = 1620
"""At 1,621, which discounts rank 1,620, the logarithm of glibc is not the nearest number."""

TABLED, LARGEST = 2**24, 2**53

# Sums whose terms alone may overflow are errors of math.fsum.
numbers = st.floats(-1e300, 1e300) | st.floats(-1, 1) | st.sampled_from([5e-324, -5e-324, 2.0**-60])


def correctly_rounded(integer):
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(integer).ln() / Decimal(2).ln())


@pytest.mark.parametrize("start", range(1, 10_001, 1000))
def test_the_logarithm_of_the_first_integers_is_correctly_rounded(start):
    for integer in range(start, start + 1000):
        assert _core.log2(integer) == correctly_rounded(integer), integer


@pytest.mark.parametrize("bits", [*range(14, 19), *range(25, 53)])
def test_the_logarithm_of_large_integers_is_correctly_rounded(bits):
    random = Random(bits)
    drawn = [random.randrange(2 ** (bits - 1), 2**bits) for _ in range(40)]
    for integer in [2**bits - 1, 2**bits, 2**bits + 1, *drawn]:
        assert _core.log2(integer) == correctly_rounded(integer), integer


# Below 2^24 a table is filled for each power of two; the larger ones take a second.
@given(st.integers(1, 2**19) | st.integers(TABLED, LARGEST))
def test_the_logarithm_of_any_integer_is_correctly_rounded(integer):
    assert _core.log2(integer) == correctly_rounded(integer)


def test_the_logarithm_is_that_of_the_c_library_for_the_ranks_that_are_read():
    for integer in range(1, LAST_OF_THE_C_LIBRARY + 1):
        assert _core.log2(integer) == math.log2(integer), integer


def test_there_is_no_logarithm_of_0():
    with pytest.raises(ValueError, match="log2 of 0"):
        _core.log2(0)


@given(st.lists(numbers, max_size=200))
def test_a_sum_is_that_of_fsum(values):
    assert _core.fsum(values) == math.fsum(values)


@given(st.lists(st.floats(-1e290, 1e290), max_size=50), st.randoms(use_true_random=False))
def test_a_sum_does_not_depend_on_the_order(values, random):
    shuffled = random.sample(values, len(values))
    assert _core.fsum(shuffled) == _core.fsum(values)
    assert _core.fsum([*values, *(-value for value in shuffled)]) == 0


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20))
def test_a_sum_with_infinities_is_infinite_or_undefined(values):
    infinite = {value for value in values if not math.isfinite(value) and not math.isnan(value)}
    found = _core.fsum(values)
    if any(map(math.isnan, values)) or len(infinite) == 2:
        assert math.isnan(found)
    elif infinite:
        assert {found} == infinite
    else:
        assert not math.isnan(found)
