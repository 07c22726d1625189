"""A mean says over which queries it is taken, and every query enters it by one rule."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope import AP, DCG, RR, P, R, Rankings, nDCG

if TYPE_CHECKING:
    from tests.defects.ways import Ways

QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {
    "q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.2},
    "q2": {"x": 2.0, "y": 1.0},
}
FIRST = (1 / math.log2(3) + 3 / math.log2(4)) / (3 + 2 / math.log2(3) + 1 / math.log2(4))
"""nDCG@3 of the first query: d before c, then a."""


def test_a_query_that_is_missing_from_the_run_leaves_the_others_their_values(means: Ways) -> None:
    assert round(FIRST, 4) == 0.4475
    counted = means(QRELS, RUN, [nDCG @ 3])["nDCG@3"]
    assert (counted, round(counted, 4)) == (FIRST / 3, 0.1492)
    skipped = means(QRELS, RUN, [nDCG @ 3], "ties=doc_id,missing=skip")["nDCG@3"]
    assert (skipped, round(skipped, 4)) == (FIRST / 2, 0.2237)


def test_all_measures_of_a_call_are_means_over_the_same_queries(means: Ways) -> None:
    qrels = {"u1": {"a": 1}, "u2": {"a": 1}}
    run = {"u1": {"a": 1.0}}
    measures = [nDCG @ 3, P @ 1, R @ 3, AP, RR]
    assert set(means(qrels, run, measures).values()) == {1 / 2}
    assert set(means(qrels, run, measures, "missing=skip").values()) == {1.0}
    evaluation = rs.evaluate(qrels, run, measures)
    assert set(evaluation.denominators.values()) == {2}
    assert evaluation.counts.missing == 1


def test_queries_that_are_only_in_the_run_do_not_enter_the_mean(means: Ways) -> None:
    qrels = {"q1": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}
    assert set(means(qrels, run, [nDCG, P @ 1, AP]).values()) == {1.0}


def test_a_query_without_relevant_documents_has_one_value_in_all_measures(means: Ways) -> None:
    qrels = {"empty": {"a": 0, "b": 0}, "other": {"a": 1, "b": 0}}
    run = {"empty": {"a": 2.0, "b": 1.0}, "other": {"a": 2.0, "b": 1.0}}
    measures = [nDCG @ 2, AP, RR, R @ 2]
    for empty, mean in (("zero", 1 / 2), ("one", 1.0), ("skip", 1.0)):
        assert set(means(qrels, run, measures, f"empty={empty}").values()) == {mean}
        evaluation = rs.evaluate(qrels, run, measures, policy=f"empty={empty}")
        assert f"empty={empty}" in str(evaluation)
        assert evaluation.counts.empty == 1
        assert set(evaluation.denominators.values()) == {1 if empty == "skip" else 2}


def test_a_query_without_relevant_documents_counts_0_as_in_trec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="it is the oracle here")
    run = RUN | {"q3": {"n": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg_cut.3"}).evaluate(run)
    assert [row["ndcg_cut_3"] for row in theirs.values()] == [pytest.approx(FIRST), 0, 0]
    ours = rs.evaluate(QRELS, run, "nDCG@3")
    assert ours.per_query_list("nDCG@3") == [FIRST, 0, 0]
    assert ours["nDCG@3"] == FIRST / 3


@pytest.mark.parametrize("weights", [[0.1, 0.1], [10, 10], [1, 3], [3, 1], [1, 0], [0, 1]])
def test_a_query_weight_applies_to_queries_without_relevant_documents(weights: list[float]) -> None:
    y_true, y_score = [[2, 1, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1]]
    expected = weights[0] / sum(weights)
    assert rs.ndcg_score(y_true, y_score, k=3, sample_weight=weights) == expected
    found = rs.dcg_score(y_true, y_score, k=3, sample_weight=weights)
    assert found == pytest.approx((2 + 1 / math.log2(3)) * expected, abs=1e-15)
    qrels = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 0, "c": 0}}
    run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in qrels}
    measure = nDCG @ 3
    for empty, mean in (("zero", expected), ("one", 1.0)):
        weighed = rs.evaluate(qrels, run, measure, policy=f"empty={empty}", weights=weights)
        assert weighed[measure] == mean
    for convention in ("lightgbm", "xgboost"):
        evaluation = rs.evaluate(qrels, run, measure, convention=convention, weights=weights)
        assert evaluation[measure] == 1


@pytest.mark.parametrize("scale", [0.1, 1, 10])
def test_the_scale_of_the_weights_does_not_matter(scale: float) -> None:
    y_true, y_score = [[0, 1], [1, 0], [0, 0]], [[2, 1], [2, 1], [2, 1]]
    weights = [scale * weight for weight in (1, 2, 3)]
    expected = (1 / math.log2(3) * 1 + 1 * 2 + 0 * 3) / 6
    found = rs.ndcg_score(y_true, y_score, sample_weight=weights)
    assert found == pytest.approx(expected, abs=1e-15)
    groups = Rankings.from_arrays(y_true, y_score)
    assert groups.evaluate(nDCG, weights=weights)[nDCG] == pytest.approx(expected, abs=1e-15)


def test_a_document_of_grade_0_is_not_relevant_in_binary_measures(means: Ways) -> None:
    qrels = {"q": {"a": 0, "b": 1}}
    run = {"q": {"a": 2.0, "b": 1.0}}
    measures = [nDCG(gain="binary"), P @ 1, RR, AP, R @ 1, "Success@1"]
    found = means(qrels, run, measures)
    assert list(found.values()) == [1 / math.log2(3), 0, 1 / 2, 1 / 2, 0, 0]


def test_recall_counts_what_was_not_retrieved(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
    found = means(qrels, {"q": {"a": 2.0, "z": 1.0}}, [R @ 1, R @ 10, AP, "SetR"])
    assert found == {"R@1": 1 / 4, "R@10": 1 / 4, "AP": 1 / 4, "SetR": 1 / 4}


def test_a_query_whose_rows_are_apart_is_one_query() -> None:
    rows = [("q1", "a", 1.0), ("q2", "a", 2.0), ("q1", "b", 2.0), ("q2", "b", 1.0)]
    qrels = [("q1", "b", 1), ("q2", "a", 1), ("q1", "a", 0), ("q2", "b", 0)]
    evaluation = rs.evaluate(qrels, iter(rows), [nDCG, AP, RR])
    assert dict(evaluation) == {"nDCG": 1.0, "AP": 1.0, "RR": 1.0}
    assert evaluation.counts.queries == 2
    text = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows).encode()
    assert dict(rs.evaluate(qrels, text, [nDCG, AP, RR])) == dict(evaluation)
    grades = {(query, doc): grade for query, doc, grade in qrels}
    table = Rankings.from_table(
        {
            "qid": [row[0] for row in rows],
            "doc": [row[1] for row in rows],
            "rel": [grades[row[:2]] for row in rows],
            "score": [row[2] for row in rows],
        }
    )
    assert len(table) == 2
    assert dict(table.evaluate([nDCG, AP, RR])) == dict(evaluation)


def test_rows_of_a_matrix_are_queries() -> None:
    y_true, y_score = [[0, 1], [2, 0]], [[2, 1], [1, 0]]
    each = [
        rs.ndcg_score([grades], [scores]) for grades, scores in zip(y_true, y_score, strict=True)
    ]
    assert each == [1 / math.log2(3), 1]
    assert rs.ndcg_score(y_true, y_score) == sum(each) / 2
    matrices = Rankings.from_arrays(y_true, y_score)
    assert matrices.evaluate(nDCG).per_query_list(nDCG) == each


def test_a_judged_query_counts_once_however_often_it_is_asked_for() -> None:
    evaluation = rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [nDCG, nDCG, "nDCG"])
    assert list(evaluation) == ["nDCG"]
    assert evaluation.diagnostics == {"duplicate_measures": 2}


def test_every_discount_that_is_asked_for_is_used() -> None:
    grades = [3, 2, 0, 1]
    curves = {
        "log2": lambda rank: 1 / math.log2(rank + 1),
        "reciprocal": lambda rank: 1 / rank,
        "linear": lambda rank: 1 / (rank + 1),
    }
    for name, curve in curves.items():
        terms = [grade * curve(rank) for rank, grade in enumerate(grades, 1)]
        assert rs.dcg(grades, discount=name) == pytest.approx(sum(terms), abs=1e-15)
    weights = [1, 0.5, 0.25, 0.125]
    assert rs.dcg(grades, 4, discount=weights) == 3 + 2 * 0.5 + 0.125
    assert rs.dcg(grades, 4, discount=lambda rank: 1 / rank**2) == 3 + 2 / 4 + 1 / 16
    assert rs.dcg(grades, discount="jk", base=2) == 3 + 2 + 1 / 2
    assert rs.dcg(grades, discount="zipf", s=2) == 3 + 2 / 4 + 1 / 16
    base = rs.dcg(grades, discount="log", base=10)
    assert base == pytest.approx(math.log2(10) * rs.dcg(grades), abs=1e-14)
    assert DCG(discount="log", base=10) != DCG
