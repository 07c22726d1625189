"""Intervals over clusters, however they are named."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs
from rankscope import Rankings

from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path


def make_log() -> pd.DataFrame:
    choose = random.Random(4)
    rows = []
    for query in range(200):
        luck = 0.3 + 0.5 * (query // 5 % 3 == 0)
        for _ in range(4):
            grade = int(choose.random() < luck)
            rows.append({"query_id": f"q{query}", "relevance": grade, "score": choose.random()})
            rows[-1] |= {"user_id": f"u{query // 5}", "country": f"c{query % 3}"}
    return pd.DataFrame(rows)


def test_clusters_are_an_attribute_a_mapping_a_sequence_or_a_column(tmp_path: Path) -> None:
    log = make_log()
    rankings = Rankings.from_table(log, attributes=["user_id", "country"])
    users = [int(query[1:]) // 5 for query in rankings.query_ids]
    by_name, *others = (
        rankings.evaluate("P@1", interval=0.95, cluster=cluster, by="country")
        for cluster in ("user_id", users, dict(zip(rankings.query_ids, users, strict=True)))
    )
    log.to_csv(tmp_path / "log.csv", index=False)
    others += [
        rs.evaluate(table, "P@1", interval=0.95, cluster="user_id", by="country")
        for table in (log, tmp_path / "log.csv")
    ]
    for each in others:
        assert each.estimates == by_name.estimates
        assert str(each.slices) == str(by_name.slices)
    (estimate,) = by_name.estimates.values()
    assert (estimate.method, estimate.n, estimate.clusters) == ("bounded", 200, 40)
    assert "intervals: 95%, bounded, over 40 clusters" in by_name.small_print
    (alone,) = rankings.evaluate("P@1", interval=0.95).estimates.values()
    assert estimate.upper - estimate.lower > 1.2 * (alone.upper - alone.lower)
    losses = rankings.losses("nDCG@3", interval=0.95, cluster="user_id")
    ends = rankings.evaluate("nDCG@3", interval=0.95, cluster="user_id").intervals["nDCG@3"]
    assert losses.intervals["value"] == ends


def test_runs_take_clusters_in_the_order_of_the_judgments() -> None:
    qrels = {f"q{n}": {"d1": n % 2, "d2": 1} for n in range(80)}
    run = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
    users = [n // 2 for n in range(80)]
    found = rs.evaluate(qrels, run, "RR", interval=rs.Interval(method="t"), cluster=users)
    # Each user has one query of each kind: all means are equal.
    assert found.intervals["RR"] == (0.75, 0.75)
    mapping = dict(zip(qrels, users, strict=True))
    assert (
        rs.evaluate(qrels, run, "RR", interval=0.9, cluster=mapping).estimates["RR"].clusters == 40
    )


def test_queries_without_a_cluster_are_independent() -> None:
    rankings = Rankings.from_lists([[1], [0, 1]] * 20)
    clusters = ["a", "a", None, float("nan"), *map(str, range(36))]
    found = rankings.evaluate("RR", interval=0.95, cluster=clusters)
    assert found.estimates["RR"].clusters == 39


@pytest.mark.parametrize("cluster", [[1, 2], {"0": 1}])
def test_clusters_that_do_not_fit_are_refused(cluster: object) -> None:
    refused(
        lambda: Rankings.from_lists([[1], [0, 1], [1]]).evaluate(
            "RR", interval=0.9, cluster=cluster
        ),
        "bad_clusters",
    )


def test_clusters_need_an_interval() -> None:
    with pytest.raises(rs.UsageError, match="no effect without an interval"):
        Rankings.from_lists([[1], [0, 1]]).evaluate("RR", cluster=[1, 2])


def test_heavy_weights_and_missing_intervals_are_noted() -> None:
    rankings = Rankings.from_lists([[1], [0, 1]] * 20)
    weights = [9.0, *[1.0] * 39]
    found = rankings.evaluate(["RR", "DCG@2"], interval=0.95, weights=weights).small_print
    # Kish: (9 + 39)^2 / (81 + 39) = 19.2.
    assert "weights: 40 weighted queries count as much as 19.2 with equal weights" in str(found)
    few = Rankings.from_lists([[1], [0, 1]] * 2).evaluate(["RR", "DCG@2"], interval=0.95)
    assert "no interval of DCG@2: with fewer than 6 queries, a permutation test excludes" in str(
        few.small_print
    )
