"""A table of several runs, side by side or one below the other, in every function."""

from __future__ import annotations

import json
import random

import pandas as pd
import pytest
import rankscope as rs

from tests.cli.command import run

DRAW = random.Random(4)
ROWS = [
    (f"q{query}", f"d{doc}", grade, grade + DRAW.gauss(0, 1.5), grade + DRAW.gauss(0, 1))
    for query in range(30)
    for doc in range(6)
    for grade in [DRAW.choice([0, 0, 1, 2])]
]
WIDE = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "relevance", "old", "new"])
LONG = pd.concat([WIDE.assign(algorithm=name, score=WIDE[name]) for name in ("old", "new")])
LONG = LONG.drop(columns=["old", "new"])
SCORES = ["old", "new"]
MEASURE = "nDCG@5"


def nest(column):
    """Return a column of the wide table by query and document."""
    queries = WIDE.groupby("query_id")
    return {query: dict(zip(of.doc_id, of[column], strict=True)) for query, of in queries}


QRELS, RUNS = nest("relevance"), {name: nest(name) for name in SCORES}


def write(folder):
    """Return the long table in files."""
    LONG.to_csv(folder / "long.csv", index=False)
    LONG.to_parquet(folder / "long.parquet")
    return [LONG, folder / "long.csv", folder / "long.parquet"]


def test_each_run_has_the_values_that_it_has_alone(tmp_path):
    expected = {name: rs.evaluate(QRELS, run, MEASURE)[MEASURE] for name, run in RUNS.items()}
    tables = [rs.evaluate(table, MEASURE, runs="algorithm") for table in write(tmp_path)]
    for found in (*tables, rs.evaluate(WIDE, MEASURE, scores=SCORES)):
        assert {name: each[MEASURE] for name, each in found.items()} == expected


def test_every_function_that_compares_takes_both_forms():
    expected = rs.compare(QRELS, RUNS, MEASURE, bounds=False)
    for found in (
        rs.compare(WIDE, MEASURE, scores=SCORES, bounds=False),
        rs.compare(LONG, "algorithm", MEASURE, bounds=False),
        rs.compare(LONG, MEASURE, runs="algorithm", bounds=False),
        rs.report(WIDE, MEASURE, scores=SCORES).comparison,
        rs.report(LONG, MEASURE, runs="algorithm").comparison,
    ):
        (pair,) = found
        assert (pair.baseline, pair.run) == ("old", "new")
        assert (pair.difference, pair.p) == (
            expected[MEASURE, "new"].difference,
            expected[MEASURE, "new"].p,
        )
    board = rs.leaderboard(QRELS, RUNS, MEASURE)
    for found in (
        rs.leaderboard(WIDE, MEASURE, scores=SCORES),
        rs.leaderboard(LONG, "algorithm", MEASURE),
        rs.leaderboard(LONG, MEASURE, runs="algorithm"),
    ):
        assert found.entries == board.entries
    gated = rs.gate(QRELS, *RUNS.values(), {MEASURE: 0.1})
    for found in (
        rs.gate(WIDE, {MEASURE: 0.1}, scores=SCORES),
        rs.gate(WIDE, budgets={MEASURE: 0.1}, scores=SCORES),
    ):
        assert found.checks == gated.checks


def test_a_column_of_runs_is_in_a_file_as_in_memory(tmp_path):
    values = [
        (
            rs.compare(table, "algorithm", MEASURE, bounds=False).to_dict()["comparisons"],
            rs.leaderboard(table, "algorithm", MEASURE).entries,
            rs.gate(table, "algorithm", {MEASURE: 0.1}).checks,
            rs.report(table, "algorithm", MEASURE).comparison.to_dict()["comparisons"],
        )
        for table in write(tmp_path)
    ]
    assert values[0] == values[1] == values[2]


def test_a_column_of_runs_can_have_any_name_and_runs_other_names(tmp_path):
    LONG.rename(columns={"algorithm": "the run-id"}).to_csv(tmp_path / "long.csv", index=False)
    words = ["--runs", "the run-id", "--names", "before,after", "-m", MEASURE, "--json"]
    document = json.loads(run("compare", str(tmp_path / "long.csv"), *words).stdout)
    expected = rs.compare(LONG, "algorithm", MEASURE)[MEASURE, "new"].difference
    assert [*document["runs"]] == ["before", "after"]
    assert document["comparisons"][0]["difference"] == expected


@pytest.mark.parametrize("command", ["compare", "leaderboard", "gate"])
def test_commands_take_both_forms(command, tmp_path):
    write(tmp_path)
    WIDE.to_csv(tmp_path / "wide.csv", index=False)
    budget = ["--max-drop", f"{MEASURE}=0.1"] if command == "gate" else ["-m", MEASURE]
    documents = [
        json.loads(run(command, str(tmp_path / name), *form, *budget, "--json").stdout)
        for name, form in (
            ("wide.csv", ["--scores", "old,new"]),
            ("long.parquet", ["--runs", "algorithm"]),
        )
    ]
    assert documents[0] == documents[1]


@pytest.mark.parametrize(
    ("guess", "hint"),
    [
        (lambda: rs.evaluate(LONG, MEASURE), "write runs='algorithm'"),
        (
            lambda: rs.evaluate(LONG, MEASURE, by="algorithm"),
            "for names of runs, write runs=…",
        ),
        (lambda: rs.compare(LONG, MEASURE, by="algorithm"), "compare(table, 'model', …)"),
        (lambda: rs.evaluate(LONG, MEASURE, runs="algoritm"), "did you mean 'algorithm'"),
        (lambda: rs.evaluate(WIDE, MEASURE, scores=["old"]), "scores=['old', 'new']"),
        (lambda: rs.evaluate(WIDE, MEASURE, scores=SCORES, runs="algorithm"), "remove scores"),
        (lambda: rs.evaluate(QRELS, RUNS, MEASURE, scores=SCORES), "remove judgments"),
        (lambda: rs.evaluate(LONG.assign(algorithm="a"), MEASURE, runs="algorithm"), "for one run"),
        (lambda: rs.compare(WIDE, MEASURE, scores=SCORES, margin="5%"), "such as 0.005"),
        (lambda: rs.compare(WIDE, MEASURE, scores=SCORES, test="ttest"), "write test='t'"),
    ],
)
def test_a_guess_that_is_wrong_has_a_hint_that_works(guess, hint):
    with pytest.raises(rs.RankscopeError) as caught:
        guess()
    assert hint in caught.value.hint
