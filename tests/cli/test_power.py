"""`rankscope power` plans by the values of two runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import UsageError
from statsmodels.stats.power import TTestPower

from tests.cli.command import check_error, run, write_files

DEVIATION = math.sqrt(2 / 3 * (1 / 2) ** 2 * 3 / 2)
"""Of RR differences 0, 1/2 and -1/2."""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Judgments and two runs, whose RR differs by 0, 1/2 and -1/2."""
    texts = {
        "qrels": "q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n",
        "a.run": "q1 Q0 a 1 1 t\nq2 Q0 x 1 2 t\nq2 Q0 b 2 1 t\nq3 Q0 c 1 1 t\n",
        "b.run": "q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq3 Q0 x 1 2 t\nq3 Q0 c 2 1 t\n",
    }
    return write_files(tmp_path, texts)


def test_the_queries_that_effects_need_are_printed(files: list[str]) -> None:
    done = run("power", *files, "-m", "RR", "--effect", "0.1", "0.3")
    needed = [
        math.ceil(TTestPower().solve_power(each / DEVIATION, None, 0.05, 0.8))
        for each in (0.1, 0.3)
    ]
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "RR"
    assert lines[2] == f"standard deviation of the differences: {DEVIATION:.4f}"
    assert lines[3].startswith("3 queries detect a difference of ")
    assert lines[4:] == [
        f"a difference of 0.1 needs {needed[0]} queries",
        f"a difference of 0.3 needs {needed[1]} queries",
    ]


def test_json_has_every_number(files: list[str]) -> None:
    done = run("power", *files, "-m", "RR", "--effect", "0.3", "--unpaired", "--json")
    found = json.loads(done.stdout)
    expected = rs.power([1, 0.5, 1], [1, 1, 0.5], effect=0.3, paired=False)
    assert found == {"measure": "RR", **expected.to_dict()}
    assert found["paired"] is False


def test_a_power_below_the_level_is_a_usage_error(files: list[str]) -> None:
    said = check_error(run("power", *files, "--power", "0.01"), 2, "bad_parameter")
    assert "expected power to be above the level of 0.05" in said


def test_values_and_their_standard_deviation_give_the_same() -> None:
    random = np.random.default_rng(1)
    one, other = random.random((2, 40))
    by_values = rs.power(one, other, effect=[0.1])
    # Sums are rounded in the order of the values, from the lowest to the highest.
    deviation = float(np.sort(other - one).std(ddof=1))
    assert by_values == rs.power(standard_deviation=deviation, n=40, effect=0.1)
    deviations = (float(np.sort(one).std(ddof=1)), float(np.sort(other).std(ddof=1)))
    unpaired = rs.power(one, other[:30], paired=False)
    assert unpaired.n == 30
    assert rs.power(one, other, paired=False) == rs.power(
        standard_deviation=deviations, n=40, paired=False
    )


def test_without_n_there_is_no_detectable_difference() -> None:
    found = rs.power(standard_deviation=0.2, effect=0.05)
    assert (found.n, found.minimum_detectable) == (None, None)
    assert found.queries_needed == {0.05: 128}


def test_values_that_do_not_fit_are_refused() -> None:
    for wrong, message in (
        (rs.power, "values of two systems, or standard_deviation"),
        (lambda: rs.power([1.0]), "values of two systems, or standard_deviation"),
        (lambda: rs.power([1.0, 2.0], [1.0]), "same queries"),
        (lambda: rs.power([1.0, math.nan], [1.0, 0.0]), "two or more queries"),
        (lambda: rs.power(standard_deviation=(0.1, 0.2)), "one standard deviation"),
    ):
        with pytest.raises(UsageError, match=message):
            wrong()


@pytest.mark.parametrize("paired", [True, False])
def test_infinite_values_are_refused(*, paired: bool) -> None:
    with pytest.raises(UsageError, match="found one that is infinite"):
        rs.power([0.1, math.inf, 0.3], [0.2, 0.4, 0.1], paired=paired)
