"""Ours beside the peers that are installed here, on other random cases each seed.

The others are asked by `make parity`, in environments of their own.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from dev.parity.answers import collect
from dev.parity.cases import generate
from tests.parity.comparison import compare, compare_chance
from tests.parity.golden import Case, read_answers

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    "catboost": "catboost",
    "ir_measures": "ir_measures",
    "lightgbm": "lightgbm",
    "rankkit": "rankkit",
    "scikit_learn": "sklearn",
    "tie_aware": "trm",
    "xgboost": "xgboost",
}
"""The peers that take little to install and to ask, and what they are imported as."""

OTHER_CASES = pytest.param(
    1, marks=pytest.mark.thorough(reason="the peers, not rankscope, take most of the time")
)
CASES = {"binary_tied", "matrix", "split"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, OTHER_CASES])
@pytest.mark.parametrize("peer", MODULES)
def test_values_are_those_of_the_library_beside_us(
    peer: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(MODULES[peer]) is None:
        pytest.skip(f"{MODULES[peer]} is not installed")
    monkeypatch.chdir(tmp_path)  # some write logs where they run
    cases = [case for case in generate(seed) if case.name in CASES]
    compared = []
    for fields in collect(import_module(f"dev.parity.peers.{peer}.measure").measure, cases):
        golden = read_answers({"verified": "now", **fields})
        for case in cases:
            if case.name in golden.cases:
                ours = Case(case.about, case.complete, case.qrels, case.run)
                compare(golden, case.name, ours)
                compare_chance(golden, case.name, ours)
                compared.append(case.name)
    assert compared, f"{peer} answered no case"
