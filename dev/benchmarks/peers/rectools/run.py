"""Evaluate with RecTools: `… -m dev.benchmarks.peers.rectools.run ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, Precision, Recall, calc_metrics

from dev.benchmarks.stopwatch import Stopwatch

METRICS = {
    "P@10": Precision(k=10),
    "R@10": Recall(k=10),
    "AP@10": MAP(k=10),
    "nDCG@10": NDCG(k=10),
    "RR@10": MRR(k=10),
}


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
        interactions = pd.DataFrame({Columns.User: arrays["user"], Columns.Item: arrays["item"]})
    watch = Stopwatch()
    # One call for all metrics joins the two tables once.
    means = calc_metrics(METRICS, recommendations, interactions)
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
