"""Worked examples of the table, of tutorials, papers and libraries, as their digits."""

from __future__ import annotations

import itertools
import math
from math import exp, log, log2

import numpy as np
import pytest
import rankscope as rs
from rankscope import Rankings, nDCG
from rankscope.measures import TABLE, parse

from tests.reference import Known, mean, value

ROWS = list(TABLE.values())


def evaluate(measure, ranking, judged, covered=(), strata=()):
    kernel, params = measure.kernel_spec(grades=judged, depth=max(len(ranking), len(judged)))
    documents = [f"d{number}" for number in range(max(len(ranking), len(covered), len(strata)))]
    if strata:
        grades = iter([*ranking, *judged[sum(grade is not None for grade in ranking) :]])
        pairs = zip(documents, strata, grades, strict=True)
        known = {doc: {of: grade} for doc, of, grade in pairs if of and grade is not None}
        listed = documents[: len(ranking)]
        return value(kernel, params, ranking, judged, documents=listed, subtopics=known)
    return value(
        kernel,
        params,
        ranking,
        judged,
        judged_only=measure.judged_only,
        documents=documents[: len(ranking)],
        subtopics={
            document: dict.fromkeys(topics, 1.0)
            for document, topics in zip(documents, covered, strict=False)
            if topics is not None
        },
    )


def of_items(row):
    example = row.example
    known = Known(
        example.history,
        example.items,
        example.catalogue,
        [*example.recommended.values()],
        {user: dict.fromkeys(items, 1.0) for user, items in example.relevant.items()},
    )
    kernel, params = parse(example.measure).kernel_spec()
    values = []
    for user, items in example.recommended.items():
        relevant = example.relevant[user]
        ranking = [1.0 if item in relevant else None for item in items]
        judged = [1.0] * len(relevant)
        values.append(
            value(kernel, params, ranking, judged, documents=items, user=user, known=known)
        )
    return values[0] if row.level == "run" else mean(values, row.mean)


def of_example(row):
    example = row.example
    if example.recommended:
        return of_items(row)
    found = [grade for grade in example.ranking if grade is not None]
    measure = parse(example.measure)
    judged = [*found, *example.not_retrieved]
    one = evaluate(measure, list(example.ranking), judged, example.subtopics, example.strata)
    return mean([one], measure.row.mean)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_example_of_a_row_is_its_formula(row):
    names = {"exp": exp, "log": log, "log2": log2, "max": max}
    formula = eval(row.example.formula, {"__builtins__": {}}, names)  # noqa: S307 - our own text
    assert of_example(row) == formula
    assert round(formula, 4) == row.example.value


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_example_of_a_row_is_of_that_row(row):
    assert parse(row.example.measure).row == row
    assert str(parse(row.example.measure)) == row.example.measure


