"""Evaluate with a script of NumPy: `… -m dev.benchmarks.peers.numpy.run ARRAYS`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from dev.benchmarks.stopwatch import Stopwatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

CUTOFF = 10
DISCOUNTS = 1 / np.log2(np.arange(2, CUTOFF + 2))


def evaluate(grades: NDArray[np.int64], scores: NDArray[np.float64]) -> float:
    """Average nDCG@10; only the first ranks are sorted, ties fall as they come.

    Args:
        grades: A row a query, more than ten columns.
        scores: Of the same shape.

    Returns:
        The mean; rows without gain count 0.
    """
    rest = scores.shape[1] - CUTOFF
    first = np.argpartition(scores, rest, axis=1)[:, rest:]
    order = np.argsort(np.take_along_axis(scores, first, axis=1), axis=1)[:, ::-1]
    ranked = np.take_along_axis(grades, np.take_along_axis(first, order, axis=1), axis=1)
    ideal = np.sort(np.partition(grades, rest, axis=1)[:, rest:], axis=1)[:, ::-1]
    dcg, idcg = ranked @ DISCOUNTS, ideal @ DISCOUNTS
    return float(np.divide(dcg, idcg, out=np.zeros_like(dcg), where=idcg > 0).mean())


def main(path: str) -> None:
    """Evaluate again and again, and print seconds and the mean.

    Args:
        path: File of the matrices.
    """
    with np.load(path) as arrays:
        grades, scores = arrays["grades"], arrays["scores"]
    watch = Stopwatch()
    mean = watch.repeat("evaluate", lambda: evaluate(grades, scores))
    watch.report({"nDCG@10": mean})


if __name__ == "__main__":
    main(*sys.argv[1:])
