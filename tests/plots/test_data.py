"""The records of what is drawn hold what the results say."""

from __future__ import annotations

import pytest
import rankscope as rs
from rankscope import AP, IPrec, nDCG
from rankscope.plots.data import (
    BoundsChart,
    CutoffCurve,
    DiscountCurves,
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
    difference = rs.diff(QRELS, RUN, OTHER, AP, names=("old", "new"))
    found = QueryDifferences.of(difference)
    rows = difference.queries.to_dict()
    assert (found.measure, found.one, found.other) == ("AP", "old", "new")
    assert len(found.query_ids) == len(QRELS)
    assert [rows[query]["difference"] for query in found.query_ids] == [*found.differences]
    assert sorted(found.differences, reverse=True) == [*found.differences]
    counted = (difference.wins, difference.ties, difference.losses_)
    assert (found.wins, found.ties, found.losses) == counted
    assert found.mean == pytest.approx(difference.difference)
    assert QueryDifferences("AP", "old", "new", (), (), 0, 0).mean == 0


def test_queries_without_a_difference_are_left_out() -> None:
    qrels = QRELS | {"none": {"a": 0}}
    run = RUN | {"none": {"a": 1.0}}
    found = QueryDifferences.of(rs.diff(qrels, run, OTHER | run, AP, policy="empty=skip"))
    assert "none" not in found.query_ids
    assert (found.wins, found.losses, found.ties) == (0, 0, len(QRELS))


def test_losses_of_runs_are_their_means() -> None:
    losses = {
        name: rs.Rankings.from_run(QRELS, run).losses(nDCG @ 1)
        for name, run in (("run", RUN), ("other", OTHER))
    }
    found = LossBars.of_runs(losses)
    assert (found.measure, found.by, found.is_over_time) == ("nDCG@1", "run", False)
    assert found.parts == ("retrieval", "truncation", "ordering", "undefined")
    for bar in found.bars:
        means = losses[bar.name].means
        assert bar.sizes == tuple(means[part] for part in found.parts)
        assert bar.total == pytest.approx(1 - means["value"])
    assert found.unseen == ()


def test_stages_are_parts() -> None:
    losses = rs.Rankings.from_run(QRELS, RUN).losses(nDCG @ 1, stages={"retriever": OTHER})
    found = LossBars.of_runs({"run": losses})
    assert found.parts == ("retriever", "final", "truncation", "ordering", "undefined")


def test_losses_of_slices_are_their_means() -> None:
    table = {
        "qid": [1, 1, 2, 2, 3, 3],
        "label": [1, 0, 1, 2, 0, 0],
        "score": [1, 2, 3, 4, 5, 6],
        "week": ["30", "30", "28", "28", "29", "29"],
    }
    rankings = rs.Rankings.from_table(table, attributes=["week"])
    losses = rankings.losses(nDCG @ 1, by="week")
    found = LossBars.of_slices(losses, is_over_time=True)
    # What was not shown is not known, so its loss is none at all, and not 0.
    assert [(bar.name, bar.sizes) for bar in found.bars] == [
        ("28", (None, 0, 0, 0)), ("29", (None, 0, 0, 1)), ("30", (None, 1, 0, 0)),
    ]  # fmt: skip
    assert (found.by, found.unseen, found.is_over_time) == ("week", ("retrieval",), True)
    assert LossBars.of_slices(losses, by="calendar week").by == "calendar week"
    assert {bar.name for bar in LossBars.of_slices(losses).bars} == {"28", "29", "30"}


def test_losses_that_are_not_alike_are_not_drawn_together() -> None:
    rankings = rs.Rankings.from_run(QRELS, RUN)
    with pytest.raises(rs.UsageError) as refused:
        LossBars.of_runs({"one": rankings.losses(nDCG @ 1), "two": rankings.losses(nDCG @ 2)})
    assert refused.value.code == "not_alike"
    with pytest.raises(rs.UsageError) as refused:
        LossBars.of_slices(rankings.losses(nDCG @ 1))
    assert refused.value.code == "no_slices"


PARTLY = {query: {"a": 1, "d": 0} for query in QRELS}


def test_bounds_of_queries_are_sorted_by_value() -> None:
    bounds = rs.Rankings.from_run(PARTLY, RUN).bounds(nDCG @ 2, scale=[0, 1])
    found = BoundsChart.of(bounds)
    assert (found.measure, found.by, len(found.ranges)) == ("nDCG@2", "query", len(PARTLY))
    rows = bounds.to_dict()
    for each in found.ranges:
        row = rows[each.name]
        assert (each.value, each.lower, each.upper) == (row["value"], row["lower"], row["upper"])
    values = [each.value for each in found.ranges]
    assert values == sorted(values, reverse=True)


def test_bounds_of_runs_are_those_of_their_means() -> None:
    bounds = {
        name: rs.Rankings.from_run(PARTLY, run).bounds(nDCG @ 2, scale=[0, 1])
        for name, run in (("run", RUN), ("other", OTHER))
    }
    found = BoundsChart.of_runs(bounds)
    assert (found.measure, found.by) == ("nDCG@2", "run")
    assert [(each.name, each.value, each.lower, each.upper) for each in found.ranges] == [
        (name, each.mean.value, each.mean.lower, each.mean.upper) for name, each in bounds.items()
    ]
    other = rs.Rankings.from_run(PARTLY, RUN).bounds(nDCG @ 1, scale=[0, 1])
    with pytest.raises(rs.UsageError) as refused:
        BoundsChart.of_runs({**bounds, "third": other})
    assert refused.value.code == "not_alike"


def test_bounds_of_a_pair_are_those_of_a_difference() -> None:
    one, other = (rs.Rankings.from_run(PARTLY, run) for run in (RUN, OTHER))
    found = BoundsChart.of(one.bounds(nDCG @ 2, scale=[0, 1], against=other))
    assert found.measure == "difference of nDCG@2"
