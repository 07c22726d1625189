"""Grades between 0 and 1 are not relevant where a measure needs a grade of 1; a note says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs

if TYPE_CHECKING:
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
