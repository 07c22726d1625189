"""Columns of tables: found by their names, kept as they are, and read when asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, DCG, RR, Rankings, Table, nDCG
from rankscope._inputs.column_names import FOLDED, SYNONYMS
from rankscope._names import fold
from rankscope.monitor.events.names import ITEM_NAMES, RANKING_NAMES

from tests.generated import examples

BOUGHT = {"user_id": [1, 1, 2], "item_id": [10, 11, 12]}
SHOWN = {"user_id": [1, 1, 2], "item_id": [12, 10, 12], "rank": [1, 2, 1]}
VALUES = {"1": {"RR": 0.5, "R@2": 0.5}, "2": {"RR": 1.0, "R@2": 1.0}}


def by_text(found):
    """Return the values by query, whose ids a file of text has as text."""
    return {str(query): values for query, values in found.to_dict().items()}


def test_interactions_without_grades_have_grade_1_and_a_note():
    found = rs.evaluate(pd.DataFrame(BOUGHT), pd.DataFrame(SHOWN), ["RR", "R@2"])
    assert by_text(found) == VALUES
    assert found.diagnostics["implicit_grades"] == 3
    assert "each counted as relevant with grade 1: 3" in str(found)


def test_interactions_may_be_repeated_or_have_times():
    twice = pd.concat([pd.DataFrame(BOUGHT)] * 2)
    times = pd.DataFrame(BOUGHT).assign(timestamp=[5, 6, 7])
    for bought, repeated in ((twice, 3), (times, 0)):
        found = rs.evaluate(bought, pd.DataFrame(SHOWN), ["RR", "R@2"])
        assert by_text(found) == VALUES
        assert found.diagnostics.get("duplicate_identical", 0) == repeated


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("price", "relevance='price'"),
        ("event", "pass only user_id and item_id"),
        ("score", "swapped"),
        ("rank", "swapped"),
    ],
)
def test_a_column_that_could_be_a_grade_is_not_passed_over(name, said):
    """A wrong number in silence is worse than an error."""
    with pytest.raises(rs.errors.FormatError, match="expected a column of relevance") as raised:
        rs.evaluate(pd.DataFrame(BOUGHT).assign(**{name: [1, 2, 3]}), pd.DataFrame(SHOWN), "RR")
    assert said in raised.value.hint


def test_ratings_are_grades():
    rated = pd.DataFrame(BOUGHT).assign(rating=[1, 0, 1])
    assert by_text(rs.evaluate(rated, pd.DataFrame(SHOWN), "R@2"))["1"] == {"R@2": 1.0}


def test_judgments_of_hugging_face_call_their_grades_score(tmp_path):
    """But no column is grade and score at once."""
    qrels = pd.DataFrame({"query-id": ["q", "q"], "corpus-id": ["a", "b"], "score": [2, 0]})
    path = tmp_path / "test.tsv"
    qrels.to_csv(path, sep="\t", index=False)
    for data in (qrels, pl.DataFrame(qrels), path):
        found = rs.evaluate(data, {"q": ["b", "a"]}, ["RR", "IDCG@1"])
        assert found.to_dict() == {"q": {"RR": 0.5, "IDCG@1": 2.0}}
    with pytest.raises(rs.errors.FormatError, match="expected a column of relevance"):
        rs.evaluate(qrels, "RR")


LOGS = {
    "Arize": "prediction_group_id prediction_id rank relevance_score",
    "Arize, with scores": "prediction_group_id prediction_id prediction_score relevance_score",
    "User Behavior Insights": "query_id user_query client_id object_id position label",
    "RecTools": "user_id item_id score rank target",
    "LensKit": "user item score rating",
    "Evidently": "user_id item_id prediction target",
    "queries with their text": "query_id query doc_id score label",
}
CELLS = {
    **dict.fromkeys(["prediction_id", "object_id", "item_id", "item", "doc_id"], (7, 8)),
    **dict.fromkeys(["score", "prediction_score", "prediction"], (0.9, 0.5)),
    **dict.fromkeys(["rank", "position"], (1, 2)),
    **dict.fromkeys(["relevance_score", "label", "target", "rating"], (0, 1)),
}
"""The cells of two rows, by the name of their column; the others have the same text in both."""


@pytest.mark.parametrize("log", LOGS)
def test_the_columns_of_a_log_are_found(log, tmp_path):
    table = pd.DataFrame({name: CELLS.get(name, ("s", "s")) for name in LOGS[log].split()})
    table.to_csv(tmp_path / "log.csv", index=False)
    for data in (table, pl.DataFrame(table), tmp_path / "log.csv"):
        found = rs.evaluate(data, "RR")
        assert found["RR"] == 0.5
        assert found.counts.queries == 1


def test_events_of_user_behavior_insights_are_found_as_json_normalize_names_them():
    events = pd.json_normalize(
        [
            {
                "query_id": "q",
                "action_name": action,
                "event_attributes": {"object": {"object_id": item}, "position": {"ordinal": at}},
            }
            for item, at, action in (("x", 1, "impression"), ("y", 2, "click"))
        ]
    )
    found = rs.evaluate(events, "RR", labels="action_name", positive="click")
    assert found["RR"] == 0.5


def test_every_name_of_a_document_that_the_monitor_knows_is_known_to_tables():
    lists = {"query_response_hit_ids", "doc_ids", "item_ids", "scores", "grades"}
    pairs = [("doc", "doc_id"), ("rank", "rank"), ("score", "score"), ("relevance", "relevance")]
    for role, field in pairs:
        assert {*map(fold, {*ITEM_NAMES[field]} - lists)} <= FOLDED[role]
    assert {*map(fold, RANKING_NAMES["ranking_id"])} <= FOLDED["query"]


def test_a_name_has_one_role():
    names = [fold(name) for of in SYNONYMS.values() for name in of]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("columns", "call"),
    [
        (["customer", "item_id", "label", "score"], "query='customer'"),
        (["session_key", "item_id", "label", "score"], "query='session_key'"),
        (["query_id", "item_id", "was_clicked", "score"], "relevance='was_clicked'"),
        (["query_id", "item_id", "label", "my_rank"], "rank='my_rank'"),
        (["query_id", "item_id", "label", "probability"], "score='probability'"),
    ],
)
def test_a_hint_names_a_column_that_the_caller_has(columns, call):
    table = pd.DataFrame({name: [1, 2] for name in columns})
    with pytest.raises(rs.errors.FormatError) as raised:
        rs.evaluate(table, "RR")
    assert call in raised.value.hint
    assert "search_group_id" not in str(raised.value)
    for column in columns:
        assert column in raised.value.message


def test_queries_called_as_columns_are_queries_where_they_hold_documents():
    judged = {"query": {"a": 1}, "item": {"b": 1}}
    assert rs.evaluate(judged, {"query": ["a"], "other": ["b"]}, "RR").to_dict() == {
        "query": {"RR": 1.0},
        "item": {"RR": 0.0},
    }


@pytest.mark.parametrize(("extra", "said"), [("session_key", "session_key"), ("day", "search_id")])
@pytest.mark.parametrize("form", ["frame", "file"])
def test_a_user_who_sees_an_item_twice_is_told_about_searches(extra, said, form, tmp_path):
    log = pd.DataFrame(
        {
            "user_id": [1, 1],
            "item_id": [7, 7],
            extra: ["a", "b"],
            "label": [0, 1],
            "score": [0.9, 0.5],
        }
    )
    log.to_csv(tmp_path / "log.csv", index=False)
    data = log if form == "frame" else tmp_path / "log.csv"
    for call in (
        lambda: rs.evaluate(data, "RR"),
        lambda: rs.Rankings.from_table(log),
        lambda: rs.evaluate({"1": ["7"]}, data, "RR"),
    ):
        with pytest.raises(rs.errors.DuplicateError) as raised:
            call()
        assert "all rows with the same user_id count as one query" in raised.value.hint
        assert f"query={said!r}" in raised.value.hint
    if said == extra:
        assert rs.evaluate(data, "RR", query=extra)["RR"] == 0.5
    with pytest.raises(rs.errors.DuplicateError) as raised:
        rs.evaluate(data, "RR", query="user_id")
    assert "all rows with the same" not in raised.value.hint


def test_the_names_of_questions_and_chunks_are_found():
    rows = {
        "question_id": ["a", "a", "b"],
        "question": ["How?", "How?", "Why?"],
        "chunk_id": ["c1", "c2", "c1"],
        "rank": [1, 2, 1],
        "is_relevant": [False, True, True],
    }
    expected = {"a": {"RR": 0.5}, "b": {"RR": 1.0}}
    assert rs.evaluate(rows, "RR").to_dict() == expected
    rows["relevant"] = rows.pop("is_relevant")
    del rows["question_id"]
    assert rs.evaluate(rows, "RR").to_dict() == {"How?": {"RR": 0.5}, "Why?": {"RR": 1.0}}


def table(reads):
    def read_ids():
        reads.append("query_id")
        return ["q1", "q2"]

    return Table({"query_id": read_ids, "value": np.array([0.5, np.nan]), "n": [3, 4]})


def test_a_column_that_is_a_function_is_read_once_and_only_when_asked_for():
    reads = []
    made = table(reads)
    assert (len(made), made.names) == (2, ("query_id", "value", "n"))
    assert reads == []
    assert made.column("query_id") == ("q1", "q2")
    assert str(made) == "query_id   value  n\nq1        0.5000  3\nq2           nan  4"
    assert reads == ["query_id"]


def test_arrays_leave_as_numbers_of_python_and_as_columns_of_libraries():
    made = table([])
    assert made.to_dict()["q1"] == {"value": 0.5, "n": 3}
    assert type(made.column("value")[0]) is float
    for frame in (made.to_pandas(), made.to_polars()):
        assert frame["n"].to_list() == [3, 4]
    assert made.to_arrow()["query_id"].to_pylist() == ["q1", "q2"]
    assert made.to_arrow()["value"].to_pylist()[0] == 0.5


def test_an_array_is_given_without_a_copy_and_a_list_is_copied():
    values, listed = np.arange(3.0), [1, 2]
    assert Table({"value": values}).array("value") is values
    made = Table({"n": listed})
    listed.append(3)
    assert made.column("n") == (1, 2)
    assert made.array("n").tolist() == [1, 2]


lists = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=8),
    min_size=1,
    max_size=5,
)


@examples(60)
@given(queries=lists, seed=st.integers(0, 99))
def test_tables_matrices_groups_and_dicts_agree(queries, seed):
    rows = [(q, d, *pair) for q, docs in enumerate(queries) for d, pair in enumerate(docs)]
    sizes = [len(docs) for docs in queries]
    y_true, y_score = np.full((2, len(queries), max(sizes)), np.nan)
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
    qrels, run = (
        {
            f"q{q}": {str(d): float(pair[at]) for d, pair in enumerate(docs)}
            for q, docs in enumerate(queries)
        }
        for at in (0, 1)
    )
    expected = rs.evaluate(qrels, run, measures, policy="ties=average")
    for rankings in found:
        assert dict(rankings.evaluate(measures)) == dict(expected)
    by_ids = rs.evaluate(qrels, run, measures)
    assert dict(rs.evaluate(table, measures)) == dict(by_ids)
    assert dict(Rankings.from_table(table).evaluate(measures)) == dict(by_ids)
