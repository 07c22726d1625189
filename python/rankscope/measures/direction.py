"""The direction of a measure: whether higher or lower values are better, or neither."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    Direction: TypeAlias = Literal["higher", "lower", "neither"]

DIRECTIONS: tuple[Direction, ...] = ("higher", "lower", "neither")
SIGNS: Mapping[Direction, int] = {"higher": 1, "lower": -1, "neither": 0}
"""What a difference is multiplied with, so that a positive one is an improvement."""


def find_gain(difference: float, direction: Direction) -> float:
    """Return by how much a difference of values is an improvement; 0 if it can't be one.

    Examples:
        >>> [find_gain(-0.25, direction) for direction in ("higher", "lower", "neither")]
        [-0.25, 0.25, 0.0]
    """
    return SIGNS[direction] * difference or 0.0
