"""`rankscope compare`: what is printed, its JSON, and what is refused."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.cli.command import run, write_runs

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    "measure",
    "baseline",
    "run",
    "slice",
    "n",
    "difference",
    "lower",
    "upper",
    "level",
    "effect_size",
    "test",
    "p",
    "correction",
    "p_corrected",
    "wins",
    "ties",
    "losses",
    "minimum_detectable",
)
"""The fields of a comparison that scripts can rely on."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("compare"))


def paths(folder: Path, *runs: str) -> list[str]:
    return [str(folder / "qrels.txt"), *(str(folder / f"{name}.run") for name in runs)]


def test_the_json_has_the_fields_that_scripts_rely_on(folder: Path) -> None:
    done = run("compare", *paths(folder, "old", "new", "best"), "-m", "nDCG@10,AP", "--json")
    document = json.loads(done.stdout)
    assert set(document) >= {"runs", "comparisons", "policy"}
    assert document["runs"]["new.run"].keys() == {"nDCG@10", "AP"}
    assert len(document["comparisons"]) == 6
    for each in document["comparisons"]:
        assert set(each) >= set(NAMES)
        assert each["slice"] is None
        assert (each["test"], each["correction"], each["level"]) == ("permutation", "holm", 0.95)
        assert each["lower"] <= each["difference"] <= each["upper"]
        assert each["wins"] + each["ties"] + each["losses"] == each["n"] == 30
    found = rs.compare(
        folder / "qrels.txt",
        [folder / "old.run", folder / "new.run", folder / "best.run"],
        ["nDCG@10", "AP"],
    )
    assert [each["p"] for each in document["comparisons"]] == [each.p for each in found]
    assert done.returncode == 0


def test_slices_and_clusters_come_from_a_table_of_attributes(folder: Path) -> None:
    words = ["--attributes", str(folder / "queries.csv"), "--by", "country", "--cluster", "user_id"]
    done = run("compare", *paths(folder, "old", "new"), *words, "--json")
    compared = json.loads(done.stdout)["comparisons"]
    assert [each["slice"] for each in compared] == [None, "at", "de"]
    assert [each["n"] for each in compared] == [30, 15, 15]
    assert compared[0]["clusters"] == 7
    done = run("compare", *paths(folder, "old", "new"), *words)
    assert "7 clusters" in done.stdout.decode()


@pytest.mark.parametrize("name", ["new", "new.run", "{folder}/new.run"])
def test_a_baseline_is_named_by_its_path_or_its_file(folder: Path, name: str) -> None:
    words = ["--baseline", name.format(folder=folder), "--json", "--no-bounds"]
    done = run("compare", *paths(folder, "old", "new", "best"), *words)
    compared = json.loads(done.stdout)["comparisons"]
    assert [(each["baseline"], each["run"]) for each in compared] == [
        ("new.run", "old.run"),
        ("new.run", "best.run"),
    ]


def test_names_make_runs_short(folder: Path) -> None:
    words = ["--names", "A,B", "--baseline", "B", "--json"]
    done = run("compare", *paths(folder, "old", "new"), *words)
    document = json.loads(done.stdout)
    assert [*document["runs"]] == ["A", "B"]
    assert (document["comparisons"][0]["baseline"], document["comparisons"][0]["run"]) == ("B", "A")


@pytest.mark.parametrize(
    ("option", "start"), [("--markdown", "old"), ("--latex", "%"), ("--html", "<div")]
)
def test_tables_for_papers_and_reviews(folder: Path, option: str, start: str) -> None:
    done = run("compare", *paths(folder, "old", "new"), option, "--names", "old,new")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "paired permutation test" in text
    assert text.startswith((start, "new"))


def test_csv_has_one_row_per_comparison(folder: Path) -> None:
    done = run("compare", *paths(folder, "old", "new", "best"), "--csv")
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert [row["run"] for row in rows] == ["new.run", "best.run", "best.run"]
    assert rows[0]["winner_certain_despite_unjudged"] in {"True", "False"}


def test_columns_of_scores_of_a_table_are_runs(folder: Path) -> None:
    rows = [
        f"q{number},{grade},{(number + grade) % 3},{grade}\n"
        for number in range(12)
        for grade in range(3)
    ]
    table = folder / "log.csv"
    table.write_text("query_id,gains,old,new\n" + "".join(rows))
    done = run("compare", str(table), "--scores", "old,new", "--json")
    document = json.loads(done.stdout)
    assert document["runs"]["new"]["nDCG@10"] == 1
    assert document["comparisons"][0]["wins"] == 8


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--by", "country"], 2, "add --attributes FILE"),
        (["--names", "A"], 2, "1 name for 2 runs"),
        (["--attributes", "{folder}/queries.csv", "--cluster", "user"], 3, "user_id"),
        (["--scores", "old,new"], 2, "one table"),
        (["--confidence", "95"], 2, "between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(
    folder: Path, words: list[str], code: int, message: str
) -> None:
    given = [word.format(folder=folder) for word in words]
    done = run("compare", *paths(folder, "old", "new"), *given)
    assert done.returncode == code
    assert message in done.stderr.decode()
    assert done.stdout == b""


def test_eval_reads_the_clusters_of_intervals_from_a_table_of_attributes(folder: Path) -> None:
    given = [*paths(folder, "old"), "--interval", "--attributes", str(folder / "queries.csv")]
    done = run("eval", *given, "--cluster", "user_id")
    assert "over 7 clusters" in done.stderr.decode()
    assert "add --by COLUMN or --cluster COLUMN" in run("eval", *given).stderr.decode()
    alone = run("eval", *paths(folder, "old"), "--interval", "--cluster", "user_id")
    assert "add --attributes FILE" in alone.stderr.decode()


def test_a_name_or_a_run_that_is_given_twice_is_named(folder: Path) -> None:
    given = paths(folder, "old", "new")
    assert "the name 'A' twice" in run("compare", *given, "--names", "A,A").stderr.decode()
    assert "old.run is given twice" in run("compare", *given[:2], given[1]).stderr.decode()
