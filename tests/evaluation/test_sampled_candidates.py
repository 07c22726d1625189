"""Lists that look like samples of candidates are noted."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs


def lists(queries: int, size: int, relevant: int = 1) -> list[list[int]]:
    random = np.random.default_rng(4)
    row = [1] * relevant + [0] * (size - relevant)
    return [random.permutation(row).tolist() for _ in range(queries)]


def test_lists_that_look_like_sampled_candidates_are_noted() -> None:
    evaluation = rs.Rankings.from_lists(lists(12, 101)).evaluate("nDCG@10")
    assert evaluation.diagnostics == {"sampled_candidates": 12}
    assert "to decide between systems, rank all items" in str(evaluation)


@pytest.mark.parametrize(("queries", "noted"), [(9, {}), (10, {"sampled_candidates": 10})])
def test_ten_lists_look_like_sampled_candidates_and_fewer_do_so_by_chance(
    queries: int, noted: dict[str, int]
) -> None:
    assert rs.Rankings.from_lists(lists(queries, 101)).evaluate("nDCG@10").diagnostics == noted


def test_a_run_and_a_table_of_sampled_candidates_are_noted() -> None:
    rows = {"q": [], "doc_id": [], "label": [], "score": []}
    for query, grades in enumerate(lists(15, 21)):
        rows["q"] += [query] * 21
        rows["doc_id"] += [*range(21)]
        rows["label"] += grades
        rows["score"] += [float(21 - at) for at in range(21)]
    found = rs.evaluate(rows, "RR", query="q")
    assert found.diagnostics["sampled_candidates"] == 15
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, doc, label, score in zip(*rows.values(), strict=True):
        qrels.setdefault(f"q{query}", {})[f"d{doc}"] = label
        run.setdefault(f"q{query}", {})[f"d{doc}"] = score
    assert rs.evaluate(qrels, run, "RR").diagnostics == {"sampled_candidates": 15}
    # Without explicit grades of 0, this is the list of a search engine.
    few = {query: {doc: 1 for doc, grade in docs.items() if grade} for query, docs in qrels.items()}
    assert rs.evaluate(few, run, "RR").diagnostics == {}


@pytest.mark.parametrize(
    "given",
    [lists(9, 101), lists(12, 19), lists(12, 101, 2), lists(12, 101) + lists(1, 102)],
    ids=["few queries", "short lists", "two relevant", "other sizes"],
)
def test_other_lists_are_not_noted(given: list[list[int]]) -> None:
    assert rs.Rankings.from_lists(given).evaluate("nDCG@10").diagnostics == {}
