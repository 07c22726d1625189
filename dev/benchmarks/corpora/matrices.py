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

DECIMALS = {"three-decimals": 3, "one-decimal": 1}
"""The arrays of scores with ties, and the decimals that they have."""


def draw(corpus: Corpus, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the two matrices.

    Args:
        corpus: Queries are rows, and the depth is the number of columns.
        rng: Source of chance.

    Returns:
        `grades`, `scores` of which no two of a row are equal, in single precision neither, and
        the same scores with fewer decimals, of which some are.
    """

    def draw_scores(count: int) -> NDArray[np.float32]:
        return rng.random((count, corpus.depth), dtype=np.float32)

    scores = draw_distinct(draw_scores, corpus.queries).astype(np.float64)
    tied = {name: scores.round(decimals) for name, decimals in DECIMALS.items()}
    return {"grades": draw_grades(rng, scores), "scores": scores} | tied


def evaluate(arrays: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Sort every row whole, give documents with equal scores their mean grade, and average.

    Args:
        arrays: As drawn.

    Returns:
        The means of nDCG@10 and nDCG with each of the scores.
    """
    grades = arrays["grades"]
    ideal = -np.sort(-grades, axis=1)
    means = {}
    for scores in ("scores", *DECIMALS):
        order = np.argsort(-arrays[scores], axis=1)
        sorted_scores = np.take_along_axis(arrays[scores], order, axis=1)
        ranked = _share_grades(np.take_along_axis(grades, order, axis=1), sorted_scores)
        for cutoff in (CUTOFF, None):
            best = np.maximum(_dcg(ideal, cutoff), np.finfo(np.float64).tiny)
            values = _dcg(ranked, cutoff) / best
            means[name_mean(scores, cutoff)] = math.fsum(values) / len(values)
    return means


def name_mean(scores: str, cutoff: int | None) -> str:
    """Name the mean of nDCG with some of the scores.

    Args:
        scores: Name of their array.
        cutoff: How many ranks count, or nothing for all.

    Returns:
        The name of the measure, and that of scores with few decimals.
    """
    measure = "nDCG" if cutoff is None else f"nDCG@{cutoff}"
    return measure if scores == "scores" else f"{measure}, {scores}"


def _share_grades(ranked: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    is_first = np.ones(ranked.shape, dtype=bool)
    is_first[:, 1:] = scores[:, 1:] != scores[:, :-1]
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.r_[starts, ranked.size])
    shared = np.add.reduceat(ranked.ravel(), starts) / sizes
    return np.repeat(shared, sizes).reshape(ranked.shape)


def _dcg(ranked: NDArray[Any], cutoff: int | None) -> NDArray[np.float64]:
    first = ranked[:, :cutoff]
    discounts = [math.log2(rank + 1) for rank in range(1, first.shape[1] + 1)]
    return np.asarray((first / discounts).sum(axis=1))
