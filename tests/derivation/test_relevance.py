"""AP, RR, P and R by hand: every number is the one that an evaluation gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from hypothesis import assume, given
from rankscope import Measure, P, Policy, R, Rankings, RankscopeError
from rankscope.records import replace

from tests.derivation.queries import OF_RELEVANCE, evaluate, explain, rank
from tests.generated import examples

if TYPE_CHECKING:
    from tests.invariance.lists import Judged


@given(*OF_RELEVANCE)
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


@given(*OF_RELEVANCE)
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
