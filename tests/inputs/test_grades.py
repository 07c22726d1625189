"""Grades between 0 and 1, which a note counts where a measure needs 1, and grades given twice."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GRADES = {"q1": {"a": 0.9, "b": 0.1, "c": 1.0, "d": 0.0}, "q2": {"a": 0.5, "b": 2.0}}
RUN = {query: list(docs) for query, docs in GRADES.items()}
ROWS = [(query, doc, grade) for query, docs in GRADES.items() for doc, grade in docs.items()]
FRAME = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "relevance"])


def count(qrels: object, *measures: str) -> int:
    return rs.evaluate(qrels, RUN, measures).diagnostics.get("fractional_rel", 0)


@pytest.mark.parametrize("form", ["dict", "rows", "frame", "trec", "csv", "parquet"])
def test_they_are_counted_in_every_form(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"qrels.{form}"
    if form == "trec":
        path.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in ROWS))
    elif form == "csv":
        FRAME.to_csv(path, index=False)
    elif form == "parquet":
        FRAME.to_parquet(path)
    given = {"dict": GRADES, "rows": ROWS, "frame": FRAME}.get(form, path)
    assert count(given, "nDCG", "AP") == 3


def test_one_table_tells_too() -> None:
    log = FRAME.assign(score=1.0)
    assert rs.evaluate(log, "P@2").diagnostics["fractional_rel"] == 3


@pytest.mark.parametrize("measure", ["nDCG@10", "DCG", "AP(rel=0.5)", "ERR@5"])
def test_there_is_no_note_where_no_measure_needs_a_grade_of_1(measure: str) -> None:
    assert count(GRADES, measure) == 0


@pytest.mark.parametrize("measure", ["AP", "RR", "P@5", "R@5", "Rprec", "Success@1", "AP(rel=2)"])
def test_there_is_one_where_a_measure_does(measure: str) -> None:
    assert count(GRADES, measure) == 3


WAYS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda grades: [("q", "a", grade) for grade in grades],
    "file": lambda grades: "".join(f"q 0 a {grade}\n" for grade in grades).encode(),
    "table": lambda grades: {"query_id": ["q"] * 3, "doc_id": ["a"] * 3, "relevance": [*grades]},
    "integers": lambda grades: {"query_id": [7] * 3, "doc_id": [8] * 3, "relevance": [*grades]},
    "subtopics": lambda grades: [("q", "1", "a", grade) for grade in grades],
}


@pytest.mark.parametrize("grades", [*permutations((1, 3, 2))])
@pytest.mark.parametrize("way", WAYS)
def test_the_largest_of_three_grades_stands(way: str, grades: tuple[int, ...]) -> None:
    run: Any = {7: {8: 1.0}} if way == "integers" else {"q": {"a": 1.0}}
    choices: Any = {"subtopics": True} if way == "subtopics" else {}
    for duplicates, expected in (("max", 3.0), ("first", float(grades[0]))):
        choices["duplicates"] = duplicates
        assert rs.evaluate(WAYS[way](grades), run, "DCG@1", **choices)["DCG@1"] == expected
