"""The logarithm for discounts and the sum of terms, which are the same on every platform."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext
from functools import lru_cache


@lru_cache(maxsize=65_536)
def log2(number: float) -> float:
    """Return the binary logarithm, correctly rounded for integers."""
    if number != int(number):
        return math.log2(number)
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(int(number)).ln() / Decimal(2).ln())


def add(numbers: Iterable[float]) -> float:
    """Add numbers one after another; `sum` corrects its rounding since Python 3.12."""
    total = 0.0
    for number in numbers:
        total += number
    return total
