"""A label and what it is worth, as people write it: `click=1`."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.names import quote


def read_weight(text: str) -> tuple[str, float]:
    """Read a label and its weight; a label alone weighs 1.

    Raises:
        UsageError: What follows the last sign of equality is no number.

    Examples:
        >>> read_weight("buy=5"), read_weight("click"), read_weight("a=b=2")
        (('buy', 5.0), ('click', 1.0), ('a=b', 2.0))
    """
    label, sign, weight = text.rpartition("=")
    try:
        return (label, float(weight)) if sign else (text, 1.0)
    except ValueError:
        raise UsageError(
            f"expected a label and its weight, found {quote(text)}",
            hint="write click=1",
            code="usage",
        ) from None


def write_weight(weight: float) -> str:
    """Write a weight so that the same number is read.

    Examples:
        >>> write_weight(5.0), write_weight(0.1)
        ('5', '0.1')
    """
    return repr(weight).removesuffix(".0")
