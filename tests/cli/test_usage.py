"""Calls that cannot be meant: exit status 2, and nothing on standard output."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import rankscope

from tests.cli.command import check_error, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.program import Program


def test_the_module_is_the_command() -> None:
    for words, status in ((["measures", "nDCG"], 0), (["nothing"], 2)):
        module = [sys.executable, "-m", "rankscope", *words]
        done = subprocess.run(module, capture_output=True, timeout=300, check=False)
        same = run(*words)
        assert (done.stdout, done.stderr) == (same.stdout, same.stderr)
        assert done.returncode == status


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["--nothing"],
        ["eval"],
        ["eval", "QRELS"],
        ["eval", "QRELS", "RUN", "--nothing"],
        ["eval", "QRELS", "RUN", "-m"],
        ["eval", "QRELS", "RUN", "-q", "-q"],
        ["eval", "QRELS", "RUN", "--json", "--json"],
        ["eval", "QRELS", "RUN", "--csv", "--csv"],
        ["eval", "QRELS", "RUN", "--json", "--csv"],
        ["eval", "QRELS", "RUN", "--policy", "empty=skip", "--policy", "empty=skip"],
        ["eval", "QRELS", "RUN", "--duplicates", "last"],
        ["eval", "QRELS", "RUN", "--encoding", "utf-16"],
        ["eval", "QRELS", "RUN", "--thread", "2"],
        ["eval", "QRELS", "RUN", "--threads", "two"],
        ["eval", "QRELS", "RUN", "--threads", "1.5"],
        ["eval", "-qrels", "-run"],
        ["measures", "nDCG", "AP"],
        ["demo", "--seed", "abc"],
        ["demo", "--seed", "-1"],
        ["demo", "--seed", "1e3"],
        ["demo", "--port", "65536"],
        ["demo", "--once", "--port", "8000"],
        ["demo", "--offline", "--port", "8000"],
        ["demo", "-o", "page.html"],
    ],
    ids=" ".join,
)
def test_a_call_that_is_none_is_refused(words: list[str], program: Program) -> None:
    """X1, X7."""
    check_error(program.run(*words), 2, "usage") if "--json" not in words else check_json_error(
        program, words
    )


def check_json_error(program: Program, words: list[str]) -> None:
    """Hold a refusal against what is promised where JSON was asked for."""
    done = program.run(*words)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage"


@pytest.mark.parametrize(
    ("measure", "code"),
    [
        ("ndgc@10", "unknown_measure"),
        ("ndcg@0", "bad_parameter"),
        ("", "usage"),
        (",", "no_measures"),
        ("nDCG@10 nDCG@", "bad_parameter"),
    ],
)
def test_a_measure_that_is_none_is_refused(
    measure: str, code: str, program: Program, files: tuple[str, str]
) -> None:
    """D15, D16, X6."""
    check_error(program.run("eval", *files, "-m", measure), 2, code)


@pytest.fixture
def files(qrels: str, run: str) -> tuple[str, str]:
    """Judgments and a run."""
    return qrels, run


def test_a_misspelt_measure_is_told_what_was_meant(program: Program, qrels: str, run: str) -> None:
    """D15."""
    done = program.run("eval", qrels, run, "-m", "ndgc@10")
    assert b"nDCG@10" in done.stderr
    assert b"nDCG" in program.run("measures", "ndgc").stderr


@pytest.mark.parametrize("policy", ["empty", "empty=none", "nothing=1", "empty=skip,empty=skip"])
def test_a_policy_that_is_none_is_refused(
    policy: str, program: Program, qrels: str, run: str
) -> None:
    check_error(program.run("eval", qrels, run, "--policy", policy), 2, "bad_policy")


@pytest.mark.parametrize("threads", ["0", "-1", "-99999999999999999999"])
def test_a_number_of_threads_is_positive(
    threads: str, program: Program, qrels: str, run: str
) -> None:
    """X7."""
    check_error(program.run("eval", qrels, run, "--threads", threads), 2, "bad_threads")


def test_any_number_of_threads_may_be_asked_for(program: Program, qrels: str, run: str) -> None:
    """X7: it is no more than is of use."""
    done = program.run("eval", qrels, run, "--threads", "10000")
    assert (done.returncode, done.stdout) == (0, program.run("eval", qrels, run).stdout)


@pytest.mark.parametrize("words", [["-", "-"], ["RUN", "-", "-"], ["-", "RUN", "-"]])
def test_standard_input_is_one_file(words: list[str], program: Program, run: str) -> None:
    """X3."""
    words = [run if word == "RUN" else word for word in words]
    check_error(program.run("eval", *words), 2, "stdin_twice")


def test_help_and_version_are_no_errors(program: Program) -> None:
    for words in (["--help"], ["eval", "--help"], ["measures", "--help"], ["demo", "--help"]):
        done = program.run(*words)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"usage: rankscope")
    assert program.run("--version").stdout == f"rankscope {rankscope.__version__}\n".encode()


def test_a_misspelt_option_is_told_which_was_meant(program: Program) -> None:
    done = program.run("compare", "log.csv", "--score", "old,new")
    check_error(done, 2, "usage")
    assert b"Hint: did you mean --scores? Run rankscope compare --help" in done.stderr


def test_columns_in_one_word_are_asked_for_one_by_one(program: Program, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query_id,doc_id,score,relevance,country,device\nq,d,1,1,us,web\n")
    done = program.run("eval", str(log), "-m", "RR", "--by", "country,device")
    check_error(done, 3, "columns")
    assert b"repeat the option" in done.stderr
