"""Ask ranx whether runs differ: `… -m dev.parity.peers.ranx.compared ANSWERS`."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import ranx

from dev.parity.compared import publish

if TYPE_CHECKING:
    from dev.parity.compared import Answers, Lists, Qrels

PERMUTATIONS = 10_000
METRIC = "dcg@1"
"""The grade of the first document."""


def ask(qrels: Qrels, runs: dict[str, Lists]) -> Answers:
    """Ask for the p-values of each pair of runs by each of its tests."""
    answers: Answers = {}
    for test in ("student", "fisher", "tukey"):
        report = ranx.compare(
            ranx.Qrels(qrels),
            [ranx.Run(run, name=name) for name, run in runs.items()],
            [METRIC],
            stat_test=test,
            n_permutations=PERMUTATIONS,
        )
        answers[test] = {
            f"{one}-{other}": float(report.comparisons[one, other][METRIC]["p_value"])
            for one, other in combinations(runs, 2)
        }
    return answers


if __name__ == "__main__":
    publish("ranx", f"compare(qrels, runs, '{METRIC}', n_permutations={PERMUTATIONS})", ask)
