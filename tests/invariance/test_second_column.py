"""Judgments by subtopic or by stratum give the same bits, whatever way they come in."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope
from rankscope.measures import TABLE

from tests.invariance.variants import variants

if TYPE_CHECKING:
    from pathlib import Path

Rows = list[tuple[str, str, str, float]]
ROWS: dict[str, Rows] = {
    "subtopic": [
        ("q", "2", "b", 1.0),
        ("q", "1", "b", 2.0),
        ("q", "1", "a", 1.0),
        ("q", "3", "z", 0.0),
        ("q", "2", "x", 1.0),
        ("p", "9", "a", 1.0),
    ],
    "stratum": [
        ("q", "1", "a", 1.0),
        ("q", "2", "b", -1.0),
        ("q", "2", "c", 2.0),
        ("q", "2", "x", 0.0),
        ("p", "9", "a", 1.0),
    ],
}
"""Of query, subtopic or stratum, document and grade."""
LINES = {"subtopic": "{0} {1} {2} {3}\n", "stratum": "{0} 0 {2} {1} {3}\n"}
RUN = {"q": {"a": 3.0, "u": 2.0, "b": 1.0, "z": 0.0, "c": -1.0}, "p": {"a": 1.0}}


@pytest.mark.parametrize("kind", ROWS)
def test_every_way_in_gives_the_same_bits(kind: str, tmp_path: Path) -> None:
    rows = ROWS[kind]
    frame = pd.DataFrame(rows, columns=["query_id", kind, "doc_id", "relevance"])
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for query, second, document, grade in rows:
        nested.setdefault(query, {}).setdefault(second, {})[document] = grade
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(LINES[kind].format(*row) for row in rows), encoding="utf-8")
    frame.to_csv(tmp_path / "qrels.csv", index=False)
    run_rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    lines = "".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in run_rows)
    run.write_text(lines, encoding="utf-8")
    run_frame = pd.DataFrame(run_rows, columns=["query_id", "doc_id", "score"])
    ways = [rows[::-1], nested, frame, qrels, tmp_path / "qrels.csv"]
    if kind == "subtopic":
        ways.append(frame.rename(columns={"subtopic": "iteration"}))

    of_kind = [
        row for row in TABLE.values() if (row.strata if kind == "stratum" else row.subtopics)
    ]
    measures = [*(one for row in of_kind for one in variants(row)), "nDCG@10"]
    expected = rankscope.evaluate(rows, RUN, measures).to_dict()
    for given in ways:
        for given_run in (RUN, run_rows, run_frame, run):
            found = rankscope.evaluate(given, given_run, measures)  # type: ignore[call-overload]
            assert sorted(found.to_dict().items()) == sorted(expected.items())
    is_stratum = kind == "stratum"
    held = rankscope.read_qrels(rows, subtopics=not is_stratum, strata=is_stratum)
    rankings = rankscope.Rankings.from_run(held, RUN)
    for again in (rankings, pickle.loads(pickle.dumps(rankings))):  # noqa: S301 - our own bytes
        assert again.evaluate(measures).to_dict() == expected
