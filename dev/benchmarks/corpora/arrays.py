"""Write drawn arrays as one file, and say what every tool must make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dev.benchmarks.corpora import matrices, recommendations, recommended_items, rows
from dev.benchmarks.corpora.expected import Expected

if TYPE_CHECKING:
    from dev.benchmarks.corpora.corpus import Corpus

STYLES = {
    "matrices": matrices,
    "recommendations": recommendations,
    "recommended-items": recommended_items,
    "rows": rows,
}


def write(corpus: Corpus, path: str) -> dict[str, Expected]:
    """Draw the arrays, and write them.

    Args:
        corpus: The size and the seed.
        path: Path of the file, whose arrays are read by their names.

    Returns:
        The means that every tool must give, by measure; no ties make a difference to them.
    """
    style = STYLES[corpus.style]
    arrays = style.draw(corpus, np.random.default_rng(corpus.seed))
    np.savez(path, **arrays)
    means = style.evaluate(arrays)
    return {measure: Expected(mean, mean, mean) for measure, mean in means.items()}
