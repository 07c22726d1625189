"""Scores order documents, ideals are of all that is judged, and means are over all queries."""

from __future__ import annotations

import itertools
import math

import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, DCG, RR, P, R, Rankings, nDCG
from rankscope.errors import RankscopeError

from tests.interpreter import run_python

TIES = ("doc_id", "doc_id_asc", "input", "best", "worst", "average")


@pytest.mark.parametrize("shift", [-10.0, -3.0, -2.0, 0.0, 5.0])
def test_a_score_of_0_or_below_ranks_like_any_other(shift, means):
    qrels = {"q": {"a": 0, "b": 1, "c": 1}}
    run = {"q": {"a": 3 + shift, "b": 2 + shift, "c": 1 + shift}}
    found = means(qrels, run, [RR, AP, P @ 3, R @ 3, nDCG @ 3])
    log2 = math.log2
    assert list(found.values()) == [
        1 / 2,
        (1 / 2 + 2 / 3) / 2,
        2 / 3,
        1,
        (1 / log2(3) + 1 / log2(4)) / (1 / log2(2) + 1 / log2(3)),
    ]
    matrices = Rankings.from_arrays([[0, 1, 1]], [[3 + shift, 2 + shift, 1 + shift]])
    groups = Rankings.from_groups([0, 1, 1], [3 + shift, 2 + shift, 1 + shift], [3])
    for rankings in (matrices, groups):
        assert dict(rankings.evaluate([RR, AP, P @ 3, R @ 3, nDCG @ 3])) == found


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("grades", list(itertools.product([0, 1, 3], repeat=3)))
def test_tied_documents_give_no_value_above_1(ties, grades):
    for scores in itertools.product([0.0, 1.0], repeat=3):
        rankings = Rankings.from_table(
            {"qid": ["q"] * 3, "doc_id": list("abc"), "rel": grades, "score": scores}, ties=ties
        )
        measures = [nDCG @ k for k in (1, 2, 3)] + [P @ 1, P @ 2, R @ 1, AP, RR]
        for value in rankings.evaluate(measures).values():
            assert 0 <= value <= 1


def test_three_relevant_documents_tied_at_the_top_fill_the_first_three_ranks(means):
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}}
    measures = [nDCG @ 1, nDCG @ 2, nDCG @ 3, P @ 1]
    for ties in TIES:
        assert set(means(qrels, run, measures, f"ties={ties}").values()) == {1.0}


def test_two_documents_tied_at_the_top_share_the_first_rank(means):
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    found = means(qrels, run, [nDCG @ 1, P @ 1], "ties=average")
    assert list(found.values()) == [1 / 2, 1 / 2]


def test_a_model_that_scores_all_alike_is_not_perfect():
    y_true = [[0, 0, 1], [1, 0, 0]]
    expected = (1 + 1 / math.log2(3) + 1 / math.log2(4)) / 3
    assert rs.ndcg_score(y_true, [[7, 7, 7], [7, 7, 7]]) == pytest.approx(expected, abs=1e-15)
    groups = Rankings.from_groups([0, 0, 1, 1, 0, 0], [7] * 6, [3, 3])
    assert groups.evaluate(nDCG)[nDCG] == pytest.approx(expected, abs=1e-15)


def test_one_rule_for_ties_holds_for_every_measure_and_cutoff(means):
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    for policy, first in (("ties=doc_id", 0), ("ties=doc_id_asc", 1), ("ties=input", 1)):
        found = means(qrels, run, ["RR@1", "P@1", "nDCG@1", "Success@1", "R@1", "AP@1"], policy)
        assert set(found.values()) == {first}
        whole = means(qrels, run, ["RR", "RR@2", "AP", "AP@2"], policy)
        assert set(whole.values()) == {1 if first else 1 / 2}


