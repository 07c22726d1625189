"""The worked examples of the table, and values that others have published."""

from __future__ import annotations

import math
from math import exp, log, log2

import pytest
from rankscope.measures import TABLE, Measure, Row, parse

from tests.reference import Known, mean, value

ROWS = list(TABLE.values())
Ranking = list[float | None]


def evaluate(
    measure: Measure,
    ranking: Ranking,
    judged: list[float],
    covered: tuple[tuple[str, ...] | None, ...] = (),
    strata: tuple[str | None, ...] = (),
) -> float:
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


def of_items(row: Row) -> float:
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


def of_example(row: Row) -> float:
    example = row.example
    if example.recommended:
        return of_items(row)
    found = [grade for grade in example.ranking if grade is not None]
    measure = parse(example.measure)
    judged = [*found, *example.not_retrieved]
    one = evaluate(measure, list(example.ranking), judged, example.subtopics, example.strata)
    return mean([one], measure.row.mean)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_example_of_a_row_is_its_formula(row: Row) -> None:
    names = {"exp": exp, "log": log, "log2": log2, "max": max}
    formula = eval(row.example.formula, {"__builtins__": {}}, names)  # noqa: S307 - our own text
    assert of_example(row) == formula
    assert round(formula, 4) == row.example.value


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_example_of_a_row_is_of_that_row(row: Row) -> None:
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
def test_a_published_value_is_met(
    name: str, ranking: Ranking, judged: list[float], published: float
) -> None:
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
def test_each_discount_and_gain_is_its_formula(name: str, expected: float) -> None:
    assert evaluate(parse(name), [3, None, 1, 0], [3, 1, 0, 2]) == expected


def test_the_ideal_of_the_list_itself_leaves_out_what_was_not_retrieved() -> None:
    ranking: Ranking = [1, None, 2]
    judged = [1.0, 2.0, 3.0]
    expected = (1 + 2 / log2(4)) / (2 + 1 / log2(3))
    assert evaluate(parse("nDCG(ideal='retrieved')"), ranking, judged) == expected


def test_negative_grades_have_a_gain_only_where_that_is_asked_for() -> None:
    kernel, params = parse("DCG").kernel_spec()
    assert value(kernel, params, [2, -1], [2, -1]) == 2
    assert value(kernel, params, [2, -1], [2, -1], negative="gain") == 2 + -1 / log2(3)


def test_nothing_of_a_grade_below_0_is_relevant_to_binary_gains() -> None:
    kernel, params = parse("CG(gain='binary')").kernel_spec()
    ranking: Ranking = [2, 0.5, 0, -1, None]
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
def test_without_relevant_documents_every_form_is_undefined(name: str) -> None:
    assert math.isnan(evaluate(parse(name), [0, None], [0, 0]))
    assert evaluate(parse(name), [0, None], [0, 0, 1]) == 0
    assert evaluate(parse(name), [], [1]) == 0


def test_a_grade_without_a_gain_is_an_error() -> None:
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
def test_each_parameter_is_its_formula(name: str, expected: float) -> None:
    ranking: Ranking = [2, None, 4] if name != "IPrec@0" else [None, 2, 4]
    assert evaluate(parse(name), ranking, [2, 4]) == pytest.approx(expected, rel=1e-15)
