"""P-values, intervals and estimates depend on the ids of queries, but not on how rows come."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.invariance.shuffled import (
    COUNTRIES,
    FORMS,
    NEW,
    OLD,
    QRELS,
    QUERIES,
    USERS,
    read,
    same,
    shuffle,
    tell,
    to_dict,
)

if TYPE_CHECKING:
    from pathlib import Path

MEASURES = ["nDCG@10", "AP", "RR"]
TESTS = ("permutation", "t", "bootstrap", "wilcoxon", "sign", "tukey")
FAST = {"permutations": 999, "bounds": False}
"""Few permutations are as sensitive to order as many."""
INTERVAL = rs.Interval(0.9, resamples=999)


def compare(order: int, measures: object = MEASURES, **choices: object) -> rs.Comparison:
    qrels, old, new = read(order)
    return rs.compare(qrels, {"old": old, "new": new}, measures, **{**FAST, **choices})


@pytest.mark.parametrize("test", TESTS)
def test_a_comparison_is_the_same_for_any_order_of_rows(test: str) -> None:
    assert same(lambda order: compare(order, test=test))


def test_a_comparison_of_clusters_and_slices_is_the_same_for_any_order_of_rows() -> None:
    assert same(lambda order: compare(order, cluster=USERS, by=COUNTRIES, correction="max-t"))


@pytest.mark.parametrize("test", TESTS)
def test_other_measures_and_slices_change_no_p_value_or_interval(test: str) -> None:
    def find(measures: object, **choices: object) -> list[object]:
        found = compare(0, measures, test=test, **choices)["nDCG@2", "new"]
        return [found.p, found.lower, found.upper, found.statistic]

    # Many queries have equal values of nDCG@2 under both runs, but not of AP.
    alone = find("nDCG@2")
    assert find(["RR", "nDCG@2", "Judged@3"]) == alone
    assert find(["nDCG@2", "RR", "AP", "R@10"], by=COUNTRIES) == alone


def test_corrected_p_values_do_not_depend_on_the_order_of_measures() -> None:
    for correction in ("max-t", "holm"):
        one, other = (
            compare(0, measures, correction=correction) for measures in (MEASURES, MEASURES[::-1])
        )
        for measure in MEASURES:
            assert tell(one[measure, "new"]) == tell(other[measure, "new"])


def test_each_measure_has_random_numbers_of_its_own() -> None:
    drawn = {name: {q: random.Random(f"{name}{q}").random() for q in QUERIES} for name in "ab"}
    bca = rs.Interval(method="bca")
    one, other = (
        rs.compare(drawn, name, values=True, interval=bca)[name, "b"] for name in ("AP", "RR")
    )
    assert (one.lower, one.upper) != (other.lower, other.upper)
    # Sign flips are shared, as max-T needs those of all measures together.
    one, other = (rs.compare(drawn, name, values=True)[name, "b"] for name in ("AP", "RR"))
    assert (one.p, one.lower, one.upper) == (other.p, other.lower, other.upper)


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "tukey"])
def test_a_seed_is_that_of_the_test_and_of_the_intervals(test: str) -> None:
    def find(**choices: object) -> list[float]:
        found = compare(0, test=test, **choices)["nDCG@10", "new"]
        return [found.p, found.lower, found.upper]

    for one, other in zip(find(), find(seed=1), strict=True):
        assert one != other
    assert find(seed=1) == find(interval=rs.Interval(seed=1))
    assert find(seed=1) == find(seed=1, interval=rs.Interval(seed=1))
    with pytest.raises(rs.UsageError, match="one seed"):
        find(seed=1, interval=rs.Interval(seed=2))


def test_a_table_is_compared_the_same_for_any_order_of_rows() -> None:
    rows = [
        {"query_id": query, "doc_id": doc, "relevance": grade, "old": old, "new": new}
        for (query, doc, grade), (*_, old), (*_, new) in zip(QRELS, OLD, NEW, strict=True)
    ]
    for row in rows:
        row |= {"user": USERS[str(row["query_id"])], "country": COUNTRIES[str(row["query_id"])]}

    def table(order: int) -> dict[str, list[object]]:
        shuffled = random.Random(order).sample(rows, len(rows)) if order else rows
        return {name: [row[name] for row in shuffled] for name in rows[0]}

    choices = {"by": "country", "cluster": "user"}
    assert same(
        lambda order: rs.compare(table(order), MEASURES, scores=["old", "new"], **choices, **FAST)
    )

    def evaluate(order: int) -> list[object]:
        found = rs.evaluate(table(order), MEASURES, score="new", interval=0.9, **choices)
        return [found.estimates, found.slices]

    assert same(evaluate)


def test_values_are_compared_the_same_for_any_order_of_queries() -> None:
    drawn = {name: {q: random.Random(f"{name}{q}").random() for q in QUERIES} for name in "ab"}

    def find(order: int) -> rs.Comparison:
        queries = random.Random(order).sample(QUERIES, len(QUERIES)) if order else QUERIES
        return rs.compare(
            {name: {q: own[q] for q in queries} for name, own in drawn.items()},
            values=True,
            permutations=999,
        )

    assert same(find)


def test_a_gate_has_the_same_verdict_for_any_order_of_rows_and_budgets() -> None:
    budgets = [
        rs.Budget("nDCG@10", max_drop=0.02),
        rs.Budget("AP", max_drop="2%", by="country"),
        rs.Budget("RR", max_loss=0.4),
        rs.Budget("P@5", minimum=0.3),
    ]
    ids = [*USERS]

    def find(order: int) -> list[object]:
        shuffled = random.Random(order).sample(ids, len(ids))
        attributes = {
            "query_id": shuffled,
            "user": [USERS[query] for query in shuffled],
            "country": [COUNTRIES[query] for query in shuffled],
        }
        given = budgets[::-1] if order % 2 else budgets
        found = [
            rs.gate(*read(order), given, attributes=attributes, cluster=cluster).checks
            for cluster in (None, "user")
        ]
        return [sorted(repr(tell(each)) for each in checks) for checks in found]

    assert same(find)


def test_a_difference_is_tested_the_same_for_any_order_of_rows() -> None:
    assert same(lambda order: rs.diff(*read(order), "nDCG@10"))


@pytest.mark.parametrize("method", ["auto", "dense", "bounded", "t", "bca"])
def test_an_interval_is_the_same_for_any_order_of_rows(method: str) -> None:
    interval = rs.Interval(method=method)
    weights = {str(query): 1 + query % 4 for query in QUERIES}

    def find(order: int) -> list[object]:
        qrels, run, other = read(order)
        return [
            rs.evaluate(qrels, run, MEASURES, interval=interval).estimates,
            rs.evaluate(qrels, run, MEASURES, interval=interval, cluster=USERS).estimates,
            rs.evaluate(qrels, run, MEASURES, interval=interval, weights=weights).estimates,
            rs.evaluate_samples(qrels, [run, other], MEASURES, interval=interval).estimates,
        ]

    assert same(find)


@pytest.mark.parametrize("aggregate", ["geometric", "median", "tail_mean(0.3)"])
def test_intervals_of_other_aggregates_are_the_same_for_any_order_of_rows(aggregate: str) -> None:
    def find(order: int) -> object:
        qrels, run, _ = read(order)
        policy = f"aggregate={aggregate}"
        return rs.evaluate(qrels, run, MEASURES, interval=INTERVAL, policy=policy).estimates

    assert same(find)


@pytest.mark.parametrize("form", FORMS)
def test_p_values_and_intervals_are_the_same_for_any_form_of_input_and_number_of_threads(
    form: str, tmp_path: Path
) -> None:
    qrels, run, _ = read(0)
    interval = rs.Interval(method="bca")
    expected = rs.evaluate(qrels, run, MEASURES, interval=interval).estimates
    compared = [tell(each) for each in compare(0)]
    for order, threads in ((0, 1), (1, 2), (2, 5)):
        qrels, old, new = (
            FORMS[form](shuffle(rows, order), value, tmp_path / f"{at}-{order}")
            for at, (rows, value) in enumerate(
                ((QRELS, "relevance"), (OLD, "score"), (NEW, "score"))
            )
        )
        found = rs.compare(qrels, {"old": old, "new": new}, MEASURES, threads=threads, **FAST)
        assert [tell(each) for each in found] == compared
        of_run = rs.evaluate(qrels, old, MEASURES[::-1], interval=interval, threads=threads)
        assert of_run.estimates == expected
        alone = rs.evaluate(qrels, old, "AP", interval=interval)
        assert alone.estimates["AP"] == expected["AP"]


def perturb(seed: str) -> list[tuple[int, str, float]]:
    """Return the grades of another judge."""
    draw = random.Random(seed).choice
    return [(query, doc, max(0, grade + draw([-1, 0, 0, 0.7]))) for query, doc, grade in QRELS]


def test_estimates_with_a_model_judge_are_the_same_for_any_order_of_rows() -> None:
    human = [row for row in QRELS if row[0] % 2]

    def find(order: int) -> list[object]:
        people, model, run, baseline = (
            to_dict(shuffle(rows, order and order + at))
            for at, rows in enumerate((human, perturb("model"), OLD, NEW))
        )
        found = [
            rs.evaluate_with_model_judge(people, model, run, MEASURES, baseline=other)
            for other in (None, baseline)
        ]
        found += [
            rs.estimate_dcg(people, model, run, "DCG@10", baseline=other)
            for other in (None, baseline)
        ]
        return [[each.means, repr(each.agreement)] for each in found]

    assert same(find)


def test_judges_agree_the_same_for_any_order_of_rows() -> None:
    judges = {name: perturb(name) for name in ("ann", "bob", "cat", "dan")}
    rows = [*zip(*judges.values(), strict=True)]

    def find(order: int) -> list[object]:
        shuffled = random.Random(order).sample(rows, len(rows)) if order else rows
        table: dict[str, list[object]] = {
            "query": [row[0][0] for row in shuffled],
            "doc": [row[0][1] for row in shuffled],
        }
        for at, name in enumerate(judges):
            table[name] = [row[at][2] if row[at][2] != 1 else None for row in shuffled]
        _, run, other = read(order)
        found = rs.judge_agreement(table, judges=[*judges])
        return [
            [found.alpha_nominal, found.alpha_ordinal, found.alpha_interval, found.pairs],
            rs.evaluate_judges(table, run, MEASURES, judges=[*judges]).means,
            rs.evaluate_judges(table, run, MEASURES, judges=[*judges], baseline=other).means,
        ]

    assert same(find)


def test_runs_agree_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> object:
        _, run, other = read(order)
        return rs.agreement(run, other).means

    assert same(find)


def make_clicks() -> list[dict[str, object]]:
    draw = random.Random(7)
    return [
        {
            "query_id": f"s{row // 4}",
            "doc_id": f"d{draw.randrange(30)}",
            "position": row % 4 + 1,
            "click": int(draw.random() < 0.5 / (row % 4 + 1) ** 0.5),
            "revenue": draw.random(),
            "propensity": draw.choice([0.2, 0.3, 0.5]),
            "target": draw.choice([0.1, 0.3, 0.6]),
            "predicted": draw.random(),
            # Some have no user.
            "user": None if row % 50 == 0 else f"u{row // 4 % 70}",
        }
        for row in range(1200)
    ]


CLICKS = make_clicks()


def log(order: int) -> dict[str, list[object]]:
    rows = random.Random(order).sample(CLICKS, len(CLICKS)) if order else CLICKS
    return {name: [row[name] for row in rows] for name in CLICKS[0]}


@pytest.mark.parametrize("cluster", [None, "user"])
def test_estimates_from_clicks_are_the_same_for_any_order_of_rows(cluster: str | None) -> None:
    items = sorted({str(row["doc_id"]) for row in CLICKS})
    target = {item: (at + 1) / 465 for at, item in enumerate(items)}

    def find(order: int) -> list[object]:
        given, choices = log(order), {"cluster": cluster}
        predicted = {"predicted": "predicted", "predicted_target": "predicted"}
        found = [
            rs.evaluate_off_policy(given, target="target", reward="revenue", **choices),
            rs.evaluate_off_policy(given, target="target", **predicted, **choices),
            rs.evaluate_off_policy(given, target=target, reward="revenue", **choices),
            rs.evaluate_off_policy(given, target="target", discount="log2", **choices),
        ]
        return [
            [each, each.value, each.lower, each.upper, each.change, each.logged, each.effective]
            for each in found
        ]

    assert same(find)
