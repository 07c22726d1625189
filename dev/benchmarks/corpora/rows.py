"""Rows of query, score and label in no order, as they come out of a log or a data warehouse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dev.benchmarks.corpora.expected import CUTOFF
from dev.benchmarks.corpora.grades import draw_grades

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dev.benchmarks.corpora.corpus import Corpus

LARGEST_QUERY_ID = 2**40


def draw(corpus: Corpus, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the three columns.

    Args:
        corpus: The judgments are the rows; each goes to one of the queries by chance.
        rng: Source of chance.

    Returns:
        `query`, `score` of which no two are equal, and `label`.
    """
    ids = np.unique(rng.integers(LARGEST_QUERY_ID, size=2 * corpus.queries))
    queries = rng.permutation(ids)[: corpus.queries]
    scores = rng.permutation(corpus.judgments) / corpus.judgments
    return {
        "query": queries[rng.integers(corpus.queries, size=corpus.judgments)],
        "score": scores,
        "label": draw_grades(rng, scores),
    }


def evaluate(arrays: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Sort all rows by query and score, and by query and label, and average.

    Args:
        arrays: As drawn.

    Returns:
        The means of nDCG@10 and RR.
    """
    query, score, label = arrays["query"], arrays["score"], arrays["label"]
    in_order = np.lexsort((-score, query))
    ordered, ranked = query[in_order], label[in_order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(query)])
    ranks = np.arange(len(query)) - np.repeat(starts, lengths) + 1
    ideal = label[np.lexsort((-label, query))]

    def dcg(grades: NDArray[np.int64]) -> NDArray[np.float64]:
        gains = np.where(ranks <= CUTOFF, grades, 0) / np.log2(ranks + 1)
        return np.add.reduceat(gains, starts)

    best = dcg(ideal)
    values = dcg(ranked)[best > 0] / best[best > 0]
    reciprocal = np.maximum.reduceat((ranked > 0) / ranks, starts)
    return {
        "nDCG@10": math.fsum(values) / len(starts),
        "RR": math.fsum(reciprocal) / len(starts),
    }
