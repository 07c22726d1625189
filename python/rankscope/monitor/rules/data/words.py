"""How numbers and names are written in the sentences of findings."""

from __future__ import annotations

import re

LONGEST_NAME = 80
WORD = re.compile(rf"[\w.-]{{1,{LONGEST_NAME}}}")


def name(text: str) -> str:
    """Write a name from a log on one line.

    Examples:
        >>> name("gbdt"), name("")
        ('gbdt', "''")
    """
    shown = text if text and text.isprintable() else ascii(text)
    return shown if len(shown) <= LONGEST_NAME else f"{shown[:LONGEST_NAME]}…"


def code(text: str) -> str:
    """Write the name or the value of an attribute, in quotes unless it is one word.

    Examples:
        >>> print(code("tv"), code("smart tv"))
        tv "smart tv"
    """
    return text if WORD.fullmatch(text) else f'"{name(text)}"'


def write_count(count: float) -> str:
    """Write a count as people say it.

    Examples:
        >>> write_count(1234.4), write_count(3.2)
        ('1,234', '3')
    """
    return f"{count:,.0f}"


def write_share(share: float) -> str:
    """Write a share as a percentage.

    Examples:
        >>> write_share(0.123), write_share(0.004)
        ('12%', '0.4%')
    """
    return f"{100 * share:.0f}%" if share >= 0.01 or not share else f"{100 * share:.1f}%"


def write_times(count: float, expected: float) -> str:
    """Write a count as a part or a multiple of what is usual.

    Examples:
        >>> write_times(11, 100), write_times(300, 100)
        ('11% of', '3.0 times')
    """
    ratio = count / expected if expected else 0.0
    return f"{write_share(ratio)} of" if ratio < 1 else f"{ratio:.1f} times"
