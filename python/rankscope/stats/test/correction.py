"""Corrections of p-values for the number of tests."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.settings.policy import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    Correction: TypeAlias = Literal["holm", "bh", "none"]

CORRECTIONS = ("holm", "bh", "none")


def correct(p: NDArray[np.float64], method: Correction = "holm") -> NDArray[np.float64]:
    """Correct p-values for the number of tests.

    Examples:
        >>> import numpy as np
        >>> p = np.array([0.01, 0.04, np.nan, 0.03])
        >>> correct(p, "holm").round(4).tolist()
        [0.03, 0.06, nan, 0.06]
        >>> correct(p, "bh").round(4).tolist()
        [0.03, 0.04, nan, 0.04]
    """
    check_choice("correction", method, CORRECTIONS)
    corrected = np.array(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(corrected))
    if method == "none" or len(tested) == 0:
        return corrected
    order = tested[np.argsort(corrected[tested], kind="stable")]
    count = len(order)
    if method == "holm":
        scaled = corrected[order] * np.arange(count, 0, -1)
        corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    else:
        scaled = corrected[order] * count / np.arange(1, count + 1)
        corrected[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return corrected
