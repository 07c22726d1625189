"""Bounds are the extremes over all completions of the judgments, found by trying them all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Measure, Policy, Rankings, UsageError, nDCG, parse

from tests.generated import examples

UNJUDGED = math.nan
SCALE = (0, 1, 2, 3)


def every_list(length: int) -> list[list[float]]:
    return [list(grades) for grades in itertools.product((UNJUDGED, *SCALE), repeat=length)]


def complete(grades: list[float]) -> list[list[float]]:
    """Every list that these grades could be, once all documents are judged."""
    options = [SCALE if grade != grade else (grade,) for grade in grades]  # noqa: PLR0124 - NaN
    return [list(completed) for completed in itertools.product(*options)]


def try_all(
    lists: list[list[float]], measure: Measure, policy: Policy
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and largest value of each list over all of its completions."""
    completions = [complete(grades) for grades in lists]
    values = Rankings.from_lists(itertools.chain(*completions)).evaluate(measure, policy=policy)
    ends = np.cumsum([len(each) for each in completions])
    parts = np.split(values.per_query(measure), ends[:-1])
    return np.array([part.min() for part in parts]), np.array([part.max() for part in parts])


@pytest.mark.parametrize("empty", ["zero", "one"])
@pytest.mark.parametrize("gain", ["linear", "exp2"])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_bounds_of_ndcg_are_those_of_all_completions_of_all_lists(
    gain: str, k: int, empty: str
) -> None:
    measure, policy = nDCG(gain=gain) @ k, Policy(ties="input", empty=empty)  # type: ignore[arg-type]  # one of the words
    # Every list of up to five documents, and of six those that begin with an unjudged one.
    lists = [grades for length in range(1, 6) for grades in every_list(length)]
    lists += [[UNJUDGED, *grades] for grades in every_list(5)]
    bounds = Rankings.from_lists(lists).bounds(measure, scale=SCALE, policy=policy)
    lower, upper = try_all(lists, measure, policy)
    # The sums are added in one order, but equal values may come of other completions.
    np.testing.assert_allclose(bounds.array("lower"), lower, rtol=0, atol=1e-15)
    np.testing.assert_allclose(bounds.array("upper"), upper, rtol=0, atol=1e-15)
    assert bounds.mean.lower == pytest.approx(lower.mean(), abs=1e-12)
    assert bounds.mean.upper == pytest.approx(upper.mean(), abs=1e-12)


@pytest.mark.parametrize(
    "name",
    [
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
def test_bounds_of_other_measures_are_those_of_all_completions(name: str) -> None:
    measure, policy = parse(name), Policy(ties="input")
    lists = [grades for length in range(1, 5) for grades in every_list(length)]
    bounds = Rankings.from_lists(lists).bounds(measure, scale=SCALE)
    lower, upper = try_all(lists, measure, policy)
    np.testing.assert_allclose(bounds.array("lower"), lower, rtol=0, atol=1e-15)
    np.testing.assert_allclose(bounds.array("upper"), upper, rtol=0, atol=1e-15)


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
    documents: list[tuple[int, int | None]], unretrieved: list[int], k: int
) -> None:
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


runs = st.permutations(["a", "b", "c", "d", "e"])


def judge(lower: float, upper: float) -> str:
    """Return which of two runs is better, given the least and greatest difference."""
    if lower == upper == 0:
        return "equal"
    return "first" if lower > 0 else "second" if upper < 0 else "open"


@given(
    one=runs,
    other=runs,
    known=st.dictionaries(st.sampled_from("abcf"), st.sampled_from(SCALE)),
    k=st.integers(1, 4),
)
@examples(60)
def test_bounds_of_a_difference_are_those_of_all_completions(
    one: list[str], other: list[str], known: dict[str, int], k: int
) -> None:
    first, second = (
        {"q": {doc: -float(rank) for rank, doc in enumerate(order[:4])}} for order in (one, other)
    )
    measure = nDCG @ k
    unjudged = sorted({*first["q"], *second["q"]} - known.keys())
    differences = []
    for grades in itertools.product(SCALE, repeat=len(unjudged)):
        qrels = {"q": known | dict(zip(unjudged, grades, strict=True)) or {"none": 0}}
        values = [
            Rankings.from_run(qrels, run).evaluate(measure)[measure] for run in (first, second)
        ]
        differences.append(values[0] - values[1])
    judged = {"q": known or {"none": 0}}
    ranked = [Rankings.from_run(judged, run) for run in (first, second)]
    bounds = ranked[0].bounds(measure, scale=SCALE, against=ranked[1])
    assert bounds.mean.lower == pytest.approx(min(differences), abs=1e-14)
    assert bounds.mean.upper == pytest.approx(max(differences), abs=1e-14)
    assert bounds.verdict == judge(min(differences), max(differences))


def test_filling_all_with_one_grade_does_not_bound_ndcg() -> None:
    bounds = Rankings.from_lists([[1, UNJUDGED, 0, UNJUDGED, UNJUDGED]]).bounds(nDCG, scale=SCALE)
    # All zero gives 1, which is the largest value and not the smallest.
    assert bounds.mean.value == bounds.mean.upper == 1
    assert bounds.mean.lower == pytest.approx(0.595, abs=5e-4)
    filled = Rankings.from_lists([[1, 1, 0, 0, 3]]).evaluate(nDCG)[nDCG]
    bounds = Rankings.from_lists([[1, 1, 0, 0, UNJUDGED]]).bounds(nDCG, scale=SCALE)
    assert filled == pytest.approx(0.676, abs=5e-4)
    assert bounds.mean.upper == 1


def test_a_mean_that_may_leave_queries_out_is_bounded_by_the_best_choice_of_them() -> None:
    # The second query has a value only if its document is relevant, and then the value 1.
    ranked = Rankings.from_lists([[0, 1], [UNJUDGED]])
    half = 1 / math.log2(3)
    bounds = ranked.bounds(nDCG, scale=[0, 1], policy="empty=skip,ties=input")
    assert bounds.mean.queries == 1
    assert bounds.mean.lower == bounds.mean.value == half
    assert bounds.mean.upper == (half + 1) / 2


def test_what_is_judged_is_certain() -> None:
    bounds = Rankings.from_lists([[3, 0, 1], [UNJUDGED, 1]]).bounds(nDCG @ 2, scale=SCALE)
    assert bounds.array("unjudged").tolist() == [0, 1]
    assert (bounds.openness.certain, bounds.openness.open, bounds.openness.queries) == (1, 1, 2)


def test_the_scale_is_that_of_the_judgments_where_none_is_given() -> None:
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
def test_what_has_no_bounds_is_refused(
    code: str, measure: str, settings: dict[str, object]
) -> None:
    ranked = Rankings.from_lists([[1, 0.5]])
    with pytest.raises(UsageError) as raised:
        ranked.bounds(measure, **{"scale": SCALE, **settings})  # type: ignore[arg-type]  # as given
    assert raised.value.code == code


def test_grades_that_are_no_whole_numbers_need_a_scale() -> None:
    with pytest.raises(UsageError) as raised:
        Rankings.from_lists([[1, 0.5]]).bounds(nDCG)
    assert raised.value.code == "bad_scale"
