"""Integer IDs are noted where ordering ties by their text moves grades, and nowhere else."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Log = list[tuple[int, int, float, float]]
"""Rows of query, document, grade (NaN where unjudged) and score."""


def moves(log: Log, *, ascending: bool = False) -> int:
    """Count queries in which the grades of ties in the order of texts aren't those of numbers."""
    count = 0
    for _, rows in groupby(sorted(log), key=lambda row: row[0]):
        ties = groupby(sorted(rows, key=lambda row: row[3]), key=lambda row: row[3])
        moved = False
        for _, same in ties:
            tied = list(same)
            as_text = sorted(tied, key=lambda row: str(row[1]), reverse=not ascending)
            as_numbers = sorted(tied, key=lambda row: row[1], reverse=not ascending)
            moved |= str([row[2] for row in as_text]) != str([row[2] for row in as_numbers])
        count += moved
    return count


def judgments(log: Log) -> dict[int, dict[int, float]]:
    found: dict[int, dict[int, float]] = {}
    for query, doc, grade, _ in log:
        found.setdefault(query, {99_999: 0.0})
        if not np.isnan(grade):
            found[query][doc] = grade
    return found


def run_of(log: Log) -> dict[int, dict[int, float]]:
    found: dict[int, dict[int, float]] = {}
    for query, doc, _, score in log:
        found.setdefault(query, {})[doc] = score
    return found


def frame(log: Log) -> pd.DataFrame:
    names = ["query_id", "doc_id", "relevance", "score"]
    table = pd.DataFrame(log, columns=names)
    return table[["query_id", "doc_id", "score"]]


def as_text(qrels: dict[int, dict[int, float]]) -> dict[str, dict[str, float]]:
    return {str(q): {str(d): grade for d, grade in docs.items()} for q, docs in qrels.items()}


def rows_of(log: Log) -> Any:  # noqa: ANN401 - rows have several types
    return [(query, doc, score) for query, doc, _, score in log]


def ties_of(policy: str) -> Any:  # noqa: ANN401 - a word of the policy
    return policy.removeprefix("ties=")


def scattered(log: Log, folder: Path) -> str:
    frame(log).sort_values("doc_id").to_parquet(folder / "run.parquet", index=False)
    return str(folder / "run.parquet")


WAYS: dict[str, Callable[[Log, Any, str], rs.Evaluation]] = {
    "mapping": lambda log, _, policy: rs.evaluate(judgments(log), run_of(log), "RR", policy=policy),
    "rows": lambda log, _, policy: rs.evaluate(judgments(log), rows_of(log), "RR", policy=policy),
    "frame": lambda log, _, policy: rs.evaluate(judgments(log), frame(log), "RR", policy=policy),
    "frame, judgments as text": lambda log, _, policy: rs.evaluate(
        as_text(judgments(log)), frame(log), "RR", policy=policy
    ),
    "file": lambda log, folder, policy: rs.evaluate(
        judgments(log), scattered(log, folder), "RR", policy=policy
    ),
    "rankings": lambda log, _, policy: rs.Rankings.from_run(
        judgments(log), run_of(log), ties=ties_of(policy)
    ).evaluate("RR"),
    "rankings of a frame": lambda log, _, policy: rs.Rankings.from_run(
        judgments(log), frame(log), ties=ties_of(policy)
    ).evaluate("RR"),
}

TIED: Log = [(1, 9, 0.0, 1.0), (1, 10, 1.0, 1.0), (2, 9, 1.0, 2.0), (2, 10, 0.0, 1.0)]


@pytest.mark.parametrize("way", WAYS)
def test_ties_whose_order_as_text_moves_grades_are_noted(way: str, tmp_path: Path) -> None:
    found = WAYS[way](TIED, tmp_path, "ties=doc_id")
    assert moves(TIED) == 1
    (note,) = (note for note in found.notes if note.code == "int_ids")
    assert "9 is greater than 10, and not as numbers: 1 (ties=doc_id)" in str(note)
    assert [*found.to_dict().values()] == [{"RR": 1 / 2}, {"RR": 1.0}]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ties", ["average", "input", "best", "worst"])
def test_ties_that_ids_do_not_decide_are_not_noted(way: str, ties: str, tmp_path: Path) -> None:
    assert "int_ids" not in WAYS[way](TIED, tmp_path, f"ties={ties}").diagnostics


def test_digits_that_are_text_are_not_noted() -> None:
    found = rs.evaluate(as_text(judgments(TIED)), as_text(run_of(TIED)), "RR")
    assert "int_ids" not in found.diagnostics


@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.integers(-20, 120),
            st.sampled_from([0.0, 1.0, 2.0, np.nan]),
            st.sampled_from([1.0, 2.0]),
        ),
        min_size=1,
        max_size=30,
        unique_by=lambda row: row[:2],
    ),
    st.booleans(),
)
def test_the_note_counts_the_queries_of_the_definition(log: Log, ascending: bool) -> None:
    policy = f"ties={'doc_id_asc' if ascending else 'doc_id'}"
    expected = moves(log, ascending=ascending)
    for way in ("mapping", "rows", "frame", "frame, judgments as text", "rankings"):
        found = WAYS[way](log, None, policy).diagnostics
        assert found.get("int_ids", 0) == expected, way


def test_a_table_notes_them_if_ids_decide_its_ties() -> None:
    table = pd.DataFrame(TIED, columns=["query_id", "doc_id", "relevance", "score"])
    assert rs.evaluate(table, "RR").diagnostics["int_ids"] == 1
    assert "int_ids" not in rs.evaluate(table, "RR", policy="ties=average").diagnostics
