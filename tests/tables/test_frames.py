"""Judgments and runs as data frames give what the same rows give in any other way."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import AP, RR, P, R, nDCG

MEASURES = [nDCG @ 5, nDCG, AP, RR, P @ 3, R @ 3, "Bpref", "NumRet", "Judged@5"]


def make_rows(seed: int) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, float]]]:
    """Judgments and retrieved documents with ties, misses, and queries of one side only."""
    choose = random.Random(seed)
    queries = choose.sample(range(1000), 30)
    qrels = [
        (query, doc, choose.choice([0, 0, 1, 2, -1]))
        for query in queries[:25]
        for doc in choose.sample(range(40), choose.randint(1, 12))
    ]
    run = [
        (query, doc, choose.choice([0.5, 1.0, 1.5, choose.random()]))
        for query in queries[5:]
        for doc in choose.sample(range(40), choose.randint(1, 12))
    ]
    choose.shuffle(qrels)
    choose.shuffle(run)
    return qrels, run


def as_text(rows: list[tuple[int, int, float]]) -> list[tuple[str, str, float]]:
    return [(str(query), str(doc), number) for query, doc, number in rows]


def make_frames(
    rows: list[tuple[int, int, float]], number: str, *, text: bool
) -> dict[str, object]:
    given = as_text(rows) if text else rows
    columns = dict(
        zip(["query_id", "doc_id", number], map(list, zip(*given, strict=True)), strict=True)
    )
    return {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "lazy": pl.DataFrame(columns).lazy(),
        "arrow": pa.table(columns),
        "chunks": pa.concat_tables([pa.table(columns).slice(0, 7), pa.table(columns).slice(7)]),
    }


def by_text(found: rs.Evaluation) -> dict[str, dict[str, float]]:
    """The values of each query by its text, which doesn't depend on the type of ids."""
    return {str(query): values for query, values in found.to_dict().items()}


@pytest.mark.parametrize(
    ("seed", "ties"), [*enumerate(["doc_id", "doc_id_asc", "input", "best", "worst"])]
)
@pytest.mark.parametrize(("judged_text", "run_text"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_frames_give_what_rows_give(
    seed: int, ties: str, *, judged_text: bool, run_text: bool
) -> None:
    qrels, run = make_rows(seed)
    policy = f"ties={ties}"
    expected = rs.evaluate(as_text(qrels), as_text(run), MEASURES, policy=policy)
    judged = make_frames(qrels, "relevance", text=judged_text)
    retrieved = make_frames(run, "score", text=run_text)
    for kind in judged:
        found = rs.evaluate(judged[kind], retrieved[kind], MEASURES, policy=policy)
        assert dict(found) == dict(expected)
        assert by_text(found) == by_text(expected)
        assert found.counts == expected.counts


@pytest.mark.parametrize("seed", range(4))
def test_judgments_of_a_frame_serve_any_run_and_any_judgments_serve_a_frame(seed: int) -> None:
    qrels, run = make_rows(seed)
    expected = rs.evaluate(as_text(qrels), as_text(run), MEASURES)
    judged = make_frames(qrels, "relevance", text=False)["pandas"]
    retrieved = make_frames(run, "score", text=False)["polars"]
    lists: dict[str, dict[str, float]] = {}
    for query, doc, score in as_text(run):
        lists.setdefault(query, {})[doc] = score
    held = rs.read_qrels(judged)
    for given in (as_text(run), lists, retrieved):
        assert by_text(rs.evaluate(held, given, MEASURES)) == by_text(expected)
        rankings = rs.Rankings.from_run(held, given)
        assert by_text(rankings.evaluate(MEASURES)) == by_text(expected)
    assert by_text(rs.evaluate(as_text(qrels), retrieved, MEASURES)) == by_text(expected)


def test_integer_ids_tie_by_their_decimal_text() -> None:
    qrels = pd.DataFrame({"query_id": [1], "doc_id": [9], "relevance": [1]})
    run = pd.DataFrame({"query_id": [1, 1], "doc_id": [9, 10], "score": [0.5, 0.5]})
    # "9" is after "10" by bytes, and the larger id comes first.
    assert rs.evaluate(qrels, run, RR)["RR"] == 1.0
    assert rs.Rankings.from_run(qrels, run).doc_ids("1") == [9, 10]


def test_a_frame_of_ranks_is_a_run() -> None:
    qrels = pd.DataFrame({"user_id": [1, 1], "item_id": [5, 6], "rel": [1, 1]})
    run = pd.DataFrame({"user_id": [1, 1, 1], "item_id": [4, 6, 5], "rank": [1, 2, 3]})
    assert rs.evaluate(qrels, run, AP)["AP"] == (1 / 2 + 2 / 3) / 2


def test_columns_are_named_where_their_names_are_unusual() -> None:
    qrels = pd.DataFrame({"customer": [1], "sku": [5], "bought": [1]})
    run = pd.DataFrame({"customer": [1, 1], "sku": [4, 5], "place": [1, 2]})
    names = {"query": "customer", "doc": "sku", "relevance": "bought", "rank": "place"}
    assert rs.evaluate(qrels, run, RR, columns=names)["RR"] == 0.5
    with pytest.raises(rs.PolicyError, match="the role of a column"):
        rs.evaluate(qrels, run, RR, columns={"queries": "customer"})


def test_judgments_given_twice_are_resolved_or_refused() -> None:
    frame = pd.DataFrame({"query_id": [1, 1, 1], "doc_id": [2, 3, 2], "relevance": [1, 0, 2]})
    run = {"1": {"2": 1.0}}
    with pytest.raises(rs.DuplicateError) as caught:
        rs.read_qrels(frame)
    assert caught.value.code == "duplicate_conflict"
    assert "in line 1 and 2 in line 3" in caught.value.message
    values = {
        way: rs.evaluate(frame, run, rs.DCG, duplicates=way)["DCG"] for way in ("first", "max")
    }
    assert values == {"first": 1.0, "max": 2.0}
    again = pd.DataFrame({"query_id": [1, 1], "doc_id": [2, 2], "relevance": [1, 1]})
    assert rs.evaluate(again, run, RR).diagnostics["duplicate_identical"] == 1


def test_scores_compare_in_single_precision_where_asked() -> None:
    run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [0.1 + 1e-12, 0.1]})
    qrels = {"q": {"b": 1}}
    assert rs.evaluate(qrels, run, RR)["RR"] == 0.5
    assert rs.evaluate(qrels, run, RR, score_type="float32")["RR"] == 1.0
    assert np.float32(0.1 + 1e-12) == np.float32(0.1)
