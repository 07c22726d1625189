"""Which columns are found by their names, and what is said where none is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from rankscope._inputs.column_names import SYNONYMS
from rankscope.monitor.events.names import ITEM_NAMES, RANKING_NAMES

if TYPE_CHECKING:
    from pathlib import Path

BOUGHT: dict[str, list[object]] = {"user_id": [1, 1, 2], "item_id": [10, 11, 12]}
SHOWN: dict[str, list[object]] = {"user_id": [1, 1, 2], "item_id": [12, 10, 12], "rank": [1, 2, 1]}
VALUES = {"1": {"RR": 0.5, "R@2": 0.5}, "2": {"RR": 1.0, "R@2": 1.0}}


def by_text(found: rs.Evaluation) -> dict[str, dict[str, float]]:
    """Return the values by query, whose ids a file of text has as text."""
    return {str(query): values for query, values in found.to_dict().items()}


def test_interactions_without_grades_have_grade_1_and_a_note() -> None:
    found = rs.evaluate(pd.DataFrame(BOUGHT), pd.DataFrame(SHOWN), ["RR", "R@2"])
    assert by_text(found) == VALUES
    assert found.diagnostics["implicit_grades"] == 3
    assert "each counted as relevant with grade 1: 3" in str(found)


def test_repeated_interactions_count_once() -> None:
    twice = pd.concat([pd.DataFrame(BOUGHT)] * 2)
    found = rs.evaluate(twice, pd.DataFrame(SHOWN), ["RR", "R@2"])
    assert by_text(found) == VALUES
    assert found.diagnostics["duplicate_identical"] == 3


def test_times_beside_interactions_are_no_grades() -> None:
    times = pd.DataFrame(BOUGHT).assign(timestamp=[5, 6, 7])
    assert by_text(rs.evaluate(times, pd.DataFrame(SHOWN), ["RR", "R@2"])) == VALUES


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("price", "relevance='price'"),
        ("event", "pass only user_id and item_id"),
        ("score", "swapped"),
        ("rank", "swapped"),
    ],
)
def test_a_column_that_could_be_a_grade_is_not_passed_over(name: str, said: str) -> None:
    """A wrong number in silence is worse than an error."""
    with pytest.raises(rs.errors.FormatError, match="expected a column of relevance") as raised:
        rs.evaluate(pd.DataFrame(BOUGHT).assign(**{name: [1, 2, 3]}), pd.DataFrame(SHOWN), "RR")
    assert said in raised.value.hint


def test_ratings_are_grades() -> None:
    rated = pd.DataFrame(BOUGHT).assign(rating=[1, 0, 1])
    assert by_text(rs.evaluate(rated, pd.DataFrame(SHOWN), "R@2"))["1"] == {"R@2": 1.0}


def test_judgments_of_hugging_face_call_their_grades_score(tmp_path: Path) -> None:
    qrels = pd.DataFrame({"query-id": ["q", "q"], "corpus-id": ["a", "b"], "score": [2, 0]})
    path = tmp_path / "test.tsv"
    qrels.to_csv(path, sep="\t", index=False)
    for given in (qrels, pl.DataFrame(qrels), path):
        found = rs.evaluate(given, {"q": ["b", "a"]}, ["RR", "IDCG@1"])
        assert found.to_dict() == {"q": {"RR": 0.5, "IDCG@1": 2.0}}


def test_a_score_of_hugging_face_is_not_grade_and_score_at_once() -> None:
    qrels = pd.DataFrame({"query-id": ["q", "q"], "corpus-id": ["a", "b"], "score": [2, 0]})
    with pytest.raises(rs.errors.FormatError, match="expected a column of relevance"):
        rs.evaluate(qrels, "RR")


LOGS: dict[str, dict[str, list[object]]] = {
    "Arize": {
        "prediction_group_id": ["s", "s"],
        "prediction_id": ["x", "y"],
        "rank": [1, 2],
        "relevance_score": [0.0, 1.0],
    },
    "Arize, with scores": {
        "prediction_group_id": ["s", "s"],
        "prediction_id": ["x", "y"],
        "prediction_score": [0.9, 0.5],
        "relevance_score": [0.0, 1.0],
    },
    "User Behavior Insights": {
        "query_id": ["s", "s"],
        "user_query": ["tv", "tv"],
        "client_id": ["c", "c"],
        "object_id": ["x", "y"],
        "position": [1, 2],
        "label": [0, 1],
    },
    "RecTools": {
        "user_id": [1, 1],
        "item_id": [7, 8],
        "score": [0.9, 0.5],
        "rank": [1, 2],
        "target": [0, 1],
    },
    "LensKit": {"user": [1, 1], "item": [7, 8], "score": [0.9, 0.5], "rating": [0, 1]},
    "Evidently": {"user_id": [1, 1], "item_id": [7, 8], "prediction": [0.9, 0.5], "target": [0, 1]},
    "queries with their text": {
        "query_id": ["s", "s"],
        "query": ["tv", "tv"],
        "doc_id": ["x", "y"],
        "score": [0.9, 0.5],
        "label": [0, 1],
    },
}


@pytest.mark.parametrize("log", LOGS)
def test_the_columns_of_a_log_are_found(log: str, tmp_path: Path) -> None:
    table = pd.DataFrame(LOGS[log])
    table.to_csv(tmp_path / "log.csv", index=False)
    for given in (table, pl.DataFrame(table), tmp_path / "log.csv"):
        found = rs.evaluate(given, "RR")
        assert found["RR"] == 0.5
        assert found.counts.queries == 1


def test_events_of_user_behavior_insights_are_found_as_json_normalize_names_them() -> None:
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


def test_every_name_of_a_document_that_the_monitor_knows_is_known_to_tables() -> None:
    lists = {"query_response_hit_ids", "doc_ids", "item_ids", "scores", "grades"}
    pairs = [("doc", "doc_id"), ("rank", "rank"), ("score", "score"), ("relevance", "relevance")]
    for role, field in pairs:
        assert {*ITEM_NAMES[field]} - lists <= {*SYNONYMS[role]}
    assert {*RANKING_NAMES["ranking_id"]} <= {*SYNONYMS["query"]}


def test_a_name_has_one_role() -> None:
    names = [name for of in SYNONYMS.values() for name in of]
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
def test_a_hint_names_a_column_that_the_caller_has(columns: list[str], call: str) -> None:
    table = pd.DataFrame({name: [1, 2] for name in columns})
    with pytest.raises(rs.errors.FormatError) as raised:
        rs.evaluate(table, "RR")
    assert call in raised.value.hint
    assert "search_group_id" not in str(raised.value)
    for column in columns:
        assert column in raised.value.message


def test_a_mapping_of_columns_is_a_table_and_no_lists_by_query() -> None:
    columns = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [0, 1]}
    assert rs.evaluate(columns, {"q": ["a", "b"]}, "RR").to_dict() == {"q": {"RR": 0.5}}


def test_queries_called_as_columns_are_queries_where_they_hold_documents() -> None:
    judged = {"query": {"a": 1}, "item": {"b": 1}}
    assert rs.evaluate(judged, {"query": ["a"], "other": ["b"]}, "RR").to_dict() == {
        "query": {"RR": 1.0},
        "item": {"RR": 0.0},
    }


@pytest.mark.parametrize(("extra", "said"), [("session_key", "session_key"), ("day", "search_id")])
@pytest.mark.parametrize("form", ["frame", "file"])
def test_a_user_who_sees_an_item_twice_is_told_about_searches(
    extra: str, said: str, form: str, tmp_path: Path
) -> None:
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
    given = log if form == "frame" else tmp_path / "log.csv"
    for call in (
        lambda: rs.evaluate(given, "RR"),
        lambda: rs.Rankings.from_table(log),
        lambda: rs.evaluate({"1": ["7"]}, given, "RR"),  # type: ignore[arg-type]
    ):
        with pytest.raises(rs.errors.DuplicateError) as raised:
            call()
        assert "all rows with the same user_id count as one query" in raised.value.hint
        assert f"query={said!r}" in raised.value.hint
    if said == extra:
        assert rs.evaluate(given, "RR", query=extra)["RR"] == 0.5
    with pytest.raises(rs.errors.DuplicateError) as raised:
        rs.evaluate(given, "RR", query="user_id")
    assert "all rows with the same" not in raised.value.hint


def test_the_names_of_questions_and_chunks_are_found() -> None:
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
