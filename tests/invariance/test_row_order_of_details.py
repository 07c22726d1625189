"""What values are made of, plans, fits and reports don't depend on how rows come, either."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import rankscope as rs
from rankscope.report import gather

from tests.invariance.shuffled import (
    COUNTRIES,
    NEW,
    OLD,
    QRELS,
    QUERIES,
    USERS,
    read,
    same,
    shuffle,
    to_dict,
)

ROUNDED = [(query, doc, float(round(score))) for query, doc, score in OLD if doc < "d7"]
"""A run with ties, in which documents are missing."""
SOME = [(query, doc, grade) for query, doc, grade in QRELS if (query + int(doc[1:])) % 3]
"""Not all documents are judged."""
BRANDS = {f"d{doc}": "xyz"[doc % 3] for doc in range(12)}


def rank(order: int) -> tuple[rs.Rankings, rs.Rankings]:
    """Return two runs with ties, of which not all documents are judged."""
    qrels = to_dict(shuffle(SOME, order))
    runs = (to_dict(shuffle(rows, order and order + 1)) for rows in (ROUNDED, NEW))
    one, other = (rs.Rankings.from_run(qrels, run, ties="doc_id") for run in runs)
    return one, other


def test_losses_are_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> list[object]:
        one, other = rank(order)
        found = one.losses(
            "nDCG@3", by=COUNTRIES, cluster=USERS, interval=0.9, stages={"first": other}
        )
        return [found, found.means, found.intervals, str(found.slices), found.notes]

    assert same(find)


def test_explanations_are_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> list[object]:
        one, _ = rank(order)
        return [str(one.explain(str(query), "nDCG@10")) for query in QUERIES[4:14]]

    assert same(find)


def test_bounds_and_ties_are_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> list[object]:
        one, other = rank(order)
        bounds = [one.bounds("nDCG@3"), one.bounds("AP", against=other)]
        ties = [one.ties(name) for name in ("nDCG@3", "RR")]
        return [
            *((each, each.mean, each.openness) for each in bounds),
            *((each, each.summary, each.by_precision) for each in ties),
        ]

    assert same(find)


def test_differences_are_listed_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> list[object]:
        qrels, old, new = read(order)
        found = rs.diff(qrels, old, new, "P@3")
        return [str(found), found.queries.rows(), str(found.explain("10"))]

    assert same(find)


def test_conventions_are_reconciled_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> list[object]:
        some = [row for row in ROUNDED if row[0] % 9]
        qrels, run = (to_dict(shuffle(rows, order)) for rows in (QRELS, some))
        names = ["trec_eval", "sklearn"]
        found = rs.reconcile(qrels, run, "nDCG@3", got="0.123", conventions=names)
        pairs = ("trec_eval", "sklearn"), ("trec_eval", "rankscope")
        return [str(found), *(str(found.differ(*pair, limit=9)) for pair in pairs)]

    assert same(find)


def test_orders_of_systems_agree_the_same_for_any_order_of_systems() -> None:
    names = [f"system {number}" for number in range(8)]
    one = {name: number // 2 / 10 for number, name in enumerate(names)}
    other = {name: Random(name).random() for name in names}

    def find(order: int) -> object:
        mixed = Random(order).sample(names, len(names)) if order else names
        return repr(
            rs.agreement_of_orders(
                {name: one[name] for name in mixed}, {name: other[name] for name in mixed[::-1]}
            )
        )

    assert same(find)


@pytest.mark.parametrize("paired", [True, False])
def test_a_study_is_planned_the_same_for_any_order_of_queries(*, paired: bool) -> None:
    pairs = [(Random(query).random(), Random(f"{query}").random()) for query in range(1, 300)]

    def find(order: int) -> object:
        one, other = zip(*Random(order).sample(pairs, len(pairs)) if order else pairs, strict=True)
        found = rs.power(one, other, effect=[0.01, 0.05], paired=paired)
        return [found.standard_deviations, found.minimum_detectable, found.queries_needed]

    assert same(find)


def test_weights_of_a_fusion_are_the_same_for_any_order_of_rows() -> None:
    def find(order: int) -> list[object]:
        qrels, old, new = read(order)
        runs = {"old": old, "new": new}
        fit = rs.fit_fusion(qrels, runs, "nDCG@5")
        return [fit, rs.fuse(runs, "combsum", weights=fit.weights)]

    assert same(find)


def test_judgments_are_combined_the_same_for_any_order_of_rows() -> None:
    rows = [(query, doc, grade, grade + 1, grade % 2) for query, doc, grade in QRELS]

    def find(order: int) -> list[object]:
        columns = zip(*Random(order).sample(rows, len(rows)) if order else rows, strict=True)
        table = dict(zip(("query_id", "doc_id", "ann", "bob", "cat"), columns, strict=True))
        found = rs.combine_judges(table, judges=["ann", "bob", "cat"])
        return [*sorted(found.rows()), found.majority_ties, found.left_out]

    assert same(find)


def test_matrices_are_scored_the_same_for_any_order_of_rows() -> None:
    grades, scores = (
        np.array([value for *_, value in rows]).reshape(len(QUERIES), -1) for rows in (QRELS, OLD)
    )
    weights = np.arange(1, len(QUERIES) + 1) / 7

    def find(order: int) -> list[object]:
        places = np.random.default_rng(order).permutation(len(QUERIES))
        given = grades[places], scores[places]
        return [
            rs.ndcg_score(*given, k=5),
            rs.dcg_score(*given, k=5, sample_weight=weights[places]),
        ]

    assert same(find)


def test_a_report_is_the_same_for_any_order_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "MOST_VALUES", 40)  # not all queries are shown

    def find(order: int) -> list[object]:
        qrels, old, new = (to_dict(shuffle(rows, order)) for rows in (QRELS, ROUNDED, NEW))
        found = rs.report(qrels, {"old": old, "new": new}, ["P@1", "nDCG@5"], worst=4)
        names: tuple[str, ...] = found.__match_args__
        contents = {name: repr(getattr(found, name)) for name in names}
        # The table of queries has them in the order of the judgments.
        contents["tables"] = repr([sorted(table.rows()) for table in found.tables])
        return [contents]

    assert same(find)
