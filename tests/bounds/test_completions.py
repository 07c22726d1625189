"""Bounds are the extremes over all completions of the judgments, found by trying them all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Measure, Policy, Rankings, nDCG, parse

from tests.generated import examples
from tests.refusals import refused

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
def test_bounds_are_those_of_all_completions(name: str) -> None:
    lists = [grades for length in range(1, 5) for grades in every_list(length)]
    for empty in ("zero", "one"):
        measure, policy = parse(name), Policy(ties="input", empty=empty)  # type: ignore[arg-type]  # one of the words
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
    refused(lambda: ranked.bounds(measure, **{"scale": SCALE, **settings}), code)


def test_grades_that_are_no_whole_numbers_need_a_scale() -> None:
    refused(lambda: Rankings.from_lists([[1, 0.5]]).bounds(nDCG), "bad_scale")


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [("ab", "ba", "first"), ("ba", "ab", "second"), ("ab", "ab", "equal"), ("ub", "ab", "open")],
)
def test_the_verdict_is_certain_where_the_bounds_are_on_one_side_of_0(
    one: str, other: str, verdict: str
) -> None:
    judged = {"q": {"a": 2, "b": 0}}
    first, second = (
        Rankings.from_run(judged, {"q": {doc: -float(at) for at, doc in enumerate(docs)}})
        for docs in (one, other)
    )
    bounds = first.bounds(nDCG, scale=SCALE, against=second)
    assert bounds.verdict == verdict
