"""Gains that libraries have and that have no word of their own: functions of the grade."""

from __future__ import annotations


def every(_grade: float) -> float:
    """Give each judged document the gain 1, whatever its grade."""
    return 1.0


def truncated(grade: float) -> float:
    """Give a grade without its fraction.

    Examples:
        >>> truncated(1.9), truncated(-0.5)
        (1.0, 0.0)
    """
    return float(int(grade))


def truncated_exp2(grade: float) -> float:
    """Give 2 to a grade without its fraction, minus 1.

    Examples:
        >>> truncated_exp2(2.7)
        3.0
    """
    return 2.0 ** int(grade) - 1.0


def quarters(grade: float) -> float:
    """Give a grade as a share of the largest, 4.

    Examples:
        >>> quarters(3.0), quarters(5.0)
        (0.75, 1.0)
    """
    return min(grade, 4.0) / 4


TRUNCATED = {"linear": truncated, "exp2": truncated_exp2}
"""The gains of libraries that drop fractions, by the gain without that."""
