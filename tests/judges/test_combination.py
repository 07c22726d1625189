"""Grades of several judges, combined into one per document."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs

NAN = float("nan")
TABLE = {
    "query": ["q1", "q1", "q1", "q2", "q2"],
    "doc": ["a", "b", "c", "a", "z"],
    "x": [3, 0, 1, 2, NAN],
    "y": [3, 1, 2, NAN, NAN],
    "z": [0, 1, 3, 1, NAN],
}


@pytest.mark.parametrize(
    ("how", "grades", "ties"),
    [
        ("mean", [2.0, 2 / 3, 2.0, 1.5], 0),
        ("median", [3.0, 1.0, 2.0, 1.5], 0),
        # Of grades that are equally frequent, the lowest.
        ("majority", [3.0, 1.0, 1.0, 1.0], 2),
    ],
)
def test_grades_are_combined(how: str, grades: list[float], ties: int) -> None:
    combined = rs.combine_judges(TABLE, judges=["x", "y", "z"], how=how)
    assert combined.column("relevance") == tuple(grades)
    assert combined.column("doc_id") == ("a", "b", "c", "a")
    assert (combined.majority_ties, combined.left_out) == (ties, 1)


def test_disagreement_is_that_of_the_grades() -> None:
    combined = rs.combine_judges(TABLE, judges=["x", "y", "z"])
    assert combined.column("judges") == (3, 3, 3, 2)
    assert combined.column("range") == (3, 1, 2, 1)
    assert combined.column("disagreeing") == pytest.approx((1 / 3, 1 / 3, 2 / 3, 1 / 2))
    # The mean of 3, 3 and 0 is 2; NumPy sums in another order.
    assert combined.column("deviation") == pytest.approx(
        [np.std(grades, ddof=1) for grades in ([3, 3, 0], [0, 1, 1], [1, 2, 3], [2, 1])]
    )


def test_a_single_grade_has_no_deviation() -> None:
    table = {"query": ["q"], "doc": ["d"], "x": [1], "y": [NAN]}
    assert np.isnan(rs.combine_judges(table, judges=["x", "y"]).column("deviation")[0])


def test_combined_grades_are_judgments() -> None:
    combined = rs.combine_judges(TABLE, judges=["x", "y", "z"], how="median")
    run = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 1.0}}
    expected = rs.evaluate(combined.qrels, run, ["nDCG@10", "AP"]).to_dict()
    assert rs.evaluate(combined, run, ["nDCG@10", "AP"]).to_dict() == expected
    assert combined.qrels == {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"a": 1.5}}


def test_a_document_in_two_rows_is_refused() -> None:
    table = {"query": ["q", "q"], "doc": ["d", "d"], "x": [1, 1], "y": [1, 1]}
    with pytest.raises(rs.DuplicateError):
        rs.combine_judges(table, judges=["x", "y"])


def test_ids_that_are_numbers_are_text_in_judgments() -> None:
    table = {"query": [7], "doc": [1], "x": [1], "y": [2]}
    assert rs.combine_judges(table, judges=["x", "y"]).qrels == {"7": {"1": 1.5}}
