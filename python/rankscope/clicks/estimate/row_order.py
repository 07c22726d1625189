"""An order of the rows of a log that depends on what they hold, but not on how they came."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.stats.scatter import scatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import NDArray


def order_rows(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the places of rows in an order of their contents in which rounded sums are added."""
    mixed = np.zeros(1, dtype=np.uint64)
    for column in columns:
        # Zeros of both signs are equal, and so is all that is missing.
        numbers = np.where(np.isnan(column), np.nan, column + 0.0)
        mixed = scatter(mixed ^ np.ascontiguousarray(numbers).view(np.uint64), 0)
    return np.argsort(mixed, kind="stable")
