"""Attributes, slices, weights, intervals and clusters."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope import Rankings

from tests.refusals import refused


def make_log(seed):
    choose = random.Random(seed)
    rows = [
        {
            "query_id": query,
            "relevance": choose.choice([0, 0, 1, 2]),
            "score": choose.random(),
            "country": ["de", "at", None][query % 3],
            "model": f"v{query % 2}",
        }
        for query in range(40)
        for _ in range(choose.randint(1, 9))
    ]
    choose.shuffle(rows)
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "policy", [None, "empty=skip", "aggregate=median", "aggregate=ratio_of_sums"]
)
def test_a_slice_is_the_evaluation_of_its_rows(policy):
    log = make_log(1)
    rankings = Rankings.from_table(log, attributes=["country", "model"])
    slices = rankings.evaluate("nDCG@5", by="country", policy=policy).slices
    assert sum(map(int, slices.column("queries"))) == log.query_id.nunique()
    for country, row in slices.to_dict().items():
        mine = log[log.country.fillna("<missing>") == country]
        alone = Rankings.from_table(mine).evaluate("nDCG@5", policy=policy)
        assert row["nDCG@5"] == alone["nDCG@5"]
        assert row["nDCG@5 n"] == alone.denominators["nDCG@5"]
        assert row["queries"] == alone.counts.queries


def test_several_attributes_and_mappings_slice_as_well():
    rankings = Rankings.from_table(make_log(2), attributes=["country", "model"])
    both = rankings.evaluate("RR", by=["country", "model"]).slices
    pairs = zip(both.column("country"), both.column("model"), strict=True)
    assert {("de", "v0"), (None, "v1")} < set(pairs)
    parity = {query: f"even={int(query) % 2 == 0}" for query in rankings.query_ids[1:]}
    sliced = rankings.evaluate("RR", by=parity).slices
    assert set(sliced.column("slice")) == {"even=True", "even=False", None}


def test_rows_that_differ_in_an_attribute_are_refused():
    log = pd.DataFrame({"qid": [1, 1], "rel": [1, 0], "score": [1, 2], "country": ["de", "at"]})
    with pytest.raises(
        rs.errors.FormatError, match=r"expected one country .* `de` and `at`"
    ) as caught:
        Rankings.from_table(log, attributes=["country"])
    assert (caught.value.code, caught.value.line) == ("attribute_conflict", 2)
    refused(lambda: Rankings.from_table(log).evaluate("RR", by="country"), "unknown_attribute")


LISTS = [[0, 1], [1], [0, 0, 1], [0, 0, 0, 1]]
VALUES = [1 / 2, 1, 1 / 3, 1 / 4]


def test_weights_weigh_the_mean_in_whatever_form_they_come():
    rankings = Rankings.from_lists(LISTS)
    weights = [1.0, 2.0, 0.0, 5.0]
    expected = math.fsum(w * v for w, v in zip(weights, VALUES, strict=True)) / math.fsum(weights)
    assert rankings.evaluate("RR", weights=weights)["RR"] == expected
    by_query = dict(zip(rankings.query_ids, weights, strict=True))
    assert rankings.evaluate("RR", weights=by_query)["RR"] == expected
    qrels = {str(n): {"d": 1} for n in range(4)}
    run = {
        str(n): {f"x{i}": 9.0 for i in range(len(one) - 1)} | {"d": 1.0}
        for n, one in enumerate(LISTS)
    }
    assert rs.evaluate(qrels, run, "RR", weights=weights)["RR"] == expected


WEIGHTS = ([1, 1, 1], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, math.inf], ["a"] * 4, {"0": 1})
MEDIAN = {"policy": "aggregate=median", "interval": rs.Interval(method="t")}


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        *(({"weights": weights}, "bad_weights") for weights in WEIGHTS),
        *(({"interval": 0.9, "cluster": users}, "bad_clusters") for users in ([1, 2], {"0": 1})),
        (MEDIAN, "interval_unavailable"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, code):
    refused(lambda: Rankings.from_lists(LISTS).evaluate("RR", **settings), code)


def test_a_t_interval_is_the_textbook_s():
    interval = rs.Interval(0.95, method="t")
    lower, upper = Rankings.from_lists(LISTS).evaluate("RR", interval=interval).intervals["RR"]
    # Student's t with 3 degrees of freedom has its 97.5 % point at 3.182446305284263.
    half = 3.182446305284263 * statistics.stdev(VALUES) / math.sqrt(4)
    assert lower == pytest.approx(max(0, statistics.mean(VALUES) - half), abs=1e-12)
    # The textbook's would end above 1, which no reciprocal rank is.
    assert statistics.mean(VALUES) + half > 1 == upper


def test_the_interval_of_a_median_is_that_of_scipy_up_to_the_draws():
    scipy_stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    values = np.round(np.random.default_rng(5).random(80), 3).tolist()
    median = rs.Policy(aggregate="median")
    judged = {f"q{at}": {"d": round(1000 * value)} for at, value in enumerate(values)}
    lists = {query: ["d"] for query in judged}
    score = rs.measure("score", lambda grades: grades[0] / 1000)
    mine = rs.evaluate(judged, lists, score, policy=median, interval=0.95).intervals["score"]
    # Ours is as much wider as Student's t is, and the root of n / (n - 1).
    wider = math.sqrt(80 / 79) * scipy_stats.t.ppf(0.975, 79)
    theirs = scipy_stats.bootstrap(
        (values,),
        statistics.median,
        n_resamples=9999,
        method="percentile",
        confidence_level=1 - 2 * scipy_stats.norm.sf(wider),
        vectorized=False,
    ).confidence_interval
    assert mine == pytest.approx([theirs.low, theirs.high], abs=0.02)


def test_each_slice_has_an_interval_of_its_own():
    rankings = Rankings.from_table(make_log(3), attributes=["country"])
    slices = rankings.evaluate("RR", by="country", interval=0.9).slices
    for row in slices.to_dict().values():
        assert row["RR lower"] <= row["RR"] <= row["RR upper"]


@pytest.mark.parametrize(
    "settings", [{"level": 0}, {"level": 1}, {"resamples": 5}, {"seed": -1}, {"method": "bayes"}]
)
def test_an_interval_outside_its_ranges_is_refused(settings):
    with pytest.raises(rs.errors.PolicyError):
        rs.Interval(**settings)


def make_clustered_log():
    choose = random.Random(4)
    rows = []
    for query in range(200):
        luck = 0.3 + 0.5 * (query // 5 % 3 == 0)
        for _ in range(4):
            grade = int(choose.random() < luck)
            rows.append({"query_id": f"q{query}", "relevance": grade, "score": choose.random()})
            rows[-1] |= {"user_id": f"u{query // 5}", "country": f"c{query % 3}"}
    return pd.DataFrame(rows)


def test_clusters_are_an_attribute_a_mapping_a_sequence_or_a_column(tmp_path):
    log = make_clustered_log()
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


def test_runs_take_clusters_in_the_order_of_the_judgments():
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


def test_queries_without_a_cluster_are_independent():
    rankings = Rankings.from_lists([[1], [0, 1]] * 20)
    clusters = ["a", "a", None, float("nan"), *map(str, range(36))]
    found = rankings.evaluate("RR", interval=0.95, cluster=clusters)
    assert found.estimates["RR"].clusters == 39


def test_clusters_need_an_interval():
    with pytest.raises(rs.UsageError, match="no effect without an interval"):
        Rankings.from_lists([[1], [0, 1]]).evaluate("RR", cluster=[1, 2])


def test_heavy_weights_and_missing_intervals_are_noted():
    rankings = Rankings.from_lists([[1], [0, 1]] * 20)
    weights = [9.0, *[1.0] * 39]
    found = rankings.evaluate(["RR", "DCG@2"], interval=0.95, weights=weights).small_print
    # Kish: (9 + 39)^2 / (81 + 39) = 19.2.
    assert "weights: 40 weighted queries count as much as 19.2 with equal weights" in str(found)
    few = Rankings.from_lists([[1], [0, 1]] * 2).evaluate(["RR", "DCG@2"], interval=0.95)
    assert "no interval of DCG@2: a dense interval needs 6 or more queries" in str(few.small_print)
