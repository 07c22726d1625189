"""What a row claims of its measure holds for its variants, through the public functions."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
import rankscope
from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope.measures import TABLE

from tests.generated import examples
from tests.invariance.variants import GAIN_TABLE, GRADES, VARIANTS

SLACK = 1e-12
"""Terms are added in another order after a swap, so sums may differ in their last bits."""

NOT_NEGATIVE = tuple(grade for grade in GRADES if grade >= 0)
rankings = st.lists(st.none() | st.sampled_from(NOT_NEGATIVE), min_size=1, max_size=10)
others = st.lists(st.sampled_from(NOT_NEGATIVE), min_size=1, max_size=5)


def with_property(name):
    """The variants of the rows that have a property."""
    return [
        variant
        for variant in VARIANTS
        if name in variant.row.properties
        # Rows claim nothing of costs and residuals of a user model.
        and variant.parameters.get("value", "utility") == "utility"
        and not variant.parameters.get("residual")
    ]


def evaluate(measures, lists, judged):
    """The values of lists given as grades in rank order, by canonical name."""
    qrels = {}
    run = {}
    for number, (ranking, more) in enumerate(zip(lists, judged, strict=True)):
        query = f"q{number}"
        run[query] = {f"d{place}": -float(place) for place in range(len(ranking))}
        graded = {f"d{at}": grade for at, grade in enumerate(ranking) if grade is not None}
        qrels[query] = graded | {f"unseen{at}": grade for at, grade in enumerate(more)}
    evaluation = rankscope.evaluate(qrels, run, measures, policy="empty=nan")
    return list(evaluation.to_dict().values())


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


CUT = [variant for variant in with_property("cutoff_local") if variant.k is not None]
# An ideal made of the list itself is made of all of it.
CUT = [variant for variant in CUT if variant.parameters.get("ideal") != "retrieved"]
# A condensed list is cut after it is condensed.
CUT = [variant for variant in CUT if not variant.judged_only]


@given(ranking=rankings, below=rankings, not_retrieved=others, k=st.sampled_from([1, 4]))
@examples(50)
def test_documents_below_the_cutoff_do_not_matter(ranking, below, not_retrieved, k):
    measures = [variant for variant in CUT if variant.k == k]
    # The judgments stay: what is not in the one list is judged and not retrieved.
    whole = (ranking + below)[: 2 * k + 3]
    left_out = [grade for grade in whole[k:] if grade is not None]
    cut, uncut = evaluate(
        measures, [whole[:k], whole], [not_retrieved + left_out, list(not_retrieved)]
    )
    for measure in measures:
        assert same(cut[measure.name], uncut[measure.name]), measure


# A relevant document that comes up to a late rank lowers the mean over those found.
MONOTONE = [
    variant
    for variant in with_property("swap_monotone")
    if variant.k is None or variant.parameters.get("denominator") != "found"
]
MONOTONE_OVER_UNJUDGED = [
    variant
    for variant in MONOTONE
    # To these an unjudged document is not one of grade 0: they do not see it.
    if not variant.judged_only and variant.row.kernel != "bpref"
]


@given(data=st.data(), ranking=rankings, not_retrieved=others)
@examples(50)
def test_moving_a_better_document_up_never_lowers_the_value(data, ranking, not_retrieved):
    pairs = [
        (upper, lower)
        for upper, lower in combinations(range(len(ranking)), 2)
        if (ranking[upper] or 0) < (ranking[lower] or 0)
    ]
    assume(pairs)
    upper, lower = data.draw(st.sampled_from(pairs))
    measures = MONOTONE_OVER_UNJUDGED if ranking[upper] is None else MONOTONE
    swapped = list(ranking)
    swapped[upper], swapped[lower] = ranking[lower], ranking[upper]
    before, after = evaluate(measures, [ranking, swapped], [not_retrieved, not_retrieved])
    for measure in measures:
        one, other = before[measure.name], after[measure.name]
        assert math.isnan(one) == math.isnan(other), measure
        assert not one > other + SLACK * max(1, abs(one)), measure


@given(data=st.data(), ranking=rankings, not_retrieved=others)
@examples(50)
def test_the_order_does_not_matter_to_measures_of_sets(data, ranking, not_retrieved):
    # The order decides what is above a cutoff.
    measures = [variant for variant in with_property("order_free") if variant.k is None]
    shuffled = data.draw(st.permutations(ranking))
    before, after = evaluate(measures, [ranking, shuffled], [not_retrieved, not_retrieved])
    for measure in measures:
        assert same(before[measure.name], after[measure.name]), measure


@pytest.mark.slow
@given(ranking=rankings, not_retrieved=others)
@examples(50)
def test_bounded_measures_are_between_0_and_1(ranking, not_retrieved):
    # Slots have the gain 1, so only gains up to 1 are bounded by them.
    measures = [
        variant
        for variant in with_property("bounded")
        if variant.parameters.get("ideal") != "slots" or variant.parameters["gain"] == "binary"
    ]
    (values,) = evaluate(measures, [ranking], [not_retrieved])
    for measure in measures:
        value = values[measure.name]
        assert math.isnan(value) or 0 <= value <= 1 + SLACK, measure


@given(ranking=rankings, not_retrieved=others)
@examples(50)
def test_every_value_is_in_the_range_of_its_row_or_undefined_as_the_row_says(
    ranking, not_retrieved
):
    measures = [variant for variant in VARIANTS if not variant.settings.keys() - {"k", "recall"}]
    assume(not_retrieved or any(grade is not None for grade in ranking))
    (values,) = evaluate(measures, [ranking], [not_retrieved])
    for measure in measures:
        low, high = measure.row.value_range
        value = values[measure.name]
        assert low <= value <= high + SLACK or (math.isnan(value) and measure.row.undefined)


def is_uncut(measure):
    return measure.k is None


@given(judged=st.lists(st.sampled_from(NOT_NEGATIVE), min_size=1, max_size=8), rel=st.just(1))
def test_the_relevant_documents_alone_best_first_have_the_value_1(judged, rel):
    def is_of_level(measure):
        return measure.parameters.get("rel", rel) == rel

    def ends_in_time(measure):
        # Below the last relevant document, precision falls.
        return measure.parameters.get("multiple", 1) <= 1

    binary = [one for one in with_property("perfect_is_one") if is_uncut(one) and is_of_level(one)]
    binary = [one for one in binary if ends_in_time(one)]
    ranking = [*sorted((grade for grade in judged if grade >= rel), reverse=True)]
    assume(ranking)
    others = [grade for grade in judged if grade < rel]
    graded = [one for one in binary if "binary" not in one.row.properties]
    binary = [one for one in binary if "binary" in one.row.properties]
    (values,) = evaluate(binary, [ranking], [others])
    for measure in binary:
        assert values[measure.name] == pytest.approx(1, rel=1e-15), measure
    everything = [*sorted(judged, reverse=True)]
    (values,) = evaluate(graded, [everything], [[]])
    for measure in graded:
        assert values[measure.name] == 1, measure


@given(judged=st.lists(st.sampled_from(NOT_NEGATIVE), min_size=1, max_size=8), k=st.integers(1, 9))
def test_ndcg_of_the_ideal_list_is_1_at_every_cutoff(judged, k):
    measures = [rankscope.nDCG(gain=gain) @ k for gain in ("linear", "exp2", GAIN_TABLE)]
    assume(max(judged) > 0)
    (values,) = evaluate(measures, [[*sorted(judged, reverse=True)]], [[]])
    assert set(values.values()) == {1.0}


@given(ranking=rankings, not_retrieved=others)
@examples(50)
def test_measures_of_relevant_or_not_see_only_that(ranking, not_retrieved):
    measures = [
        variant
        for variant in with_property("binary")
        if variant.parameters.get("rel", 1) == 1 and not variant.parameters.get("graded")
    ]

    def flag(grade):
        return float(grade >= 1)

    flags = [None if grade is None else flag(grade) for grade in ranking]
    graded, binary = evaluate(
        measures, [ranking, flags], [not_retrieved, list(map(flag, not_retrieved))]
    )
    for measure in measures:
        assert same(graded[measure.name], binary[measure.name]), measure


def test_every_property_of_the_table_is_held_here():
    claimed = {name for row in TABLE.values() for name in row.properties}
    assert claimed == {
        "swap_monotone",
        "perfect_is_one",
        "cutoff_local",
        "bounded",
        "order_free",
        "binary",
    }
