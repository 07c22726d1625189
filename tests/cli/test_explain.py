"""`rankscope explain`: what it prints, of grades and of the query of files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rankscope as rs

from tests.cli.command import check_error, write_files
from tests.interpreter import run_python
from tests.program import Program
from tests.tabular import write_table

GRADES = ["--grades", "4", "2", "5", "3", "5", "--k", "3"]


def test_grades_are_explained_as_by_the_function(program: Program) -> None:
    done = program.run("explain", *GRADES)
    assert done.stdout.decode() == f"{rs.explain([4, 2, 5, 3, 5], k=3)}\n"
    assert (done.returncode, done.stderr) == (0, b"")


def test_grades_may_have_names_and_be_unknown(program: Program) -> None:
    done = program.run("explain", "--grades", "A=4", "b=c=-2", "C=?", "D=-", "-m", "DCG")
    explanation = rs.explain(
        {"A": 4, "b=c": -2, "C": float("nan"), "D": float("nan")}, measure="DCG"
    )
    assert done.stdout.decode() == f"{explanation}\n"


@pytest.mark.parametrize(
    ("words", "measure"),
    [
        (["--gain", "exp2"], "nDCG(gain='exp2')"),
        (["--gain", "[0,1,3,7,15,31]"], "nDCG(gain=[0,1,3,7,15,31])"),
        (["--gain", "{0:0, 2:1, 3:1, 4:2, 5:9}"], "nDCG(gain={0:0, 2:1, 3:1, 4:2, 5:9})"),
        (["--discount", "log", "--base", "e"], "nDCG(discount='log', base=2.718281828459045)"),
        (["--discount", "zipf", "--s", "0.5"], "nDCG(discount='zipf', s=0.5)"),
        (["--discount", "[1,0.5,0.25]", "--k", "3"], "nDCG(discount=[1,0.5,0.25])@3"),
        (["-m", "CG", "--gain", "binary", "--k", "2"], "CG(gain='binary')@2"),
        (["-m", "ndcg_cut_2"], "nDCG@2"),
    ],
    ids=str,
)
def test_settings_are_those_of_measures(words: list[str], measure: str, program: Program) -> None:
    done = program.run("explain", "--grades", "4", "2", "5", *words)
    assert done.stdout.decode() == f"{rs.explain([4, 2, 5], measure=measure)}\n"


def test_an_ideal_and_a_policy_are_taken(program: Program) -> None:
    policy = "negative=gain,missing_gain=-1,unjudged=0.5,empty=one"
    words = ["--ideal", "3", "3", "2", "--policy", policy, "--k", "5"]
    done = program.run("explain", "--grades", "2", "?", "3", *words)
    explanation = rs.explain(
        [2, float("nan"), 3],
        k=5,
        ideal=[3, 3, 2],
        negative="gain",
        missing_gain=-1.0,
        unjudged=0.5,
        empty="one",
    )
    assert done.stdout.decode() == f"{explanation}\n"


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "json"])
def test_every_format_is_written(form: str, program: Program) -> None:
    done = program.run("explain", *GRADES, "--format", form, "--digits", "6")
    explanation = rs.explain([4, 2, 5, 3, 5], k=3)
    written = done.stdout.decode()
    if form == "json":
        assert json.loads(written) == explanation.to_dict()
    elif form == "html":
        assert written == explanation.to_html(6, is_page=True)
    else:
        assert written.rstrip("\n") == getattr(explanation, f"to_{form}")(6).rstrip("\n")
    assert written.endswith("\n")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    texts = {
        "qrels": "301 0 a 3\n301 0 b 1\n302 0 a 1\n",
        "run": "301 Q0 b 1 2 t\n301 Q0 x 2 2 t\n301 Q0 a 3 1 t\n",
    }
    return write_files(tmp_path, texts)


@pytest.mark.parametrize(
    ("words", "ties", "measure"),
    [
        ([], "doc_id", "nDCG@10"),
        (["-m", "DCG@2"], "doc_id", "DCG@2"),
        (["--k", "2"], "doc_id", "nDCG@2"),
        (["--policy", "ties=average"], "average", "nDCG@10"),
    ],
)
def test_a_query_of_files_is_explained(
    words: list[str], ties: str, measure: str, program: Program, files: list[str]
) -> None:
    done = program.run("explain", *files, "--query", "301", *words)
    rankings = rs.Rankings.from_run(*files, ties=ties)  # type: ignore[arg-type]  # one of them
    assert done.stdout.decode() == f"{rankings.explain('301', measure)}\n"
    assert done.stderr == b""


def test_a_convention_is_explained(program: Program, files: list[str]) -> None:
    words = ["--convention", "sklearn", "-m", "nDCG@2", "--format", "json"]
    done = program.run("explain", *files, "--query", "301", *words)
    document = json.loads(done.stdout)
    evaluation = rs.evaluate(*files, "nDCG@2", convention="sklearn")
    assert document["value"] == evaluation.per_query("nDCG@2")[0]
    assert document["policy"]["ties"] == "average"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_other_formats_and_one_table_are_read(form: str, program: Program, tmp_path: Path) -> None:
    table = {"query_id": [*"qqq"], "doc_id": [*"abc"], "relevance": [3, 0, 1], "rank": [1, 2, 3]}
    path = write_table(table, tmp_path / f"table.{form}")
    done = program.run("explain", str(path), "--query", "q", "-m", "nDCG@2", "--format", "json")
    document = json.loads(done.stdout)
    assert [row["doc_id"] for row in document["rows"]] == ["a", "b"]
    plain = tmp_path / "table"
    plain.write_bytes(path.read_bytes())
    words = ["--query", "q", "-m", "nDCG@2", "--format", "json", "--format", form]
    assert json.loads(program.run("explain", str(plain), *words).stdout) == document


def test_labels_and_scores_by_row_are_read(program: Program, tmp_path: Path) -> None:
    texts = {"test.svm": "0 qid:1 1:0.2\n2 qid:1 1:0.9\n", "scores.txt": "0.7\n0.1\n"}
    names = write_files(tmp_path, texts)
    done = program.run("explain", *names, "--query", "1", "--format", "json")
    assert [row["grade"] for row in json.loads(done.stdout)["rows"]] == [0.0, 2.0]


def test_what_is_piped_is_read(program: Program, files: list[str], tmp_path: Path) -> None:
    given = (tmp_path / "run").read_bytes()
    done = program.run("explain", files[0], "-", "--query", "301", given=given)
    assert done.stdout == program.run("explain", *files, "--query", "301").stdout


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ([], 2, "usage"),
        (["--grades", "x"], 2, "usage"),
        (["--grades", "inf"], 2, "usage"),
        (["--grades", "=4"], 2, "usage"),
        (["--grades", "A=4", "2"], 2, "usage"),
        (["--grades", "4", "--query", "q"], 2, "usage"),
        (["--grades", "4", "--convention", "sklearn"], 2, "usage"),
        (["--grades", "4", "--format", "csv"], 2, "usage"),
        (["--grades", "4", "--format", "html", "--format", "text"], 2, "usage"),
        (["--grades", "4", "--digits", "40"], 2, "usage"),
        (["--grades", "4", "-m", "nDCG@2", "--k", "3"], 2, "usage"),
        (["--grades", "4", "-m", "nDCG@2,DCG@2"], 2, "usage"),
        (["--grades", "4", "-m", "Bpref"], 2, "not_explained"),
        (["--grades", "4", "--gain", "linaer"], 2, "bad_parameter"),
        (["--grades", "?"], 3, "empty_input"),
        (["--grades", "3", "--ideal", "1"], 3, "ideal_mismatch"),
        (["QRELS", "RUN"], 2, "usage"),
        (["QRELS", "RUN", "RUN", "--query", "301"], 2, "usage"),
        (["QRELS", "RUN", "--query", "301", "--ideal", "3"], 2, "usage"),
        (["QRELS", "RUN", "--query", "301", "--by", "country"], 2, "usage"),
        (["QRELS", "RUN", "--query", "7"], 2, "unknown_query"),
        (["-", "-", "--query", "7"], 2, "stdin_twice"),
        (["QRELS", "nowhere", "--query", "301"], 4, "io"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(
    words: list[str], status: int, code: str, program: Program, files: list[str]
) -> None:
    names = dict(zip(("QRELS", "RUN"), files, strict=True))
    done = program.run("explain", *(names.get(word, word) for word in words))
    check_error(done, status, code)


def test_grades_need_no_numpy() -> None:
    words = ["explain", *GRADES]
    program = (
        f"import sys; from rankscope.cli import main; main({words}); print('numpy' in sys.modules)"
    )
    assert run_python(program).split()[-1] == "False"
