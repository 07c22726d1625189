"""Evaluate recommendations with rankscope: `… -m dev.benchmarks.ours.recommendations ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import rankscope as rs
from rankscope import AP, RR, P, R, nDCG

from dev.benchmarks.stopwatch import Stopwatch

MEASURES = {
    "P@10": P @ 10,
    "R@10": R @ 10,
    "AP@10": AP @ 10,
    "nDCG@10": nDCG(gain="binary", ideal="slots") @ 10,
    "RR@10": RR @ 10,
}


def main(path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        path: File of the columns.
    """
    with np.load(path) as arrays:
        recommendations = pd.DataFrame(
            {
                "user_id": arrays["recommended_user"],
                "item_id": arrays["recommended_item"],
                "rank": arrays["rank"],
            }
        )
        interactions = pd.DataFrame(
            {"user_id": arrays["user"], "item_id": arrays["item"], "relevance": 1.0}
        )
    watch = Stopwatch()
    evaluation = rs.evaluate(
        interactions,
        recommendations,
        list(MEASURES.values()),
    )
    means = {name: evaluation[measure] for name, measure in MEASURES.items()}
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
