"""The file of a gate: its keys, and what errors say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.gate.file import GateFile, read_gate_file

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """
qrels = "data/qrels.txt"
baseline = "old.run"
candidate = "/tmp/new.run"
attributes = "queries.csv"
cluster = "user_id"
policy = "ties=average"
convention = "lightgbm"
confidence = 0.9
interval-method = "dense"
on-inconclusive = "pass"

[[budget]]
measure = "nDCG@10"
max-drop = 0.005

[[budget]]
measure = "AP"
max-drop = "2%"
by = ["country", "device"]
confidence = 0.99
on-inconclusive = "fail"

[[budget]]
measure = "nDCG@10"
max-loss = 0.3
quantile = 0.9

[[budget]]
measure = "RR"
min = 0.4
by = "country"
"""
BUDGET = '[[budget]]\nmeasure = "AP"\nmax-drop = 0.01\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    found = read_gate_file(write(tmp_path, WHOLE))
    assert found == GateFile(
        budgets=(
            rs.Budget("nDCG@10", max_drop=0.005),
            rs.Budget(
                "AP",
                max_drop="2%",
                by=("country", "device"),
                confidence=0.99,
                on_inconclusive="fail",
            ),
            rs.Budget("nDCG@10", max_loss=0.3, quantile=0.9),
            rs.Budget("RR", minimum=0.4, by="country"),
        ),
        qrels=str(tmp_path / "data" / "qrels.txt"),
        baseline=str(tmp_path / "old.run"),
        candidate="/tmp/new.run",  # noqa: S108 - only a name
        attributes=str(tmp_path / "queries.csv"),
        cluster="user_id",
        policy="ties=average",
        convention="lightgbm",
        confidence=0.9,
        interval_method="dense",
        on_inconclusive="pass",
    )


def test_budgets_are_enough(tmp_path: Path) -> None:
    found = read_gate_file(write(tmp_path, BUDGET))
    assert found == GateFile(budgets=(rs.Budget("AP", max_drop=0.01),))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("on_inconclusive = 'pass'\n" + BUDGET, "unknown key 'on_inconclusive'", "on-inconclusive"),
        ("zzz = 'red'\n" + BUDGET, "unknown key 'zzz'", "the keys are qrels, baseline"),
        (BUDGET + "max_loss = 1", "[[budget]] 1: unknown key 'max_loss'", "did you mean max-loss?"),
        ("", "one or more tables [[budget]]", "[[budget]]"),
        ("budget = []", "one or more tables [[budget]]", "[[budget]]"),
        ("budget = [1]", "one or more tables [[budget]]", "[[budget]]"),
        ("[budget]\nmeasure = 'AP'", "one or more tables [[budget]]", "[[budget]]"),
        ("[[budget]]\nmax-drop = 1", "[[budget]] 1: expected a measure", "measure ="),
        ("[[budget]]\nmeasure = 'AP'", "[[budget]] 1: the budget of AP needs", "a minimum"),
        (BUDGET + "min = 1", "[[budget]] 1: the budget of AP needs exactly one limit", "set"),
        (BUDGET + "[[budget]]\nmeasure = 'APP'\nmin = 1", "[[budget]] 2: unknown measure", "AP"),
        ("[[budget]]\nmeasure = 'AP'\nmax-drop = -1", "0 or more, found -1", "0.005"),
        ("[[budget]]\nmeasure = 'AP'\nmax-drop = '1'", "0 or more, found '1'", "0.005"),
        ("[[budget]]\nmeasure = 5\nmin = 1", "expected text for measure, found 5", "quotes"),
        (BUDGET + "by = []", "the name of an attribute", "by ="),
        (BUDGET + "quantile = 0.9", "quantile has no effect", "remove"),
        (BUDGET + "confidence = 95", "[[budget]] 1: expected a confidence", "0.95"),
        ("confidence = true\n" + BUDGET, "expected a confidence", "0.95"),
        ("on-inconclusive = 'past'\n" + BUDGET, "unknown value 'past'", "did you mean pass?"),
        ("interval-method = 'dens'\n" + BUDGET, "found 'dens'", "did you mean dense?"),
        ("qrels = 1\n" + BUDGET, "expected text for qrels, found 1", "quotes"),
        ("qrels = ''\n" + BUDGET, "expected text for qrels, found ''", "quotes"),
        ("policy = 'ties=coin'\n" + BUDGET, "coin", "doc_id"),
        ("qrels = \n" + BUDGET, "invalid TOML: Invalid value", "quotes"),
        ("a = " + "[" * 3000, "invalid TOML", ""),
    ],
)
def test_errors_name_the_file_and_the_key(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(rs.FormatError) as caught:
        read_gate_file(path)
    assert caught.value.file == str(path)
    assert caught.value.exit_status == 3
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_invalid_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(rs.FormatError) as caught:
        read_gate_file(write(tmp_path, BUDGET + "by = x\n"))
    assert caught.value.line == 4
    assert "at line" not in caught.value.message


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(rs.FormatError, match="expected UTF-8"):
        read_gate_file(path)


@pytest.mark.parametrize("name", ["absent.toml", "", "\0"])
def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(rs.FileError) as caught:
        read_gate_file(f"{tmp_path}/{name}")
    assert caught.value.exit_status == 4