@pytest.mark.parametrize("length", [40, 1000])
def test_ties_in_input_order_stay_in_input_order_however_long(length):
    for at in (0, length // 2, length - 1):
        grades = [int(document == at) for document in range(length)]
        rankings = Rankings.from_arrays([grades], [[0.5] * length], ties="input")
        assert rankings.evaluate(RR)[RR] == 1 / (at + 1)
        names = [f"d{document}" for document in range(length)]
        run = {"q": dict.fromkeys(names, 0.5)}
        found = rs.evaluate({"q": {names[at]: 1}}, run, RR, policy="ties=input")
        assert found[RR] == 1 / (at + 1)


SHUFFLED = """
import rankscope as rs
qrels = {f"q{q}": {f"d{d}": (q * d) % 3 for d in range(20)} for q in range(20)}
run = {f"q{q}": {f"d{d}": float(d % 4) for d in range(20)} for q in range(20)}
for ties in ("doc_id", "input", "average", "best", "worst"):
    print(rs.evaluate(qrels, run, ["nDCG@5", "AP", "RR"], policy=f"ties={ties}").to_dict())
"""


def test_ties_are_decided_the_same_way_in_every_process():
    printed = {run_python(SHUFFLED, PYTHONHASHSEED=seed) for seed in ("0", "1", "2")}
    assert len(printed) == 1
    assert printed.pop().count("nDCG@5") == 100


def test_ignoring_ties_takes_one_order_and_the_default_averages_all():
    y_true, y_score = [[3, 1]], [[0.5, 0.5]]
    orders = [(3 + 1 / math.log2(3)), (1 + 3 / math.log2(3))]
    assert rs.dcg_score(y_true, y_score) == pytest.approx(sum(orders) / 2, abs=1e-15)
    assert rs.dcg_score(y_true, y_score, ignore_ties=True) == orders[1]
    assert "last first" in (rs.dcg_score.__doc__ or "")


def test_ties_go_to_the_larger_id_as_in_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="it is the oracle here")
    names = ["a", "B", "b", "10", "9", "é", "z"]
    for relevant in names:
        qrels, run = {"q": {relevant: 1}}, {"q": dict.fromkeys(names, 1.0)}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
        assert rs.evaluate(qrels, run, RR)[RR] == theirs["q"]["recip_rank"]
        rank = sorted(names, key=str.encode, reverse=True).index(relevant) + 1
        assert rs.evaluate(qrels, run, RR)[RR] == 1 / rank


def dcg(ranks):
    return sum(1 / math.log2(rank + 1) for rank in ranks)


FIVE = {"q": {f"r{number}": 1 for number in range(5)}}


def test_one_hit_of_five_is_not_perfect(means):
    found = means(FIVE, {"q": {"r0": 1.0}}, [nDCG @ 10, nDCG])
    assert found["nDCG@10"] == found["nDCG"] == 1 / dcg(range(1, 6))
    assert round(found["nDCG@10"], 3) == 0.339
    filled = {"q": {"r0": 9.0} | {f"n{number}": -number for number in range(9)}}
    assert means(FIVE, filled, [nDCG @ 10]) == {"nDCG@10": found["nDCG@10"]}


def test_one_hit_at_the_top_is_worth_less_than_five_below(means):
    below = {f"n{number}": 20.0 - number for number in range(5)}
    below |= {f"r{number}": 10.0 - number for number in range(5)}
    found = means(FIVE, {"q": below}, [nDCG @ 10])["nDCG@10"]
    assert found == dcg(range(6, 11)) / dcg(range(1, 6))
    assert round(found, 2) == 0.54
    assert means(FIVE, {"q": {"r0": 1.0}}, [nDCG @ 10])["nDCG@10"] < found


@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_the_order_of_the_judgments_does_not_matter(gain, means):
    measure = nDCG(gain=gain) @ 3
    found = set()
    for order in itertools.permutations({"a": 1, "b": 2, "c": 3}.items()):
        found.add(
            means({"q": dict(order)}, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}, [measure])[
                str(measure)
            ]
        )
        lists = [grade for _, grade in order]
        assert rs.ndcg([3, 2, 1], ideal=lists, gain=gain) == 1
    assert found == {1.0}


def test_a_perfect_top_10_is_1_where_more_are_relevant(means):
    qrels = {"q": {f"d{number:02}": 3 for number in range(12)}}
    run = {"q": dict.fromkeys(qrels["q"], 1.0)}
    assert means(qrels, run, [nDCG(gain="exp2") @ 10, nDCG @ 10]) == {
        "nDCG(dcg='exp-log2')@10": 1.0,
        "nDCG@10": 1.0,
    }


def test_another_ideal_has_another_name(means):
    qrels = {"q": {f"d{number:02}": 1 for number in range(12)}}
    run = {"q": dict.fromkeys(qrels["q"], 1.0)}
    found = means(qrels, run, [nDCG @ 10, nDCG(ideal="whole") @ 10, nDCG(ideal="retrieved") @ 10])
    assert found == {
        "nDCG@10": 1.0,
        "nDCG(ideal='whole')@10": dcg(range(1, 11)) / dcg(range(1, 13)),
        "nDCG(ideal='retrieved')@10": 1.0,
    }


def test_all_that_is_relevant_at_the_top_is_1_where_it_is_less_than_the_cutoff(means):
    qrels = {"q": {"a": 1, "b": 1, "c": 0}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for measure in (nDCG @ 10, nDCG(gain="binary") @ 10, nDCG(gain="exp2") @ 10):
        assert set(means(qrels, run, [measure]).values()) == {1.0}


def test_fractional_gains_are_sorted_as_they_are(means):
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    for gains in ({0: 0, 1: 0.9, 2: 0.5, 3: 0.1}, {0: 0, 1: 0.09, 2: 0.05, 3: 0.01}):
        perfect = means(qrels, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, [nDCG(gain=gains)])
        assert list(perfect.values()) == [1]
        worst = means(qrels, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}, [nDCG(gain=gains)])
        found = sum(gains[4 - rank] / math.log2(rank + 1) for rank in (1, 2, 3))
        ideal = sum(gains[rank] / math.log2(rank + 1) for rank in (1, 2, 3))
        assert list(worst.values()) == [pytest.approx(found / ideal, abs=1e-15)]


