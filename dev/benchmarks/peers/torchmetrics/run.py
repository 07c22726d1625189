"""Evaluate with TorchMetrics: `… -m dev.benchmarks.peers.torchmetrics.run ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import torch
from torchmetrics.retrieval import RetrievalNormalizedDCG

from dev.benchmarks.stopwatch import Stopwatch


def main(path: str) -> None:
    """Evaluate again and again, and print seconds and the mean.

    Args:
        path: File of the matrices.
    """
    with np.load(path) as arrays:
        grades, scores = arrays["grades"], arrays["scores"]
    rows, columns = scores.shape
    target, preds = torch.from_numpy(grades.ravel()), torch.from_numpy(scores.ravel())
    indexes = torch.arange(rows).repeat_interleave(columns)

    def evaluate() -> float:
        metric = RetrievalNormalizedDCG(top_k=10)
        metric.update(preds, target, indexes=indexes)
        return float(metric.compute())

    watch = Stopwatch()
    mean = watch.repeat("evaluate", evaluate)
    watch.report({"nDCG@10": mean})


if __name__ == "__main__":
    main(*sys.argv[1:])
