"""Counts of `rankscope trec_eval` that are too large for 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.trec_eval.command import MOST_DIGITS

from tests.cli.command import check_error, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("option", ["-M", "-l", "-N"])
def test_a_count_has_so_many_digits_and_not_one_more(option: str, files: Path) -> None:
    inputs = str(files / "qrels"), str(files / "run")
    assert run("trec_eval", option, "9" * MOST_DIGITS, *inputs).returncode == 0
    for digits in (MOST_DIGITS + 1, 20, 5000):
        said = check_error(run("trec_eval", option, "9" * digits, *inputs), 1, "usage")
        assert f"of at most {MOST_DIGITS} digits, for {option}, found '99" in said


def test_zeros_in_front_of_a_count_are_no_digits_of_it(files: Path) -> None:
    inputs = str(files / "qrels"), str(files / "run")
    assert run("trec_eval", "-M", "0" * 5000 + "1", *inputs).stdout == (
        run("trec_eval", "-M", "1", *inputs).stdout
    )
