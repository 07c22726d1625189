"""Every number of an explanation is the one that an evaluation gives, to the last bit."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import rankscope as rs
from hypothesis import assume, given
from hypothesis import strategies as st
from rankscope import CG, DCG, IDCG, P, R, Rankings, RankscopeError, nDCG

from tests.derivation.queries import (
    BOTH,
    CASES,
    EXPLAINED,
    OF_RELEVANCE,
    bits,
    evaluate,
    explain,
    rank,
)
from tests.generated import examples
from tests.invariance.lists import Judged

SHARED = ("k", "gain", "discount", "base", "s", "ideal")


def at(measure, other, cutoff):
    """Another measure with the settings of one, cut elsewhere."""
    settings = {name: measure.parameters[name] for name in SHARED if name in measure.parameters}
    values = other.parameters | {
        name: settings[name] for name in settings.keys() & other.parameters
    }
    cut = type(other)(other.row, tuple(values.values()))
    return cut if cutoff is None else cut @ cutoff


@given(*CASES)
@examples(120)
def test_the_running_columns_are_values_at_cutoffs(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    plain = replace(
        policy,
        empty="nan",
        unjudged="remove" if measure.judged_only else policy.unjudged,
        missing_gain=None if measure.k is None else policy.missing_gain,
    )
    rankings = rank(judged, policy)
    for row in explanation.rows:
        expected = [
            evaluate(rankings, at(measure, other, row.rank), plain)
            for other in (CG, DCG, IDCG, nDCG)
        ]
        assert bits(row.cg, row.dcg, row.idcg, row.ndcg) == bits(*expected), row
    totals = [evaluate(rankings, at(measure, other, measure.k), plain) for other in (CG, DCG, IDCG)]
    assert bits(explanation.cg, explanation.dcg, explanation.idcg) == bits(*totals)


@given(*CASES)
@examples(120)
def test_the_terms_add_up_to_the_sums(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    dcg = cg = idcg = 0.0
    for row in explanation.rows:
        cg += row.gain
        dcg += row.contribution
        assert bits(row.cg, row.dcg) == bits(cg, dcg)
    for row in explanation.ideal_rows:
        idcg += row.contribution
        assert bits(row.idcg) == bits(idcg)
    assert bits(explanation.cg, explanation.dcg, explanation.idcg) == bits(cg, dcg, idcg)
    if explanation.between is not None and not explanation.is_undefined:
        worst, best = explanation.between.worst, explanation.between.best
        assert bits(explanation.value) == bits((dcg - worst) / (best - worst))
    elif measure.row.name == "nDCG" and not explanation.is_undefined:
        assert bits(explanation.value) == bits(dcg / idcg)


@given(*BOTH)
@examples(80)
def test_the_formula_has_the_value(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    assume(not explanation.is_undefined and not explanation.formula.endswith("/ 0"))
    names = {"log2": math.log2, "ln": math.log, "max": max}
    formula = explanation.formula.replace("^", "**")
    value = eval(formula, {"__builtins__": {}}, names)  # noqa: S307 - numbers and operators
    assert value == pytest.approx(explanation.value, rel=1e-12, abs=1e-12)
    between = getattr(explanation, "between", None)
    if measure.parameters.get("discount") == "log2" and between is None:
        assert bits(value) == bits(explanation.value)


@given(*BOTH)
@examples(80)
def test_no_order_is_better_than_the_best_or_worse_than_the_worst(judged, measure, policy):
    scores = dict(list(judged.scores.items())[:4])
    judged = Judged(scores, judged.grades)
    explanation = explain(judged, measure, policy)
    assume(explanation.best is not None)
    values = []
    for order in itertools.permutations(scores):
        ranked = Judged({doc: -float(rank) for rank, doc in enumerate(order)}, judged.grades)
        strict = replace(policy, ties="input")
        values.append(evaluate(rank(ranked, strict), measure, strict))
    assert explanation.best.value == pytest.approx(max(values), rel=1e-13, abs=1e-15)
    # The mean over those found alone can be lower elsewhere than where all stand last.
    if measure.parameters.get("denominator") != "found":
        assert explanation.worst.value == pytest.approx(min(values), rel=1e-13, abs=1e-15)


@given(*CASES)
@examples(80)
def test_no_swap_gains_more_than_the_best(judged, measure, policy):
    judged = Judged(dict(list(judged.scores.items())[:6]), judged.grades)
    explanation = explain(judged, measure, policy)
    assume(not explanation.is_undefined)
    gains = [0.0]
    docs = rank(judged, policy).doc_ids("query")
    grades = [judged.grades.get(doc) for doc in docs]
    for upper, lower in itertools.combinations(range(len(docs)), 2):
        if measure.judged_only or policy.unjudged == "remove":
            kept = [grades[upper], grades[lower]]
            if any(grade is None or grade < 0 for grade in kept):
                continue  # such documents have no place to swap
        swapped = dict(judged.scores)
        one, other = docs[upper], docs[lower]
        swapped[one], swapped[other] = swapped[other], swapped[one]
        if policy.ties == "average":
            ranked = rank(Judged(swapped, judged.grades), policy)
            value = evaluate(ranked, measure, policy)
        else:
            order = [*docs]
            order[upper], order[lower] = order[lower], order[upper]
            scores = {doc: -float(place) for place, doc in enumerate(order)}
            strict = replace(policy, ties="input")
            value = evaluate(rank(Judged(scores, judged.grades), strict), measure, strict)
        gains.append(value - explanation.value)
    found = 0.0 if explanation.swap is None else explanation.swap.gain
    assert found == pytest.approx(max(gains), rel=1e-12, abs=1e-14)


@given(*CASES)
@examples(80)
def test_every_document_is_accounted_for(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    shown = {row.doc_id for row in explanation.rows if row.doc_id is not None}
    below = {document.doc_id for document in explanation.below.shown}
    removed = {document.doc_id for document in explanation.removed.shown}
    never = {document.doc_id for document in explanation.unretrieved.shown}
    assert not shown & below
    assert not (shown | below) & removed
    assert shown | below | removed <= judged.scores.keys()
    assert not never & judged.scores.keys()
    if measure.k is None:
        assert shown | removed == judged.scores.keys()
    for row in explanation.ideal_rows:
        assert row.doc_id is None or row.grade is None or row.gain > 0


@given(*BOTH)
@examples(60)
def test_every_explanation_can_be_written(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    texts = [str(explanation), explanation.to_markdown(), explanation.to_latex()]
    assert all(str(explanation.measure.row.name) in text for text in texts)
    assert explanation.to_html().isascii()
    assert explanation.to_dict()["measure"] == measure.name


@given(CASES[0], st.sampled_from([one for one in EXPLAINED if one.row.name == "nDCG"]), CASES[2])
@examples(80)
def test_the_losses_add_up_to_what_is_lost(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    losses = explanation.losses
    assume(losses is not None)
    assert losses.retrieval + losses.truncation + losses.ordering == pytest.approx(
        1 - explanation.value, abs=1e-12
    )


@given(*OF_RELEVANCE)
@examples(150)
def test_the_sum_divided_is_the_value(judged, measure, policy):
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


@given(*OF_RELEVANCE)
@examples(150)
def test_precision_and_recall_are_values_at_cutoffs(judged, measure, policy):
    explanation = explain(judged, measure, policy)
    plain = replace(policy, empty="nan")
    rankings = rank(judged, policy)
    same = {name: measure.parameters[name] for name in ("rel", "judged_only")}
    for row in explanation.rows:
        for other, found in ((P, row.precision), (R, row.recall)):
            expected = evaluate(rankings, other(**same) @ row.rank, plain)
            assert found == pytest.approx(expected, nan_ok=True, abs=0, rel=0)


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
def test_the_examples_of_the_table_are_derived(measure, formula, value):
    grades = [1, 0, 2, math.nan, 1]
    explanation = rs.explain(grades, measure=measure, ideal=[1, 2, 1, 1])
    assert (explanation.formula, explanation.value) == (formula, value)


def test_where_ties_matter_there_is_no_derivation_of_ap():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    averaged = Rankings.from_run(qrels, run, ties="average")
    with pytest.raises(RankscopeError, match="ranks 1 to 2 of one score") as refused:
        averaged.explain("q", "AP")
    assert refused.value.code == "not_explained"
    assert averaged.explain("q", "P@1").rows[0].relevant == 0.5
    assert Rankings.from_run(qrels, run).explain("q", "AP").value == 0.5


def test_a_long_list_is_shown_as_far_as_it_matters():
    grades = [0.0] * 2000
    for at in (1, 99, 1500):
        grades[at] = 1.0
    explanation = rs.explain(grades, measure="AP", limit=6)
    assert [row.rank for row in explanation.rows] == [1, 2, 3, 100, 1501, 2000]
    assert explanation.formula == "(1/2 + 2/100 + 3/1501) / 3"
    assert "ranks 4 to 99: no relevant document" in str(explanation)