@pytest.mark.parametrize(
    ("name", "ranking", "judged", "published"),
    [
        # The test cases of ir_measures for gdeval.
        ("nDCG(dcg='exp-log2')@20", [0, 1, 2, 1, 0], [0, 1, 1, 2, 0], 0.6201),
        ("nDCG(dcg='exp-log2')@2", [0, 1, 2, 1, 0], [0, 1, 1, 2, 0], 0.17377),
        ("ERR@20", [0, 1, 2, 1, 0], [0, 1, 1, 2, 0], 0.10175),
        ("ERR@2", [0, 1, 2, 1, 0], [0, 1, 1, 2, 0], 0.03125),
        ("nDCG(dcg='exp-log2')@20", [None, 2, None, None], [1, 2, 2], 0.35099),
        ("nDCG(dcg='exp-log2')@2", [None, 2, None, None], [1, 2, 2], 0.38685),
        ("ERR@20", [None, 2, None, None], [1, 2, 2], 0.09375),
        # trec_eval: 1.0 for a query without judged non-relevant documents above.
        ("infAP", [-1, 2, -5, None], [2, -1, 0, -5], 0.75),
        ("Bpref", [-1, 2, -5, None], [2, -1, 0, -5], 1.0),
        ("AP", [-1, 2, -5, None], [2, -1, 0, -5], 0.5),
        ("nDCG", [-1, 2, -5, None], [2, -1, 0, -5], 0.6309),
        ("nDCG", [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2], 0.7562),
        ("nDCG@3", [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2], 0.9013),
        ("nDCG@5", [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2], 0.7659),
        ("AP", [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2], 0.6619),
        ("Bpref", [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2], 0.4286),
        ("infAP", [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2], 0.6619),
        ("nDCG", [None, -1, 1, 1], [1, 1, -1], 0.5706),
        ("nDCG@3", [None, -1, 1, 1], [1, 1, -1], 0.3066),
        ("AP", [None, -1, 1, 1], [1, 1, -1], 0.4167),
        ("infAP", [None, -1, 1, 1], [1, 1, -1], 0.625),
        ("RR", [None, -1, 1, 1], [1, 1, -1], 0.3333),
        # trec_eval -J.
        ("nDCG@3", [None, -1, 1, 2], [1, -1, 2], 0.19),
        ("nDCG(judged_only=True)@3", [None, -1, 1, 2], [1, -1, 2], 0.8597),
        ("AP(judged_only=True)", [None, -1, 1, 2], [1, -1, 2], 1.0),
        # One list under the conventions of other libraries.
        ("nDCG@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.525),
        ("nDCG@3", [0, 1, 3, 2, None], [3, 2, 1, 0], 0.4475),
        ("nDCG(dcg='exp-log2')@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.4791),
        ("nDCG(dcg='exp-log2')@3", [0, 1, 3, 2, None], [3, 2, 1, 0], 0.4398),
        ("nDCG(discount='jk')@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.5137),
        ("nDCG(gain='exp2', discount='jk')@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.5095),
        ("nDCG(discount='reciprocal')@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.4615),
        ("nDCG(discount='zipf')@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.4615),
        ("nDCG(gain='exp2', discount='reciprocal')@3", [1, 0, 3, 2, None], [3, 2, 1, 0], 0.3774),
        ("RBP(p=0.9)", [1, 2, 3], [1, 2, 3], 0.271),
    ],
)
def test_a_published_value_is_met(name, ranking, judged, published):
    assert evaluate(parse(name), ranking, judged) == pytest.approx(published, abs=0.5e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DCG(discount='log', base=4)", 3 / (log2(2) / 2) + 1 / (log2(4) / 2)),
        ("DCG(discount='jk', base=2)", 3 + 1 / log2(3)),
        ("DCG(discount='reciprocal')", 3 / 1 + 1 / 3),
        ("DCG(discount='linear')", 3 / 2 + 1 / 4),
        ("DCG(discount='zipf', s=2)", 3 / 1**2 + 1 / 3**2),
        ("DCG(discount=[1, 0.5, 0.25, 0])@4", 3 * 1 + 1 * 0.25),
        ("DCG(gain=[0, 10, 20, 30])@1", 30),
        ("DCG(gain='exp2')", (2**3 - 1) / log2(2) + (2**1 - 1) / log2(4)),
        ("CG(gain='exp2')", 7 + 1),
        ("CG(gain='binary')", 1 + 1),
        ("DCG(gain='binary')", 1 / log2(2) + 1 / log2(4)),
        ("IDCG@2", 3 / log2(2) + 2 / log2(3)),
        ("IDCG(ideal='whole')@2", 3 / log2(2) + 2 / log2(3) + 1 / log2(4)),
        ("IDCG(ideal='retrieved')@2", 3 / log2(2) + 1 / log2(3)),
        ("IDCG(ideal='slots')@2", 1 / log2(2) + 1 / log2(3)),
        ("IDCG(ideal='slots')@9", sum(1 / log2(rank + 1) for rank in range(1, 10))),
        ("nDCG(ideal='slots', gain='binary')@2", 1 / (1 / log2(2) + 1 / log2(3))),
        ("AP@3", (1 / 1 + 2 / 3) / 3),
        ("AP(denominator='reachable')@2", 1 / 2),
        ("AP(denominator='reachable')", (1 / 1 + 2 / 3) / 3),
        ("AP(denominator='cutoff')@8", (1 / 1 + 2 / 3) / 8),
        ("AP(denominator='found')@3", (1 / 1 + 2 / 3) / 2),
        ("AP(denominator='found')@1", 1 / 1),
        ("AP(rel=2, denominator='found')", 1 / 1),
        ("P(denominator='retrieved')@8", 2 / 4),
        ("P(denominator='retrieved')@3", 2 / 3),
        ("R(denominator='reachable')@1", 1 / 1),
        ("R(denominator='reachable')@4", 2 / 3),
    ],
)
def test_each_discount_and_gain_is_its_formula(name, expected):
    assert evaluate(parse(name), [3, None, 1, 0], [3, 1, 0, 2]) == expected


def test_the_ideal_of_the_list_itself_leaves_out_what_was_not_retrieved():
    ranking = [1, None, 2]
    judged = [1.0, 2.0, 3.0]
    expected = (1 + 2 / log2(4)) / (2 + 1 / log2(3))
    assert evaluate(parse("nDCG(ideal='retrieved')"), ranking, judged) == expected


def test_negative_grades_have_a_gain_only_where_that_is_asked_for():
    kernel, params = parse("DCG").kernel_spec()
    assert value(kernel, params, [2, -1], [2, -1]) == 2
    assert value(kernel, params, [2, -1], [2, -1], negative="gain") == 2 + -1 / log2(3)


def test_nothing_of_a_grade_below_0_is_relevant_to_binary_gains():
    kernel, params = parse("CG(gain='binary')").kernel_spec()
    ranking = [2, 0.5, 0, -1, None]
    for negative in ("nonrelevant", "gain"):
        assert value(kernel, params, ranking, [2, 0.5, 0, -1], negative=negative) == 1 + 1


@pytest.mark.parametrize(
    "name",
    [
        "nDCG(ideal='whole')@2",
        "nDCG(ideal='slots')@2",
        "nDCG(ideal='slots', gain='binary')@2",
        *(f"AP(denominator='{name}')@2" for name in ("reachable", "cutoff", "found")),
        "P(denominator='retrieved')@2",
        "R(denominator='reachable')@2",
    ],
)
def test_without_relevant_documents_every_form_is_undefined(name):
    assert math.isnan(evaluate(parse(name), [0, None], [0, 0]))
    assert evaluate(parse(name), [0, None], [0, 0, 1]) == 0
    assert evaluate(parse(name), [], [1]) == 0


def test_a_grade_without_a_gain_is_an_error():
    with pytest.raises(KeyError, match="3"):
        evaluate(parse("DCG(gain=[0, 1, 2])"), [3], [3])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RBP(p=0.5, graded=True)", 0.5 * (2 / 4 + 0.5**2 * 4 / 4)),
        ("RBP(p=0.5, graded=True, max_grade=8)@1", 0.5 * 2 / 8),
        ("RBP(p=0.5, rel=3)", 0.5 * 0.5**2),
        ("RBPResidual(p=0.5)@2", 0.5**2 + 0.5 * 0.5),
        ("NumRet(rel=3)", 1),
        ("F(beta=2)@2", 5 * (1 / 2) * (1 / 2) / (4 * (1 / 2) + 1 / 2)),
        ("IPrec@0", 2 / 3),
        ("Judged", 2 / 3),
    ],
)
def test_each_parameter_is_its_formula(name, expected):
    ranking = [2, None, 4] if name != "IPrec@0" else [None, 2, 4]
    assert evaluate(parse(name), ranking, [2, 4]) == pytest.approx(expected, rel=1e-15)


ARTICLE = [4, 2, 5, 3, 5]


def test_scores_that_sort_the_article_so_give_its_third_rank():
    found = rs.ndcg_score([[5, 5, 4, 3, 2]], [[3, 1, 5, 2, 4]], k=3)
    assert found == rs.ndcg(ARTICLE, k=3)
    assert found == (4 + 2 / log2(3) + 5 / log2(4)) / (5 + 5 / log2(3) + 4 / log2(4))


def test_a_list_is_measured_against_the_ideal_that_is_given():
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
def test_gains_can_grow_as_powers_of_two(grades, formula, published):
    assert rs.ndcg(grades, gain="exp2") == formula
    assert formula == pytest.approx(published, abs=1e-15)


def test_no_order_is_below_the_worst_or_above_the_best():
    orders = list(itertools.permutations([3, 1, 2, 0, 2]))
    values = Rankings.from_lists(orders).evaluate(EXP2).per_query_list(EXP2)
    assert min(values) == rs.ndcg([0, 1, 2, 2, 3], gain="exp2")
    assert max(values) == 1


GRADED = nDCG(gain=[0, 1, 3, 7]) @ 3
LISTS = [[3, 1, 2, 0, 2], [0, 0, 0], [0, 1, 2, 2, 3]]
OF_TABLE = [
    (7 + 1 / log2(3) + 3 / log2(4)) / (7 + 3 / log2(3) + 3 / log2(4)),
    (1 / log2(3) + 3 / log2(4)) / (7 + 3 / log2(3) + 3 / log2(4)),
]


def test_a_table_of_gains_is_looked_up():
    assert rs.ndcg(LISTS[0], k=3, gain=[0, 1, 3, 7]) == OF_TABLE[0]
    assert OF_TABLE[0] == pytest.approx(0.8785831719, abs=1e-10)
    # It is the table of 2^grade - 1.
    assert OF_TABLE[0] == rs.ndcg(LISTS[0], k=3, gain="exp2")


def test_groups_of_zero_ideal_can_be_skipped():
    evaluation = Rankings.from_lists(LISTS).evaluate(GRADED, policy="empty=skip")
    assert evaluation[GRADED] == (OF_TABLE[0] + OF_TABLE[1]) / 2
    assert evaluation.denominators == {GRADED.name: 2}
    assert (evaluation.counts.queries, evaluation.counts.empty) == (3, 1)
    assert math.isnan(evaluation.per_query_list(GRADED)[1])


def test_a_mean_over_nothing_is_nan_with_its_counts():
    evaluation = Rankings.from_lists([[0, 0, 0], [0]]).evaluate(GRADED, policy="empty=skip")
    assert math.isnan(evaluation[GRADED])
    assert evaluation.denominators == {GRADED.name: 0}
    assert (evaluation.counts.queries, evaluation.counts.empty) == (2, 2)


GROUPS = {"x": [0, 0, 1, 1, 1], "y": [1, 0, 1, 0, 1], "z": [1, 0, 0, 0, 0]}
DCGS = [1 / log2(4) + 1 / log2(5) + 1 / log2(6), 1 + 1 / log2(4) + 1 / log2(6), 1]
IDCGS = [1 + 1 / log2(3) + 1 / log2(4), 1 + 1 / log2(3) + 1 / log2(4), 1]


def test_groups_are_averaged_or_their_sums_are_divided():
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


def test_a_cutoff_cuts_the_list_and_the_ideal():
    assert rs.dcg(GROUPS["x"], k=3) == 1 / log2(4) == 0.5
    found = rs.ndcg(GROUPS["x"], k=3)
    assert found == (1 / log2(4)) / IDCGS[0]
    assert round(float(found), 5) == 0.23464


def test_what_a_short_list_lacks_can_be_penalised():
    found, ideal = [1, 1, 1], [1, 1, 1, 1, 1]
    dcg = 1 + 1 / log2(3) + 1 / log2(4)
    best = dcg + 1 / log2(5) + 1 / log2(6)
    assert rs.ndcg(found, k=5) == 1
    assert rs.ndcg(found, k=5, ideal=ideal) == dcg / best
    assert round(dcg / best, 5) == 0.72273
    padded = rs.ndcg(found, k=5, ideal=ideal, missing_gain=-1)
    assert padded == (dcg - 1 / log2(5) - 1 / log2(6)) / best


def test_the_first_and_the_last_of_a_list_matter_most_when_they_are_swapped():
    best = 6 + 5 / log2(3) + 2 / log2(4) + 1 / log2(5)
    good = rs.ndcg([6, 5, 1, 2, 0])
    assert good == (6 + 5 / log2(3) + 1 / log2(4) + 2 / log2(5)) / best
    bad = rs.ndcg([0, 5, 1, 2, 6])
    assert bad == (5 / log2(3) + 1 / log2(4) + 2 / log2(5) + 6 / log2(6)) / best
    assert (round(float(good), 5), round(float(bad), 5)) == (0.99345, 0.64591)
