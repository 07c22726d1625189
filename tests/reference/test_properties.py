"""What the rows claim of their measures holds for the twins."""

from __future__ import annotations

import math
from itertools import combinations

from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope.measures import TABLE, Measure, parse
from rankscope.reference import value

from tests.generated import examples

SLACK = 1e-12

# Each case is one for all measures: making it takes longer than computing their values.
grades = st.integers(0, 4)
rankings = st.lists(st.none() | grades, max_size=12)
others = st.lists(grades, max_size=6)


def rows_that(property_name: str) -> list[str]:
    return [row.name for row in TABLE.values() if property_name in row.properties and row.of_grades]


def measure_at(name: str, k: int) -> Measure:
    """The measure of a row with default parameters, and what it must be given."""
    measure = parse(name)
    if any(parameter.name == "max_rel" for parameter in measure.row.parameters):
        measure = measure(max_rel=4)
    if measure.row.at == "recall":
        return measure @ min(k / 10, 1)
    return measure @ k if measure.row.at else measure


def is_same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def judged_of(ranking: list[int | None], not_retrieved: list[int]) -> list[float]:
    return [*(grade for grade in ranking if grade is not None), *not_retrieved]


def evaluate(measure: Measure, ranking: list[int | None], judged: list[float]) -> float:
    return value(*measure.kernel_spec(), ranking, judged)


@given(data=st.data(), ranking=rankings, not_retrieved=others, k=st.integers(1, 12))
def test_moving_a_better_document_up_never_lowers_the_value(
    data: st.DataObject, ranking: list[int | None], not_retrieved: list[int], k: int
) -> None:
    places = combinations(range(len(ranking)), 2)
    worse_above = [
        (upper, lower) for upper, lower in places if (ranking[upper] or 0) < (ranking[lower] or 0)
    ]
    assume(worse_above)
    upper, lower = data.draw(st.sampled_from(worse_above))
    judged = judged_of(ranking, not_retrieved)
    swapped = list(ranking)
    swapped[upper], swapped[lower] = ranking[lower], ranking[upper]
    for name in rows_that("swap_monotone"):
        measure = measure_at(name, k)
        before, after = (evaluate(measure, order, judged) for order in (ranking, swapped))
        assert after >= before - SLACK, name


@given(judged=st.lists(grades, min_size=1, max_size=12), k=st.integers(1, 10))
def test_the_relevant_documents_alone_best_first_have_the_value_one(
    judged: list[float], k: int
) -> None:
    relevant = sorted((int(grade) for grade in judged if grade >= 1), reverse=True)
    assume(relevant)
    for name in rows_that("perfect_is_one"):
        measure = parse(name) @ (k / 10) if name == "IPrec" else parse(name)
        assert evaluate(measure, [*relevant], judged) == 1, name


@given(ranking=rankings, not_retrieved=others, k=st.integers(1, 12))
def test_documents_below_the_cutoff_do_not_matter(
    ranking: list[int | None], not_retrieved: list[int], k: int
) -> None:
    judged = judged_of(ranking, not_retrieved)
    for name in rows_that("cutoff_local"):
        measure = measure_at(name, k)
        whole, cut = evaluate(measure, ranking, judged), evaluate(measure, ranking[:k], judged)
        assert is_same(whole, cut), name


@given(data=st.data(), ranking=rankings, not_retrieved=others)
@examples(250)  # most shuffles of short lists move little
def test_the_order_does_not_matter(
    data: st.DataObject, ranking: list[int | None], not_retrieved: list[int]
) -> None:
    judged = judged_of(ranking, not_retrieved)
    shuffled = data.draw(st.permutations(ranking))
    for name in rows_that("order_free"):
        one, other = (evaluate(parse(name), order, judged) for order in (ranking, shuffled))
        assert is_same(one, other), name


@given(ranking=rankings, not_retrieved=others, k=st.integers(1, 12))
def test_only_relevant_or_not_matters(
    ranking: list[int | None], not_retrieved: list[int], k: int
) -> None:
    flags = [None if grade is None else min(grade, 1) for grade in ranking]
    graded = judged_of(ranking, not_retrieved)
    binary = judged_of(flags, [min(grade, 1) for grade in not_retrieved])
    for name in rows_that("binary"):
        measure = measure_at(name, k)
        assert is_same(evaluate(measure, ranking, graded), evaluate(measure, flags, binary)), name


@given(ranking=rankings, not_retrieved=others, k=st.integers(1, 12))
def test_a_value_is_in_its_range_or_undefined_where_the_row_says_so(
    ranking: list[int | None], not_retrieved: list[int], k: int
) -> None:
    judged = judged_of(ranking, not_retrieved)
    is_found = any((grade or 0) >= 1 for grade in ranking[:k])
    for name in [row.name for row in TABLE.values() if row.of_grades]:
        measure = measure_at(name, k)
        low, high = measure.row.value_range
        result = evaluate(measure, ranking, judged)
        if measure.row.undefined and (
            all(grade < 1 for grade in judged) or (name == "Accuracy" and not is_found)
        ):
            assert math.isnan(result), name
        else:
            assert low - SLACK <= result <= high + SLACK, name


@given(ranking=rankings, not_retrieved=others, k=st.integers(1, 12))
def test_judged_only_is_the_measure_of_the_condensed_list(
    ranking: list[int | None], not_retrieved: list[int], k: int
) -> None:
    judged = judged_of(ranking, not_retrieved)
    condensed = [grade for grade in ranking if grade is not None]
    for name in [name for name in TABLE if "judged_only" in parse(name).parameters]:
        measure = measure_at(name, k)(judged_only=True)
        kernel, params = measure.kernel_spec()
        flagged = value(kernel, params, ranking, judged, judged_only=measure.judged_only)
        assert is_same(flagged, value(kernel, params, condensed, judged)), name
