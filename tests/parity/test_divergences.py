"""Each divergence is what its row says it is."""

from __future__ import annotations

import math

import ir_measures
import pytest
import pytrec_eval
import rankscope
from rankscope.measures.compat import name_in
from rankscope.measures.spec import default_measure

from tests.parity import peers
from tests.parity.divergences import ABSENT, DIVERGENCES, MEAN, Divergence

rows = pytest.mark.parametrize(
    "row", DIVERGENCES, ids=lambda row: f"{row.tool}, {row.measure}, {row.condition}"
)


def of_pytrec_eval(row: Divergence) -> float | str:
    assert isinstance(row.run, dict)
    measure = rankscope.measures.parse(row.measure)
    rel = measure.parameters.get("rel", 1)
    judged_only = measure.judged_only
    assert isinstance(rel, float | int)
    at = {measure.row.at: measure.parameters[measure.row.at]} if measure.row.at else {}
    plain = default_measure(measure.row)
    name = name_in(plain if at.get(measure.row.at) is None else plain(**at), "trec_eval")
    assert name is not None
    values = peers.of_pytrec_eval(
        row.qrels, row.run, [name], rel=int(rel), judged_only=judged_only
    )[name]
    if row.of == MEAN:
        return float(pytrec_eval.compute_aggregated_measure(name, list(values.values())))
    return values.get(row.of, ABSENT)


def of_ir_measures(row: Divergence) -> float | str:
    if row.of == MEAN:
        measure = ir_measures.parse_measure(row.measure)
        assert isinstance(row.run, dict)
        return float(ir_measures.calc_aggregate([measure], row.qrels, row.run)[measure])
    return peers.of_ir_measures(row.qrels, row.run, [row.measure])[row.measure][row.of]


def of_rankscope(row: Divergence) -> float | str:
    evaluation = rankscope.evaluate(row.qrels, row.run, row.measure)
    if row.of == MEAN:
        return evaluation[row.measure]
    return evaluation.to_dict()[row.of][row.measure]


def outcome(compute: object, row: Divergence) -> float | str:
    """The value, or the name of the error that is raised in its place."""
    assert callable(compute)
    try:
        return float(value) if isinstance(value := compute(row), int | float) else str(value)
    except Exception as error:  # noqa: BLE001 - whatever they raise, its name is what is compared
        return type(error).__name__


def is_same(one: float | str, other: float | str) -> bool:
    """Whether two outcomes are the same; NaN is the same as NaN."""
    return repr(one) == repr(other)


@rows
def test_theirs_is_what_the_row_says(row: Divergence) -> None:
    compute = of_pytrec_eval if row.tool == "pytrec_eval" else of_ir_measures
    assert is_same(outcome(compute, row), row.theirs)


@rows
def test_ours_is_what_the_row_says(row: Divergence) -> None:
    assert is_same(outcome(of_rankscope, row), row.ours)


@rows
def test_the_two_differ_and_the_row_says_why(row: Divergence) -> None:
    assert not is_same(row.ours, row.theirs)
    assert row.why.endswith(".")


def test_a_name_is_one_row_by_tool_measure_and_condition() -> None:
    keys = [(row.tool, row.measure, row.condition) for row in DIVERGENCES]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("ties", ["doc_id_asc", "input"])
def test_the_choice_that_a_row_names_gives_their_value(ties: str) -> None:
    """RR@2 of ir_measures puts the smaller id first."""
    row = next(row for row in DIVERGENCES if row.measure == "RR@2")
    evaluation = rankscope.evaluate(row.qrels, row.run, row.measure, policy=f"ties={ties}")
    assert evaluation[row.measure] == row.theirs


def test_single_precision_gives_the_value_of_pytrec_eval() -> None:
    single = [row for row in DIVERGENCES if "single precision" in row.condition]
    assert len(single) == 3
    for row in single:
        evaluation = rankscope.evaluate(row.qrels, row.run, row.measure, score_type="float32")
        assert evaluation[row.measure] == row.theirs


def test_skipping_missing_queries_gives_the_mean_of_pytrec_eval() -> None:
    row = next(row for row in DIVERGENCES if "not in the run" in row.condition)
    evaluation = rankscope.evaluate(row.qrels, row.run, row.measure, policy="missing=skip")
    assert evaluation[row.measure] == 1.0
    assert math.isnan(evaluation.to_dict()[row.of][row.measure])
