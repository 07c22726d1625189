"""`evaluate` takes several runs by name, or as a list of paths, and returns one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUNS = {
    "old": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}},
    "new": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}},
}


def test_the_table_has_a_row_per_run_and_a_column_per_measure() -> None:
    frame = rs.evaluate(QRELS, RUNS, ["RR", "P@1"]).to_pandas()
    assert frame.columns.tolist() == ["run", "RR", "P@1"]
    assert frame["RR"].tolist() == [0.75, 1.0]
    lines = str(rs.evaluate(QRELS, RUNS, "RR")).splitlines()
    assert lines[:4] == ["run      RR", "old  0.7500", "new  1.0000", "2 queries"]


def test_frames_and_paths_are_runs_too(tmp_path: Path) -> None:
    frames, paths = {}, []
    for name, run in RUNS.items():
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        frames[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        paths.append(tmp_path / f"{name}.csv")
        frames[name].to_csv(paths[-1], index=False)
    plain = rs.evaluate(QRELS, RUNS, "RR").table.to_dict()
    assert rs.evaluate(QRELS, frames, "RR").table.to_dict() == plain  # type: ignore[call-overload]  # frames have no type here
    listed = rs.evaluate(QRELS, [str(path) for path in paths], "RR")
    assert [each["RR"] for each in listed.values()] == [0.75, 1.0]
    assert [*listed] == ["old.csv", "new.csv"]
    with pytest.raises(rs.UsageError, match="one path twice"):
        rs.evaluate(QRELS, [str(paths[0])] * 2, "RR")


def test_a_name_that_is_not_there_says_which_are() -> None:
    found = rs.evaluate(QRELS, RUNS, "RR")
    with pytest.raises(KeyError, match="did you mean 'new'"):
        found["nex"]
    assert "<table>" in found._repr_html_()


def test_one_run_stays_one_result() -> None:
    assert isinstance(rs.evaluate(QRELS, RUNS["old"], "RR"), rs.Evaluation)
    assert isinstance(rs.evaluate(QRELS, [("q1", "a", 1.0)], "RR"), rs.Evaluation)
    with pytest.raises(rs.EmptyError):
        rs.evaluate(QRELS, {}, "RR")
