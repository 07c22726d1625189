"""The logarithm that discounts are made of, the same on every platform."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache


@lru_cache(maxsize=65_536)
def log2(number: float) -> float:
    """Take the binary logarithm; that of an integer is correctly rounded.

    Examples:
        >>> log2(8), log2(3)
        (3.0, 1.584962500721156)
    """
    if number != int(number):
        return math.log2(number)
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(int(number)).ln() / Decimal(2).ln())
