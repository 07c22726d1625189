"""With scikit-learn: `… -m dev.benchmarks.peers.scikit_learn.run averaged|ignored ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
from sklearn.metrics import ndcg_score

from dev.benchmarks.stopwatch import Stopwatch


def main(ties: str, path: str) -> None:
    """Evaluate again and again, and print seconds and the mean.

    Args:
        ties: `averaged`, or `ignored`, which is faster.
        path: File of the matrices.
    """
    with np.load(path) as arrays:
        grades, scores = arrays["grades"], arrays["scores"]
    ignore_ties = ties == "ignored"
    watch = Stopwatch()
    mean = watch.repeat(
        "evaluate", lambda: float(ndcg_score(grades, scores, k=10, ignore_ties=ignore_ties))
    )
    watch.report({"nDCG@10": mean})


if __name__ == "__main__":
    main(*sys.argv[1:])
