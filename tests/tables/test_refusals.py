"""What tables and arrays cannot be is refused, by a typed error with its code."""

from __future__ import annotations

import decimal
import fractions

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from rankscope import Rankings, ndcg_score
from rankscope.errors import RankscopeError

GOOD: dict[str, object] = {"qid": ["q", "q"], "doc": ["a", "b"], "rel": [1, 0], "score": [2.0, 1.0]}


def refusal(**changes: object) -> RankscopeError:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_table(GOOD | changes)
    assert refused.value.hint
    return refused.value


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"score": [2.0, float("nan")]}, "score_nan"),
        ({"score": [2.0, float("inf")]}, "score_overflow"),
        ({"score": [2.0, None]}, "missing_score"),
        ({"score": ["2.0", "x"]}, "score_not_number"),
        ({"score": [True, False]}, "score_not_number"),
        ({"score": np.array([2**53 + 1, 1])}, "inexact_number"),
        ({"score": [2.0]}, "length_mismatch"),
        ({"score": np.array([[2.0], [1.0]])}, "array_shape"),
        ({"score": np.array([1 + 2j, 3])}, "score_not_number"),
        (
            {"score": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")},
            "score_not_number",
        ),
        ({"score": [fractions.Fraction(1, 3), 1]}, "score_not_number"),
        ({"rel": [1, float("inf")]}, "rel_out_of_range"),
        ({"rel": ["high", "low"]}, "rel_not_number"),
        ({"qid": [1.5, 2.5]}, "id_type"),
        ({"qid": ["q", None]}, "missing_id"),
        ({"qid": [True, False]}, "id_type"),
        ({"qid": ["q", 7]}, "id_type"),
        ({"qid": ["q", "a\0b"]}, "nul_byte"),
        ({"doc": ["a", "a"]}, "duplicate_doc"),
        ({"doc": np.array([2**63, 1], dtype=np.uint64)}, "id_type"),
        ({"qid": [], "doc": [], "rel": [], "score": []}, "empty_input"),
        ({"topic_id": ["u", "v"]}, "columns"),
    ],
)
def test_a_bad_column_is_refused(changes: dict[str, object], code: str) -> None:
    assert refusal(**changes).code == code


def test_the_row_of_a_mistake_is_named() -> None:
    assert refusal(score=[2.0, float("nan")]).line == 2
    assert refusal(qid=["q", None]).line == 2
    assert refusal(doc=["a", "a"]).line == 2


def test_a_missing_column_is_named_with_what_is_there() -> None:
    with pytest.raises(RankscopeError, match="column of relevance") as refused:
        Rankings.from_table({"qid": ["q"], "score": [1.0]})
    assert refused.value.code == "columns"
    with pytest.raises(RankscopeError, match="'scor' of score") as named:
        Rankings.from_table(GOOD, score="scor")
    assert named.value.hint == "did you mean 'score'?"


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([["q", 1, 2.0, 3.0]], columns=["qid", "rel", "score", "score"])
    with pytest.raises(RankscopeError, match="more than once"):
        Rankings.from_table(frame)


def test_ranks_that_contradict_scores_are_refused_and_ranks_that_agree_are_not() -> None:
    assert refusal(rank=[2, 1]).code == "rank_score_disagree"
    rankings = Rankings.from_table(GOOD | {"rank": [1, 2]})
    assert rankings.doc_ids("q") == ["a", "b"]


def test_decimals_are_numbers() -> None:
    scores = pa.array([decimal.Decimal("0.5"), decimal.Decimal("0.25")])
    assert Rankings.from_table(pa.table(GOOD | {"score": scores})).scores.tolist() == [0.5, 0.25]


def test_duplicates_are_resolved_as_asked() -> None:
    table = {"qid": ["q"] * 3, "doc": ["a", "b", "a"], "rel": [0, 1, 2], "score": [1.0, 2.0, 3.0]}
    first = Rankings.from_table(table, duplicates="first")
    largest = Rankings.from_table(table, duplicates="max")
    assert (first.scores.tolist(), first.relevance.tolist()) == ([2, 1], [1, 0])
    assert (largest.scores.tolist(), largest.relevance.tolist()) == ([3, 2], [2, 1])
    assert first.evaluate("RR").diagnostics == {"duplicates_resolved": 1}


@pytest.mark.parametrize("table", [5, [1, 2], object()])
def test_what_is_no_table_is_refused(table: object) -> None:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_table(table)
    assert refused.value.code == "input_type"


@pytest.mark.parametrize(
    ("y_true", "y_score", "code"),
    [
        ([[1, 0]], [[0.5]], "length_mismatch"),
        ([[1, 0], [1]], [[0.5, 1], [1]], "not_numeric"),
        (np.zeros((1, 1, 1)), np.zeros((1, 1, 1)), "array_shape"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "empty_input"),
        ([["a", "b"]], [[1, 2]], "not_numeric"),
    ],
)
def test_a_bad_matrix_is_refused(y_true: object, y_score: object, code: str) -> None:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_arrays(y_true, y_score)  # type: ignore[arg-type]
    assert refused.value.code == code


@pytest.mark.parametrize("sizes", [[1], [3], [-1, 3], [0.5, 1.5]])
def test_group_sizes_that_do_not_fit_are_refused(sizes: list[float]) -> None:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_groups([1, 0], [0.5, 0.7], sizes)
    assert refused.value.code in {"length_mismatch", "group_sizes"}


def test_ties_by_ids_need_ids() -> None:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_arrays([[1, 0]], [[1, 1]], ties="doc_id")
    assert refused.value.code == "ties_need_ids"


@pytest.mark.parametrize(("score", "code"), [(np.nan, "score_nan"), (np.inf, "score_overflow")])
def test_scores_of_groups_are_numbers(score: float, code: str) -> None:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_groups([1, 0], [0.5, score], [2])
    assert (refused.value.code, refused.value.line) == (code, 2)


def test_infinite_scores_and_grades_are_refused_everywhere() -> None:
    for make in (
        lambda: Rankings.from_arrays([[1, 0]], [[1, np.inf]]),
        lambda: Rankings.from_arrays([[1, -np.inf]], [[1, 2]]),
        lambda: Rankings.from_lists([[1, -np.inf]]),
        lambda: Rankings.from_lists([[1]], ideal=[[np.inf]]),
        lambda: Rankings.from_lists([[1]], ideal=[[np.nan]]),
    ):
        with pytest.raises(RankscopeError):
            make()


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, np.nan], ["a", "b"]])
def test_weights_that_do_not_fit_are_refused(weights: list[float]) -> None:
    with pytest.raises(RankscopeError):
        ndcg_score([[1, 0], [0, 1]], [[1, 2], [1, 2]], sample_weight=weights)
