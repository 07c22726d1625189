"""`rankscope discounts`."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import check_error, run

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 a 1\nq1 0 b 1\nq1 0 c 1\n"
FIRST = "q1 Q0 a 1 4 first\nq1 Q0 x 2 3 first\n"
LATER = "q1 Q0 x 1 4 later\nq1 Q0 b 2 3 later\nq1 Q0 c 3 2 later\n"


@pytest.fixture
def files(tmp_path: Path) -> str:
    for name, text in {"qrels": QRELS, "first": FIRST, "later": LATER}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path)


def test_the_weights_are_printed() -> None:
    done = run("discounts", "--ranks", "2", "--table", "mine=4,1", "--base", "10", "--s", "2")
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert lines[2].split() == [
        "rank", "attention", "log2", "log(base=10)", "jk(base=10)", "reciprocal", "linear",
        "zipf(s=2)", "mine",
    ]  # fmt: skip
    assert lines[4].split() == [
        "2", "0.6000", f"{1 / math.log2(3):.4f}", f"{1 / math.log2(3):.4f}", "1.0000", "0.5000",
        "0.6667", "0.2500", "0.2500",
    ]  # fmt: skip
    assert "closest to attention: reciprocal, not log2" in lines


def test_the_weights_are_a_table_and_a_document() -> None:
    table = [*csv.DictReader(run("discounts", "--csv").stdout.decode().splitlines())]
    assert [float(row["reciprocal"]) for row in table] == [1 / rank for rank in range(1, 11)]
    document = json.loads(run("discounts", "--json").stdout)
    assert document["weights"]["reciprocal"] == [1 / rank for rank in range(1, 11)]
    assert document["attention"] == {"1": 1, "2": 0.6, "3": 0.4, "4": 0.3, "10": 0.1}
    assert document["closest"] == "reciprocal"
    assert document["alike"] == [["log2", "log(base=e)"]]
    assert document["errors"]["log2"]["at rank"] == 10


def test_runs_are_evaluated_under_each_discount(files: str) -> None:
    words = ["discounts", "qrels", "first", "later", "-m", "nDCG@3"]
    document = json.loads(run(*words, "--json", folder=files).stdout)
    ideal = 1 + 1 / 2 + 1 / 3
    assert document["ndcg"]["reciprocal"] == {
        "first": 1 / ideal,
        "later": (1 / 2 + 1 / 3) / ideal,
    }
    assert document["dcg"]["reciprocal"]["first"] == 1
    assert document["orders"]["log2"] == [["later"], ["first"]]
    assert document["tau"]["log2"]["reciprocal"] == -1
    (exchange,) = document["exchanges"]
    assert (exchange["discount"], exchange["better"]) == ("reciprocal", "first")
    lines = run(*words, folder=files).stdout.decode().splitlines()
    assert "reciprocal   first > later" in lines
    assert lines[-1] == "nDCG and DCG agree on the best run"
    table = run(*words, "--csv", folder=files).stdout.decode().splitlines()
    assert table[0] == "run,log2,log(base=e),jk(base=2),reciprocal,linear,zipf(s=0.5)"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["qrels"], "usage"),
        (["-", "-"], "stdin_twice"),
        (["qrels", "first", "first"], "usage"),
        (["qrels", "first", "--ranks", "3"], "usage"),
        (["-m", "nDCG@3"], "usage"),
        (["--policy", "empty=skip"], "usage"),
        (["--table", "mine"], "usage"),
        (["--table", "mine=1,x"], "usage"),
        (["--table", "mine=1", "--table", "mine=2"], "usage"),
        (["--table", "=1"], "usage"),
        (["--ranks", "0"], "bad_parameter"),
        (["qrels", "first", "--table", "mine=1,1"], "bad_parameter"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(files: str, words: list[str], code: str) -> None:
    check_error(run("discounts", *words, folder=files), 2, code)
