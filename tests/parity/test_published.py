"""Worked examples whose values other tools print, each as the formula behind it."""

from __future__ import annotations

import math
from math import exp, fsum, log, log2

import pytest
import rankscope

EPSILON = 0.000_01
"""What trec_eval adds in infAP, and the least value in its geometric means."""

# The values were printed by trec_eval 9.0.8 and 10.0 alike.
FIXTURE = {
    "q1": {"d1": 3, "d2": 2, "d3": 3, "d4": 0, "d5": 1, "d6": 2, "d7": 3, "d8": 2},
    "q2": {"a": 1, "b": 1, "c": -1},
    "q3": {"z": 0},
}
FIXTURE_RUN = {
    "q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7, "d4": 0.6, "d5": 0.5, "d6": 0.4},
    "q2": {"a": 1.0, "b": 1.0, "u": 1.0, "c": 1.0},
    "q3": {"z": 1.0},
}

DCG1 = 3 / log2(2) + 2 / log2(3) + 3 / log2(4) + 1 / log2(6) + 2 / log2(7)
IDCG1_3 = 3 / log2(2) + 3 / log2(3) + 3 / log2(4)
IDCG1_5 = IDCG1_3 + 2 / log2(5) + 2 / log2(6)
NDCG1 = DCG1 / (IDCG1_5 + 2 / log2(7) + 1 / log2(8))
AP1 = (1 / 1 + 2 / 2 + 3 / 3 + 4 / 5 + 5 / 6) / 7
# Equal scores: u, c, b, a.
NDCG2 = (1 / log2(4) + 1 / log2(5)) / (1 / log2(2) + 1 / log2(3))
AP2 = (1 / 3 + 2 / 4) / 2


def inferred(rank: int, found: int, nonrelevant: int, pooled: int) -> float:
    """The precision that infAP infers at a relevant document, by what stands above it."""
    if rank == 1:
        return 1.0
    above = rank - 1
    seen = (found + nonrelevant + pooled) / above
    share = (found + EPSILON) / (found + nonrelevant + 2 * EPSILON)
    return 1 / rank + above / rank * seen * share


INFAP1 = (
    sum(inferred(rank, rank - 1, 0, 0) for rank in (1, 2, 3))
    + inferred(5, 3, 1, 0)
    + inferred(6, 4, 1, 0)
) / 7
INFAP2 = (inferred(3, 0, 0, 1) + inferred(4, 1, 0, 1)) / 2


@pytest.mark.parametrize(
    ("query", "measure", "formula", "printed"),
    [
        ("q1", "nDCG", NDCG1, 0.7562),
        ("q1", "nDCG@3", (3 / log2(2) + 2 / log2(3) + 3 / log2(4)) / IDCG1_3, 0.9013),
        (
            "q1",
            "nDCG@5",
            (3 / log2(2) + 2 / log2(3) + 3 / log2(4) + 1 / log2(6)) / IDCG1_5,
            0.7659,
        ),
        ("q1", "AP", AP1, 0.6619),
        ("q1", "Bpref", (1 + 1 + 1 + (1 - 1 / 1) + (1 - 1 / 1)) / 7, 0.4286),
        ("q1", "infAP", INFAP1, 0.6619),
        ("q2", "nDCG", NDCG2, 0.5706),
        ("q2", "nDCG@3", 1 / log2(4) / (1 / log2(2) + 1 / log2(3)), 0.3066),
        ("q2", "AP", AP2, 0.4167),
        ("q2", "infAP", INFAP2, 0.6250),
        ("q2", "Bpref", (1 + 1) / 2, 1.0),
        ("q2", "RR", 1 / 3, 0.3333),
        ("all", "nDCG", fsum([NDCG1, NDCG2, 0]) / 3, 0.4423),
        ("all", "AP", fsum([AP1, AP2, 0]) / 3, 0.3595),
        ("all", "GMAP", exp(fsum(map(log, [AP1, AP2, EPSILON])) / 3), 0.0140),
        ("all", "infAP", fsum([INFAP1, INFAP2, 0]) / 3, 0.4290),
        ("all", "NumRet", 6 + 4 + 1, 11),
        ("all", "NumRel", 7 + 2 + 0, 9),
        ("all", "NumRelRet", 5 + 2 + 0, 7),
    ],
)
def test_the_fixture_has_the_values_of_trec_eval(
    query: str, measure: str, formula: float, printed: float
) -> None:
    evaluation = rankscope.evaluate(FIXTURE, FIXTURE_RUN, measure)
    (name,) = evaluation
    value = evaluation[name] if query == "all" else evaluation.to_dict()[query][name]
    assert value == formula
    assert f"{value:.4f}" == f"{printed:.4f}"