def test_a_document_given_twice_earns_its_gain_once():
    qrels = [("q", "a", 1)]
    rows = [("q", "a", 3.0), ("q", "a", 2.0), ("q", "b", 1.0)]
    with pytest.raises(RankscopeError) as refused:
        rs.evaluate(qrels, rows, nDCG)
    assert refused.value.code == "duplicate_doc"
    columns = {"qid": ["q"] * 3, "doc": list("aab"), "rel": [1, 1, 0], "score": [3.0, 2.0, 1.0]}
    with pytest.raises(RankscopeError) as refused:
        rs.Rankings.from_table(columns)
    assert refused.value.code == "duplicate_doc"
    for duplicates in ("first", "max"):
        assert rs.evaluate(qrels, rows, nDCG, duplicates=duplicates)[nDCG] == 1
        assert rs.Rankings.from_table(columns, duplicates=duplicates).evaluate(nDCG)[nDCG] == 1


def test_ids_that_differ_by_a_suffix_are_different_documents(means):
    qrels = {"q": {"a": 1, "a_1": 0, "a_2": 0}}
    found = means(qrels, {"q": {"a_1": 3.0, "a_2": 2.0, "a": 1.0}}, ["RR", "nDCG", "R@2"])
    assert found == {"RR": 1 / 3, "nDCG": 1 / 2, "R@2": 0}


@given(
    grades=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 4), min_size=1),
    order=st.permutations("abcdefgh"),
    depth=st.integers(0, 8),
    k=st.integers(1, 9),
)
def test_no_ranking_of_judged_documents_is_above_1(grades, order, depth, k):
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(order[:depth])}}
    measures = [nDCG @ k, nDCG(gain="exp2") @ k, nDCG(gain="binary") @ k, nDCG]
    for value in rs.evaluate({"q": grades}, run, measures).values():
        assert 0 <= value <= 1


def test_the_value_at_a_cutoff_stands_at_that_cutoff():
    grades = [0, 1, 0, 2, 1]
    by_rank = rs.ndcg(grades, k="all")
    for k in range(1, 6):
        found = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades[:k]))
        best = sorted(grades, reverse=True)[:k]
        ideal = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(best))
        assert by_rank[k - 1] == rs.ndcg(grades, k=k) == found / ideal
        table = {"qid": [1] * 5, "rel": grades, "rank": [1, 2, 3, 4, 5]}
        evaluation = rs.Rankings.from_table(table).evaluate(f"nDCG@{k}")
        assert evaluation[f"nDCG@{k}"] == found / ideal


@pytest.mark.parametrize("k", [4, 10, 1000, 10**6])
def test_a_cutoff_beyond_the_end_of_a_list_is_the_whole_list(k, means):
    qrels = {"q": {"a": 0, "b": 1, "c": 2}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = means(qrels, run, [f"nDCG@{k}", f"RR@{k}", f"Success@{k}", f"P@{k}", f"AP@{k}"])
    whole = means(qrels, run, ["nDCG", "RR", "Success@3", "AP"])
    assert found[f"nDCG@{k}"] == whole["nDCG"]
    assert found[f"RR@{k}"] == 1 / 2
    assert found[f"Success@{k}"] == 1
    assert found[f"P@{k}"] == 2 / k
    assert found[f"AP@{k}"] == whole["AP"]


def test_values_are_not_rounded(means):
    qrels = {"q": {"a": 1, "b": 3}}
    found = means(qrels, {"q": {"a": 2.0, "b": 1.0}}, [nDCG(gain="exp2")])
    assert list(found.values()) == [(1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))]


QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {
    "q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.2},
    "q2": {"x": 2.0, "y": 1.0},
}
FIRST = (1 / math.log2(3) + 3 / math.log2(4)) / (3 + 2 / math.log2(3) + 1 / math.log2(4))
"""nDCG@3 of the first query: d before c, then a."""


def test_a_query_that_is_missing_from_the_run_leaves_the_others_their_values(means):
    assert round(FIRST, 4) == 0.4475
    counted = means(QRELS, RUN, [nDCG @ 3])["nDCG@3"]
    assert (counted, round(counted, 4)) == (FIRST / 3, 0.1492)
    skipped = means(QRELS, RUN, [nDCG @ 3], "ties=doc_id,missing=skip")["nDCG@3"]
    assert (skipped, round(skipped, 4)) == (FIRST / 2, 0.2237)


