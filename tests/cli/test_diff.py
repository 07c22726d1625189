"""`rankscope diff` prints where two runs differ, as text, CSV and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.cli.command import check_error, run, write_files

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 a 3\nq1 0 b 1\nq2 0 c 1\nq3 0 d 1\n"
OLD = "q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\n"
NEW = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 e 1 2 t\nq3 Q0 d 2 1 t\n"
SCOPE = (
    "This range is not a confidence interval: it covers unjudged documents, not the choice of "
    "queries."
)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Judgments and two runs."""
    return write_files(tmp_path, {"qrels": QRELS, "old.run": OLD, "new.run": NEW})


def test_means_the_queries_that_moved_and_the_counts_are_printed(
    files: list[str],
) -> None:
    done = run("diff", *files, "-m", "nDCG@3")
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    head = ["measure", "query", "old.run", "new.run", "difference"]
    assert lines[0] == [*head, "retrieval", "truncation", "ordering"]
    found = rs.diff(*files, "nDCG@3")
    assert lines[1][:5] == ["nDCG@3", "all", *(f"{each:.4f}" for each in found.values), "0.1524"]
    assert [line[1] for line in lines[2:4]] == ["q1", "q3"]
    assert lines[4:7] == [["wins", "1"], ["ties", "1"], ["losses", "1"]]
    unjudged = found.unjudged
    assert unjudged is not None
    tested = found.comparison
    assert tested is not None
    assert lines[7:] == [
        [
            "95% confidence interval",
            f"{tested.lower:.4f} to +{tested.upper:.4f} (bounded)",
        ],
        # Of the two queries that differ, signs can be flipped in four ways.
        ["p (paired permutation test)", "1.000"],
        ["unjudged documents", "2"],
        [
            "lowest difference if unjudged documents were judged",
            f"{unjudged.if_unjudged_lowest:.4f}",
        ],
        [
            "highest difference if unjudged documents were judged",
            f"{unjudged.if_unjudged_highest:.4f}",
        ],
        ["winner certain despite unjudged documents", "no"],
        [SCOPE],
    ]
    assert done.returncode == 0


def test_the_documents_of_a_query_are_printed_with_what_they_gained(
    files: list[str],
) -> None:
    done = run("diff", *files, "-m", "nDCG@3", "--query", "q3")
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert lines[0] == ["document", "grade", "old.run", "new.run", "move", "gained"]
    assert lines[1] == ["d", "1", "1", "2", "down", "-0.3691"]
    assert lines[2] == ["e", "–", "–", "1", "entered", "0.0000"]
    assert lines[3] == ["nDCG@3", "", "1.0000", "0.6309", "", "-0.3691"]


def test_what_the_limit_leaves_out_is_added_up(files: list[str]) -> None:
    done = run("diff", *files, "--query", "q1", "--limit", "0")
    assert done.stdout.decode().splitlines()[1] == "2 others\t\t\t\t\t0.8262"
    done = run("diff", *files, "--limit", "1")
    assert [line.split("\t")[1] for line in done.stdout.decode().splitlines()[1:3]] == ["all", "q1"]


def test_json_has_all_of_it(files: list[str]) -> None:
    document = json.loads(run("diff", *files, "--json").stdout)
    found = rs.diff(*files, "nDCG@10")
    assert document["difference"] == found.difference
    assert document["terms"] == found.terms
    assert found.unjudged is not None
    assert found.tied is not None
    assert document.items() >= (found.unjudged.to_dict() | found.tied.to_dict()).items()
    assert "bounds" not in document
    assert [query["query_id"] for query in document["queries"]] == ["q1", "q3", "q2"]
    of_query = json.loads(run("diff", *files, "--json", "--query", "q1").stdout)["query"]
    assert sum(row["gained"] for row in of_query["documents"]) == of_query["difference"]
    assert of_query["documents"][0]["rank_a"] is None


def test_a_mean_that_is_none_is_null(files: list[str], tmp_path: Path) -> None:
    qrels = write_files(tmp_path, {"empty": "q1 0 a 0\n"})
    words = ("diff", *qrels, *files[1:], "--json", "--policy", "empty=nan")
    assert json.loads(run(*words).stdout)["difference"] is None


def test_csv_is_a_table(files: list[str]) -> None:
    lines = run("diff", *files, "--csv").stdout.decode().splitlines()
    assert lines[0] == "query_id,old.run,new.run,difference,retrieval,truncation,ordering,undefined"
    assert len(lines) == 4
    lines = run("diff", *files, "--csv", "--query", "q1").stdout.decode().splitlines()
    assert lines[0] == "doc_id,grade,rank_a,rank_b,move,gained"
    assert lines[2] == "x,,1,,left,0.0"


def test_other_measures_have_no_losses(files: list[str]) -> None:
    done = run("diff", *files, "-m", "RR", "--query", "q3")
    assert done.stdout.decode().splitlines()[-1] == "RR\t\t1.0000\t0.5000\t\t-0.5000"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["-m", "nDGC@10"], 2, "unknown_measure"),
        (["--policy", "ties=coin"], 2, "bad_policy"),
        (["-m", "nDCG@10,AP"], 2, "bad_parameter"),
        (["--query", "nobody"], 2, "unknown_query"),
        (["--limit", "-1"], 2, "usage"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    files: list[str], words: list[str], status: int, code: str
) -> None:
    check_error(run("diff", *files, *words), status, code)


def test_scores_of_the_rows_of_svmlight_text_are_compared(tmp_path: Path) -> None:
    texts = {
        "test.svm": "0 qid:1 1:1\n2 qid:1 1:2\n1 qid:2 1:3\n",
        "old.txt": "0.9\n0.1\n0.5\n",
        "new.txt": "0.1\n0.9\n0.5\n",
    }
    words = write_files(tmp_path, texts)
    lines = [line.split("\t") for line in run("diff", *words).stdout.decode().splitlines()]
    assert lines[0][5:] == ["truncation", "ordering"]
    assert lines[1][2:5] == ["0.8155", "1.0000", "0.1845"]
    done = run("diff", *words, "--query", "1")
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert lines[1] == ["row 2", "2", "2", "1", "up", "0.3691"]
    assert lines[2] == ["row 1", "0", "1", "2", "down", "0.0000"]


def test_strict_refuses_what_is_suspicious(files: list[str], tmp_path: Path) -> None:
    short = write_files(tmp_path, {"short.run": "q1 Q0 a 1 3 t\n"})
    done = run("diff", *files[:2], *short, "--strict")
    check_error(done, 3, "n_missing")
