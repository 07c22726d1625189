"""What an explanation says, in cases that a person can follow."""

from __future__ import annotations

import math
import pickle
from itertools import combinations
from math import log2

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, RankscopeError, nDCG
from rankscope.derivation.derive.swap import find_best_swap
from rankscope.derivation.explanation import LossSplit


def test_two_documents_of_one_score_share_their_mean_gain() -> None:
    qrels = {"q": {"a": 3, "b": 0, "c": 1}}
    run = {"q": {"a": 2.0, "b": 2.0, "c": 1.0}}
    explanation = Rankings.from_run(qrels, run, ties="average").explain("q", nDCG @ 10)
    first, second, third = explanation.rows
    assert (first.tie, second.tie, third.tie) == ((1, 2), (1, 2), None)
    assert (first.gain, second.gain, third.gain) == (1.5, 1.5, 1)
    dcg = 1.5 / log2(2) + 1.5 / log2(3) + 1 / log2(4)
    assert explanation.value == dcg / (3 + 1 / log2(3))
    assert "= marks documents of one score" in str(explanation)


def test_a_tie_across_the_cutoff_is_said_to_be_one() -> None:
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    explanation = Rankings.from_run(qrels, run, ties="average").explain("q", "nDCG@2")
    assert [row.gain for row in explanation.rows] == [4 / 3, 4 / 3]
    assert "Ranks 1 to 3 have one score, across the cutoff." in str(explanation)


def test_a_query_without_relevant_documents_reads_well() -> None:
    explanation = rs.explain([0, 0], k=3)
    assert explanation.is_undefined
    assert explanation.value == 0
    assert math.isnan(explanation.rows[0].ndcg)
    assert (explanation.best, explanation.worst, explanation.swap) == (None, None, None)
    text = " ".join(str(explanation).split())
    assert "nDCG@3 is undefined: no judged document has a gain above 0, and IDCG@3 is 0." in text
    assert "It counts as 0 (empty=zero)." in text


@pytest.mark.parametrize(
    ("empty", "value", "words"),
    [
        ("zero", 0.0, "counts as 0"),
        ("one", 1.0, "counts as 1"),
        ("skip", math.nan, "is left out of the mean"),
        ("nan", math.nan, "is NaN, and so is the mean"),
        ("error", math.nan, "is refused by an evaluation"),
    ],
)
def test_what_becomes_of_an_undefined_query_is_said(empty: str, value: float, words: str) -> None:
    explanation = rs.explain([0, 0], empty=empty)  # type: ignore[arg-type]  # one of them
    assert explanation.value == pytest.approx(value, nan_ok=True)
    assert words in " ".join(str(explanation).split())
    head = "nDCG has no value" if math.isnan(value) else f"nDCG = {value:.4f}"
    assert str(explanation).startswith(head)


def test_a_query_that_is_not_in_the_run_is_explained() -> None:
    rankings = Rankings.from_run({"q": {"a": 2}, "r": {"b": 1}}, {"r": {"b": 1.0}})
    explanation = rankings.explain("q", nDCG @ 10)
    assert explanation.is_missing
    assert (explanation.value, explanation.rows, explanation.retrieved) == (0.0, (), 0)
    assert [document.doc_id for document in explanation.unretrieved.shown] == ["a"]
    assert explanation.losses == LossSplit(1.0, 0.0, 0.0)
    assert "The query is not in the run: that counts as an empty list" in str(explanation)
    skipped = rankings.explain("q", nDCG @ 10, policy="missing=skip")
    assert math.isnan(skipped.value)


def test_an_empty_list_in_the_run_is_not_missing() -> None:
    rankings = Rankings.from_run({"q": {"a": 2}, "r": {"b": 1}}, {"q": {}, "s": {"b": 1.0}})
    policy = "missing=skip"
    values = rankings.evaluate(nDCG @ 10, policy=policy).per_query_list(nDCG @ 10)
    explanations = [rankings.explain(query, nDCG @ 10, policy=policy) for query in "qr"]
    assert [one.is_missing for one in explanations] == [False, True]
    assert [one.value for one in explanations] == pytest.approx(values, nan_ok=True, abs=0, rel=0)
    assert "The list is empty." in str(explanations[0])


