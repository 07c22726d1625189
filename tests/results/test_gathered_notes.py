"""A note of several runs is one, and says which they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rankscope as rs

from tests.cli.command import run

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{at}": {"d1": 1} for at in range(4)}
MISSING = [0, 1, 3, 1, 0, 2, 2, 1, 1, 1, 1, 0]
"""How many queries each of twelve runs lacks."""
RUNS = {
    f"run{at:02}": {query: {"d1": 1.0} for query in list(QRELS)[missing:]}
    for at, missing in enumerate(MISSING)
}
LACKING = sum(missing > 0 for missing in MISSING)


def test_a_note_of_many_runs_says_how_many_they_are() -> None:
    comparison = rs.compare(QRELS, RUNS, "RR")
    assert [str(note) for note in comparison.notes] == [
        (
            f"{LACKING} of 12 runs: judged queries that are not in the run: 1 to 3 (missing=zero) "
            "[n_missing]"
        )
    ]
    assert comparison.diagnostics == {"n_missing": sum(MISSING)}


def test_a_note_of_few_runs_names_them() -> None:
    runs = {name: RUNS[name] for name in ("run00", "run01", "run03")}
    (note,) = rs.compare(QRELS, runs, "RR").notes
    assert str(note).startswith("run01, run03: judged queries that are not in the run: 1 (")
    (note,) = rs.compare(QRELS, {"a": RUNS["run00"], "b": RUNS["run01"]}, "RR").notes
    assert str(note).startswith("b: judged queries that are not in the run: 1 (")


def test_a_note_that_all_runs_share_names_none() -> None:
    runs = {"a": RUNS["run01"], "b": RUNS["run03"]}
    (note,) = rs.compare(QRELS, runs, "RR").notes
    assert str(note).startswith("judged queries that are not in the run: 1 (")


def test_the_report_lists_a_note_once_with_its_runs() -> None:
    (remark,) = rs.report(QRELS, RUNS, "RR").remarks
    assert len(remark.runs) == LACKING
    assert "not in the run: 1 to 3 (missing=zero)" in str(remark.note)


def test_the_program_prints_a_note_of_twelve_files_once(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d1 1\n" for query in QRELS))
    for name, lists in RUNS.items():
        lines = "".join(f"{query} Q0 d1 {2 + at % 2} 1 r\n" for at, query in enumerate(lists))
        (tmp_path / f"{name}.txt").write_text(lines)
    files = [f"{name}.txt" for name in RUNS]
    done = run("eval", "qrels.txt", *files, "-m", "RR", folder=str(tmp_path))
    notes = [line for line in done.stderr.decode().splitlines() if "rank_irregular" in line]
    assert notes == [
        (
            "note: 12 runs: queries whose ranks are not 1, 2, 3, …, ordered by score: "
            f"{min(4 - one for one in MISSING)} to 4 [rank_irregular]"
        )
    ]
