"""Gain functions of other libraries that have no name in rankscope."""

from __future__ import annotations


def every(_grade: float) -> float:
    """Return 1 for every grade."""
    return 1.0


def truncated(grade: float) -> float:
    """Return the grade, truncated to an integer.

    Examples:
        >>> truncated(1.9), truncated(-0.5)
        (1.0, 0.0)
    """
    return float(int(grade))


def truncated_exp2(grade: float) -> float:
    """Return 2^grade - 1 of the truncated grade.

    Examples:
        >>> truncated_exp2(2.7)
        3.0
    """
    return 2.0 ** int(grade) - 1.0


def quarters(grade: float) -> float:
    """Return the grade divided by 4, at most 1.

    Examples:
        >>> quarters(3.0), quarters(5.0)
        (0.75, 1.0)
    """
    return min(grade, 4.0) / 4


TRUNCATED = {"linear": truncated, "exp2": truncated_exp2}
"""The gains of libraries that truncate grades, by the corresponding gain."""
