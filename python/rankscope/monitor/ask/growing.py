"""Columns that grow chunk by chunk and take little more memory than what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOM = 2
"""A column that is full gets so many times its size. Memory that nothing was written to isn't taken
from the system, and one large piece is given back as a whole, unlike thousands of small ones."""
LEAST = 2**16
"""The first size of a column."""


class GrowingColumn:
    """A column of numbers that grows, with the narrowest type that holds all of its pieces.

    Examples:
        >>> import numpy as np
        >>> column = GrowingColumn()
        >>> column.extend(np.array([1, 2], np.uint8))
        >>> column.extend(np.array([1000], np.uint16))
        >>> column.keep(np.array([True, False, True]))
        >>> column.values
        array([   1, 1000], dtype=uint16)
    """

    def __init__(self) -> None:
        self._held: NDArray[Any] | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> NDArray[Any]:
        """What it holds."""
        return np.empty(0) if self._held is None else self._held[: self._count]

    def extend(self, piece: NDArray[Any]) -> None:
        """Add some numbers."""
        held = self._held
        kind = piece.dtype if held is None else np.result_type(held.dtype, piece.dtype)
        count = self._count + len(piece)
        if held is None or count > len(held) or kind != held.dtype:
            grown = np.empty(max(int(count * ROOM), LEAST), dtype=kind)
            grown[: self._count] = self.values
            self._held = held = grown
        held[self._count : count] = piece
        self._count = count

    def keep(self, is_kept: NDArray[np.bool_]) -> None:
        """Keep some of the numbers."""
        if self._held is not None:
            self._held = self.values[is_kept]
            self._count = len(self._held)

    def finish(self) -> NDArray[Any]:
        """Return what it holds, and forget it."""
        values = self.values
        self._held, self._count = None, 0
        return values