def test_documents_below_the_cutoff_and_never_retrieved_are_named() -> None:
    qrels = {"q": {"a": 1, "b": 3, "c": 2, "e": 3}}
    run = {"q": {doc: -float(rank) for rank, doc in enumerate("xaybzc")}}
    explanation = Rankings.from_run(qrels, run).explain("q", nDCG @ 3)
    assert [(one.doc_id, one.rank) for one in explanation.below.shown] == [("b", 4), ("c", 6)]
    assert [one.doc_id for one in explanation.unretrieved.shown] == ["e"]
    assert [row.found_at for row in explanation.ideal_rows] == [4, None, 6]
    assert explanation.losses is not None
    parts = (
        explanation.losses.retrieval,
        explanation.losses.truncation,
        explanation.losses.ordering,
    )
    assert parts == pytest.approx((0.191917562895225, 0.6383835125790451, 0.06263082389336977))
    assert explanation.observes_retrieval


def test_retrieval_is_not_observable_where_only_the_list_is_judged() -> None:
    explanation = rs.explain([0, 1], k=1)
    assert not explanation.observes_retrieval
    assert "not observable" in str(explanation)
    assert "never retrieved" not in str(explanation)
    known = rs.explain([0, 1], k=1, ideal=[2, 1, 0])
    assert known.observes_retrieval
    assert "not observable" not in str(known)


def test_a_long_list_is_shown_as_far_as_it_matters() -> None:
    grades = [0.0] * 5000
    for rank in (3, 40, 700, 4000):
        grades[rank - 1] = 1.0
    explanation = rs.explain(grades, limit=10)
    ranks = [row.rank for row in explanation.rows]
    assert ranks == [1, 2, 3, 4, 5, 40, 700, 4000, 5000]
    hidden = [(gap.first, gap.last, gap.gains) for gap in explanation.gaps]
    assert hidden == [(6, 39, 0), (41, 699, 0), (701, 3999, 0), (4001, 4999, 0)]
    assert explanation.rows[-1].dcg == explanation.dcg == rs.dcg(grades)
    assert len(str(explanation).splitlines()) < 60


def test_gains_that_are_not_shown_are_counted() -> None:
    explanation = rs.explain([1.0] * 1000, k=100, limit=10)
    assert [row.rank for row in explanation.rows] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 100]
    assert [(gap.first, gap.last, gap.gains) for gap in explanation.gaps] == [(10, 99, 90)]
    assert explanation.below.count == 900
    assert len(explanation.below.shown) == len(explanation.ideal_rows) == 10
    assert explanation.ideal_size == 100
    assert "ranks 10 to 99: not shown, 90 with a gain" in str(explanation)
    assert "…" in explanation.formula


def test_numbers_beyond_all_measure_are_written_short() -> None:
    explanation = rs.explain([1000, 0, 999], gain="exp2", k=2)
    assert explanation.value == (2.0**1000 / 1) / (2.0**1000 + 2.0**999 / log2(3))
    assert "1.0715e+301" in str(explanation)
    assert max(map(len, str(explanation).split("\n"))) < 160


def test_documents_are_named_by_a_mapping_as_well() -> None:
    named = rs.explain([4, 2], names=["A", "B"])
    assert rs.explain({"A": 4, "B": 2}) == named
    assert [row.doc_id for row in named.rows] == ["A", "B"]


@pytest.mark.parametrize("kind", [np.array, tuple, lambda grades: np.array(grades, np.float32)])
def test_grades_may_be_any_row_of_numbers(kind: object) -> None:
    grades = [4, 2, 5]
    assert rs.explain(kind(grades)) == rs.explain(grades)  # type: ignore[operator]  # it makes one


