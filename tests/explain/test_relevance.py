"""AP, RR, P and R by hand: every number is the one that an evaluation gives."""

from __future__ import annotations

import itertools
import math

import pytest
import rankscope as rs
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from rankscope import Measure, P, Policy, R, Rankings, RankscopeError
from rankscope.derivation.relevance import RelevanceExplanation
from rankscope.records import replace

from tests.explain.queries import evaluate, policies, rank
from tests.generated import examples
from tests.invariance.lists import Judged, judged_queries
from tests.invariance.variants import VARIANTS

MEASURES = [one for one in VARIANTS if one.row.name in {"AP", "RR", "P", "R"}]
CASES = (judged_queries(), st.sampled_from(MEASURES), policies())


def explain(judged: Judged, measure: Measure, policy: Policy) -> RelevanceExplanation:
    """Explain a query as it is evaluated, unless ties of AP or RR have an order that matters."""
    rankings = rank(judged, policy)
    if is_refused(rankings, measure, policy):
        assert policy.ties == "average"
        assert measure.row.name in {"AP", "RR"}
        reject()
    explanation = rankings.explain("query", measure, policy=policy)
    assert isinstance(explanation, RelevanceExplanation)
    value = evaluate(rankings, measure, policy)
    assert explanation.value == pytest.approx(value, nan_ok=True, abs=0, rel=0)
    return explanation


def is_refused(rankings: Rankings, measure: Measure, policy: Policy) -> bool:
    """Whether there is no derivation."""
    try:
        rankings.explain("query", measure, policy=policy)
    except RankscopeError as error:
        return error.code == "not_explained"
    return False


@given(*CASES)
@examples(150)
def test_the_sum_divided_is_the_value(judged: Judged, measure: Measure, policy: Policy) -> None:
    explanation = explain(judged, measure, policy)
    assume(not explanation.is_undefined)
    if measure.row.name == "RR":
        assert explanation.total == explanation.value
    elif explanation.denominator:
        quotient = explanation.total / explanation.denominator
        assert explanation.value == pytest.approx(quotient, rel=1e-15)
        assert (
            explanation.rows[-1:] == ()
            or any(row.tie for row in explanation.rows)
            or (explanation.value == quotient)
        )
    else:
        assert explanation.value == 0


@given(*CASES)
@examples(150)
def test_precision_and_recall_are_values_at_cutoffs(
    judged: Judged, measure: Measure, policy: Policy
) -> None:
    explanation = explain(judged, measure, policy)
    plain = replace(policy, empty="nan")
    rankings = rank(judged, policy)
    same = {name: measure.parameters[name] for name in ("rel", "judged_only")}
    for row in explanation.rows:
        for other, found in ((P, row.precision), (R, row.recall)):
            expected = evaluate(rankings, other(**same) @ row.rank, plain)
            assert found == pytest.approx(expected, nan_ok=True, abs=0, rel=0)


@given(*CASES)
@examples(100)
def test_the_formula_has_the_value(judged: Judged, measure: Measure, policy: Policy) -> None:
    explanation = explain(judged, measure, policy)
    assume(not explanation.is_undefined and explanation.denominator)
    value = eval(explanation.formula, {"__builtins__": {}})  # noqa: S307 - numbers and operators
    assert value == pytest.approx(explanation.value, rel=1e-13)


@given(*CASES)
@examples(100)
def test_no_order_is_better_than_the_best_or_worse_than_the_worst(
    judged: Judged, measure: Measure, policy: Policy
) -> None:
    scores = dict(list(judged.scores.items())[:5])
    explanation = explain(Judged(scores, judged.grades), measure, policy)
    assume(explanation.best is not None)
    strict = replace(policy, ties="input")
    values = []
    for order in itertools.permutations(scores):
        ranked = Judged({doc: -float(rank) for rank, doc in enumerate(order)}, judged.grades)
        values.append(evaluate(rank(ranked, strict), measure, strict))
    assert explanation.best.value == pytest.approx(max(values), rel=1e-13)
    # The mean over those found alone can be lower elsewhere than where all stand last.
    if measure.parameters.get("denominator") != "found":
        assert explanation.worst.value == pytest.approx(min(values), rel=1e-13)


@given(*CASES)
@examples(60)
def test_every_explanation_can_be_written(judged: Judged, measure: Measure, policy: Policy) -> None:
    explanation = explain(judged, measure, policy)
    for text in (str(explanation), explanation.to_markdown(), explanation.to_latex()):
        assert measure.row.name in text
    assert explanation.to_html().isascii()
    assert explanation.to_dict()["measure"] == measure.name


@pytest.mark.parametrize(
    ("measure", "formula", "value"),
    [
        ("AP", "(1/1 + 2/3 + 3/5) / 4", (1 / 1 + 2 / 3 + 3 / 5) / 4),
        ("AP@3", "(1/1 + 2/3) / 4", (1 / 1 + 2 / 3) / 4),
        ("RR", "1/1", 1.0),
        ("RR(rel=2)", "1/3", 1 / 3),
        ("P@3", "(1 + 1) / 3", 2 / 3),
        ("R@3", "(1 + 1) / 4", 2 / 4),
    ],
)
def test_the_examples_of_the_table_are_derived(measure: str, formula: str, value: float) -> None:
    grades = [1, 0, 2, math.nan, 1]
    explanation = rs.explain(grades, measure=measure, ideal=[1, 2, 1, 1])
    assert (explanation.formula, explanation.value) == (formula, value)


def test_where_ties_matter_there_is_no_derivation_of_ap() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    averaged = Rankings.from_run(qrels, run, ties="average")
    with pytest.raises(RankscopeError, match="ranks 1 to 2 of one score") as refused:
        averaged.explain("q", "AP")
    assert refused.value.code == "not_explained"
    assert averaged.explain("q", "P@1").rows[0].relevant == 0.5
    assert Rankings.from_run(qrels, run).explain("q", "AP").value == 0.5


def test_a_long_list_is_shown_as_far_as_it_matters() -> None:
    grades = [0.0] * 2000
    for at in (1, 99, 1500):
        grades[at] = 1.0
    explanation = rs.explain(grades, measure="AP", limit=6)
    assert [row.rank for row in explanation.rows] == [1, 2, 3, 100, 1501, 2000]
    assert explanation.formula == "(1/2 + 2/100 + 3/1501) / 3"
    assert "ranks 4 to 99: no relevant document" in str(explanation)
