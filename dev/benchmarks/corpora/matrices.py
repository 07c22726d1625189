"""Matrices of grades and scores, a row a query, as a ranking model has them in training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dev.benchmarks.corpora.distinct import draw_distinct
from dev.benchmarks.corpora.expected import CUTOFF
from dev.benchmarks.corpora.grades import draw_grades

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dev.benchmarks.corpora.corpus import Corpus


def draw(corpus: Corpus, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the two matrices.

    Args:
        corpus: Queries are rows, and the depth is the number of columns.
        rng: Source of chance.

    Returns:
        `grades`, and `scores` of which no two of a row are equal, in single precision neither.
    """

    def draw_scores(count: int) -> NDArray[np.float32]:
        return rng.random((count, corpus.depth), dtype=np.float32)

    scores = draw_distinct(draw_scores, corpus.queries).astype(np.float64)
    return {"grades": draw_grades(rng, scores), "scores": scores}


def evaluate(arrays: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Sort every row whole, and average.

    Args:
        arrays: As drawn.

    Returns:
        The mean of nDCG@10.
    """
    grades, scores = arrays["grades"], arrays["scores"]
    ranked = np.take_along_axis(grades, np.argsort(-scores, axis=1), axis=1)
    ideal = -np.sort(-grades, axis=1)
    values = _dcg(ranked) / np.maximum(_dcg(ideal), np.finfo(np.float64).tiny)
    return {"nDCG@10": math.fsum(values) / len(values)}


def _dcg(ranked: NDArray[np.int64]) -> NDArray[np.float64]:
    first = ranked[:, :CUTOFF]
    discounts = [math.log2(rank + 1) for rank in range(1, first.shape[1] + 1)]
    return np.asarray((first / discounts).sum(axis=1))