def test_a_convention_is_explained_by_its_own_rules() -> None:
    rankings = Rankings.from_run({"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}})
    explanation = rankings.explain("q", nDCG @ 2, convention="lightgbm")
    evaluation = rankings.evaluate(nDCG @ 2, convention="lightgbm")
    assert explanation.value == evaluation.per_query(nDCG @ 2)[0]
    assert explanation.measure.parameters["gain"] != "linear"


def test_explanations_are_values() -> None:
    explanation = rs.explain([4, 2, 5], k=2, names="ABC")
    assert pickle.loads(pickle.dumps(explanation)) == explanation  # noqa: S301 - our own
    assert repr(explanation) == "Explanation(nDCG@2, value 0.6994)"
    assert hash(explanation) == hash(rs.explain([4, 2, 5], k=2, names="ABC"))


QUERY = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}})


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("not_explained", lambda: rs.explain([1], measure="ERR")),
        ("not_explained", lambda: QUERY.explain("q", "ERR@10")),
        ("unknown_query", lambda: QUERY.explain("r", nDCG)),
        ("unknown_query", lambda: QUERY.explain(7, nDCG)),
        ("bad_parameter", lambda: rs.explain([1], k=2, measure=nDCG @ 3)),
        ("bad_parameter", lambda: rs.explain([1], k=0)),
        ("bad_parameter", lambda: rs.explain([1], gain="cubic")),
        ("bad_parameter", lambda: rs.explain([1], limit=1)),
        ("bad_parameter", lambda: QUERY.explain("q", ["nDCG@5", "nDCG@10"])),  # type: ignore[arg-type]  # that is asked
        ("unknown_measure", lambda: rs.explain([1], measure="nDGC")),
        ("length_mismatch", lambda: rs.explain([1, 2], names="A")),
        ("empty_input", lambda: rs.explain([])),
        ("empty_input", lambda: rs.explain([math.nan])),
        ("rel_out_of_range", lambda: rs.explain([math.inf])),
        ("not_numeric", lambda: rs.explain(["4"])),  # type: ignore[list-item]  # that is asked
        ("ideal_mismatch", lambda: rs.explain([3, 1], ideal=[1])),
        ("bad_policy", lambda: rs.explain([1], empty="none")),  # type: ignore[arg-type]  # as above
        ("gain_missing", lambda: rs.explain([9], gain=[0, 1])),
    ],
)
def test_what_cannot_be_explained_is_refused(code: str, ask: object) -> None:
    with pytest.raises(RankscopeError) as refused:
        ask()  # type: ignore[operator]  # a question
    assert refused.value.code == code


NEGATIVE = "A negative grade has no gain (negative=nonrelevant)."


@pytest.mark.parametrize(
    ("grades", "policy", "is_said"),
    [
        ([-1, 2], "", True),
        ([-1, 2], "negative=gain", False),
        ([-1, 2], "negative=minmax", False),
        ([1, 2], "", False),
        ([2, -1], "", True),
    ],
)
def test_a_negative_grade_without_gain_is_explained(
    grades: list[int], policy: str, *, is_said: bool
) -> None:
    shown = rs.Rankings.from_lists([grades])
    explained = shown.explain(shown.query_ids[0], "nDCG@2", policy=policy)
    assert (NEGATIVE in str(explained)) is is_said


gains = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0, 7.0]), max_size=12)
discounts = st.lists(st.floats(0, 1), min_size=12, max_size=12)


def total(gains: list[float], discounts: list[float]) -> float:
    return sum(gain * weight for gain, weight in zip(gains, discounts, strict=False))


@given(gains=gains, discounts=discounts)
def test_no_other_swap_gains_more(gains: list[float], discounts: list[float]) -> None:
    best = 0.0
    for one, other in combinations(range(len(gains)), 2):
        swapped = [*gains]
        swapped[one], swapped[other] = gains[other], gains[one]
        best = max(best, total(swapped, discounts) - total(gains, discounts))
    found = find_best_swap(gains, discounts)
    assert (found.gained if found else 0.0) == pytest.approx(best, abs=1e-12)


def test_a_long_list_is_searched_by_halves() -> None:
    # Of 20,000 different gains in the best order but for two, no other pair gains anything.
    gains = [1 / rank for rank in range(1, 20_001)]
    gains[5000], gains[7000] = gains[7000], gains[5000]
    discounts = [1 / rank for rank in range(1, 20_001)]
    found = find_best_swap(gains, discounts)
    assert found is not None
    assert (found.rank, found.other_rank) == (5001, 7001)
