"""With scikit-learn: `… -m dev.benchmarks.peers.scikit_learn.run TIES ARRAYS [SCORES [CUTOFF]]`."""

from __future__ import annotations

import sys

import numpy as np
from sklearn.metrics import ndcg_score

from dev.benchmarks.corpora.matrices import name_mean
from dev.benchmarks.stopwatch import Stopwatch


def main(ties: str, path: str, chosen: str = "scores", cutoff: str = "10") -> None:
    """Evaluate again and again, and print seconds and the mean.

    Args:
        ties: `averaged`, or `ignored`, which is faster.
        path: File of the matrices.
        chosen: Which array of scores.
        cutoff: How many ranks count; `0` for all.
    """
    with np.load(path) as arrays:
        grades, scores = arrays["grades"], arrays[chosen]
    k, ignore_ties = int(cutoff) or None, ties == "ignored"
    watch = Stopwatch()
    mean = watch.repeat(
        "evaluate", lambda: float(ndcg_score(grades, scores, k=k, ignore_ties=ignore_ties))
    )
    watch.report({name_mean(chosen, k): mean})


if __name__ == "__main__":
    main(*sys.argv[1:])
