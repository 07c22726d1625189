"""The examples that tutorials, papers and libraries publish, each as its formula and its digits."""

from __future__ import annotations

import itertools
import math
from math import log2

import numpy as np
import pytest
import rankscope as rs
from rankscope import DCG, IDCG, Rankings, nDCG

ARTICLE = [4, 2, 5, 3, 5]


def test_scores_that_sort_the_article_so_give_its_third_rank() -> None:
    found = rs.ndcg_score([[5, 5, 4, 3, 2]], [[3, 1, 5, 2, 4]], k=3)
    assert found == rs.ndcg(ARTICLE, k=3)
    assert found == (4 + 2 / log2(3) + 5 / log2(4)) / (5 + 5 / log2(3) + 4 / log2(4))


def test_a_list_is_measured_against_the_ideal_that_is_given() -> None:
    grades, ideal = [2, 3, 1, 3, 0], [3, 3, 2, 1, 0]
    at_3 = (2 + 3 / log2(3) + 1 / log2(4)) / (3 + 3 / log2(3) + 2 / log2(4))
    at_5 = (2 + 3 / log2(3) + 1 / log2(4) + 3 / log2(5)) / (
        3 + 3 / log2(3) + 2 / log2(4) + 1 / log2(5)
    )
    assert np.asarray(rs.ndcg(grades, k=[3, 5], ideal=ideal)).tolist() == [at_3, at_5]
    assert (math.floor(at_3 * 1e4) / 1e4, round(at_5, 4)) == (0.7454, 0.8990)


EXP2 = nDCG(gain="exp2")
BEST_EXP2 = 7 + 3 / log2(3) + 3 / log2(4) + 1 / log2(5)


@pytest.mark.parametrize(
    ("grades", "formula", "published"),
    [
        (
            [3, 1, 2, 0, 2],
            (7 + 1 / log2(3) + 3 / log2(4) + 3 / log2(6)) / BEST_EXP2,
            0.950849602851865,
        ),
        (
            [0, 1, 2, 2, 3],
            (1 / log2(3) + 3 / log2(4) + 3 / log2(5) + 7 / log2(6)) / BEST_EXP2,
            0.5664478625498256,
        ),
        ([3, 2, 2, 1, 0], 1.0, 1.0),
    ],
)
def test_gains_can_grow_as_powers_of_two(
    grades: list[float], formula: float, published: float
) -> None:
    assert rs.ndcg(grades, gain="exp2") == formula
    assert formula == pytest.approx(published, abs=1e-15)


def test_no_order_is_below_the_worst_or_above_the_best() -> None:
    orders = list(itertools.permutations([3, 1, 2, 0, 2]))
    values = Rankings.from_lists(orders).evaluate(EXP2).per_query_list(EXP2)
    assert min(values) == rs.ndcg([0, 1, 2, 2, 3], gain="exp2")
    assert max(values) == 1


TABLE = nDCG(gain=[0, 1, 3, 7]) @ 3
LISTS = [[3, 1, 2, 0, 2], [0, 0, 0], [0, 1, 2, 2, 3]]
OF_TABLE = [
    (7 + 1 / log2(3) + 3 / log2(4)) / (7 + 3 / log2(3) + 3 / log2(4)),
    (1 / log2(3) + 3 / log2(4)) / (7 + 3 / log2(3) + 3 / log2(4)),
]


def test_a_table_of_gains_is_looked_up() -> None:
    assert rs.ndcg(LISTS[0], k=3, gain=[0, 1, 3, 7]) == OF_TABLE[0]
    assert OF_TABLE[0] == pytest.approx(0.8785831719, abs=1e-10)
    # It is the table of 2^grade - 1.
    assert OF_TABLE[0] == rs.ndcg(LISTS[0], k=3, gain="exp2")


def test_groups_of_zero_ideal_can_be_skipped() -> None:
    evaluation = Rankings.from_lists(LISTS).evaluate(TABLE, policy="empty=skip")
    assert evaluation[TABLE] == (OF_TABLE[0] + OF_TABLE[1]) / 2
    assert evaluation.denominators == {TABLE.name: 2}
    assert (evaluation.counts.queries, evaluation.counts.empty) == (3, 1)
    assert math.isnan(evaluation.per_query_list(TABLE)[1])


