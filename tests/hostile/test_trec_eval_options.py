"""Counts of `rankscope trec_eval` that are too large for 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.trec_eval.command import MOST_DIGITS

from tests.cli.command import check_error, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 1.0 t\n")
    return str(tmp_path / "qrels"), str(tmp_path / "run")


@pytest.mark.parametrize("option", ["-M", "-l", "-N"])
def test_a_count_has_so_many_digits_and_not_one_more(option: str, files: tuple[str, str]) -> None:
    assert run("trec_eval", option, "9" * MOST_DIGITS, *files).returncode == 0
    for digits in (MOST_DIGITS + 1, 20, 5000):
        said = check_error(run("trec_eval", option, "9" * digits, *files), 1, "usage")
        assert f"of at most {MOST_DIGITS} digits, for {option}, found '99" in said


def test_zeros_in_front_of_a_count_are_no_digits_of_it(files: tuple[str, str]) -> None:
    assert run("trec_eval", "-M", "0" * 5000 + "1", *files).stdout == (
        run("trec_eval", "-M", "1", *files).stdout
    )
