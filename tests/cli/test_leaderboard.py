"""`rankscope leaderboard`: what is printed in each format, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import rankscope as rs

from tests.cli.command import run, write_runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("leaderboard"), "runs")


def board(folder: Path, *words: str) -> tuple[int, str, str]:
    done = run("leaderboard", str(folder / "qrels.txt"), *words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_files_a_folder_and_a_pattern_are_the_same_runs(folder: Path) -> None:
    files = [str(folder / "runs" / f"{name}.run") for name in ("best", "new", "old")]
    status, text, _ = board(folder, *files)
    assert status == 0
    for given in (str(folder / "runs"), str(folder / "runs") + "/", str(folder / "runs" / "*.run")):
        assert board(folder, given) == (0, text, "")
    lines = text.splitlines()
    assert [line.split()[1] for line in lines[:4]] == ["run", "best.run", "new.run", "old.run"]
    assert lines[0].split()[3:] == ["nDCG@10", "AP", "RR"]
    assert len(lines) == 4 + 1 + 2


def test_each_format_is_that_of_the_function(folder: Path) -> None:
    runs = str(folder / "runs")
    made = rs.leaderboard(
        folder / "qrels.txt", runs, ["nDCG@10", "AP"], baseline=["old.run", "new.run"], top=1
    )
    words = [runs, "-m", "nDCG@10,AP", "--baseline", "old", "--baseline", "new.run", "--top", "1"]
    expected = {
        "--json": made.to_json(),
        "--markdown": made.to_markdown(),
        "--html": made.to_html(),
        "--latex": made.to_latex(),
    }
    for option, text in expected.items():
        assert board(folder, *words, option) == (0, f"{text}\n", "")
    assert board(folder, *words, "--csv") == (0, made.to_csv(), "")
    assert board(folder, *words) == (0, f"{made}\n", "")
    small = board(folder, *words, "--small-print")[1]
    assert all(sentence in " ".join(small.split()) for sentence in made.small_print)


def test_caption_and_label_are_those_of_the_table(folder: Path) -> None:
    words = [str(folder / "runs"), "--latex", "--caption", "50% & more", "--label", "tab:x"]
    text = board(folder, *words)[1]
    assert r"\caption{50\% \& more}" in text
    assert r"\label{tab:x}" in text


def test_clusters_come_from_a_table_of_attributes(folder: Path) -> None:
    words = ["--attributes", str(folder / "queries.csv"), "--cluster", "user_id", "--json"]
    document = json.loads(board(folder, str(folder / "runs"), *words)[1])
    assert document["groups"]["cluster"] == "user_id"
    assert document["groups"]["exact"]


def test_a_picture_is_written_beside_the_table(folder: Path, tmp_path: Path) -> None:
    status, text, _ = board(folder, str(folder / "runs"), "--plot", str(tmp_path / "board.svg"))
    assert status == 0
    assert "best.run" in text
    assert "<svg" in (tmp_path / "board.svg").read_text()


def test_csv_defuses_names_that_a_spreadsheet_would_run(folder: Path) -> None:
    names = "=HYPERLINK(1),+1,@x"
    text = board(folder, str(folder / "runs"), "--names", names, "--csv")[1]
    assert {row["run"] for row in csv.DictReader(text.splitlines())} == {
        f"'{name}" for name in names.split(",")
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{runs}", "--baseline", "nwe"], "there is no run 'nwe' to be the baseline"),
        (["{runs}", "--top", "0"], "expected top as a whole number above 0"),
        (["{runs}", "--caption", "x"], "--caption and --label need --latex"),
        (["{runs}", "--cluster", "user_id"], "--cluster and --attributes belong together"),
        (["{runs}", "--names", "a,b"], "--names gives 2 names for 3 runs"),
        (["{runs}", "{runs}/old.run"], "old.run' is given twice"),
        (["{runs}", "--sort", "P@5"], "P@5 was not evaluated"),
        (["{runs}", "--latex", "--csv"], "not allowed with argument"),
        (["-", "-"], "only one input can be read from standard input"),
        (["{runs}/nothing*"], "expected the files of runs, found none"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder: Path, words: list[str], message: str) -> None:
    given = [word.format(runs=folder / "runs") for word in words]
    status, text, errors = board(folder, *given)
    assert status in {2, 3, 4}
    assert text == ""
    assert message in errors
