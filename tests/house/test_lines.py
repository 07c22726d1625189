"""What counts as a code line, and what `make lint` says of a budget."""

from __future__ import annotations

from dev.lines import SLACK, compare, count_code

SOURCE = '''"""A module."""

import os  # not code
from sys import (
    path,
)

# A comment.
TEXT = """
code
"""


def f(x: int) -> int:
    """Two

    lines."""
    return (  # code
        x
    )
'''


def test_docstrings_imports_comments_and_blank_lines_are_no_code() -> None:
    lines, tokens = count_code(SOURCE)
    assert lines == 3 + 1 + 3
    assert tokens == 4 + 11 + 7  # with the ends of lines


def test_a_count_above_its_budget_fails_and_one_far_below_is_named() -> None:
    for count, above, below in (
        (101, ["code: a 101, budget 100"], []),
        (100, [], []),
        (100 - SLACK, [], []),
        (99 - SLACK, [], [f"code: a {99 - SLACK}, budget 100"]),
    ):
        assert compare({"code": {"a": count}}, {"code": {"a": 100}}) == (above, below)
    assert compare({"code": {"new": 1}}, {"code": {"old": 9}}) == (
        ["code: new 1, budget 0"],
        ["code: old is gone"],
    )
