"""What results are as a number, as the best run, and as JSON; how long their small print is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.cli.command import run
from tests.trec import write_qrels, write_run

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
GOOD = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in QRELS}
BAD = {query: {"a": 1.0, "b": 2.0, "z": 3.0} for query in [*QRELS][:-1]} | {"other": {"a": 1.0}}
RUNS = {"bad": BAD, "good": GOOD}


def test_one_measure_is_a_number() -> None:
    assert float(rs.evaluate(QRELS, GOOD, "RR")) == 1.0
    assert float(rs.evaluate(QRELS, {"good": GOOD}, "RR")) == 1.0


def test_several_values_are_no_number() -> None:
    with pytest.raises(rs.UsageError, match="expected one measure to be a number, found 2: RR, AP"):
        float(rs.evaluate(QRELS, GOOD, ["RR", "AP"]))
    with pytest.raises(rs.UsageError, match="expected one run to be a number, found 2"):
        float(rs.evaluate(QRELS, RUNS, "RR"))


def test_the_best_run_is_that_of_the_better_mean() -> None:
    found = rs.evaluate(QRELS, RUNS, ["RR", "OrderingLoss", "Unjudged@2"])
    assert found["good"]["OrderingLoss"] < found["bad"]["OrderingLoss"]
    assert [found.best(), found.best("mrr"), found.best("OrderingLoss")] == ["good"] * 3
    with pytest.raises(rs.MeasureError, match="neither higher nor lower values are better"):
        found.best("Unjudged@2")
    with pytest.raises(rs.MeasureError, match="AP was not evaluated"):
        found.best("AP")


def test_the_first_of_equal_runs_is_the_best_and_nan_never_is() -> None:
    assert rs.evaluate(QRELS, {"one": GOOD, "two": GOOD}, "RR").best() == "one"
    none = {query: {"a": 0} for query in QRELS}
    with pytest.raises(rs.MeasureError, match="no run has a value of RR"):
        rs.evaluate(none, RUNS, "RR", policy="empty=skip").best()


def test_json_is_what_the_command_prints(tmp_path: Path) -> None:
    qrels = write_qrels(tmp_path / "qrels", QRELS)
    bad, good = (write_run(tmp_path / name, RUNS[name]) for name in ("bad", "good"))
    words = ["-m", "nDCG@10,AP", "--json"]
    pairs = [
        (["eval", qrels, bad, *words], rs.evaluate(qrels, bad, ["nDCG@10", "AP"]).to_json()),
        (
            ["compare", qrels, bad, good, *words],
            rs.compare(qrels, [bad, good], ["nDCG@10", "AP"]).to_json(),
        ),
        (
            ["leaderboard", qrels, bad, good, *words],
            rs.leaderboard(qrels, [bad, good], ["nDCG@10", "AP"]).to_json(),
        ),
        (
            ["gate", qrels, bad, good, "--max-drop", "AP=0.1", "--json"],
            rs.gate(qrels, bad, good, {"AP": 0.1}, names=("bad", "good")).to_json(),
        ),
    ]
    for command, expected in pairs:
        assert json.loads(run(*command).stdout) == json.loads(expected)
    whole = json.loads(run("eval", qrels, bad, good, *words, "-q").stdout)
    own = json.loads(rs.evaluate(qrels, [bad, good], ["nDCG@10", "AP"]).to_json(per_query=True))
    for each in whole["runs"]:
        each["run"] = each["run"].rpartition("/")[2]
    assert own == whole


def test_nan_is_null_and_one_line_is_possible() -> None:
    found = rs.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "RR", policy="empty=nan")
    text = found.to_json(indent=None)
    assert "\n" not in text
    assert json.loads(text)["measures"] == {"RR": None}


RESULTS = {
    "evaluate": lambda: rs.evaluate(QRELS, BAD, ["RR", "AP"], interval=0.95),
    "several": lambda: rs.evaluate(QRELS, RUNS, ["RR", "AP"], interval=0.95),
    "compare": lambda: rs.compare(QRELS, RUNS, ["RR", "AP"]),
    "gate": lambda: rs.gate(QRELS, GOOD, BAD | {"q0": {"a": 1.0}}, {"RR": 0.6, "AP": "90%"}),
    "diff": lambda: rs.diff(QRELS, BAD, GOOD, "nDCG@2"),
    "leaderboard": lambda: rs.leaderboard(QRELS, RUNS, ["RR", "AP"], baseline="bad"),
}
NUMBERS = {"evaluate": 3, "several": 3, "leaderboard": 3}
"""The lines above the small print, of results that put no empty line between."""


@pytest.mark.parametrize("name", RESULTS)
def test_two_lines_of_small_print_say_where_all_of_it_is(name: str) -> None:
    result = RESULTS[name]()
    lines = str(result).splitlines()
    blank = max((at for at, line in enumerate(lines) if not line), default=NUMBERS.get(name, 0) - 1)
    below = lines[blank + 1 :]
    assert 1 <= len(below) <= 2
    is_printed = name in {"compare", "gate", "leaderboard"}  # by the command of this name
    assert below[-1].endswith(f": .small_print{', --small-print' if is_printed else ''}")
    assert len(result.small_print) > 2
    codes = {code for each in getattr(result, "notes", ()) for code in [each.code]}
    assert all(code in below[-1] for code in codes if name != "gate")
