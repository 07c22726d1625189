"""Evaluate matrices: `python -m dev.benchmarks.ours.matrices ARRAYS [SCORES [CUTOFF]]`."""

from __future__ import annotations

import sys

import numpy as np
import rankscope as rs

from dev.benchmarks.corpora.matrices import name_mean
from dev.benchmarks.stopwatch import Stopwatch


def main(path: str, chosen: str = "scores", cutoff: str = "10") -> None:
    """Evaluate again and again, and print seconds and the mean.

    Args:
        path: File of the matrices.
        chosen: Which array of scores.
        cutoff: How many ranks count; `0` for all.
    """
    with np.load(path) as arrays:
        grades, scores = arrays["grades"], arrays[chosen]
    k = int(cutoff) or None
    watch = Stopwatch()
    mean = watch.repeat("evaluate", lambda: rs.ndcg_score(grades, scores, k=k))
    watch.report({name_mean(chosen, k): mean})


if __name__ == "__main__":
    main(*sys.argv[1:])
