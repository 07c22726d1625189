"""Bounds of what isn't judged are those of all completions, for a run and for a difference."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Policy, Rankings, nDCG, parse

from tests.generated import examples
from tests.refusals import refused

UNJUDGED = math.nan
SCALE = (0, 1, 2, 3)


def every_list(length):
    return [list(grades) for grades in itertools.product((UNJUDGED, *SCALE), repeat=length)]


def complete(grades):
    """Every list that these grades could be, once all documents are judged."""
    options = [SCALE if grade != grade else (grade,) for grade in grades]  # noqa: PLR0124 - NaN
    return [list(completed) for completed in itertools.product(*options)]


def try_all(lists, measure, policy):
    """The smallest and largest value of each list over all of its completions."""
    completions = [complete(grades) for grades in lists]
    values = Rankings.from_lists(itertools.chain(*completions)).evaluate(measure, policy=policy)
    ends = np.cumsum([len(each) for each in completions])
    parts = np.split(values.per_query(measure), ends[:-1])
    return np.array([part.min() for part in parts]), np.array([part.max() for part in parts])


@pytest.mark.parametrize(
    "name",
    [
        "nDCG@1",
        "nDCG@3",
        "nDCG(gain='exp2')@1",
        "nDCG(gain='exp2')@3",
        "AP",
        "AP@2",
        "AP(denominator='reachable')@2",
        "P@2",
        "P(rel=2)@3",
        "R@2",
        "RR",
        "RR@2",
        "RBP",
        "RBP@2",
        "RBP(graded=True,max_grade=3)@2",
        "ERR(max_grade=3)@3",
        "F@2",
        "Rprec",
        "Success@2",
        "IPrec@0.5",
        "SetP",
        "SetR",
        "SetF",
        "SetAP",
        "DCG@2",
        "CG@2",
        "nDCG",
        "nDCG(ideal='retrieved')@2",
        "nDCG(ideal='whole')@2",
        "nDCG(ideal='slots')@2",
        "nDCG(discount='jk')@3",
        "nDCG(gain=[0,5,1,2])@2",
        "nDCG(gain='binary')@2",
    ],
)
def test_bounds_are_those_of_all_completions(name):
    lists = [grades for length in range(1, 5) for grades in every_list(length)]
    for empty in ("zero", "one"):
        measure, policy = parse(name), Policy(ties="input", empty=empty)
        bounds = Rankings.from_lists(lists).bounds(measure, scale=SCALE, policy=policy)
        lower, upper = try_all(lists, measure, policy)
        # The sums are added in one order, but equal values may come of other completions.
        np.testing.assert_allclose(bounds.array("lower"), lower, rtol=0, atol=1e-15)
        np.testing.assert_allclose(bounds.array("upper"), upper, rtol=0, atol=1e-15)
        assert bounds.mean.lower == pytest.approx(lower.mean(), abs=1e-12)
        assert bounds.mean.upper == pytest.approx(upper.mean(), abs=1e-12)


documents = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from((None, *SCALE))), min_size=1, max_size=6
)


@given(
    documents=documents,
    unretrieved=st.lists(st.sampled_from(SCALE), max_size=3),
    k=st.integers(1, 6),
)
@examples(60)
def test_bounds_over_averaged_ties_with_documents_that_were_not_retrieved(
    documents, unretrieved, k
):
    run = {"q": {f"d{at}": float(score) for at, (score, _) in enumerate(documents)}}
    known = {f"u{at}": grade for at, grade in enumerate(unretrieved)}
    known |= {f"d{at}": grade for at, (_, grade) in enumerate(documents) if grade is not None}
    unjudged = [f"d{at}" for at, (_, grade) in enumerate(documents) if grade is None]
    measure, policy = nDCG @ k, Policy(ties="average")
    values = [
        Rankings.from_run(
            {"q": known | dict(zip(unjudged, grades, strict=True)) or {"none": 0}},
            run,
            ties="average",
        ).evaluate(measure, policy=policy)[measure]
        for grades in itertools.product(SCALE, repeat=len(unjudged))
    ]
    ranked = Rankings.from_run({"q": known or {"none": 0}}, run, ties="average")
    bounds = ranked.bounds(measure, scale=SCALE)
    assert bounds.mean.lower == pytest.approx(min(values), abs=1e-14)
    assert bounds.mean.upper == pytest.approx(max(values), abs=1e-14)


def test_a_mean_that_may_leave_queries_out_is_bounded_by_the_best_choice_of_them():
    # The second query has a value only if its document is relevant, and then the value 1.
    ranked = Rankings.from_lists([[0, 1], [UNJUDGED]])
    half = 1 / math.log2(3)
    bounds = ranked.bounds(nDCG, scale=[0, 1], policy="empty=skip,ties=input")
    assert bounds.mean.queries == 1
    assert bounds.mean.lower == bounds.mean.value == half
    assert bounds.mean.upper == (half + 1) / 2


def test_what_is_judged_is_certain():
    bounds = Rankings.from_lists([[3, 0, 1], [UNJUDGED, 1]]).bounds(nDCG @ 2, scale=SCALE)
    assert bounds.array("unjudged").tolist() == [0, 1]
    assert (bounds.openness.certain, bounds.openness.open, bounds.openness.queries) == (1, 1, 2)


def test_the_scale_is_that_of_the_judgments_where_none_is_given():
    assert Rankings.from_lists([[0, 2]]).bounds(nDCG).scale == (0, 1, 2)
    assert Rankings.from_lists([[0, 0]]).bounds(nDCG).scale == (0, 1)


@pytest.mark.parametrize(
    ("code", "measure", "settings"),
    [
        ("bounds_unavailable", "Bpref", {}),
        ("bounds_unavailable", "infAP", {}),
        ("bounds_unavailable", "AP(denominator='found')", {}),
        ("bounds_unavailable", "nDCG", {"policy": "negative=minmax,ties=input"}),
        ("aggregate_unavailable", "nDCG", {"policy": "aggregate=median,ties=input"}),
        ("aggregate_unavailable", "GMAP", {}),
        ("bad_scale", "nDCG", {"scale": []}),
        ("bad_scale", "nDCG", {"scale": 3}),
        ("bad_scale", "nDCG", {"scale": "0123"}),
        ("bad_scale", "nDCG", {"scale": [0, math.inf]}),
        ("ids_needed", "nDCG", {"against": Rankings.from_lists([[1, 0.5]])}),
        ("bad_parameter", "nDCG", {"against": Rankings.from_lists([[1, 1]])}),
        ("bad_parameter", "nDCG", {"against": "other.run"}),
    ],
)
def test_what_has_no_bounds_is_refused(code, measure, settings):
    ranked = Rankings.from_lists([[1, 0.5]])
    refused(lambda: ranked.bounds(measure, **{"scale": SCALE, **settings}), code)


def test_grades_that_are_no_whole_numbers_need_a_scale():
    refused(lambda: Rankings.from_lists([[1, 0.5]]).bounds(nDCG), "bad_scale")


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [("ab", "ba", "first"), ("ba", "ab", "second"), ("ab", "ab", "equal"), ("ub", "ab", "open")],
)
def test_the_verdict_is_certain_where_the_bounds_are_on_one_side_of_0(one, other, verdict):
    judged = {"q": {"a": 2, "b": 0}}
    first, second = (
        Rankings.from_run(judged, {"q": {doc: -float(at) for at, doc in enumerate(docs)}})
        for docs in (one, other)
    )
    bounds = first.bounds(nDCG, scale=SCALE, against=second)
    assert bounds.verdict == verdict


DOCS = "abcdefghi"
CASES = 250


def make_cases(seed, grades):
    """Judgments and two lists, some with ties, of which up to five documents are unjudged."""
    chance = random.Random(seed)
    cases = []
    while len(cases) < CASES:
        pool = DOCS[: chance.randint(1, len(DOCS))]
        scores = chance.choice([2, 4, 20])
        one, other = (
            {
                doc: float(chance.randrange(scores))
                for doc in chance.sample(pool, chance.randint(0, len(pool)))
            }
            for _ in range(2)
        )
        known = {doc: chance.choice(grades) for doc in pool if chance.random() < 1 / 2}
        if one and len({*one, *other} - known.keys()) <= (5 if len(grades) == 2 else 4):
            cases.append((known, one, other))
    return cases


def rank(qrels, runs, policy):
    """Rank lists, each with its own judgments; a document nobody retrieved is judged in each."""
    judged = {f"{at:05}": {**known, "zz": 0} for at, known in enumerate(qrels)}
    lists = {f"{at:05}": run for at, run in enumerate(runs) if run}
    return Rankings.from_run(judged, lists, ties=policy.ties)


def try_all_differences(cases, measure, policy, scale):
    """The smallest and largest difference of each case over all grades of unjudged documents."""
    qrels, ones, others, ends = [], [], [], []
    for known, one, other in cases:
        unjudged = sorted({*one, *other} - known.keys())
        for grades in itertools.product(scale, repeat=len(unjudged)):
            qrels.append(known | dict(zip(unjudged, grades, strict=True)))
            ones.append(one)
            others.append(other)
        ends.append(len(qrels))
    first, second = (
        rank(qrels, runs, policy).evaluate(measure, policy=policy).per_query(measure)
        for runs in (ones, others)
    )
    parts = np.split(first - second, ends[:-1])
    with np.errstate(all="ignore"):
        return (
            np.array([np.nanmin(part) if (part == part).any() else np.nan for part in parts]),  # noqa: PLR0124 - NaN
            np.array([np.nanmax(part) if (part == part).any() else np.nan for part in parts]),  # noqa: PLR0124 - NaN
        )


@pytest.mark.parametrize(
    "name",
    [
        "AP",
        "AP@3",
        "AP(denominator='reachable')@2",
        "AP(denominator='cutoff')@4",
        "RR",
        "RR@2",
        "Success@2",
        "P@3",
        "P(denominator='retrieved')@3",
        "R@2",
        "R@9",
        "RBP",
        "RBP(p=0.5)@2",
    ],
)
@pytest.mark.parametrize(
    "policy", ["ties=doc_id", "ties=average", "ties=average,empty=skip", "ties=doc_id,empty=one"]
)
def test_bounds_of_differences_of_binary_measures(name, policy):
    check(parse(name), Policy.parse(policy), range(2))


@pytest.mark.parametrize("name", ["RBP(graded=True,max_grade=2)@3", "nDCG@3", "DCG", "P(rel=2)@2"])
@pytest.mark.parametrize("policy", ["ties=doc_id", "ties=average,empty=skip"])
def test_bounds_of_differences_of_graded_measures(name, policy):
    check(parse(name), Policy.parse(policy), range(3))


def check(measure, policy, scale):
    """Compare the bounds of the differences of many cases with those of all completions."""
    cases = make_cases(len(scale), scale)
    known, ones, others = zip(*cases, strict=True)
    ranked, against = (rank([*known], [*runs], policy) for runs in (ones, others))
    bounds = ranked.bounds(measure, against=against, scale=scale, policy=policy)
    lower, upper = try_all_differences(cases, measure, policy, scale)
    # Equal values may come of other completions, whose sums round differently.
    np.testing.assert_allclose(bounds.array("lower"), lower, rtol=0, atol=1e-14)
    np.testing.assert_allclose(bounds.array("upper"), upper, rtol=0, atol=1e-14)
    assert bounds.is_exact


def test_documents_are_recognized_below_one_that_is_removed():
    # The list without judged spam is the same in both runs, so nothing can tell them apart.
    qrels = {"q": {"spam": -1, "good": 1}}
    one = Rankings.from_run(qrels, {"q": {"spam": 3.0, "new": 2.0, "good": 1.0}})
    other = Rankings.from_run(qrels, {"q": {"new": 2.0, "good": 1.0}})
    found = one.bounds("P@1", against=other, policy="unjudged=remove")
    assert (found.mean.lower, found.mean.upper) == (0.0, 0.0)


QRELS = {"there": {"a": 1, "b": 1}, "gone": {"a": 1}}
RUN = {"there": {"x": 3.0, "a": 2.0}}


@pytest.mark.parametrize("measure", ["P@2", "AP", "nDCG@2"])
def test_a_missing_query_has_bounds_only_where_it_counts(measure):
    rankings = rs.Rankings.from_run(QRELS, RUN)
    counted = rankings.bounds(measure, scale=[0, 1]).to_dict()
    skipped = rankings.bounds(measure, scale=[0, 1], policy="missing=skip").to_dict()
    assert (counted["gone"]["lower"], counted["gone"]["upper"]) == (0.0, 0.0)
    assert math.isnan(skipped["gone"]["lower"])
    assert math.isnan(skipped["gone"]["upper"])
    assert skipped["there"] == counted["there"]


def test_bounds_of_a_difference_leave_out_what_either_run_lacks():
    both = {**RUN, "gone": {"a": 1.0}}
    old, new = (rs.Rankings.from_run(QRELS, run) for run in (RUN, both))
    for one, other in ((old, new), (new, old)):
        found = one.bounds("P@2", scale=[0, 1], against=other, policy="missing=skip").to_dict()
        assert math.isnan(found["gone"]["lower"])
        assert math.isnan(found["gone"]["upper"])
        assert not math.isnan(found["there"]["lower"])
