"""Measure recommended items with rankscope: `… -m dev.benchmarks.ours.recommended_items ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import rankscope as rs
from rankscope import ILD, AvgPopularity, Coverage, Novelty, Serendipity

from dev.benchmarks.stopwatch import Stopwatch

MEASURES = {
    "Novelty@10": Novelty @ 10,
    "AvgPopularity@10": AvgPopularity @ 10,
    "ILD@10": ILD(distance="hamming") @ 10,
    "Serendipity@10": Serendipity @ 10,
    "Coverage@10": Coverage @ 10,
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
        chosen = pd.DataFrame({"user_id": arrays["chosen_user"], "item_id": arrays["chosen_item"]})
        history = pd.DataFrame({"user_id": arrays["user"], "item_id": arrays["item"]})
        flags = pd.DataFrame(arrays["flags"]).add_prefix("flag ")
    flags.insert(0, "item_id", np.arange(len(flags)))
    watch = Stopwatch()
    evaluation = rs.evaluate(
        chosen, recommendations, list(MEASURES.values()), history=history, items=flags
    )
    means = {name: evaluation[measure] for name, measure in MEASURES.items()}
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
