"""What `convention=` does to an evaluation, and what it refuses."""

from __future__ import annotations

from math import log2

import pytest
import rankscope as rs
from rankscope import AP, DCG, RR, P, R, Rankings, RankscopeError, nDCG

from tests.interpreter import run_python
from tests.refusals import refuses

QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {"q1": {"c": 3.0, "d": 2.0, "a": 1.0, "e": 0.2}, "q2": {"x": 2.0, "y": 1.0}}
EXP2_AT_3 = (1 + 7 / log2(4)) / (7 + 1 / log2(3))
"""nDCG@3 of q1 with exponential gains, over the ideal of what was retrieved."""


def test_the_numbers_are_those_of_the_library() -> None:
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="lightgbm")
    assert evaluation.per_query_list("nDCG@3")[:2] == [EXP2_AT_3, 1.0]
    assert evaluation["nDCG@3"] == (EXP2_AT_3 + 1) / 2
    assert evaluation.denominators == {"nDCG(gain='exp2', ideal='retrieved')@3": 2}


def test_a_measure_is_found_by_both_its_names() -> None:
    evaluation = rs.evaluate(QRELS, RUN, ["ndcg_cut_3"], convention="lightgbm")
    assert [*evaluation] == ["nDCG(gain='exp2', ideal='retrieved')@3"]
    values = [evaluation[name] for name in (nDCG @ 3, "nDCG@3", "ndcg_cut_3", *evaluation)]
    assert len(set(values)) == 1
    assert nDCG @ 3 in evaluation
    assert nDCG @ 4 not in evaluation


def test_measures_that_become_one_are_evaluated_once() -> None:
    asked = [nDCG @ 3, nDCG(gain="exp2") @ 3]
    evaluation = rs.evaluate(QRELS, RUN, asked, convention="lightgbm")
    assert len(evaluation) == 1
    assert evaluation[asked[0]] == evaluation[asked[1]]


def test_the_result_says_under_which_convention_it_is() -> None:
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="lightgbm")
    assert evaluation.convention is not None
    assert evaluation.convention.name == "lightgbm"
    line = f"convention: {evaluation.convention.address} ({evaluation.convention.verified})"
    assert line in str(evaluation).splitlines()
    assert line in evaluation._repr_html_()


def test_without_a_convention_nothing_is_said_of_one() -> None:
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3)
    assert evaluation.convention is None
    assert "convention" not in str(evaluation)


@pytest.mark.parametrize(
    ("convention", "measures", "policy", "code"),
    [
        ("lightgbm", RR, None, "convention_measure"),
        ("ranx", rs.parse("Bpref"), None, "convention_measure"),
        ("gdeval", nDCG, None, "convention_measure"),
        ("trec_eval", RR @ 10, None, "convention_measure"),
        ("trec_eval", nDCG(gain="exp2") @ 3, None, "convention_conflict"),
        ("lightgbm", nDCG(ideal="judged", discount="reciprocal") @ 3, None, "convention_conflict"),
        ("lightgbm", nDCG @ 3, "empty=zero", "convention_conflict"),
        ("trec_eval", nDCG @ 3, "missing=error", "convention_conflict"),
        ("trec_eval@10.0", nDCG @ 3, None, "missing_query"),
        ("sklearn", nDCG @ 3, rs.Policy(), "convention_conflict"),
        ("torchmetrics", [nDCG @ 3, P @ 3], None, "convention_conflict"),
        ("lightgmb", nDCG @ 3, None, "unknown_convention"),
        ("sklearn", nDCG @ 3, 7, "bad_policy"),
        ("sklearn", nDCG @ 3, "ties=fair", "bad_policy"),
    ],
)
def test_what_a_convention_rules_out_is_refused(
    convention: str, measures: object, policy: object, code: str
) -> None:
    with refuses(RankscopeError, code) as caught:
        rs.evaluate(QRELS, RUN, measures, convention=convention, policy=policy)  # type: ignore[arg-type]  # the point of some
    assert caught.value.hint


def test_a_score_type_that_contradicts_is_refused() -> None:
    with refuses(rs.PolicyError, "convention_conflict"):
        rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval", score_type="float64")


def test_what_the_library_lets_its_user_choose_may_be_chosen() -> None:
    values = {
        policy: rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval", policy=policy)["nDCG@3"]
        for policy in ("missing=skip", "missing=zero")
    }
    assert values["missing=zero"] == values["missing=skip"] * 2 / 3
    table = nDCG(gain=[0, 1, 2, 3]) @ 3
    linear = rs.evaluate(QRELS, RUN, table, convention="lightgbm")
    assert linear.per_query_list(table)[0] == (1 + 3 / log2(4)) / (3 + 1 / log2(3))


def test_measures_of_one_library_may_follow_different_policies() -> None:
    alone = rs.evaluate(QRELS, RUN, DCG @ 3, convention="sklearn")
    assert alone.policy.negative == "gain"
    assert rs.evaluate(QRELS, RUN, nDCG @ 3, convention="sklearn").policy.negative == "error"


