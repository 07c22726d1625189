"""One tiny input and the spread of answers: every tool's number, by its formula.

Query q1 retrieves c, d (tied), a, b and an unjudged e, in this order; the grades of a, b, c, d are
3, 2, 1, 0. Query q2 has no relevant document, query q3 is not in the run.
"""

from __future__ import annotations

from math import log2

import pytest
import rankscope as rs
from rankscope import nDCG

QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {
    "q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5, "e": 0.2},
    "q2": {"x": 2.0, "y": 1.0},
}
HALF = 1 / log2(4)
"""The discount of rank 3."""
SECOND = 1 / log2(3)
LINEAR = 3 + 2 * SECOND + HALF
EXP2 = 7 + 3 * SECOND + HALF
BINARY = 1 + SECOND + HALF
BY_RANK = 3 + 2 / 2 + 1 / 3
EXP2_BY_RANK = 7 + 3 / 2 + 1 / 3
JK = 3 + 2 + 1 / log2(3)
EXP2_JK = 7 + 3 + 1 / log2(3)

SPREAD = [
    # convention, settings, policy, value, what the table of the tools says
    ("recommenders", {}, "", 1.0, "1.0000"),
    ("rectools", {}, "", (1 + HALF) / BINARY, "0.7039"),
    ("tie_aware", {}, "ties=input", (1 + HALF) / BINARY, "0.7039"),
    ("tie_aware", {}, "ties=best", (1 + HALF) / BINARY, "0.7039"),
    ("tie_aware", {}, "", ((1 + SECOND) / 2 + HALF) / BINARY, "0.6173"),
    ("tie_aware", {}, "ties=worst", (SECOND + HALF) / BINARY, "0.5307"),
    ("ranx", {}, "missing=zero", (1 + 3 * HALF) / LINEAR, "0.5250"),
    ("sklearn_ignore_ties", {}, "", (1 + 3 * HALF) / LINEAR, "0.5250"),
    ("recommenders_raw", {}, "", (1 + 3 * HALF) / LINEAR, "0.5250"),
    ("rankkit_linear", {}, "", (1 + 3 * HALF) / LINEAR, "0.5250"),
    ("jk2002", {}, "", (1 + 3 / log2(3)) / JK, "0.5137"),
    ("lenskit_rating", {}, "", (1 + 3 / log2(3)) / JK, "0.5137"),
    ("jk2002", {"gain": "exp2"}, "", (1 + 7 / log2(3)) / EXP2_JK, "0.5095"),
    ("sklearn", {}, "", ((1 + SECOND) / 2 + 3 * HALF) / LINEAR, "0.4863"),
    ("ranx_burges", {}, "missing=zero", (1 + 7 * HALF) / EXP2, "0.4791"),
    ("rankkit", {}, "", (1 + 7 * HALF) / EXP2, "0.4791"),
    ("recommenders_exp", {}, "", (1 + 7 * HALF) / EXP2, "0.4791"),
    ("trec_eval", {}, "", (SECOND + 3 * HALF) / LINEAR, "0.4475"),
    ("pytrec_eval", {}, "", (SECOND + 3 * HALF) / LINEAR, "0.4475"),
    ("ir_measures", {}, "", (SECOND + 3 * HALF) / LINEAR, "0.4475"),
    ("catboost", {}, "", (SECOND + 3 * HALF) / LINEAR, "0.4475"),
    ("catboost_exp", {}, "", (SECOND + 7 * HALF) / EXP2, "0.4398"),
    ("catboost_position", {}, "", (1 / 2 + 3 / 3) / BY_RANK, "0.3462"),
    ("catboost_exp_position", {}, "", (1 / 2 + 7 / 3) / EXP2_BY_RANK, "0.3208"),
]

WITHOUT_A_LIBRARY = [
    ({"discount": "reciprocal"}, (1 + 3 / 3) / BY_RANK, "0.4615"),
    ({"gain": "exp2", "discount": "reciprocal"}, (1 + 7 / 3) / EXP2_BY_RANK, "0.3774"),
]
OF_THE_TOP = (1 + 3 * HALF) / (3 + SECOND)
"""Over the ideal of the three documents on top alone."""

MEANS = [
    ("trec_eval", "", (SECOND + 3 * HALF) / LINEAR / 2, "0.2237"),
    ("trec_eval", "missing=zero", (SECOND + 3 * HALF) / LINEAR / 3, "0.1492"),
    ("trec_eval@10.0", "missing=zero", (SECOND + 3 * HALF) / LINEAR / 3, "0.1492"),
    ("ir_measures", "", (SECOND + 3 * HALF) / LINEAR / 3, "0.1492"),
    ("ranx", "missing=zero", (1 + 3 * HALF) / LINEAR / 3, "0.1750"),
    ("ranx_burges", "missing=zero", (1 + 7 * HALF) / EXP2 / 3, "0.1597"),
    ("catboost", "", ((SECOND + 3 * HALF) / LINEAR + 1) / 2, "0.7237"),
]


@pytest.mark.parametrize(("convention", "settings", "policy", "value", "printed"), SPREAD)
def test_the_first_query_has_the_value_of_the_tool(
    convention: str, settings: dict[str, object], policy: str, value: float, printed: str
) -> None:
    measure = nDCG(**settings) @ 3
    evaluation = rs.evaluate(QRELS, RUN, measure, convention=convention, policy=policy)
    assert f"{value:.4f}" == printed
    # The formula here adds up in another order than the library.
    assert evaluation.per_query_list(measure)[0] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("convention", "policy", "value", "printed"), MEANS)
def test_the_mean_is_that_of_the_tool(
    convention: str, policy: str, value: float, printed: str
) -> None:
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3, convention=convention, policy=policy)
    assert f"{value:.4f}" == printed
    assert evaluation["nDCG@3"] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("settings", "value", "printed"), WITHOUT_A_LIBRARY)
def test_values_of_no_library_have_their_parameters(
    settings: dict[str, object], value: float, printed: str
) -> None:
    measure = nDCG(**settings) @ 3
    evaluation = rs.evaluate(QRELS, RUN, measure, policy="ties=input")
    assert f"{value:.4f}" == printed
    assert evaluation.per_query_list(measure)[0] == pytest.approx(value, rel=1e-15)


def test_there_are_sixteen_values() -> None:
    printed = {row[-1] for row in SPREAD} | {row[-1] for row in WITHOUT_A_LIBRARY}
    assert f"{OF_THE_TOP:.4f}" == "0.6885"
    assert rs.ndcg([1, 0, 3]) == pytest.approx(OF_THE_TOP, rel=1e-15)
    assert len(printed | {"0.6885"}) == 16
    assert (min(printed), max(printed)) == ("0.3208", "1.0000")


def test_a_query_missing_from_the_run_ends_trec_eval_10() -> None:
    with pytest.raises(rs.PolicyError) as caught:
        rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval@10.0")
    assert caught.value.code == "missing_query"
