"""Writes blocks as GitHub Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankscope._explain import text
from rankscope._explain.terms import Aside, Block, Equation, Grid, Heading, Id, Inline, Note

SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")
OF_IDS = re.compile(r"([\\`*_\[\]<>|~$&#(){}+!=:^@/])")
"""Identifiers may be at the start of a line, or be links."""


def render(blocks: Iterable[Block]) -> str:
    """Write blocks, separated by empty lines. Equations become code blocks."""
    return "\n\n".join(map(_write, blocks)) + "\n"


def _write(block: Block) -> str:
    if isinstance(block, Equation):
        return "\n".join(["```text", *text.write_equation(block), "```"])
    if isinstance(block, Grid):
        return f"**{_escape(block.title)}**\n\n{_write_grid(block)}"
    if isinstance(block, Note):
        return f"*{_escape(block.text)}*"
    words = "".join(map(_inline, block.parts))
    return f"### {words}" if isinstance(block, Heading) else words


def _write_grid(grid: Grid) -> str:
    rules = [":---" if column.is_text else "---:" for column in grid.columns]
    lines = [_line(_escape(column.name) for column in grid.columns), _line(rules)]
    for row in grid.rows:
        if isinstance(row, Aside):
            rest = len(grid.columns) - 1
            lines.append(_line(["…", f"*{_escape(row.text)}*", *[""] * (rest - 1)]))
        else:
            lines.append(_line(map(_inline, row)))
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _inline(part: Inline) -> str:
    written = text.write_inline(part)
    return OF_IDS.sub(r"\\\1", written) if isinstance(part, Id) else _escape(written)


def _escape(words: str) -> str:
    r"""Escape text for Markdown.

    Examples:
        >>> print(_escape("a_b*c|d<e>"))
        a\_b\*c\|d\<e\>
    """
    return SPECIAL.sub(r"\\\1", words)
