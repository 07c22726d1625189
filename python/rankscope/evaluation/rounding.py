"""Rounds scores to narrower types, to nearest, ties to even."""

from __future__ import annotations

from rankscope.deferred import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

NARROW = {
    "float64": ("float32", "bfloat16", "float16"),
    "float32": ("bfloat16", "float16"),
    "bfloat16": ("float16",),
    "float16": ("bfloat16",),
}
"""The types that may lose some of the scores of a type."""


def round_scores(scores: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Round scores to a type.

    Examples:
        >>> import numpy as np
        >>> round_scores(np.array([0.1, 1 / 3]), "bfloat16")
        array([0.10009766, 0.33398438])
    """
    with np.errstate(over="ignore"):  # beyond the largest number all are infinite, and tied
        if name == "bfloat16":
            # The upper half of a float32: adding almost half a unit carries what is more than half.
            bits = scores.astype(np.float32).view(np.uint32)
            up = 0x7FFF + (bits >> 16 & 1)
            rounded = (bits + up) & 0xFFFF0000
            return np.asarray(rounded.astype(np.uint32).view(np.float32).astype(np.float64))
        return np.asarray(scores.astype(name).astype(np.float64))


def find_precision(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> str:
    """Find the narrowest type that holds every score, `"ranks"` if scores are ranks.

    Those are whole numbers that fall by one.
    """
    steps = np.diff(scores)
    firsts = offsets[1:-1]
    firsts = firsts[(firsts > 0) & (firsts < len(scores))]
    steps[firsts - 1] = -1
    if (steps == -1).all() and (scores == np.rint(scores)).all():
        return "ranks"
    for name in ("float16", "bfloat16", "float32"):
        if np.array_equal(round_scores(scores, name), scores):
            return name
    return "float64"
