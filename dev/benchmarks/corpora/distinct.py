"""Draw rows in which no value occurs twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    T = TypeVar("T", bound=np.generic)


def draw_distinct(draw: Callable[[int], NDArray[T]], count: int) -> NDArray[T]:
    """Draw rows, and those again in which a value occurs twice.

    Args:
        draw: Draws so many rows.
        count: How many rows are wanted.

    Returns:
        The rows.
    """
    rows = draw(count)
    repeating = np.arange(count)
    while repeating.size:
        ordered = np.sort(rows[repeating], axis=1)
        repeating = repeating[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        rows[repeating] = draw(repeating.size)
    return rows