@pytest.mark.parametrize(
    ("convention", "grade", "says"),
    [
        ("lightgbm", 31, "LightGBM rejects grades that are not integers from 0 to 30"),
        ("lightgbm", 0.5, "LightGBM rejects grades that are not integers from 0 to 30"),
        ("sklearn", -1, "scikit-learn rejects negative grades in ndcg_score"),
        ("pytrec_eval", 0.5, "rejects grades that are not integers, with a TypeError"),
    ],
)
def test_grades_that_the_library_refuses_are_refused(
    convention: str, grade: float, says: str
) -> None:
    with refuses(rs.FormatError, "convention_grades", match=says):
        rs.evaluate({"q": {"a": grade, "b": 1}}, {"q": {"a": 1.0}}, nDCG, convention=convention)


@pytest.mark.parametrize(
    ("convention", "gain_of_2"), [("trec_eval", 2.0), ("ranx", 2.0), ("ranx_burges", 3.0)]
)
def test_fractions_are_dropped_where_the_library_drops_them(
    convention: str, gain_of_2: float
) -> None:
    evaluation = rs.evaluate(
        {"q": {"a": 2.9, "b": 0.9, "c": 1.5}},
        {"q": {"b": 3.0, "c": 2.0, "a": 1.0}},
        nDCG @ 3,
        convention=convention,
    )
    ideal = gain_of_2 + 1 / log2(3)
    assert evaluation["nDCG@3"] == (1 / log2(3) + gain_of_2 / log2(4)) / ideal


def test_integers_keep_the_plain_name_of_the_measure() -> None:
    assert [*rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval")] == ["nDCG@3"]


def test_rankings_without_ties_serve_every_convention() -> None:
    rankings = Rankings.from_lists([[1, 0, 3, 0]])
    for name in ("sklearn", "lightgbm", "catboost", "trec_eval"):
        evaluation = rankings.evaluate(nDCG(), convention=name)
        assert evaluation.policy.ties == rs.evaluate(QRELS, RUN, nDCG, convention=name).policy.ties


def test_rankings_with_ties_serve_conventions_with_their_ties_only() -> None:
    matrices = [[1, 0, 3], [0, 1, 0]], [[0.5, 0.5, 0.1], [3, 2, 1]]
    averaged = Rankings.from_arrays(*matrices).evaluate(nDCG, convention="sklearn")
    assert averaged.policy.ties == "average"
    with refuses(rs.PolicyError, "ties_fixed") as caught:
        Rankings.from_arrays(*matrices).evaluate(nDCG, convention="lightgbm")
    assert caught.value.hint == "make the Rankings with ties='input'"
    ordered = Rankings.from_arrays(*matrices, ties="input").evaluate(nDCG, convention="lightgbm")
    assert ordered.per_query_list(nDCG)[0] == (1 + 7 / log2(4)) / (7 + 1 / log2(3))


def test_equal_scores_of_two_queries_are_no_tie() -> None:
    rankings = Rankings.from_groups([1, 0, 1], [2.0, 1.0, 1.0], [2, 1])
    assert rankings.evaluate(nDCG, convention="lightgbm")["nDCG"] == 1.0


def test_rankings_whose_scores_only_double_precision_tells_apart_are_refused() -> None:
    rankings = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}})
    with refuses(rs.PolicyError, "score_type_fixed"):
        rankings.evaluate(nDCG, convention="trec_eval")
    assert rankings.evaluate(nDCG, convention="trec_eval@10.0")["nDCG"] == 1.0


def test_rankings_whose_queries_are_missing_or_empty_are_read_right() -> None:
    rankings = Rankings.from_run(
        {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, {"q2": {"b": 1.0}, "q1": {"x": 1.0}}
    )
    evaluation = rankings.evaluate(AP, convention="ranx", policy="missing=zero")
    assert evaluation.per_query_list(AP) == [0.0, 1.0, 0.0]


def test_the_rows_load_only_where_a_convention_is_asked_for() -> None:
    program = (
        "import sys, rankscope as rs; rs.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'RR'); "
        "print(any(name.startswith('rankscope.conventions') for name in sys.modules))"
    )
    assert run_python(program) == "False\n"


@pytest.mark.parametrize(
    ("convention", "measure"),
    [
        ("lightgbm", AP @ 2),
        ("lightgbm", nDCG @ 2),
        ("catboost", R @ 2),
        ("catboost", DCG @ 2),
        ("torchmetrics", R @ 2),
        ("xgboost_minus", AP),
    ],
)
def test_documents_that_were_not_retrieved_are_unknown_to_libraries_of_lists(
    convention: str, measure: rs.Measure
) -> None:
    known = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"d": 0}}
    run = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"d": 1.0}}
    more = {"q1": {**known["q1"], "unseen": 1}, "q2": {**known["q2"], "unseen": 1}}
    values = [
        rs.evaluate(qrels, run, measure, convention=convention).per_query_list(measure)
        for qrels in (known, more)
    ]
    assert values[0] == values[1]