def test_all_measures_of_a_call_are_means_over_the_same_queries(means):
    qrels = {"u1": {"a": 1}, "u2": {"a": 1}}
    run = {"u1": {"a": 1.0}}
    measures = [nDCG @ 3, P @ 1, R @ 3, AP, RR]
    assert set(means(qrels, run, measures).values()) == {1 / 2}
    assert set(means(qrels, run, measures, "missing=skip").values()) == {1.0}
    evaluation = rs.evaluate(qrels, run, measures)
    assert set(evaluation.denominators.values()) == {2}
    assert evaluation.counts.missing == 1


def test_queries_that_are_only_in_the_run_do_not_enter_the_mean(means):
    qrels = {"q1": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}
    assert set(means(qrels, run, [nDCG, P @ 1, AP]).values()) == {1.0}


def test_a_query_without_relevant_documents_has_one_value_in_all_measures(means):
    qrels = {"empty": {"a": 0, "b": 0}, "other": {"a": 1, "b": 0}}
    run = {"empty": {"a": 2.0, "b": 1.0}, "other": {"a": 2.0, "b": 1.0}}
    measures = [nDCG @ 2, AP, RR, R @ 2]
    for empty, mean in (("zero", 1 / 2), ("one", 1.0), ("skip", 1.0)):
        assert set(means(qrels, run, measures, f"empty={empty}").values()) == {mean}
        evaluation = rs.evaluate(qrels, run, measures, policy=f"empty={empty}")
        assert f"empty={empty}" in str(evaluation)
        assert evaluation.counts.empty == 1
        assert set(evaluation.denominators.values()) == {1 if empty == "skip" else 2}


def test_a_query_without_relevant_documents_counts_0_as_in_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="it is the oracle here")
    run = RUN | {"q3": {"n": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg_cut.3"}).evaluate(run)
    assert [row["ndcg_cut_3"] for row in theirs.values()] == [pytest.approx(FIRST), 0, 0]
    ours = rs.evaluate(QRELS, run, "nDCG@3")
    assert ours.per_query_list("nDCG@3") == [FIRST, 0, 0]
    assert ours["nDCG@3"] == FIRST / 3


@pytest.mark.parametrize("weights", [[0.1, 0.1], [10, 10], [1, 3], [3, 1], [1, 0], [0, 1]])
def test_a_query_weight_applies_to_queries_without_relevant_documents(weights):
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
def test_the_scale_of_the_weights_does_not_matter(scale):
    y_true, y_score = [[0, 1], [1, 0], [0, 0]], [[2, 1], [2, 1], [2, 1]]
    weights = [scale * weight for weight in (1, 2, 3)]
    expected = (1 / math.log2(3) * 1 + 1 * 2 + 0 * 3) / 6
    found = rs.ndcg_score(y_true, y_score, sample_weight=weights)
    assert found == pytest.approx(expected, abs=1e-15)
    groups = Rankings.from_arrays(y_true, y_score)
    assert groups.evaluate(nDCG, weights=weights)[nDCG] == pytest.approx(expected, abs=1e-15)


def test_a_document_of_grade_0_is_not_relevant_in_binary_measures(means):
    qrels = {"q": {"a": 0, "b": 1}}
    run = {"q": {"a": 2.0, "b": 1.0}}
    measures = [nDCG(gain="binary"), P @ 1, RR, AP, R @ 1, "Success@1"]
    found = means(qrels, run, measures)
    assert list(found.values()) == [1 / math.log2(3), 0, 1 / 2, 1 / 2, 0, 0]


def test_recall_counts_what_was_not_retrieved(means):
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
    found = means(qrels, {"q": {"a": 2.0, "z": 1.0}}, [R @ 1, R @ 10, AP, "SetR"])
    assert found == {"R@1": 1 / 4, "R@10": 1 / 4, "AP": 1 / 4, "SetR": 1 / 4}


def test_a_query_whose_rows_are_apart_is_one_query():
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


def test_rows_of_a_matrix_are_queries():
    y_true, y_score = [[0, 1], [2, 0]], [[2, 1], [1, 0]]
    each = [
        rs.ndcg_score([grades], [scores]) for grades, scores in zip(y_true, y_score, strict=True)
    ]
    assert each == [1 / math.log2(3), 1]
    assert rs.ndcg_score(y_true, y_score) == sum(each) / 2
    matrices = Rankings.from_arrays(y_true, y_score)
    assert matrices.evaluate(nDCG).per_query_list(nDCG) == each


def test_a_judged_query_counts_once_however_often_it_is_asked_for():
    evaluation = rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [nDCG, nDCG, "nDCG"])
    assert list(evaluation) == ["nDCG"]
    assert evaluation.diagnostics == {"duplicate_measures": 2}


def test_every_discount_that_is_asked_for_is_used():
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
