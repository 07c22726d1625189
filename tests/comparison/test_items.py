"""Measures of recommended items work wherever others do, with what they need beside them."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
import rankscope
from rankscope.array import evaluate_batch

from tests.cli.command import run

DRAW = random.Random(5)
ITEMS = [f"i{number}" for number in range(12)]
USERS = [f"u{number:02}" for number in range(60)]
HISTORY = {user: DRAW.choices(ITEMS, range(1, 13), k=6) for user in USERS}
GENRES = {item: ("pop", "rock", "jazz")[number % 3] for number, item in enumerate(ITEMS)}
RELEVANT = {user: DRAW.sample(ITEMS, 2) for user in USERS}
RUNS = {name: {user: DRAW.sample(ITEMS, 4) for user in USERS} for name in ("one", "other")}
MEASURES = ["Novelty@3", "ILD@3", "nDCG@3"]
COUNTRIES = {user: "de" if number % 2 else "fr" for number, user in enumerate(USERS)}
GRADES = np.eye(2)
SLICED = {"by": COUNTRIES, "bounds": False}


def tables(lists):
    rows = [(user, item, 1 + at) for user, items in lists.items() for at, item in enumerate(items)]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])


def test_runs_are_compared_with_a_history_as_their_evaluations_are():
    evaluations = rankscope.evaluate(RELEVANT, RUNS, MEASURES, history=HISTORY, items=GENRES)
    expected = rankscope.compare(evaluations, by=COUNTRIES)
    known = rankscope.read_items(GENRES, history=HISTORY)
    rankings = {name: rankscope.Rankings.from_run(RELEVANT, run) for name, run in RUNS.items()}
    for found in (
        rankscope.compare(RELEVANT, RUNS, MEASURES, history=HISTORY, items=GENRES, **SLICED),
        rankscope.compare(RELEVANT, RUNS, MEASURES, items=known, **SLICED),
        rankscope.compare(rankings, MEASURES, history=HISTORY, items=GENRES, **SLICED),
    ):
        assert found.means == expected.means
        # As text, for a missing end of an interval is NaN, which is no equal of itself.
        assert repr(found.to_dict()["comparisons"]) == repr(expected.to_dict()["comparisons"])


def test_ranges_are_those_of_grades_alone():
    """No judgment changes how novel a list is, so only nDCG has a range over unjudged documents."""
    found = rankscope.compare(RELEVANT, RUNS, MEASURES, history=HISTORY, items=GENRES)
    has_range = {
        each.measure: each.unjudged is not None for each in found.comparisons if each.slice is None
    }
    assert has_range == {"Novelty@3": False, "ILD@3": False, "nDCG@3": True}


def test_a_table_of_rankings_is_evaluated_with_a_history(tmp_path):
    table = tables(RUNS["one"]).assign(relevance=0)
    chosen = [
        item in RELEVANT[user] for user, item in zip(table.user_id, table.item_id, strict=True)
    ]
    table.loc[chosen, "relevance"] = 1
    table["country"] = table.user_id.map(COUNTRIES)
    table.to_csv(tmp_path / "lists.csv", index=False)
    asked = ["Novelty@3", "ILD@3"]
    expected = rankscope.evaluate(RELEVANT, RUNS["one"], asked, history=HISTORY, items=GENRES)
    for given in (table, tmp_path / "lists.csv"):
        found = rankscope.evaluate(
            given, asked, history=HISTORY, items=GENRES, policy="ties=doc_id", by="country"
        )
        assert dict(found) == dict(expected)
        assert found.slices.to_dict()["de"]["Novelty@3 n"] == len(USERS) // 2
    compared = rankscope.compare(
        table.drop(columns="rank").assign(up=table["rank"], down=-table["rank"]),
        "Novelty@2",
        scores=["up", "down"],
        history=HISTORY,
        policy="ties=doc_id",
    )
    down = rankscope.evaluate(RELEVANT, RUNS["one"], "Novelty@2", history=HISTORY)
    assert compared.means["down"]["Novelty@2"] == down["Novelty@2"]


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ("be compared", lambda: rankscope.compare(RELEVANT, RUNS, "Coverage", history=HISTORY)),
        (
            "have a budget",
            lambda: rankscope.gate(RELEVANT, *RUNS.values(), {"Coverage": 0.1}, history=HISTORY),
        ),
        ("be reported", lambda: rankscope.report(RELEVANT, RUNS, "Coverage", history=HISTORY)),
    ],
)
def test_one_value_of_all_lists_is_refused_with_the_reason(action, call):
    with pytest.raises(rankscope.UsageError, match=f"Coverage can't {action}.*all lists"):
        call()


def test_commands_take_what_is_known_of_items(tmp_path):
    files = {"relevant": RELEVANT, "history": HISTORY, **RUNS}
    for name, lists in files.items():
        tables(lists).drop_duplicates(["user_id", "item_id"]).drop(
            columns=["rank"] * (name in {"relevant", "history"})
        ).to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [str(tmp_path / f"{name}.csv") for name in ("relevant", *RUNS)]
    known = ["--history", str(tmp_path / "history.csv")]
    compared = run("compare", *paths, "-m", "Novelty@3", *known, "--csv")
    assert compared.returncode == 0, compared.stderr
    expected = rankscope.compare(RELEVANT, RUNS, "Novelty@3", history=HISTORY)["Novelty@3", "other"]
    assert repr(expected.difference) in compared.stdout.decode()
    gated = run("gate", *paths, "--max-drop", "Novelty@3=2", *known)
    assert gated.returncode == 0, gated.stderr
    page = str(tmp_path / "report.html")
    reported = run("report", *paths, "-m", "Novelty@3", *known, "-o", page)
    assert reported.returncode == 0, reported.stderr
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"--history {known[1]}" in text


@pytest.mark.parametrize(
    "call",
    [
        lambda: rankscope.Rankings.from_run(RELEVANT, RUNS["one"]).bounds("Novelty"),
        lambda: rankscope.Rankings.from_run(RELEVANT, RUNS["one"]).ties("Novelty"),
        lambda: rankscope.diff(RELEVANT, *RUNS.values(), "Novelty"),
        lambda: rankscope.Rankings.from_arrays([[1, 0]], [[2, 1]]).evaluate(
            "Novelty", history=HISTORY
        ),
        lambda: rankscope.Rankings.from_lists([[1, 0]]).evaluate("Coverage", catalogue=ITEMS),
        lambda: evaluate_batch("Novelty@2", grades=GRADES, scores=GRADES),
    ],
)
def test_what_knows_grades_alone_says_where_items_are_measured(call):
    with pytest.raises(
        rankscope.errors.MeasureError, match=r"Novelty|ids of their items"
    ) as caught:
        call()
    assert "evaluate" in str(caught.value.hint) or "from_table" in str(caught.value.hint)


def test_results_that_have_their_values_take_no_history():
    evaluations = rankscope.evaluate(RELEVANT, RUNS, "Novelty", history=HISTORY)
    with pytest.raises(rankscope.UsageError, match="history has no effect on results"):
        rankscope.compare(evaluations, "Novelty", history=HISTORY)
