"""What a first guess with a table gives: the right number, or an error that says what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = [7, 3, 9, 5]


def make_log() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": [query for query in QUERIES for _ in range(2)],
            "user_id": ["ann"] * 4 + ["bob"] * 4,
            "item_id": [1, 2] * 4,
            "gains": [1, 0] * 4,
            "score": [2.0, 1.0, 1.0, 2.0] * 2,
            "other": [2.0, 1.0] * 4,
        }
    )


def test_a_user_beside_a_query_id_is_not_taken_for_the_query() -> None:
    evaluation = rs.evaluate(make_log(), "RR")
    assert evaluation.query_texts == ["7", "3", "9", "5"]
    assert len(rs.compare(make_log(), "RR", scores=["score", "other"]).comparisons) == 1


def test_a_file_is_read_by_the_same_rule(tmp_path: Path) -> None:
    for name, write in (("log.csv", "to_csv"), ("log.parquet", "to_parquet")):
        getattr(make_log(), write)(tmp_path / name, index=False)
        assert rs.evaluate(tmp_path / name, "RR").query_texts == ["7", "3", "9", "5"]


def test_an_attribute_with_the_name_of_a_role_does_not_take_its_place(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": ["a", "b"], "query": ["x", "x"], "score": [1, 2]})
    frame["relevance"] = [1, 0]
    frame.to_csv(path := tmp_path / "rows.csv", index=False)
    for table in (frame, path):
        assert list(rs.evaluate(table, "RR", query="user", by="query").query_ids) == ["a", "b"]


def test_a_user_beside_an_ambiguous_name_is_still_an_error() -> None:
    with pytest.raises(rs.FormatError, match="topic and user_id"):
        rs.evaluate(make_log().rename(columns={"query_id": "topic"}), "RR")


def test_a_missing_score_is_named_as_such_in_the_hint() -> None:
    with pytest.raises(rs.FormatError) as caught:
        rs.evaluate(make_log().drop(columns="score"), "RR")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("name it: score=")


def test_weights_by_integer_queries_count_as_those_by_text() -> None:
    by_number = {query: float(at + 1) for at, query in enumerate(QUERIES)}
    by_text = {str(query): weight for query, weight in by_number.items()}
    expected = (1 + 0.5 * 2 + 3 + 0.5 * 4) / 10
    for weights in (by_number, by_text, list(by_number.values())):
        assert rs.evaluate(make_log(), "RR", weights=weights)["RR"] == expected


def test_a_series_of_weights_is_lined_up_by_its_index_of_queries() -> None:
    in_order = pd.Series([1.0, 2.0, 3.0, 4.0], index=QUERIES)
    expected = rs.evaluate(make_log(), "RR", weights=list(in_order))["RR"]
    assert rs.evaluate(make_log(), "RR", weights=in_order.sort_index())["RR"] == expected
    in_rows = in_order.reset_index(drop=True)
    assert rs.evaluate(make_log(), "RR", weights=in_rows)["RR"] == expected


def test_weights_can_be_a_column() -> None:
    weights = dict(zip(QUERIES, [1.0, 2.0, 3.0, 4.0], strict=True))
    log = make_log()
    log["w"] = log["query_id"].map(weights)
    expected = rs.evaluate(make_log(), "RR", weights=weights)["RR"]
    assert rs.evaluate(log, "RR", weights="w")["RR"] == expected
    with pytest.raises(rs.FormatError, match="expected the column 'w'"):
        rs.evaluate(make_log(), "RR", weights="w")
    with pytest.raises(rs.FormatError, match="a weight that is not a number"):
        rs.evaluate(log.assign(w="heavy"), "RR", weights="w")


def test_clusters_are_a_column_or_a_mapping() -> None:
    users = dict(zip(QUERIES, ["ann", "ann", "bob", "cat"], strict=True))
    log = make_log()
    log["who"] = log["query_id"].map(users)
    for given in (users, pd.Series(users).sort_index(), pd.Series([*users.values()])):
        by_column = rs.evaluate(log, "RR", interval=0.95, cluster="who")
        assert rs.evaluate(log, "RR", interval=0.95, cluster=given).intervals == by_column.intervals
        scores = ["score", "other"]
        pair = rs.compare(log, "RR", scores=scores, cluster="who")["RR", "other"]
        assert rs.compare(log, "RR", scores=scores, cluster=given)["RR", "other"] == pair


def test_slices_by_integer_queries_are_found() -> None:
    rankings = rs.Rankings.from_table(make_log())
    countries = dict(zip(QUERIES, ["de", "de", "at", "at"], strict=True))
    for by in (countries, pd.Series(countries).sort_index()):
        slices = rankings.evaluate("RR", by=by).slices
        assert slices is not None
        assert slices.to_dict()["de"]["queries"] == 2
    with pytest.raises(rs.UsageError, match="a slice for none of the queries"):
        rankings.evaluate("RR", by={"x": "de"})


def test_ranks_are_not_compared_as_scores() -> None:
    log = make_log().rename(columns={"score": "old_rank", "other": "new_rank"})
    with pytest.raises(rs.UsageError, match="'old_rank' has ranks, but larger scores"):
        rs.compare(log, "RR", scores=["old_rank", "new_rank"])
    log["old_rank"], log["new_rank"] = -log["old_rank"], -log["new_rank"]
    found = rs.compare(log, "RR", scores=["old_rank", "new_rank"])
    assert found.means["old_rank"]["RR"] == 0.75
