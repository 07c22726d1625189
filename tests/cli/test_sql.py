"""`rankscope sql` prints the statements of the Python functions."""

from __future__ import annotations

import pytest
import rankscope as rs

from tests.cli.command import check_error, run


def test_the_means_of_two_tables_are_printed() -> None:
    words = ["--dialect", "bigquery", "--qrels", "a.b", "--run", "c", "--by", "country"]
    done = run("sql", "-m", "nDCG@10,RR", *words, "--col", "query=q", "--policy", "empty=skip")
    expected = rs.sql(
        "a.b",
        "c",
        ["nDCG@10", "RR"],
        dialect="bigquery",
        by="country",
        query="q",
        policy="empty=skip",
    )
    assert (done.stdout.decode(), done.stderr) == (f"{expected.means}\n", b"")


@pytest.mark.parametrize("statement", ["per-query", "checks"])
def test_each_statement_of_one_table_can_be_printed(statement: str) -> None:
    words = ["--table", "shown", "--col", "doc=", "--col", "rank=place", "-m", "RR"]
    done = run("sql", *words, "--statement", statement)
    expected = rs.sql("shown", "RR", doc=False, rank="place")
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
def test_what_sql_cannot_say_is_a_usage_error(words: list[str], code: str) -> None:
    check_error(run("sql", *words), 2, code)
