"""Intervals that include the judges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope.judges.judged_evaluation import JudgedMean, estimate_crossed

from tests.parity.real import find


def estimate(values: np.ndarray) -> JudgedMean:
    """Estimate a mean from the values [queries, judges]."""
    count = values.shape[1]
    without = ((values.sum(axis=1, keepdims=True) - values) / (count - 1)).T
    limits = (-np.inf, np.inf)
    return estimate_crossed(rs.nDCG, values.mean(axis=1), without, level=0.95, limits=limits)


def test_variance_is_that_of_queries_and_judges() -> None:
    values = np.random.default_rng(1).normal(size=(30, 4))
    found = estimate(values)
    of_queries = values.mean(axis=1).var(ddof=1) / 30
    of_judges = values.mean(axis=0).var(ddof=1) / 4
    of_both = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum() / (4 * 3 * 30**2)
    own = max(of_judges - of_both, 0)
    assert found.judge_share == pytest.approx(own / (own + of_queries), rel=1e-9)


def test_intervals_cover_the_mean_of_all_queries_and_judges() -> None:
    random = np.random.default_rng(2)
    trials, covered, by_queries = 400, 0, 0
    for _ in range(trials):
        generosity = random.normal(0, 0.08, 3)
        values = random.normal(0, 0.25, (60, 1)) + generosity + random.normal(0, 0.1, (60, 3))
        found = estimate(values)
        covered += found.lower <= 0 <= found.upper
        by_queries += found.lower_queries <= 0 <= found.upper_queries
    assert covered / trials > 0.95 - 2 * (0.95 * 0.05 / trials) ** 0.5
    assert by_queries / trials < 0.9


def tabulate(generosity: float) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    random = np.random.default_rng(3)
    rows = [(f"q{query}", f"d{doc}") for query in range(40) for doc in range(5)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id"])
    table["ann"] = random.integers(0, 3, len(table))
    table["bob"] = table["ann"] + generosity * (random.random(len(table)) < 0.5)
    run = {f"q{query}": {f"d{doc}": random.random() for doc in range(5)} for query in range(40)}
    return table, run


def test_intervals_are_wider_where_judges_disagree() -> None:
    shares = []
    for generosity in (0, 1, 2):
        table, run = tabulate(generosity)
        mean = rs.evaluate_judges(table, run, "DCG@5", judges=["ann", "bob"])["DCG@5"]
        shares.append(mean.judge_share)
        assert mean.lower <= mean.lower_queries < mean.upper_queries <= mean.upper
    assert shares[0] == 0
    assert shares == sorted(shares)


def test_the_mean_is_that_of_the_combined_grades() -> None:
    table, run = tabulate(1)
    combined = rs.combine_judges(table, judges=["ann", "bob"], how="majority")
    found = rs.evaluate_judges(table, run, ["nDCG@3", "AP"], judges=["ann", "bob"], how="majority")
    expected = rs.evaluate(combined.qrels, run, ["nDCG@3", "AP"])
    assert [mean.value for mean in found.means] == pytest.approx([*expected.values()], rel=1e-12)
    long = table.melt(["query_id", "doc_id"], var_name="judge", value_name="grade")
    again = rs.evaluate_judges(long, run, ["nDCG@3", "AP"], judge="judge", how="majority")
    assert again.to_dict() == found.to_dict()


def test_a_difference_has_less_of_the_judges() -> None:
    table, run = tabulate(2)
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in run.items()}
    one = rs.evaluate_judges(table, run, "DCG@3", judges=["ann", "bob"])["DCG@3"]
    both = rs.evaluate_judges(table, run, "DCG@3", judges=["ann", "bob"], baseline=other)["DCG@3"]
    assert both.judge_share < one.judge_share
    means = [
        rs.evaluate_judges(table, each, "DCG@3", judges=["ann", "bob"])["DCG@3"].value
        for each in (run, other)
    ]
    assert both.value == pytest.approx(means[0] - means[1])


def test_one_judge_is_refused() -> None:
    table = {"query": ["q"], "doc": ["d"], "rater": ["x"], "grade": [1]}
    with pytest.raises(rs.InputError) as caught:
        rs.evaluate_judges(table, {"q": {"d": 1.0}}, "RR", judge="rater")
    assert caught.value.code == "too_few_judges"


def test_three_raters_of_products_widen_the_interval() -> None:
    path = find("chorus/Broad_Query_Set_individual_ratings.csv")
    names = [f"agent_{number}_rating" for number in (1, 2, 3)]
    lists = rs.combine_judges(path, judges=names).qrels
    run = {query: {doc: -float(at) for at, doc in enumerate(docs)} for query, docs in lists.items()}
    mean = rs.evaluate_judges(path, run, "nDCG@10", judges=names)["nDCG@10"]
    assert mean.queries == 135
    assert 0 < mean.judge_share < 0.5
