"""Grades that tend to be high where scores are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of 100 documents, some 70 are not relevant, and one or two have the highest grade.
THRESHOLDS = (1.03, 1.27, 1.47, 1.65)
SHARE_OF_SCORE = 0.8


def draw_grades(rng: np.random.Generator, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw a grade for each score.

    Args:
        rng: Source of chance.
        scores: From 0 to 1.

    Returns:
        Grades from 0 to 4, in the shape of the scores.
    """
    merits = SHARE_OF_SCORE * scores + rng.random(scores.shape)
    return np.digitize(merits, THRESHOLDS).astype(np.int64)
