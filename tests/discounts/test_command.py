"""`rankscope discounts`."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from tests.cli.command import check_error, run

QRELS = "q1 0 a 1\nq1 0 b 1\nq1 0 c 1\n"
FIRST = "q1 Q0 a 1 4 first\nq1 Q0 x 2 3 first\n"
LATER = "q1 Q0 x 1 4 later\nq1 Q0 b 2 3 later\nq1 Q0 c 3 2 later\n"
FILES = {"qrels": QRELS, "first": FIRST, "later": LATER}
LOG = "position,click\n1,1\n1,0\n2,1\n2,0\n2,0\n2,0\n"


@pytest.fixture
def files(tmp_path: Path) -> str:
    for name, text in {**FILES, "log.csv": LOG}.items():
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


def test_an_examination_curve_is_one_more_discount(files: str) -> None:
    words = ["discounts", "--clicks", "log.csv"]
    document = json.loads(run(*words, "--json", folder=files).stdout)
    assert document["weights"]["clicks"] == [1, 0.5]
    assert document["examination"]["2"]["impressions"] == 4
    shown = run(*words, folder=files).stdout.decode()
    assert "clicks: click-through rate by rank, with 95% intervals" in shown
    named = [*words, "--rank", "position", "--click", "click", "qrels", "later", "-m", "nDCG@2"]
    document = json.loads(run(*named, "--json", folder=files).stdout)
    assert document["ndcg"]["clicks"]["later"] == 0.5 / 1.5


@pytest.mark.parametrize("beside", [[], ["--dark"], ["--clicks", "log.csv"]])
def test_the_curves_are_drawn(files: str, beside: list[str]) -> None:
    done = run("discounts", "-o", "plot.svg", *beside, "--csv", folder=files)
    assert done.returncode == 0
    assert done.stdout.startswith(b"rank,attention,log2,")
    assert (Path(files) / "plot.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_a_plot_that_cannot_be_written_leaves_no_numbers(files: str) -> None:
    check_error(run("discounts", "-o", "none/plot.svg", folder=files), 4, "io")
    check_error(run("discounts", "-o", "plot", folder=files), 2, "bad_format")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["qrels"], "usage"),
        (["-", "-"], "stdin_twice"),
        (["qrels", "first", "first"], "usage"),
        (["qrels", "first", "--ranks", "3"], "usage"),
        (["qrels", "first", "-o", "plot.svg"], "usage"),
        (["--dark"], "usage"),
        (["--click", "click"], "usage"),
        (["--clicks", "log.csv", "--table", "clicks=1"], "usage"),
        (["qrels", "first", "--clicks", "log.csv"], "bad_parameter"),
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
