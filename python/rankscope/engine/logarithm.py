"""The logarithm for discounts, which is the same on every platform."""

from __future__ import annotations

import math

from rankscope import _core


def log2(number: float) -> float:
    """Return the binary logarithm, correctly rounded for integers.

    Examples:
        >>> log2(8), log2(3)
        (3.0, 1.584962500721156)
    """
    return _core.log2(int(number)) if number == int(number) else math.log2(number)
