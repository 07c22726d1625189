"""Evaluate matrices with rankscope: `python -m dev.benchmarks.ours.matrices ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import rankscope as rs

from dev.benchmarks.stopwatch import Stopwatch


def main(path: str) -> None:
    """Evaluate again and again, and print seconds and the mean.

    Args:
        path: File of the matrices.
    """
    with np.load(path) as arrays:
        grades, scores = arrays["grades"], arrays["scores"]
    watch = Stopwatch()
    mean = watch.repeat("evaluate", lambda: rs.ndcg_score(grades, scores, k=10))
    watch.report({"nDCG@10": mean})


if __name__ == "__main__":
    main(*sys.argv[1:])