def test_a_mean_over_nothing_is_nan_with_its_counts() -> None:
    evaluation = Rankings.from_lists([[0, 0, 0], [0]]).evaluate(TABLE, policy="empty=skip")
    assert math.isnan(evaluation[TABLE])
    assert evaluation.denominators == {TABLE.name: 0}
    assert (evaluation.counts.queries, evaluation.counts.empty) == (2, 2)


GROUPS = {"x": [0, 0, 1, 1, 1], "y": [1, 0, 1, 0, 1], "z": [1, 0, 0, 0, 0]}
DCGS = [1 / log2(4) + 1 / log2(5) + 1 / log2(6), 1 + 1 / log2(4) + 1 / log2(6), 1]
IDCGS = [1 + 1 / log2(3) + 1 / log2(4), 1 + 1 / log2(3) + 1 / log2(4), 1]


def test_groups_are_averaged_or_their_sums_are_divided() -> None:
    groups = Rankings.from_lists(GROUPS.values())
    evaluation = groups.evaluate(nDCG)
    values = [dcg / best for dcg, best in zip(DCGS, IDCGS, strict=True)]
    assert evaluation.per_query_list(nDCG) == values
    assert [round(value, 5) for value in values] == [0.61829, 0.88546, 1]
    assert evaluation[nDCG] == math.fsum(values) / 3
    assert round(evaluation[nDCG], 5) == 0.83458
    ratio = groups.evaluate(nDCG, policy="aggregate=ratio_of_sums")
    assert ratio[nDCG] == math.fsum(DCGS) / math.fsum(IDCGS)
    assert round(ratio[nDCG], 5) == 0.79903


def test_a_cutoff_cuts_the_list_and_the_ideal() -> None:
    assert rs.dcg(GROUPS["x"], k=3) == 1 / log2(4) == 0.5
    found = rs.ndcg(GROUPS["x"], k=3)
    assert found == (1 / log2(4)) / IDCGS[0]
    assert round(float(found), 5) == 0.23464


def test_what_a_short_list_lacks_can_be_penalised() -> None:
    found, ideal = [1, 1, 1], [1, 1, 1, 1, 1]
    dcg = 1 + 1 / log2(3) + 1 / log2(4)
    best = dcg + 1 / log2(5) + 1 / log2(6)
    assert rs.ndcg(found, k=5) == 1
    assert rs.ndcg(found, k=5, ideal=ideal) == dcg / best
    assert round(dcg / best, 5) == 0.72273
    padded = rs.ndcg(found, k=5, ideal=ideal, missing_gain=-1)
    assert padded == (dcg - 1 / log2(5) - 1 / log2(6)) / best


def test_the_first_and_the_last_of_a_list_matter_most_when_they_are_swapped() -> None:
    best = 6 + 5 / log2(3) + 2 / log2(4) + 1 / log2(5)
    good = rs.ndcg([6, 5, 1, 2, 0])
    assert good == (6 + 5 / log2(3) + 1 / log2(4) + 2 / log2(5)) / best
    bad = rs.ndcg([0, 5, 1, 2, 6])
    assert bad == (5 / log2(3) + 1 / log2(4) + 2 / log2(5) + 6 / log2(6)) / best
    assert (round(float(good), 5), round(float(bad), 5)) == (0.99345, 0.64591)


@pytest.mark.parametrize("query", GROUPS)
def test_judgments_and_a_run_give_what_lists_give(query: str) -> None:
    grades = GROUPS[query]
    qrels = {query: {doc: grade for doc, grade in zip("abcde", grades, strict=True) if grade}}
    run = {query: {doc: -float(rank) for rank, doc in enumerate("abcde")}}
    lists = Rankings.from_lists([grades]).evaluate([nDCG, DCG @ 3, IDCG])
    assert dict(rs.evaluate(qrels, run, [nDCG, DCG @ 3, IDCG])) == dict(lists)
