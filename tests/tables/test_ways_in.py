"""One ranking gives one answer, whatever holds it: frames, Arrow, matrices, groups, lists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, DCG, RR, Rankings, nDCG

from tests.generated import examples

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
