"""The ideal is made of all that is judged, best first, and cut at the cutoff: nothing beats it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import nDCG
from rankscope.errors import RankscopeError

if TYPE_CHECKING:
    from tests.defects.ways import Ways


def dcg(ranks: range) -> float:
    """DCG of relevant documents at these ranks."""
    return sum(1 / math.log2(rank + 1) for rank in ranks)


FIVE = {"q": {f"r{number}": 1 for number in range(5)}}


def test_one_hit_of_five_is_not_perfect(means: Ways) -> None:
    found = means(FIVE, {"q": {"r0": 1.0}}, [nDCG @ 10, nDCG])
    assert found["nDCG@10"] == found["nDCG"] == 1 / dcg(range(1, 6))
    assert round(found["nDCG@10"], 3) == 0.339
    filled = {"q": {"r0": 9.0} | {f"n{number}": -number for number in range(9)}}
    assert means(FIVE, filled, [nDCG @ 10]) == {"nDCG@10": found["nDCG@10"]}


def test_one_hit_at_the_top_is_worth_less_than_five_below(means: Ways) -> None:
    below = {f"n{number}": 20.0 - number for number in range(5)}
    below |= {f"r{number}": 10.0 - number for number in range(5)}
    found = means(FIVE, {"q": below}, [nDCG @ 10])["nDCG@10"]
    assert found == dcg(range(6, 11)) / dcg(range(1, 6))
    assert round(found, 2) == 0.54
    assert means(FIVE, {"q": {"r0": 1.0}}, [nDCG @ 10])["nDCG@10"] < found


@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_the_order_of_the_judgments_does_not_matter(gain: str, means: Ways) -> None:
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


def test_a_perfect_top_10_is_1_where_more_are_relevant(means: Ways) -> None:
    qrels = {"q": {f"d{number:02}": 3 for number in range(12)}}
    run = {"q": dict.fromkeys(qrels["q"], 1.0)}
    assert means(qrels, run, [nDCG(gain="exp2") @ 10, nDCG @ 10]) == {
        "nDCG(dcg='exp-log2')@10": 1.0,
        "nDCG@10": 1.0,
    }


def test_another_ideal_has_another_name(means: Ways) -> None:
    qrels = {"q": {f"d{number:02}": 1 for number in range(12)}}
    run = {"q": dict.fromkeys(qrels["q"], 1.0)}
    found = means(qrels, run, [nDCG @ 10, nDCG(ideal="whole") @ 10, nDCG(ideal="retrieved") @ 10])
    assert found == {
        "nDCG@10": 1.0,
        "nDCG(ideal='whole')@10": dcg(range(1, 11)) / dcg(range(1, 13)),
        "nDCG(ideal='retrieved')@10": 1.0,
    }


def test_all_that_is_relevant_at_the_top_is_1_where_it_is_less_than_the_cutoff(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 0}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for measure in (nDCG @ 10, nDCG(gain="binary") @ 10, nDCG(gain="exp2") @ 10):
        assert set(means(qrels, run, [measure]).values()) == {1.0}


def test_fractional_gains_are_sorted_as_they_are(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    for gains in ({0: 0, 1: 0.9, 2: 0.5, 3: 0.1}, {0: 0, 1: 0.09, 2: 0.05, 3: 0.01}):
        perfect = means(qrels, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, [nDCG(gain=gains)])
        assert list(perfect.values()) == [1]
        worst = means(qrels, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}, [nDCG(gain=gains)])
        found = sum(gains[4 - rank] / math.log2(rank + 1) for rank in (1, 2, 3))
        ideal = sum(gains[rank] / math.log2(rank + 1) for rank in (1, 2, 3))
        assert list(worst.values()) == [pytest.approx(found / ideal, abs=1e-15)]


def test_a_document_given_twice_earns_its_gain_once() -> None:
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


def test_ids_that_differ_by_a_suffix_are_different_documents(means: Ways) -> None:
    qrels = {"q": {"a": 1, "a_1": 0, "a_2": 0}}
    found = means(qrels, {"q": {"a_1": 3.0, "a_2": 2.0, "a": 1.0}}, ["RR", "nDCG", "R@2"])
    assert found == {"RR": 1 / 3, "nDCG": 1 / 2, "R@2": 0}


@given(
    grades=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 4), min_size=1),
    order=st.permutations("abcdefgh"),
    depth=st.integers(0, 8),
    k=st.integers(1, 9),
)
def test_no_ranking_of_judged_documents_is_above_1(
    grades: dict[str, int], order: list[str], depth: int, k: int
) -> None:
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(order[:depth])}}
    measures = [nDCG @ k, nDCG(gain="exp2") @ k, nDCG(gain="binary") @ k, nDCG]
    for value in rs.evaluate({"q": grades}, run, measures).values():
        assert 0 <= value <= 1


def test_the_value_at_a_cutoff_stands_at_that_cutoff() -> None:
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
def test_a_cutoff_beyond_the_end_of_a_list_is_the_whole_list(k: int, means: Ways) -> None:
    qrels = {"q": {"a": 0, "b": 1, "c": 2}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = means(qrels, run, [f"nDCG@{k}", f"RR@{k}", f"Success@{k}", f"P@{k}", f"AP@{k}"])
    whole = means(qrels, run, ["nDCG", "RR", "Success@3", "AP"])
    assert found[f"nDCG@{k}"] == whole["nDCG"]
    assert found[f"RR@{k}"] == 1 / 2
    assert found[f"Success@{k}"] == 1
    assert found[f"P@{k}"] == 2 / k
    assert found[f"AP@{k}"] == whole["AP"]


def test_values_are_not_rounded(means: Ways) -> None:
    qrels = {"q": {"a": 1, "b": 3}}
    found = means(qrels, {"q": {"a": 2.0, "b": 1.0}}, [nDCG(gain="exp2")])
    assert list(found.values()) == [(1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))]
