"""`rankscope eval` on tables in files: joined ones, judgments, runs, scores alone."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
import rankscope as rs
from rankscope.sql import write_sql

from tests.cli.command import check_error, run
from tests.inputs.entry import QRELS, QRELS_ROWS, RUN, RUN_ROWS, lines
from tests.parity.real import find
from tests.tabular import write_table

LOG = {
    "search_group_id": ["7", "7", "7", "8", "8", "9"],
    "item_id": ["a", "b", "c", "a", "d", "a"],
    "gains": [0, 3, 1, 2, 0, 0],
    "ranks": [1, 2, 3, 2, 1, 1],
    "country": ["de", "de", "de", "at", "at", "de"],
    "events": [["view"], ["buy", "click"], [], ["click"], ["view"], []],
    "users": [3, 3, 3, 1, 1, 0],
}
FIRST = (3 / math.log2(3) + 1 / math.log2(4)) / (3 + 1 / math.log2(3))
SECOND = 1 / math.log2(3)


@pytest.fixture
def log(tmp_path):
    """A table that holds ranks and grades."""
    return str(write_table(LOG, tmp_path / "log.parquet"))


def test_a_table_is_evaluated_alone(program, log):
    named = ["--col", "query=search_group_id", "--col", "relevance=gains", "--col", "rank=ranks"]
    for words in ([], named):
        done = program.run("eval", log, *words, "-m", "nDCG@3,RR", "-q")
        assert done.stderr.count(b"\n") == done.stderr.count(b"[n_no_relevant]") == 1
        assert done.stdout.decode().splitlines() == [
            f"nDCG@3\t7\t{FIRST:.4f}",
            "RR\t7\t0.5000",
            f"nDCG@3\t8\t{SECOND:.4f}",
            "RR\t8\t0.5000",
            "nDCG@3\t9\t0.0000",
            "RR\t9\t0.0000",
            f"nDCG@3\tall\t{(FIRST + SECOND) / 3:.4f}",
            f"RR\tall\t{1 / 3:.4f}",
        ]


def test_the_values_of_parts_have_their_denominators(program, log):
    words = ["eval", log, "-m", "RR", "--by", "country", "--policy", "empty=skip"]
    assert program.run(*words).stdout.decode() == (
        "measure\tcountry\tvalue\tqueries\n"
        "RR\tde\t0.5000\t1\n"
        "RR\tat\t0.5000\t1\n"
        "RR\tall\t0.5000\t2\n"
    )
    assert program.run(*words, "--csv").stdout.decode().splitlines() == [
        "country,queries,RR,RR n", "de,2,0.5,1", "at,1,0.5,1"
    ]  # fmt: skip
    document = json.loads(program.run(*words, "--json").stdout)
    assert document["slices"] == {
        "de": {"queries": 2, "RR": 0.5, "RR n": 1},
        "at": {"queries": 1, "RR": 0.5, "RR n": 1},
    }
    assert document["measures"] == {"RR": 0.5}
    check_error(program.run(*words, "-q"), 2, "usage")


@pytest.mark.parametrize("by", [None, "country"])
def test_intervals_are_those_of_python(program, log, by):
    asked = ["--interval", "0.9", "--seed", "5"]
    words = ["eval", log, "-m", "nDCG@3,RR", *asked, *(["--by", by] if by else [])]
    interval = rs.Interval(0.9, seed=5)
    evaluation = rs.evaluate(log, ["nDCG@3", "RR"], by=by, interval=interval)
    document = json.loads(program.run(*words, "--json").stdout)
    assert document["intervals"] == {name: [*ends] for name, ends in evaluation.intervals.items()}
    lines_of_text = program.run(*words).stdout.decode().splitlines()
    middle = ["country"] if by else []
    last = ["queries"] if by else []
    assert lines_of_text[0].split("\t") == ["measure", *middle, "value", "lower", "upper", *last]
    lower, upper = evaluation.intervals["RR"]
    every, count = (["all"], ["3"]) if by else ([], [])
    row = ["RR", *every, *(f"{number:.4f}" for number in (1 / 3, lower, upper)), *count]
    assert lines_of_text[-1].split("\t") == row
    header, *rows = program.run(*words, "--csv").stdout.decode().splitlines()
    if by is None:
        assert header == "measure,value,lower,upper"
        assert [float(cell) for cell in rows[1].split(",")[2:]] == [lower, upper]


def test_labels_are_grades_by_their_positive_classes(program, log):
    words = ["eval", log, "-m", "CG", "-q", "--col", "label=events"]
    done = program.run(*words, "--positive", "click", "--positive", "buy=5")
    assert done.stdout.decode().splitlines()[:3] == [
        "CG\t7\t6.0000", "CG\t8\t1.0000", "CG\t9\t0.0000"
    ]  # fmt: skip
    check_error(program.run(*words, "--positive", "click=much"), 2, "usage")


def test_queries_are_weighed_by_a_column(program, log):
    done = program.run("eval", log, "-m", "nDCG@3", "--col", "weight=users")
    assert done.stdout.decode() == f"nDCG@3\t{(3 * FIRST + SECOND) / 4:.4f}\n"
    refused = program.run("eval", log, "-m", "nDCG@3", "--col", "weight=country")
    check_error(refused, 3, "bad_weights")


def test_a_table_has_the_values_of_a_convention(program, log):
    done = program.run("eval", log, "-m", "nDCG@3", "--convention", "sklearn")
    assert done.stdout.decode() == f"nDCG(ideal='retrieved')@3\t{(FIRST + SECOND) / 3:.4f}\n"


def test_standard_input_is_of_the_format_that_is_named(program, tmp_path):
    table = lines("qid,label,score", "1,0,2", "1,1,1")
    words = ["-m", "RR"]
    done = program.run("eval", "-", "--format", "csv", *words, given=table)
    assert (done.stdout, done.stderr) == (b"RR\t0.5000\n", b"")
    qrels = tmp_path / "qrels"
    qrels.write_bytes(lines("1 0 d 1"))
    run = b'{"qid": "1", "doc": "e", "score": 2}\n{"qid": "1", "doc": "d", "score": 1}\n'
    done = program.run("eval", str(qrels), "-", "--format", "run=jsonl", *words, given=run)
    assert (done.stdout, done.stderr) == (b"RR\t0.5000\n", b"")


@pytest.mark.parametrize(
    ("of_qrels", "of_run"), [("trec", "jsonl"), ("csv", "tsv"), ("tsv", "csv"), ("jsonl", "trec")]
)
def test_judgments_and_runs_may_be_of_any_two_formats(of_qrels, of_run, program, tmp_path):
    qrels, run = tmp_path / f"qrels.{of_qrels}", tmp_path / f"run.{of_run}"
    for path, text, rows, name in (
        (qrels, QRELS, QRELS_ROWS, "relevance"),
        (run, RUN, RUN_ROWS, "score"),
    ):
        if path.suffix == ".trec":
            path.write_bytes(text)
        else:
            write_table(pd.DataFrame(rows, columns=["query_id", "doc_id", name]), path)
    done = program.run("eval", str(qrels), str(run), "-m", "RR,P@1")
    assert (done.stdout, done.stderr) == (b"RR\t0.5000\nP@1\t0.0000\n", b"")


def test_tabs_without_a_header_are_the_format_of_trec(program, tmp_path):
    qrels, run = tmp_path / "qrels.dev.tsv", tmp_path / "run.tsv"
    qrels.write_bytes(b"1\t0\td\t1\n")
    run.write_bytes(b"1\tQ0\td\t1\t0.5\tt\n")
    assert program.run("eval", str(qrels), str(run), "-m", "RR").stdout == b"RR\t1.0000\n"
    refused = program.run("eval", str(qrels), str(run), "--format", "qrels=tsv")
    check_error(refused, 3, "columns")


def test_scores_are_matched_to_labels_by_row(program, tmp_path):
    labels, scores, others = (tmp_path / name for name in ("test.svm", "scores.txt", "others.txt"))
    labels.write_bytes(lines("0 qid:x 1:2", "2 qid:x 1:3", "1 qid:y 1:4"))
    scores.write_bytes(lines("0.5", "0.25", "7"))
    others.write_bytes(lines("-1", "-0.5", "1e-3"))
    done = program.run("eval", str(labels), str(scores), str(others), "-m", "RR", "-q")
    assert done.stdout.decode().splitlines()[1:] == [
        "RR\tx\t0.5000\t1.0000", "RR\ty\t1.0000\t1.0000", "RR\tall\t0.7500\t1.0000"
    ]  # fmt: skip
    scores.write_bytes(lines("0.5", "0.25"))
    check_error(program.run("eval", str(labels), str(scores)), 3, "length_mismatch")
    scores.write_bytes(lines("0.5", "0.25", "x"))
    said = check_error(program.run("eval", str(labels), str(scores)), 3, "score_not_number")
    assert f"{scores}:3: " in said


def test_the_data_of_lightgbm_are_evaluated_as_it_does(program, tmp_path):
    folder = find("lightgbm")
    rows = (folder / "rank.test.scores.tsv").read_text().splitlines()[1:]
    scores = tmp_path / "scores"
    scores.write_bytes(lines(*(row.split("\t")[3] for row in rows)))
    words = ["--format", "qrels=letor", "--convention", "lightgbm", "-m", "nDCG@10", "--json"]
    done = program.run("eval", str(folder / "rank.test"), str(scores), *words)
    reported = json.loads((folder / "lightgbm_reported.json").read_text())["ndcg@10"]
    (found,) = json.loads(done.stdout)["measures"].values()
    assert found == pytest.approx(reported, abs=1e-9)


def test_a_query_that_comes_back_is_refused_where_none_may(program, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(lines("qid,label,score", "1,1,3", "2,1,2", "1,0,9"))
    words = ["eval", str(path), "-m", "RR"]
    assert program.run(*words).stdout == b"RR\t0.7500\n"
    check_error(program.run(*words, "--assume-grouped"), 3, "query_returns")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["QRELS"], "usage"),
        (["LOG", "--score-type", "float32"], "usage"),
        (["LOG", "--col", "topic=x"], "usage"),
        (["LOG", "--col", "query"], "usage"),
        (["LOG", "--col", "query="], "usage"),
        (["LOG", "--col", "query=a", "--col", "query=b"], "usage"),
        (["LOG", "--format", "excel"], "bad_format"),
        (["LOG", "--format", "csv", "--format", "tsv"], "usage"),
        (["LOG", "--format", "log=csv"], "usage"),
        (["LOG", "--positive", "click"], "usage"),
        (["LOG", "--seed", "1"], "usage"),
        (["LOG", "--interval", "x"], "usage"),
        (["LOG", "--interval", "1.5"], "bad_interval"),
        (["QRELS", "LOG", "--by", "country"], "usage"),
        (["QRELS", "LOG", "--assume-grouped"], "usage"),
        (["QRELS", "LOG", "--col", "label=events"], "usage"),
        (["QRELS", "LOG", "--col", "weight=users"], "usage"),
    ],
)
def test_options_that_do_not_fit_are_refused(words, code, program, qrels, log):
    words = [{"QRELS": qrels, "LOG": log}.get(word, word) for word in words]
    check_error(program.run("eval", *words), 2, code)


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["--by", "land"], "columns", b"Hint: "),
        (["--col", "query=search_group"], "columns", b"did you mean 'search_group_id'?"),
        (["--col", "relevance=item_id"], "rel_not_number", b"Hint: "),
    ],
)
def test_columns_that_are_not_there_are_refused(words, code, hint, program, log):
    done = program.run("eval", log, *words)
    assert log in check_error(done, 3, code)
    assert hint in done.stderr


def test_the_means_of_two_tables_are_printed():
    words = ["--dialect", "bigquery", "--qrels", "a.b", "--run", "c", "--by", "country"]
    done = run("sql", "-m", "nDCG@10,RR", *words, "--col", "query=q", "--policy", "empty=skip")
    settings = {"dialect": "bigquery", "by": "country", "query": "q", "policy": "empty=skip"}
    expected = write_sql("a.b", "c", ["nDCG@10", "RR"], **settings)
    assert (done.stdout.decode(), done.stderr) == (f"{expected.means}\n", b"")


@pytest.mark.parametrize("statement", ["per-query", "checks"])
def test_each_statement_of_one_table_can_be_printed(statement):
    words = ["--table", "shown", "--col", "doc=", "--col", "rank=place", "-m", "RR"]
    done = run("sql", *words, "--statement", statement)
    expected = write_sql("shown", "RR", doc=False, rank="place")
    assert done.stdout.decode() == f"{getattr(expected, statement.replace('-', '_'))}\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--dialect", "oracle"], "bad_parameter"),
        (["-m", "ERR@10"], "not_in_sql"),
        (["--policy", "ties=input"], "not_in_sql"),
        (["--table", "t", "--run", "r"], "usage"),
        (["--col", "user=u"], "usage"),
        (["--col", "query=a", "--col", "query=b"], "usage"),
        (["--qrels", ""], "usage"),
    ],
    ids=str,
)
def test_what_sql_cannot_say_is_a_usage_error(words, code):
    check_error(run("sql", *words), 2, code)
