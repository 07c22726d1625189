"""Audit rankings: `python -m dev.benchmarks.ours.audits evaluate|losses|bounds QRELS RUN`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import rankscope as rs
from rankscope import AP, RR, nDCG

from dev.benchmarks.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURE = nDCG @ 10
SCALE = (0, 1, 2, 3)
UNJUDGED = 0.4
SEED = 20260101


def main(kind: str, qrels_path: str, run_path: str) -> None:
    """Audit once, and print seconds and the means that show that the rankings are right.

    Args:
        kind: `evaluate` for nDCG@10 alone, `losses` for its ledger, `bounds` for its bounds where
            four in ten documents are unjudged.
        qrels_path: A qrels file.
        run_path: A run file.
    """
    rankings = rs.Rankings.from_run(qrels_path, run_path)
    evaluation = rankings.evaluate([MEASURE, AP, RR])
    audits: dict[str, Callable[[], object]] = {
        "evaluate": lambda: rankings.evaluate(MEASURE)[MEASURE],
        "losses": lambda: rankings.losses(MEASURE).array("ordering"),
        "bounds": lambda: partly.bounds(MEASURE, scale=SCALE).mean,
    }
    partly = hide(rankings) if kind == "bounds" else rankings
    watch = Stopwatch()
    audits[kind]()
    watch.lap("evaluate")
    watch.report({name: evaluation[name] for name in ("nDCG@10", "AP", "RR")})


def hide(rankings: rs.Rankings) -> rs.Rankings:
    """Give the same lists with grades of the scale, and four in ten of their documents unjudged."""
    rows = len(rankings.relevance)
    random = np.random.default_rng(SEED)
    grades = random.choice(np.array(SCALE, float), size=rows, p=[0.6, 0.2, 0.1, 0.1])
    grades[random.random(rows) < UNJUDGED] = np.nan
    sizes = np.diff(rankings.offsets)
    return rs.Rankings.from_groups(grades, rankings.scores, sizes)


if __name__ == "__main__":
    main(*sys.argv[1:])
