"""Several runs by name, in a list, a folder or a pattern, each named after its file."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs
from rankscope.cli import main

from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
ONE = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TWO = b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TABLE = b"query_id,doc_id,score\nq1,d2,2.0\nq1,d1,1.0\nq2,d3,1.0\n"


def means(evaluations: Mapping[str, rs.Evaluation]) -> dict[str, float]:
    return {name: evaluation["RR"] for name, evaluation in evaluations.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, content in {"a.run": ONE, "b.run": TWO, ".hidden": b"?", "_SUCCESS": b""}.items():
        (folder / name).write_bytes(content)
    return folder


def test_files_of_a_folder_or_a_pattern_are_runs(folder: Path) -> None:
    expected = {"a.run": 1.0, "b.run": 0.75}
    for given in (folder, f"{folder}/*.run", [f"{folder}/*"], rs.File(str(folder))):
        assert means(rs.evaluate(QRELS, given, "RR")) == expected  # type: ignore[call-overload]
    compared = rs.compare(QRELS, folder, "RR")  # type: ignore[arg-type]  # several
    assert {name: of["RR"] for name, of in compared.means.items()} == expected
    assert rs.fuse(str(folder)).names == ("a.run", "b.run")  # type: ignore[arg-type]  # several
    assert "b.run: RR 0.7500" in str(rs.report(QRELS, str(folder), "RR"))


def test_table_files_of_a_folder_are_one_run_unless_runs_are_compared(tmp_path: Path) -> None:
    for name, rows in {"a.csv": b"q1,d1,1\n", "b.csv": b"q2,d3,1\n"}.items():
        (tmp_path / name).write_bytes(b"query_id,doc_id,score\n" + rows)
    assert rs.evaluate(QRELS, tmp_path, "RR")["RR"] == 1.0
    compared = rs.compare(QRELS, tmp_path, "RR")  # type: ignore[arg-type]  # several
    assert {name: of["RR"] for name, of in compared.means.items()} == {"a.csv": 0.5, "b.csv": 0.5}


def test_table_files_beside_trec_runs_are_refused_where_either_could_be_meant(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_bytes(TABLE)
    (tmp_path / "README.md").write_text("These are the runs of May.")
    assert rs.evaluate(QRELS, tmp_path, "RR")["RR"] == 0.75
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(ONE))
    error = refused(lambda: rs.evaluate(QRELS, tmp_path, "RR"), "schema_mismatch", "a.csv and")
    assert "*.run" in error.hint
    found = rs.evaluate(QRELS, [f"{tmp_path}/a.csv", f"{tmp_path}/*.gz"], "RR")
    assert means(found) == {"a.csv": 0.75, "b.run.gz": 1.0}


def test_the_command_line_takes_folders_and_patterns(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    qrels = str(tmp_path / "qrels.txt")
    for runs in (str(folder), f"{folder}/*.run"):
        assert main(["eval", qrels, runs, "-m", "RR"]) == 0
        out = capsys.readouterr().out
        assert out == f"measure\t{folder}/a.run\t{folder}/b.run\nRR\t1.0000\t0.7500\n"
        assert main(["compare", qrels, runs, "-m", "RR", "--csv"]) == 0
        assert "b.run" in capsys.readouterr().out
        page = str(tmp_path / "page.html")
        assert main(["report", qrels, runs, "-o", page]) == 0
        assert main(["fuse", runs]) == 0
        assert capsys.readouterr().out.count("\n") > 3


JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUNS = {
    "old": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}},
    "new": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}},
}


def test_the_table_has_a_row_per_run_and_a_column_per_measure() -> None:
    frame = rs.evaluate(JUDGED, RUNS, ["RR", "P@1"]).to_pandas()
    assert frame.columns.tolist() == ["run", "RR", "P@1"]
    assert frame["RR"].tolist() == [0.75, 1.0]
    lines = str(rs.evaluate(JUDGED, RUNS, "RR")).splitlines()
    assert lines[:4] == ["run      RR", "old  0.7500", "new  1.0000", "2 queries"]


def test_frames_and_paths_are_runs_too(tmp_path: Path) -> None:
    frames, paths = {}, []
    for name, run in RUNS.items():
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        frames[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        paths.append(tmp_path / f"{name}.csv")
        frames[name].to_csv(paths[-1], index=False)
    plain = rs.evaluate(JUDGED, RUNS, "RR").table.to_dict()
    assert rs.evaluate(JUDGED, frames, "RR").table.to_dict() == plain  # type: ignore[call-overload]  # frames have no type here
    listed = rs.evaluate(JUDGED, [str(path) for path in paths], "RR")
    assert [each["RR"] for each in listed.values()] == [0.75, 1.0]
    assert [*listed] == ["old.csv", "new.csv"]
    with pytest.raises(rs.UsageError, match="one path twice"):
        rs.evaluate(JUDGED, [str(paths[0])] * 2, "RR")


def test_a_name_that_is_not_there_says_which_are() -> None:
    found = rs.evaluate(JUDGED, RUNS, "RR")
    with pytest.raises(KeyError, match="did you mean 'new'"):
        found["nex"]
    assert "<table>" in found._repr_html_()


def test_one_run_stays_one_result() -> None:
    assert isinstance(rs.evaluate(JUDGED, RUNS["old"], "RR"), rs.Evaluation)
    assert isinstance(rs.evaluate(JUDGED, [("q1", "a", 1.0)], "RR"), rs.Evaluation)
    with pytest.raises(rs.EmptyError):
        rs.evaluate(JUDGED, {}, "RR")
