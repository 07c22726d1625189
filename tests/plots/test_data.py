"""The records of what is drawn hold what the results say."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
import rankscope as rs
from rankscope import AP, IPrec, nDCG
from rankscope._compare.result import Comparison, Settings
from rankscope.plots.data import (
    BoundsChart,
    CriticalDifferences,
    CutoffCurve,
    DiscountCurves,
    Forest,
    LossBars,
    PrecisionRecall,
    QueryDifferences,
    QueryScatter,
)
from scipy.stats import rankdata

from tests.comparison import pairs
from tests.refusals import refuses

QRELS = {f"q{number}": {"a": 1 + number % 3, "b": 1, "c": 0} for number in range(12)}
RUN = {
    query: {"c": 3.0, "a": 2.0, "b": 1.0} if int(query[1:]) % 2 else {"a": 2.0, "c": 1.0}
    for query in QRELS
}
OTHER = {query: {"b": 3.0, "a": 2.0, "c": 1.0} for query in QRELS}


def test_discounts_of_one_curve_are_one_line():
    found = DiscountCurves.of(rs.tabulate_discounts(4, tables={"short": [1, 0.5]}))
    assert [line.names for line in found.lines] == [
        ("log2", "log(base=e)"), ("jk(base=2)",), ("reciprocal",), ("linear",), ("zipf(s=0.5)",),
        ("short",),
    ]  # fmt: skip
    assert found.lines[2].weights == (1, 1 / 2, 1 / 3, 1 / 4)
    assert found.lines[-1].weights == (1, 0.5)
    assert found.attention == ((1, 1), (2, 0.6), (3, 0.4), (4, 0.3))
    assert found.ranks == 4


def test_a_measure_is_taken_at_its_cutoffs():
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


def test_cutoffs_without_intervals_have_none():
    wanted = [nDCG(gain="exp2") @ k for k in (1, 2)] + [nDCG @ k for k in (2, 1)]
    evaluation = rs.evaluate(QRELS, RUN, wanted)
    found = CutoffCurve.of({"run": evaluation}, nDCG @ 5)
    assert found.lines[0].values == (evaluation["nDCG@1"], evaluation["nDCG@2"])
    assert found.lines[0].lower == found.lines[0].upper == ()
    assert CutoffCurve.of({"run": evaluation}).measure == "nDCG(dcg='exp-log2')"


@pytest.mark.parametrize("wanted", [["AP"], ["nDCG@3", "AP"]])
def test_one_cutoff_is_no_curve(wanted):
    with refuses(rs.MeasureError, "not_evaluated"):
        CutoffCurve.of({"run": rs.evaluate(QRELS, RUN, wanted)})


def test_precision_is_taken_by_recall():
    evaluation = rs.evaluate(QRELS, RUN, [IPrec @ 1, AP, IPrec @ 0, IPrec @ 0.5])
    found = PrecisionRecall.of({"run": evaluation})
    assert found.recall == (0, 0.5, 1)
    assert found.lines[0].precision == tuple(evaluation[IPrec @ level] for level in found.recall)
    with pytest.raises(rs.MeasureError):
        PrecisionRecall.of({"run": rs.evaluate(QRELS, RUN, [IPrec @ 1, AP])})


def test_differences_are_sorted_and_counted():
    difference = rs.diff(QRELS, RUN, OTHER, AP, names=("old", "new"))
    found = QueryDifferences.of(difference)
    rows = difference.queries.to_dict()
    assert (found.measure, found.one, found.other) == ("AP", "old", "new")
    assert len(found.query_ids) == len(QRELS)
    assert [rows[query]["difference"] for query in found.query_ids] == [*found.differences]
    assert sorted(found.differences, reverse=True) == [*found.differences]
    counted = (difference.wins, difference.ties, difference.losses)
    assert (found.wins, found.ties, found.losses) == counted
    assert found.mean == pytest.approx(difference.difference)
    assert QueryDifferences("AP", "old", "new", (), (), 0, 0).mean == 0


def test_queries_without_a_difference_are_left_out():
    qrels = QRELS | {"none": {"a": 0}}
    run = RUN | {"none": {"a": 1.0}}
    found = QueryDifferences.of(rs.diff(qrels, run, OTHER | run, AP, policy="empty=skip"))
    assert "none" not in found.query_ids
    assert (found.wins, found.losses, found.ties) == (0, 0, len(QRELS))


def test_losses_of_runs_are_their_means():
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


def test_stages_are_parts():
    losses = rs.Rankings.from_run(QRELS, RUN).losses(nDCG @ 1, stages={"retriever": OTHER})
    found = LossBars.of_runs({"run": losses})
    assert found.parts == ("retriever", "final", "truncation", "ordering", "undefined")


def test_losses_of_slices_are_their_means():
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


def test_losses_that_are_not_alike_are_not_drawn_together():
    rankings = rs.Rankings.from_run(QRELS, RUN)
    with refuses(rs.UsageError, "not_alike"):
        LossBars.of_runs({"one": rankings.losses(nDCG @ 1), "two": rankings.losses(nDCG @ 2)})
    with refuses(rs.UsageError, "no_slices"):
        LossBars.of_slices(rankings.losses(nDCG @ 1))


PARTLY = {query: {"a": 1, "d": 0} for query in QRELS}


def test_bounds_of_queries_are_sorted_by_value():
    bounds = rs.Rankings.from_run(PARTLY, RUN).bounds(nDCG @ 2, scale=[0, 1])
    found = BoundsChart.of(bounds)
    assert (found.measure, found.by, len(found.ranges)) == ("nDCG@2", "query", len(PARTLY))
    rows = bounds.to_dict()
    for each in found.ranges:
        row = rows[each.name]
        assert (each.value, each.lower, each.upper) == (row["value"], row["lower"], row["upper"])
    values = [each.value for each in found.ranges]
    assert values == sorted(values, reverse=True)


def test_bounds_of_runs_are_those_of_their_means():
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
    with refuses(rs.UsageError, "not_alike"):
        BoundsChart.of_runs({**bounds, "third": other})


def test_bounds_of_a_pair_are_those_of_a_difference():
    one, other = (rs.Rankings.from_run(PARTLY, run) for run in (RUN, OTHER))
    found = BoundsChart.of(one.bounds(nDCG @ 2, scale=[0, 1], against=other))
    assert found.measure == "difference of nDCG@2"


THREE = {"bm25": 0.25, "dense": 0.5, "both": 0.75}


def test_a_forest_has_all_pairs_or_those_of_one_run():
    comparison = compare_all(THREE, {frozenset(("bm25", "both"))})
    found = Forest.of(comparison)
    assert [(each.name, each.minus, each.difference) for each in found.effects] == [
        ("dense", "bm25", 0.25), ("both", "bm25", 0.5), ("both", "dense", 0.25)
    ]  # fmt: skip
    assert [each.is_significant for each in found.effects] == [False, True, False]
    assert (found.measure, found.level, found.correction) == ("AP", 0.95, "holm")
    against = Forest.of(comparison, "AP", against="dense")
    rows = [(each.name, each.difference, each.lower, each.upper) for each in against.effects]
    assert rows == [("bm25", -0.25, -0.3, -0.2), ("both", 0.25, 0.2, 0.3)]
    assert {each.minus for each in against.effects} == {""}
    assert against.title == "AP: difference from dense"


def test_a_forest_of_a_baseline_has_its_pairs():
    pairs = [make_pair("bm25", run, 0.25) for run in ("dense", "both")]
    found = Forest.of(make_comparison(THREE, pairs, baseline="bm25"))
    assert [(each.name, each.minus) for each in found.effects] == [("dense", ""), ("both", "")]


def test_a_forest_of_slices_starts_with_all_queries():
    pairs = [
        make_pair("old", "new", 0.25, margin=0.01),
        make_pair("old", "new", 0.5, where="de"),
        make_pair("old", "new", 0.125, where="at"),
    ]
    comparison = make_comparison({"old": 0.25, "new": 0.5}, pairs, by="country")
    found = Forest.of_slices(comparison)
    assert [(each.name, each.difference) for each in found.effects] == [
        ("all queries", 0.25), ("de", 0.5), ("at", 0.125)
    ]  # fmt: skip
    assert found.title == "AP: new minus old, by country"
    assert found.margin == 0.01
    assert len(Forest.of(comparison).effects) == 1


def test_what_is_not_compared_is_not_drawn():
    comparison = compare_all(THREE)
    baseline = make_comparison(THREE, [make_pair("bm25", "both", 0.5)], baseline="bm25")
    refused = {
        "not_compared": [
            lambda: Forest.of(comparison, "nDCG@10"),
            lambda: Forest.of(comparison, against="splade"),
            lambda: Forest.of_slices(
                make_comparison(THREE, [make_pair("bm25", "both", 0.5)], by="country"), run="bm25"
            ),
            lambda: CriticalDifferences.of(baseline),
            lambda: CriticalDifferences.of(comparison, "nDCG@10"),
        ],
        "no_slices": [lambda: Forest.of_slices(comparison)],
        "bad_parameter": [lambda: CriticalDifferences.of(comparison, axis="median")],
    }
    for code, calls in refused.items():
        for call in calls:
            with refuses(rs.UsageError, code):
                call()


def test_groups_are_the_largest_sets_without_a_significant_difference():
    draw = Random(5)
    for count in (2, 5, 8):
        means = {f"run {n}": draw.random() for n in range(count)}
        pairs = [frozenset(pair) for pair in combinations(means, 2)]
        different = {pair for pair in pairs if draw.random() < 0.4}
        found = CriticalDifferences.of(compare_all(means, different))
        names = [run.name for run in found.runs]
        assert names == sorted(means, key=lambda name: means[name])
        alike = [
            set(chosen)
            for size in range(2, count + 1)
            for chosen in combinations(range(count), size)
            if not any(
                frozenset((names[one], names[other])) in different
                for one, other in combinations(chosen, 2)
            )
        ]
        largest = [tuple(sorted(one)) for one in alike if not any(one < other for other in alike)]
        assert list(found.groups) == sorted(largest)


def test_average_ranks_are_those_of_the_values_of_queries():
    draw = Random(7)
    values = {run: [draw.choice([0, 1, 2, 3]) / 3 for _ in range(20)] for run in "abcd"}
    pairs = []
    for one, other in combinations(values, 2):
        signs = [(y > x) - (y < x) for x, y in zip(values[one], values[other], strict=True)]
        counts = (signs.count(1), signs.count(0), signs.count(-1))
        pairs.append(make_pair(one, other, 0.0, counts=counts))
    comparison = make_comparison(dict.fromkeys(values, 0.5), pairs)
    found = CriticalDifferences.of(comparison, axis="rank")
    ranks = rankdata([[-value for value in each] for each in values.values()], axis=0).mean(axis=1)
    expected = dict(zip(values, ranks.tolist(), strict=True))
    assert {run.name: run.value for run in found.runs} == pytest.approx(expected)
    # The worst has the highest rank and comes first.
    assert [run.value for run in found.runs] == sorted(run.value for run in found.runs)[::-1]


def test_a_scatter_has_the_queries_with_both_values():
    qrels = QRELS | {"none": {"a": 0}}
    evaluations = {
        name: rs.evaluate(qrels, run, [AP, nDCG @ 1], policy="empty=skip")
        for name, run in (("run", RUN), ("other", OTHER))
    }
    found = QueryScatter.of(evaluations)
    assert found.query_ids == tuple(QRELS)
    assert (found.measure, found.baseline, found.run) == ("AP", "run", "other")
    assert (found.low, found.high) == (0, 1)
    difference = rs.diff(qrels, RUN, OTHER, AP, policy="empty=skip")
    assert found.signs.count(1) == difference.wins
    assert found.signs.count(-1) == difference.losses
    assert found.means == pytest.approx((evaluations["run"][AP], evaluations["other"][AP]))
    assert QueryScatter.of(evaluations, nDCG @ 1).measure == "nDCG@1"


def test_a_scatter_of_a_measure_without_a_bound_ends_at_the_highest_value():
    evaluations = {name: rs.evaluate(QRELS, run, "DCG@2") for name, run in (("a", RUN), ("b", RUN))}
    found = QueryScatter.of(evaluations)
    assert (found.low, found.high) == (0, max(found.run_values))


def test_a_scatter_is_of_two_results_for_the_same_queries():
    one = rs.evaluate(QRELS, RUN, AP)
    other = rs.evaluate({"q0": {"a": 1}}, OTHER, AP)
    for evaluations, code in (({"a": one}, "bad_parameter"), ({"a": one, "b": other}, "not_alike")):
        with refuses(rs.UsageError, code):
            QueryScatter.of(evaluations)
    with pytest.raises(rs.MeasureError):
        QueryScatter.of({"a": one, "b": one}, "RR")


P = 0.5
"""The p-value of pairs that don't differ."""


def make_pair(
    baseline, run, difference, *, p=P, where=None, reach=0.05, counts=(5, 3, 2), margin=None
):
    """A pair with an interval of a given reach on both sides of the difference."""
    wins, ties, losses = counts
    return pairs.make_pair(
        baseline,
        run,
        difference,
        reach=reach,
        p=p,
        measure="AP",
        slice=where,
        n=wins + ties + losses,
        baseline_mean=0.25,
        run_mean=0.25 + difference,
        wins=wins,
        ties=ties,
        losses=losses,
        margin=margin,
    )


def make_comparison(means, pairs, *, baseline=None, by=""):
    return Comparison(
        runs=tuple(means),
        measures=("AP",),
        means={run: {"AP": mean} for run, mean in means.items()},
        comparisons=tuple(pairs),
        baseline=baseline,
        by=by,
        settings=Settings(permutations=9999),
        policy=None,
    )


def compare_all(means, different=None):
    """A comparison of all pairs, of which some differ significantly."""
    pairs = [
        make_pair(
            one,
            other,
            means[other] - means[one],
            p=0.01 if frozenset((one, other)) in (different or set()) else P,
        )
        for one, other in combinations(means, 2)
    ]
    return make_comparison(means, pairs)