def test_the_mean_of_eleven_points_is_that_of_trec_eval() -> None:
    levels = [rankscope.IPrec @ (tenth / 10) for tenth in range(11)]
    values = rankscope.evaluate(FIXTURE, FIXTURE_RUN, levels).to_dict()["q1"]
    # Five of seven are found, the fifth at rank 6: levels to 0.4 at rank 3, 0.5 to 0.7 below.
    assert list(values.values()) == [1.0] * 5 + [5 / 6] * 3 + [0.0] * 3
    assert f"{fsum(values.values()) / 11:.4f}" == "0.6818"


# One tiny input on which tools differ: equal scores, an unjudged document, a query without
# relevant documents, and one that was not retrieved.
SPREAD = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
SPREAD_RUN = {
    "q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.2},
    "q2": {"x": 2.0, "y": 1.0},
}
LINEAR_IDEAL = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
EXP_IDEAL = 7 / log2(2) + 3 / log2(3) + 1 / log2(4)
D_C_A = (1 / log2(3) + 3 / log2(4)) / LINEAR_IDEAL
C_D_A = (1 / log2(2) + 3 / log2(4)) / LINEAR_IDEAL


@pytest.mark.parametrize(
    ("tool", "measure", "policy", "formula", "printed"),
    [
        ("trec_eval", "nDCG@3", "missing=skip", fsum([D_C_A, 0]) / 2, 0.2237),
        ("trec_eval -c", "nDCG@3", "", fsum([D_C_A, 0, 0]) / 3, 0.1492),
        ("ir_measures", "nDCG@3", "", fsum([D_C_A, 0, 0]) / 3, 0.1492),
        ("ranx", "nDCG@3", "ties=input", fsum([C_D_A, 0, 0]) / 3, 0.1750),
        (
            "ranx, Burges",
            "nDCG(dcg='exp-log2')@3",
            "ties=input",
            (1 / log2(2) + 7 / log2(4)) / EXP_IDEAL / 3,
            0.1597,
        ),
        ("rankkit", "nDCG@3", "ties=input,empty=skip", fsum([C_D_A, 0]) / 2, 0.2625),
    ],
)
def test_one_input_has_the_mean_of_each_tool(
    tool: str, measure: str, policy: str, formula: float, printed: float
) -> None:
    evaluation = rankscope.evaluate(SPREAD, SPREAD_RUN, measure, policy=policy)
    assert evaluation[measure] == formula, tool
    assert f"{evaluation[measure]:.4f}" == f"{printed:.4f}"


@pytest.mark.parametrize(
    ("measure", "ties", "formula", "printed"),
    [
        ("nDCG@3", "doc_id", D_C_A, 0.4475),
        ("nDCG@3", "doc_id_asc", C_D_A, 0.5250),
        ("nDCG@3", "best", C_D_A, 0.5250),
        ("nDCG@3", "worst", D_C_A, 0.4475),
        (
            "nDCG(dcg='exp-log2')@3",
            "input",
            (1 / log2(2) + 7 / log2(4)) / EXP_IDEAL,
            0.4791,
        ),
        (
            "nDCG(dcg='exp-log2')@3",
            "worst",
            (1 / log2(3) + 7 / log2(4)) / EXP_IDEAL,
            0.4398,
        ),
        ("nDCG(discount='jk')@3", "input", (1 + 3 / log2(3)) / (3 + 2 + 1 / log2(3)), 0.5137),
        (
            "nDCG(gain='exp2', discount='jk')@3",
            "input",
            (1 + 7 / log2(3)) / (7 + 3 + 1 / log2(3)),
            0.5095,
        ),
        ("nDCG(discount='reciprocal')@3", "input", (1 + 3 / 3) / (3 + 2 / 2 + 1 / 3), 0.4615),
        (
            "nDCG(gain='exp2', discount='reciprocal')@3",
            "input",
            (1 + 7 / 3) / (7 + 3 / 2 + 1 / 3),
            0.3774,
        ),
        ("nDCG(discount='reciprocal')@3", "worst", (1 / 2 + 3 / 3) / (3 + 2 / 2 + 1 / 3), 0.3462),
        (
            "nDCG(gain='exp2', discount='reciprocal')@3",
            "worst",
            (1 / 2 + 7 / 3) / (7 + 3 / 2 + 1 / 3),
            0.3208,
        ),
    ],
)
def test_one_list_has_the_value_of_each_convention(
    measure: str, ties: str, formula: float, printed: float
) -> None:
    evaluation = rankscope.evaluate(SPREAD, SPREAD_RUN, measure, policy=f"ties={ties}")
    (value, *_) = evaluation.per_query_list(measure)
    assert value == formula
    assert f"{value:.4f}" == f"{printed:.4f}"


