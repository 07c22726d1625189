"""Scores order documents and do nothing else; what they leave equal is decided by a named rule."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope import AP, RR, P, R, Rankings, nDCG

from tests.interpreter import run_python

if TYPE_CHECKING:
    from tests.defects.ways import Ways

TIES = ("doc_id", "doc_id_asc", "input", "best", "worst", "average")


@pytest.mark.parametrize("shift", [-10.0, -3.0, -2.0, 0.0, 5.0])
def test_a_score_of_0_or_below_ranks_like_any_other(shift: float, means: Ways) -> None:
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
def test_tied_documents_give_no_value_above_1(ties: str, grades: tuple[int, ...]) -> None:
    for scores in itertools.product([0.0, 1.0], repeat=3):
        rankings = Rankings.from_table(
            {"qid": ["q"] * 3, "doc_id": list("abc"), "rel": grades, "score": scores}, ties=ties
        )
        measures = [nDCG @ k for k in (1, 2, 3)] + [P @ 1, P @ 2, R @ 1, AP, RR]
        for value in rankings.evaluate(measures).values():
            assert 0 <= value <= 1


def test_three_relevant_documents_tied_at_the_top_fill_the_first_three_ranks(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}}
    measures = [nDCG @ 1, nDCG @ 2, nDCG @ 3, P @ 1]
    for ties in TIES:
        assert set(means(qrels, run, measures, f"ties={ties}").values()) == {1.0}


def test_two_documents_tied_at_the_top_share_the_first_rank(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    found = means(qrels, run, [nDCG @ 1, P @ 1], "ties=average")
    assert list(found.values()) == [1 / 2, 1 / 2]


def test_a_model_that_scores_all_alike_is_not_perfect() -> None:
    y_true = [[0, 0, 1], [1, 0, 0]]
    expected = (1 + 1 / math.log2(3) + 1 / math.log2(4)) / 3
    assert rs.ndcg_score(y_true, [[7, 7, 7], [7, 7, 7]]) == pytest.approx(expected, abs=1e-15)
    groups = Rankings.from_groups([0, 0, 1, 1, 0, 0], [7] * 6, [3, 3])
    assert groups.evaluate(nDCG)[nDCG] == pytest.approx(expected, abs=1e-15)


def test_one_rule_for_ties_holds_for_every_measure_and_cutoff(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 1.0, "b": 1.0}}
    for policy, first in (("ties=doc_id", 0), ("ties=doc_id_asc", 1), ("ties=input", 1)):
        found = means(qrels, run, ["RR@1", "P@1", "nDCG@1", "Success@1", "R@1", "AP@1"], policy)
        assert set(found.values()) == {first}
        whole = means(qrels, run, ["RR", "RR@2", "AP", "AP@2"], policy)
        assert set(whole.values()) == {1 if first else 1 / 2}


@pytest.mark.parametrize("length", [40, 1000])
def test_ties_in_input_order_stay_in_input_order_however_long(length: int) -> None:
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


def test_ties_are_decided_the_same_way_in_every_process() -> None:
    printed = {run_python(SHUFFLED, PYTHONHASHSEED=seed) for seed in ("0", "1", "2")}
    assert len(printed) == 1
    assert printed.pop().count("nDCG@5") == 100


def test_ignoring_ties_takes_one_order_and_the_default_averages_all() -> None:
    y_true, y_score = [[3, 1]], [[0.5, 0.5]]
    orders = [(3 + 1 / math.log2(3)), (1 + 3 / math.log2(3))]
    assert rs.dcg_score(y_true, y_score) == pytest.approx(sum(orders) / 2, abs=1e-15)
    assert rs.dcg_score(y_true, y_score, ignore_ties=True) == orders[1]
    assert "last first" in (rs.dcg_score.__doc__ or "")


def test_ties_go_to_the_larger_id_as_in_trec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="it is the oracle here")
    names = ["a", "B", "b", "10", "9", "é", "z"]
    for relevant in names:
        qrels, run = {"q": {relevant: 1}}, {"q": dict.fromkeys(names, 1.0)}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
        assert rs.evaluate(qrels, run, RR)[RR] == theirs["q"]["recip_rank"]
        rank = sorted(names, key=str.encode, reverse=True).index(relevant) + 1
        assert rs.evaluate(qrels, run, RR)[RR] == 1 / rank
