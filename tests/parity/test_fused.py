"""Fused scores are those of ranx, where a query is in all runs and the definitions agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rankscope as rs

from dev.parity.fused import make_runs

GOLDEN = Path(__file__).parent / "golden" / "fused" / "ranx.json"
CASES: dict[str, dict[str, dict[str, float]]] = json.loads(GOLDEN.read_text(encoding="utf-8"))[
    "cases"
]
WEIGHTS = {"weights": [0.5, 0.3, 0.2]}
SETTINGS: dict[str, dict[str, Any]] = {
    "logn_isr": {"sigma": 0.01},
    "w_bordafuse": WEIGHTS,
    "wsum": WEIGHTS,
}
OTHERS = {"wmnz min-max"}
"""With another definition: the sum of the scores, times the sum of the weights."""


@pytest.mark.parametrize("case", sorted(CASES.keys() - OTHERS))
def test_scores_are_those_of_ranx(case: str) -> None:
    method, scale = case.split()
    settings = SETTINGS.get(method, {})
    if scale != "none":
        settings = settings | {"normalize": scale.replace("-", "_")}
    found = rs.fuse(make_runs(), method, **settings).to_dict()
    for query, scores in CASES[case].items():
        # ranx adds in another order.
        assert found[query] == pytest.approx(scores, rel=1e-12, abs=1e-12)
