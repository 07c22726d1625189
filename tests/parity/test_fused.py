"""Fused scores are those of ranx and trectools, where the definitions agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rankscope as rs

from dev.parity.fused import make_runs

FOLDER = Path(__file__).parent / "golden" / "fused"
Lists = dict[str, dict[str, float]]


def load(peer: str) -> dict[str, Lists]:
    """Return what a tool says, by method and scale."""
    text = FOLDER.joinpath(f"{peer}.json").read_text(encoding="utf-8")
    cases: dict[str, Lists] = json.loads(text)["cases"]
    return cases


RANX, TRECTOOLS = load("ranx"), load("trectools")
WEIGHTS = {"weights": [0.5, 0.3, 0.2]}
SETTINGS: dict[str, dict[str, Any]] = {
    "logn_isr": {"sigma": 0.01},
    "w_bordafuse": WEIGHTS,
    "wsum": WEIGHTS,
}
OTHERS = {"wmnz min-max"}
"""With another definition: the sum of the scores, times the sum of the weights."""


@pytest.mark.parametrize("case", sorted(RANX.keys() - OTHERS))
def test_scores_are_those_of_ranx(case: str) -> None:
    method, scale = case.split()
    settings = SETTINGS.get(method, {})
    if scale != "none":
        settings = settings | {"normalize": scale.replace("-", "_")}
    check(rs.fuse(make_runs(), method, **settings), RANX[case])


@pytest.mark.parametrize("case", sorted(TRECTOOLS))
def test_scores_are_those_of_trectools(case: str) -> None:
    method, _ = case.split()
    runs = make_runs()
    settings: dict[str, Any] = {}
    if "_" not in method:
        # It adds scores as they are, of the first two runs.
        settings, runs = {"normalize": "none"}, dict([*runs.items()][:2])
    check(rs.fuse(runs, method, **settings), TRECTOOLS[case])


def check(fused: rs.FusedRun, expected: Lists) -> None:
    found = fused.to_dict()
    assert found.keys() == expected.keys()
    for query, scores in expected.items():
        # Other tools add in another order.
        assert found[query] == pytest.approx(scores, rel=1e-12, abs=1e-12)
