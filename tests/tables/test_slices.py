"""Attributes, slices, weights and intervals."""

from __future__ import annotations

import math
import random
import statistics

import pandas as pd
import pytest
import rankscope as rs
from rankscope import Rankings

from tests.refusals import refused


def make_log(seed: int) -> pd.DataFrame:
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
def test_a_slice_is_the_evaluation_of_its_rows(policy: str | None) -> None:
    log = make_log(1)
    rankings = Rankings.from_table(log, attributes=["country", "model"])
    slices = rankings.evaluate("nDCG@5", by="country", policy=policy).slices
    assert slices is not None
    assert sum(map(int, slices.column("queries"))) == log.query_id.nunique()
    for country, row in slices.to_dict().items():
        mine = log[log.country.fillna("<missing>") == country]
        alone = Rankings.from_table(mine).evaluate("nDCG@5", policy=policy)
        assert row["nDCG@5"] == alone["nDCG@5"]
        assert row["nDCG@5 n"] == alone.denominators["nDCG@5"]
        assert row["queries"] == alone.counts.queries


def test_several_attributes_and_mappings_slice_as_well() -> None:
    rankings = Rankings.from_table(make_log(2), attributes=["country", "model"])
    both = rankings.evaluate("RR", by=["country", "model"]).slices
    assert both is not None
    pairs = zip(both.column("country"), both.column("model"), strict=True)
    assert {("de", "v0"), (None, "v1")} < set(pairs)
    parity = {query: f"even={int(query) % 2 == 0}" for query in rankings.query_ids[1:]}
    sliced = rankings.evaluate("RR", by=parity).slices
    assert sliced is not None
    assert set(sliced.column("slice")) == {"even=True", "even=False", None}


def test_rows_that_differ_in_an_attribute_are_refused() -> None:
    log = pd.DataFrame({"qid": [1, 1], "rel": [1, 0], "score": [1, 2], "country": ["de", "at"]})
    with pytest.raises(rs.FormatError, match=r"expected one country .* `de` and `at`") as caught:
        Rankings.from_table(log, attributes=["country"])
    assert (caught.value.code, caught.value.line) == ("attribute_conflict", 2)
    refused(lambda: Rankings.from_table(log).evaluate("RR", by="country"), "unknown_attribute")


LISTS = [[0, 1], [1], [0, 0, 1], [0, 0, 0, 1]]
VALUES = [1 / 2, 1, 1 / 3, 1 / 4]


def test_weights_weigh_the_mean_in_whatever_form_they_come() -> None:
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


@pytest.mark.parametrize(
    "weights", [[1, 1, 1], [1, 1, 1, -1], [0, 0, 0, 0], [1, 1, 1, math.inf], ["a"] * 4, {"0": 1}]
)
def test_weights_that_are_none_are_refused(weights: object) -> None:
    refused(lambda: Rankings.from_lists(LISTS).evaluate("RR", weights=weights), "bad_weights")


def test_a_t_interval_is_the_textbook_s() -> None:
    interval = rs.Interval(0.95, method="t")
    lower, upper = Rankings.from_lists(LISTS).evaluate("RR", interval=interval).intervals["RR"]
    # Student's t with 3 degrees of freedom has its 97.5 % point at 3.182446305284263.
    half = 3.182446305284263 * statistics.stdev(VALUES) / math.sqrt(4)
    assert lower == pytest.approx(max(0, statistics.mean(VALUES) - half), abs=1e-12)
    # The textbook's would end above 1, which no reciprocal rank is.
    assert statistics.mean(VALUES) + half > 1 == upper


def test_a_bootstrap_interval_is_that_of_scipy_up_to_the_draws() -> None:
    scipy_stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    choose = random.Random(5)
    lists = [[0] * choose.randint(0, 6) + [1] for _ in range(80)]
    values = [1 / len(one) for one in lists]
    bca = rs.Interval(method="bca")
    mine = Rankings.from_lists(lists).evaluate("RR", interval=bca).intervals["RR"]
    theirs = scipy_stats.bootstrap(
        (values,), statistics.fmean, n_resamples=9999, method="BCa", vectorized=False
    ).confidence_interval
    assert mine == pytest.approx([theirs.low, theirs.high], abs=0.01)


def test_each_slice_has_an_interval_of_its_own() -> None:
    rankings = Rankings.from_table(make_log(3), attributes=["country"])
    slices = rankings.evaluate("RR", by="country", interval=0.9).slices
    assert slices is not None
    for row in slices.to_dict().values():
        assert row["RR lower"] <= row["RR"] <= row["RR upper"]


@pytest.mark.parametrize(
    "settings", [{"level": 0}, {"level": 1}, {"resamples": 5}, {"seed": -1}, {"method": "bayes"}]
)
def test_an_interval_outside_its_ranges_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(rs.PolicyError):
        rs.Interval(**settings)  # type: ignore[arg-type]


def test_only_means_have_a_t_interval() -> None:
    refused(
        lambda: Rankings.from_lists(LISTS).evaluate(
            "RR", policy="aggregate=median", interval=rs.Interval(method="t")
        ),
        "interval_unavailable",
    )
