"""Writes blocks as plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from rankscope._explain.terms import (
    Aside,
    Block,
    Equation,
    Grid,
    Id,
    Inline,
    Math,
    Note,
    shorten,
    write_terms,
)
from rankscope._show.table import show

WIDTH = 88
UNBROKEN = "\xa0"
"""A blank at which no line ends; identifiers have none, for it is not printable."""


def render(blocks: Iterable[Block]) -> str:
    """Write blocks, separated by empty lines."""
    return "\n\n".join("\n".join(_write(block)) for block in blocks)


def _write(block: Block) -> Iterator[str]:
    if isinstance(block, Equation):
        yield from write_equation(block)
    elif isinstance(block, Grid):
        yield block.title
        yield from _write_grid(block)
    elif isinstance(block, Note):
        yield block.text
    else:
        words = "".join(map(_write_unbroken, block.parts))
        yield from (line.replace(UNBROKEN, " ") for line in _wrap(words.split(" ")))


def write_inline(part: Inline) -> str:
    """Write text as it is, and ids escaped on one line."""
    if isinstance(part, Id):
        return shorten(show(part.text))
    return part.text if isinstance(part, Math) else part


def _write_unbroken(part: Inline) -> str:
    written = write_inline(part)
    return written.replace(" ", UNBROKEN) if isinstance(part, Math) else written


def write_equation(equation: Equation) -> Iterator[str]:
    """Write one line per step, with long sums wrapped."""
    left = equation.text
    for step in equation.steps:
        start = f"{left} = "
        first, *rest = _wrap(write_terms(step), len(start))
        yield start + first
        yield from (" " * len(start) + line for line in rest)
        left = " " * len(equation.text)


def _wrap(pieces: Sequence[str], indent: int = 0) -> list[str]:
    """Wrap pieces into indented lines."""
    lines: list[str] = []
    for piece in pieces:
        if lines and indent + len(lines[-1]) + 1 + len(piece) <= WIDTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def _write_grid(grid: Grid) -> Iterator[str]:
    names = tuple(column.name for column in grid.columns)
    cells = [row if isinstance(row, Aside) else tuple(map(write_inline, row)) for row in grid.rows]
    rows = [row for row in cells if not isinstance(row, Aside)]
    widths = [max(map(_width, column)) for column in zip(names, *rows, strict=True)]
    yield _line(names, widths, grid)
    for row in cells:
        yield f"      {row.text}" if isinstance(row, Aside) else _line(row, widths, grid)


def _line(cells: Sequence[str], widths: Sequence[int], grid: Grid) -> str:
    padded = [
        cell + " " * (width - _width(cell))
        if column.is_text
        else " " * (width - _width(cell)) + cell
        for cell, width, column in zip(cells, widths, grid.columns, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Return the width of text in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
