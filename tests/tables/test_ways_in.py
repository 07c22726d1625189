"""One ranking gives one answer, whatever holds it: frames, Arrow, matrices, groups, lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, DCG, RR, Rankings, nDCG

from tests.generated import examples

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS: dict[str, list[object]] = {
    "search_group_id": [7, 7, 8, 7, 8, 8],
    "item_id": ["a", "b", "a", "é", "c", "d"],
    "gains": [1.0, 0.0, 2.0, 3.0, None, 1.0],
    "ranks": [1, 2, 3, 3, 1, 2],
}
FORMS: dict[str, Callable[[dict[str, list[object]]], object]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "mapping": dict,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_is_the_same_ranking(form: str) -> None:
    rankings = Rankings.from_table(FORMS[form](COLUMNS))
    assert rankings.query_ids == [7, 8]
    assert rankings.doc_ids("7") == ["a", "b", "é"]
    assert rankings.doc_ids("8") == ["c", "d", "a"]
    assert rankings.relevance.tolist()[:3] == [1, 0, 3]
    assert math.isnan(rankings.relevance[3])
    log2 = math.log2
    first = (1 / log2(2) + 3 / log2(4)) / (3 / log2(2) + 1 / log2(3))
    second = (1 / log2(3) + 2 / log2(4)) / (2 / log2(2) + 1 / log2(3))
    found = rankings.evaluate([nDCG @ 3, AP])
    assert found.per_query_list("nDCG@3") == pytest.approx([first, second], abs=1e-15)
    assert found.per_query_list("AP") == [(1 / 1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2]


lists = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=8),
    min_size=1,
    max_size=5,
)


@examples(60)
@given(queries=lists, seed=st.integers(0, 99))
def test_tables_matrices_groups_and_dicts_agree(
    queries: list[list[tuple[int, int]]], seed: int
) -> None:
    rows = [(q, d, *pair) for q, docs in enumerate(queries) for d, pair in enumerate(docs)]
    sizes = [len(docs) for docs in queries]
    width = max(sizes)
    y_true, y_score = np.full((2, len(queries), width), np.nan)
    for q, d, grade, score in rows:
        y_true[q, d], y_score[q, d] = grade, score
    grades = np.array([row[2] for row in rows])
    scores = np.array([row[3] for row in rows], dtype=float)
    order = np.random.default_rng(seed).permutation(len(rows))
    order = order[np.argsort(order != 0, kind="stable")]  # the first query is named first
    table = pd.DataFrame(rows, columns=["qid", "doc_id", "rel", "score"]).iloc[order]
    table = table.assign(qid="q" + table["qid"].astype(str), doc_id=table["doc_id"].astype(str))
    measures = [nDCG @ 2, nDCG(gain="exp2"), AP, RR, DCG @ 3]
    found = [
        Rankings.from_arrays(y_true, y_score),
        Rankings.from_groups(grades, scores, sizes),
        Rankings.from_table(table, ties="average"),
    ]
    qrels: dict[str, dict[str, float]] = {f"q{q}": {} for q in range(len(queries))}
    run: dict[str, dict[str, float]] = {f"q{q}": {} for q in range(len(queries))}
    for q, d, grade, score in rows:
        qrels[f"q{q}"][str(d)] = grade
        run[f"q{q}"][str(d)] = float(score)
    expected = rs.evaluate(qrels, run, measures, policy="ties=average")
    for rankings in found:
        evaluation = rankings.evaluate(measures)
        assert dict(evaluation) == dict(expected)
    by_ids = rs.evaluate(qrels, run, measures)
    assert dict(rs.evaluate(table, measures)) == dict(by_ids)
    assert dict(Rankings.from_table(table).evaluate(measures)) == dict(by_ids)
