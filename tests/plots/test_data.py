"""The records of what is drawn hold what the results say."""

from __future__ import annotations

import math

import pytest
import rankscope as rs
from rankscope import AP, IPrec, nDCG
from rankscope.plots.data import (
    CutoffCurve,
    DiscountCurves,
    LossBar,
    LossBars,
    PrecisionRecall,
    QueryDifferences,
)

QRELS = {f"q{number}": {"a": 1 + number % 3, "b": 1, "c": 0} for number in range(12)}
RUN = {
    query: {"c": 3.0, "a": 2.0, "b": 1.0} if int(query[1:]) % 2 else {"a": 2.0, "c": 1.0}
    for query in QRELS
}
OTHER = {query: {"b": 3.0, "a": 2.0, "c": 1.0} for query in QRELS}


def test_discounts_of_one_curve_are_one_line() -> None:
    found = DiscountCurves.of(rs.tabulate_discounts(4, tables={"short": [1, 0.5]}))
    assert [line.names for line in found.lines] == [
        ("log2", "log(base=e)"), ("jk(base=2)",), ("reciprocal",), ("linear",), ("zipf(s=0.5)",),
        ("short",),
    ]  # fmt: skip
    assert found.lines[2].weights == (1, 1 / 2, 1 / 3, 1 / 4)
    assert found.lines[-1].weights == (1, 0.5)
    assert found.attention == ((1, 1), (2, 0.6), (3, 0.4), (4, 0.3))
    assert found.ranks == 4
    assert found.examined == ()


def test_an_examination_curve_is_laid_over_and_is_no_line() -> None:
    curve = rs.estimate_examination({"rank": [1, 1, 2, 2, 3], "click": [1, 1, 1, 0, 0]})
    found = DiscountCurves.of(rs.tabulate_discounts(2, tables={"clicks": curve.weights}), curve)
    assert "clicks" not in {name for line in found.lines for name in line.names}
    assert [(each.rank, each.value) for each in found.examined] == [(1, 1), (2, 0.5)]
    assert found.examined[1].lower == curve.lower[1]
    assert found.examined[1].upper == curve.upper[1]
    assert found.level == 0.95


def test_a_measure_is_taken_at_its_cutoffs() -> None:
    wanted = [nDCG @ 3, AP, nDCG @ 1, nDCG(gain="exp2") @ 2, nDCG]
    runs = {"run": RUN, "other": OTHER}
    evaluations = {
        name: rs.evaluate(QRELS, run, wanted, interval=0.9) for name, run in runs.items()
    }
    found = CutoffCurve.of(evaluations, level=0.9)
    assert (found.measure, found.cutoffs, found.level) == ("nDCG", (1, 3), 0.9)
    assert [line.run for line in found.lines] == ["run", "other"]
    for line in found.lines:
        evaluation = evaluations[line.run]
        assert line.values == (evaluation["nDCG@1"], evaluation["nDCG@3"])
        ends = zip(line.lower, line.upper, strict=True)
        assert [*ends] == [evaluation.intervals["nDCG@1"], evaluation.intervals["nDCG@3"]]


def test_cutoffs_without_intervals_have_none() -> None:
    wanted = [nDCG(gain="exp2") @ k for k in (1, 2)] + [nDCG @ k for k in (2, 1)]
    evaluation = rs.evaluate(QRELS, RUN, wanted)
    found = CutoffCurve.of({"run": evaluation}, nDCG @ 5)
    assert found.lines[0].values == (evaluation["nDCG@1"], evaluation["nDCG@2"])
    assert found.lines[0].lower == found.lines[0].upper == ()
    assert CutoffCurve.of({"run": evaluation}).measure == "nDCG(dcg='exp-log2')"


@pytest.mark.parametrize("wanted", [["AP"], ["nDCG@3", "AP"]])
def test_one_cutoff_is_no_curve(wanted: list[str]) -> None:
    with pytest.raises(rs.MeasureError) as refused:
        CutoffCurve.of({"run": rs.evaluate(QRELS, RUN, wanted)})
    assert refused.value.code == "not_evaluated"


def test_precision_is_taken_by_recall() -> None:
    evaluation = rs.evaluate(QRELS, RUN, [IPrec @ 1, AP, IPrec @ 0, IPrec @ 0.5])
    found = PrecisionRecall.of({"run": evaluation})
    assert found.recall == (0, 0.5, 1)
    assert found.lines[0].precision == tuple(evaluation[IPrec @ level] for level in found.recall)
    with pytest.raises(rs.MeasureError):
        PrecisionRecall.of({"run": rs.evaluate(QRELS, RUN, [IPrec @ 1, AP])})


def test_differences_are_sorted_and_counted() -> None:
    values = {"q1": -0.5, "q2": 0.25, "q3": 0.0, "q4": math.nan, "q5": 0.75}
    found = QueryDifferences.of_values("AP", "old", "new", values)
    assert found.query_ids == ("q5", "q2", "q3", "q1")
    assert found.differences == (0.75, 0.25, 0.0, -0.5)
    assert (found.better, found.equal, found.worse) == (2, 1, 1)
    assert found.mean == (0.75 + 0.25 - 0.5) / 4
    assert QueryDifferences.of_values("AP", "old", "new", {}).mean == 0


def test_losses_that_cannot_be_seen_are_not_zero() -> None:
    seen, unseen = LossBar("a", 0.25, 0.125, 0.5, 0.0625), LossBar("b", None, 0.125, 0.5)
    assert (seen.total, unseen.total) == (0.9375, 0.625)
    assert LossBars("nDCG@10", "run", (seen, unseen)).observes_retrieval
    assert not LossBars("nDCG@10", "run", (unseen,)).observes_retrieval
