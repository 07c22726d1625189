"""The words and numbers of a comparison: names of tests, corrections and methods, and formats."""

from __future__ import annotations

import math

from rankscope.output.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.comparison.result import Compared

TESTS = {
    "permutation": "paired permutation test (sign flips)",
    "t": "paired t test",
    "bootstrap": "paired bootstrap test (shift method)",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "tukey": "randomised Tukey HSD test",
}
CORRECTIONS = {
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "max-t": "max-T",
    "tukey": "Tukey HSD",
    "none": "not corrected",
}
NARROW_CORRECTIONS = CORRECTIONS | {"bh": "BH", "tukey": "Tukey"}
"""The same, for the head of a narrow column."""


def name_p(compared: Sequence[Compared]) -> str:
    """Return the head of a column of p-values, with the correction if there is one."""
    if len(compared) < 2 or compared[0].correction == "none":
        return "p"
    return f"p ({NARROW_CORRECTIONS[compared[0].correction]})"


def format_signed(number: float) -> str:
    """Return a difference with its sign and four decimal places."""
    text = format_value(number)
    return text if number <= 0 or text in {"nan", "0.0000"} else f"+{text}"


def format_ends(lower: float, upper: float) -> str:
    """Return the two ends of a range."""
    if math.isnan(lower) or math.isnan(upper):
        return "none"
    return f"{format_signed(lower)} to {format_signed(upper)}"


def round_plan(number: int, *, is_up: bool = True) -> int:
    """Return a number of queries that are needed with two digits: more of them aren't known.

    Examples:
        >>> round_plan(8403), round_plan(8403, is_up=False), round_plan(88)
        (8500, 8400, 88)
    """
    step: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // step) * step if is_up else number // step * step


def format_p(p: float | None) -> str:
    """Return a p-value with as many places as can matter.

    Examples:
        >>> [format_p(p) for p in (0.25, 0.0123, 0.00004, 1.0)]
        ['0.250', '0.012', '<0.001', '1.000']
    """
    if p is None or math.isnan(p):
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
