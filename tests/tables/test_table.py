"""A table keeps arrays as they are, reads columns when asked, and leaves by four ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, DCG, RR, Rankings, Table, nDCG

from tests.generated import examples


def table(reads: list[str]) -> Table:
    def read_ids() -> list[str]:
        reads.append("query_id")
        return ["q1", "q2"]

    return Table({"query_id": read_ids, "value": np.array([0.5, np.nan]), "n": [3, 4]})


def test_a_column_that_is_a_function_is_read_once_and_only_when_asked_for() -> None:
    reads: list[str] = []
    made = table(reads)
    assert (len(made), made.names) == (2, ("query_id", "value", "n"))
    assert reads == []
    assert made.column("query_id") == ("q1", "q2")
    assert str(made) == "query_id   value  n\nq1        0.5000  3\nq2           nan  4"
    assert reads == ["query_id"]


def test_arrays_leave_as_numbers_of_python_and_as_columns_of_libraries() -> None:
    made = table([])
    assert made.to_dict()["q1"] == {"value": 0.5, "n": 3}
    assert type(made.column("value")[0]) is float
    for frame in (made.to_pandas(), made.to_polars()):
        assert frame["n"].to_list() == [3, 4]
    assert made.to_arrow()["query_id"].to_pylist() == ["q1", "q2"]
    assert made.to_arrow()["value"].to_pylist()[0] == 0.5


def test_an_array_is_given_without_a_copy() -> None:
    values = np.arange(3.0)
    assert Table({"value": values}).array("value") is values
    assert Table({"n": [1, 2]}).array("n").tolist() == [1, 2]


def test_a_list_that_changes_later_does_not_change_the_table() -> None:
    given = [1, 2]
    made = Table({"n": given})
    given.append(3)
    assert made.column("n") == (1, 2)


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
