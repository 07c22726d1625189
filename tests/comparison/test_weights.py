"""Weights of queries, in every feature that compares runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs

RANDOM = np.random.default_rng(3)
COUNT = 40
WEIGHTS = RANDOM.integers(1, 5, COUNT)
OLD = RANDOM.random(COUNT).round(3)
NEW = np.clip(OLD + RANDOM.normal(0.03, 0.1, COUNT), 0, 1).round(3)
TABLE = pd.DataFrame(
    {"query_id": [f"q{n:02}" for n in range(COUNT)], "old": OLD, "new": NEW, "weight": WEIGHTS}
)
# A query of weight w is a cluster of w queries with the same values.
COPIES = TABLE.loc[TABLE.index.repeat(WEIGHTS)].assign(
    copy_of=lambda rows: rows.query_id, query_id=[f"c{n:03}" for n in range(WEIGHTS.sum())]
)
NUMBERS = ("difference", "run_mean", "baseline_mean", "relative", "lower", "upper", "statistic")
CHOICES = (
    {},
    {"margin": 0.02},
    {"test": "t", "margin": 0.02},
    {"interval": rs.Interval(0.9, method="bounded"), "margin": 0.1},
)


def compare(table, **options):
    return rs.compare(table, "nDCG@10", values=["old", "new"], **options)["nDCG@10", "new"]


@pytest.mark.parametrize("choices", CHOICES)
def test_a_weight_counts_as_so_many_equal_queries(choices):
    weighted = compare(TABLE, weights="weight", **choices)
    copied = compare(COPIES, cluster="copy_of", **choices)
    assert weighted.difference == pytest.approx(np.average(NEW - OLD, weights=WEIGHTS), abs=1e-15)
    names = [*NUMBERS, "p", "bounded_lower", "bounded_upper", "minimum_detectable"]
    names += ["p_not_worse", "p_equivalent"] if "margin" in choices else []
    for name in names:
        assert getattr(weighted, name) == pytest.approx(getattr(copied, name), rel=1e-9), name
    assert (weighted.n, weighted.clusters, copied.clusters) == (COUNT, None, COUNT)


def test_equal_weights_change_nothing():
    plain, weighted = compare(TABLE), compare(TABLE.assign(weight=1), weights="weight")
    assert plain.to_dict() == pytest.approx(weighted.to_dict(), nan_ok=True)


def test_queries_of_weight_0_are_left_out():
    table = TABLE.assign(weight=[0, *WEIGHTS[1:]])
    weighted = compare(table, weights="weight")
    without = compare(table[1:], weights="weight")
    assert weighted.n == COUNT - 1
    assert weighted.difference == without.difference


def make_runs():
    """Return judgments, two runs and the weight of each query, as a leaderboard takes them."""
    qrels = {query: {"a": 1, "b": 0, "c": 0} for query in TABLE.query_id}
    orders = ["abc", "bac", "bca"]
    runs = {
        name: {query: [*orders[place]] for query, place in zip(qrels, places, strict=True)}
        for name, places in (("x", WEIGHTS % 3), ("y", (WEIGHTS + 1) % 3))
    }
    return qrels, runs, dict(zip(qrels, map(float, WEIGHTS), strict=True))


def test_all_features_have_the_same_weighted_means():
    qrels, runs, weights = make_runs()
    asked = {"weights": weights}
    expected = {
        name: rs.evaluate(qrels, run, "RR", weights=weights)["RR"] for name, run in runs.items()
    }
    compared = rs.compare(qrels, runs, "RR", **asked)
    assert {run: means["RR"] for run, means in compared.means.items()} == pytest.approx(expected)
    board = rs.leaderboard(qrels, runs, "RR", baseline="x", **asked)
    assert dict(zip(*map(board.table.column, ("run", "RR")), strict=True)) == pytest.approx(
        expected
    )
    [signs] = board.against.comparisons
    assert (signs.p, signs.difference) == (compared["RR", "y"].p, compared["RR", "y"].difference)
    assert "weights" in " ".join(compared.small_print)
    assert "weights" in " ".join(board.small_print)
    result = rs.gate(qrels, *runs.values(), {"RR": 0.5}, method="dense", **asked)
    [check] = result.checks
    for name in ("baseline_mean", "lower", "upper"):
        assert getattr(check, name) == getattr(compared["RR", "y"], name), name
    assert (check.candidate_mean, check.value) == (signs.run_mean, signs.difference)
    assert "weights" in " ".join(result.small_print)


def test_weights_need_means_over_queries():
    qrels, runs, weights = make_runs()
    with pytest.raises(rs.UsageError, match="no weighted value"):
        rs.leaderboard(qrels, runs, ["RR", "Coverage@2"], weights=weights, catalogue=["a", "b"])
    with pytest.raises(rs.UsageError, match=r"max p95 loss 0\.3 has no weights"):
        rs.gate(qrels, *runs.values(), rs.Budget("RR", max_loss=0.3), weights=weights)
    with pytest.raises(rs.UsageError, match="independent queries of one weight"):
        rs.compare(qrels, runs, "RR", weights=weights, test="wilcoxon")


def test_weighted_results_are_not_compared_without_weights():
    qrels, runs, weights = make_runs()
    evaluations = rs.evaluate(qrels, runs, "RR", weights=weights)
    for compare_results in (rs.compare, rs.leaderboard):
        with pytest.raises(rs.UsageError, match="pass weights here"):
            compare_results(evaluations)
    compared = rs.compare(evaluations, weights=weights)
    assert compared.means["x"]["RR"] == pytest.approx(evaluations["x"]["RR"])


def test_ranges_are_not_given_for_other_means_than_the_weighted_ones():
    qrels, runs, weights = make_runs()
    assert rs.compare(qrels, runs, "RR", weights=weights)["RR", "y"].unjudged is None
    with pytest.raises(rs.UsageError, match="not computed with weights"):
        rs.compare(qrels, runs, "RR", weights=weights, bounds=True)
    report = rs.report(qrels, runs, "RR", weights=weights)
    assert "weighted means" in report.bounds
    assert "weighted means" in report.ties["RR"]
    expected = rs.compare(qrels, runs, "RR", weights=weights)
    assert report.comparison["RR", "y"].difference == expected["RR", "y"].difference
