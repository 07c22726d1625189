"""Measure recommended items with RecTools: `… -m dev.benchmarks.peers.rectools.items ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from rectools import Columns
from rectools.metrics import (
    AvgRecPopularity,
    CatalogCoverage,
    IntraListDiversity,
    MeanInvUserFreq,
    PairwiseHammingDistanceCalculator,
    Serendipity,
    calc_metrics,
)

from dev.benchmarks.stopwatch import Stopwatch


def main(path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        path: File of the columns.
    """
    with np.load(path) as arrays:
        recommendations = pd.DataFrame(
            {
                Columns.User: arrays["recommended_user"],
                Columns.Item: arrays["recommended_item"],
                Columns.Rank: arrays["rank"],
            }
        )
        chosen = pd.DataFrame(
            {Columns.User: arrays["chosen_user"], Columns.Item: arrays["chosen_item"]}
        )
        history = pd.DataFrame({Columns.User: arrays["user"], Columns.Item: arrays["item"]})
        flags = pd.DataFrame(arrays["flags"])
    catalogue = np.arange(len(flags))
    watch = Stopwatch()
    metrics = {
        "Novelty@10": MeanInvUserFreq(k=10),
        "AvgPopularity@10": AvgRecPopularity(k=10),
        "ILD@10": IntraListDiversity(
            k=10, distance_calculator=PairwiseHammingDistanceCalculator(flags)
        ),
        "Serendipity@10": Serendipity(k=10),
        "Coverage@10": CatalogCoverage(k=10, normalize=True),
    }
    # One call for all metrics prepares the tables once.
    means = calc_metrics(
        metrics,
        reco=recommendations,
        interactions=chosen,
        prev_interactions=history,
        catalog=catalogue,
    )
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