def test_cumulated_gain_is_that_of_jarvelin_and_kekalainen() -> None:
    grades = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    unseen = {"u1": 1, "u2": 1, "u3": 1}
    qrels = {"q": {f"d{at}": grade for at, grade in enumerate(grades)} | unseen}
    run = {"q": {f"d{at}": -float(at) for at in range(10)}}
    printed = {
        "DCG": [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61],
        "IDCG": [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 11.22, 11.53, 11.83],
    }
    ideal = sorted(qrels["q"].values(), reverse=True)
    for name, gains in (("DCG", grades), ("IDCG", ideal)):
        total = 0.0
        for k, (gain, expected) in enumerate(zip(gains, printed[name], strict=False), start=1):
            total += gain / max(1.0, log2(k))
            measure = f"{name}(discount='jk')@{k}"
            assert rankscope.evaluate(qrels, run, measure)[measure] == total
            assert round(total, 2) == expected


@pytest.mark.parametrize(
    ("measure", "query", "formula", "printed"),
    [
        # The test cases of ir_measures for gdeval, which rounds to five places.
        (
            "nDCG(dcg='exp-log2')@20",
            "q0",
            (1 / log2(3) + 3 / log2(4) + 1 / log2(5)) / (3 / log2(2) + 1 / log2(3) + 1 / log2(4)),
            0.62010,
        ),
        (
            "nDCG(dcg='exp-log2')@2",
            "q0",
            1 / log2(3) / (3 / log2(2) + 1 / log2(3)),
            0.17377,
        ),
        (
            "nDCG(dcg='exp-log2')@20",
            "q1",
            3 / log2(3) / (3 / log2(2) + 3 / log2(3) + 1 / log2(4)),
            0.35099,
        ),
        (
            "nDCG(dcg='exp-log2')@2",
            "q1",
            3 / log2(3) / (3 / log2(2) + 3 / log2(3)),
            0.38685,
        ),
        (
            "ERR@20",
            "q0",
            1 / 16 / 2 + 15 / 16 * (3 / 16) / 3 + 15 / 16 * (1 - 3 / 16) * (1 / 16) / 4,
            0.10175,
        ),
        ("ERR@2", "q0", 1 / 16 / 2, 0.03125),
        ("ERR@20", "q1", 3 / 16 / 2, 0.09375),
        ("ERR@2", "q1", 3 / 16 / 2, 0.09375),
    ],
)
def test_the_cases_of_gdeval_have_its_values(
    measure: str, query: str, formula: float, printed: float
) -> None:
    qrels = {
        "q0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0},
        "q1": {"D0": 1, "D3": 2, "D5": 2},
    }
    run = {
        "q0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
        "q1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4},
    }
    value = rankscope.evaluate(qrels, run, measure).to_dict()[query][measure]
    assert value == formula
    assert abs(value - printed) <= 0.000_01  # gdeval cuts where it should round


@pytest.mark.parametrize(
    ("measure", "formula", "printed"),
    [
        ("infAP", inferred(2, 0, 0, 1), 0.7500),
        ("Bpref", 1.0, 1.0),
        ("AP", 1 / 2, 0.5000),
        ("nDCG", 2 / log2(3) / 2, 0.6309),
    ],
)
def test_negative_grades_are_pooled_and_not_judged(
    measure: str, formula: float, printed: float
) -> None:
    qrels = {"q": {"a": 2, "b": -1, "c": 0, "d": -5}}
    run = {"q": {"b": 4.0, "a": 3.0, "d": 2.0, "zz": 1.0}}
    value = rankscope.evaluate(qrels, run, measure)[measure]
    assert value == formula
    assert f"{value:.4f}" == f"{printed:.4f}"


@pytest.mark.parametrize(
    ("measure", "unjudged", "formula", "printed"),
    [
        ("nDCG@3", "nonrelevant", 1 / log2(4) / (2 + 1 / log2(3)), 0.1900),
        ("nDCG@3", "remove", (1 + 2 / log2(3)) / (2 + 1 / log2(3)), 0.8597),
        ("AP", "nonrelevant", (1 / 3 + 2 / 4) / 2, 0.4167),
        ("AP", "remove", 1.0, 1.0),
    ],
)
def test_condensed_lists_have_the_values_of_trec_eval(
    measure: str, unjudged: str, formula: float, printed: float
) -> None:
    qrels = {"q": {"a": 1, "b": -1, "c": 2}}
    run = {"q": {"u": 4.0, "b": 3.0, "a": 2.0, "c": 1.0}}
    policy = f"unjudged={unjudged}"
    value = rankscope.evaluate(qrels, run, measure, policy=policy)[measure]
    assert value == formula
    assert f"{value:.4f}" == f"{printed:.4f}"


def test_a_geometric_mean_of_1_and_0_is_that_of_trec_eval() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    value = rankscope.evaluate(qrels, run, "GMAP")["GMAP"]
    assert value == math.exp(log(EPSILON) / 2)
    assert f"{value:.4f}" == "0.0032"


def test_rank_biased_precision_of_three_relevant_documents_is_that_of_cwl_eval() -> None:
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    value = rankscope.evaluate(qrels, run, "RBP(p=0.9)")["RBP(p=0.9)"]
    assert value == (1 + 0.9 + 0.9 * 0.9) * (1 - 0.9)
    assert f"{value:.4f}" == "0.2710"
