"""Writes a layout as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankscope._show.layout import WIDTH, Cell, Grid, Layout


def write(layout: Layout) -> str:
    """Return text for a terminal of 80 columns; wider grids go on below."""
    return _join(layout, ["\n\n".join(map(_align, _fold(grid))) for grid in layout.grids])


def write_wide(layout: Layout) -> str:
    """Return text in which each row of a grid is one line, however wide."""
    return _join(layout, [*map(_align, layout.grids)])


def _join(layout: Layout, grids: Sequence[str]) -> str:
    parts = ["\n".join(map(_wrap, layout.above))]
    for grid, text in zip(layout.grids, grids, strict=True):
        parts.append("\n".join(filter(None, (grid.title, text, *map(_wrap, grid.notes)))))
    parts.append("\n".join(map(_wrap, layout.small_print)))
    return "\n\n".join(filter(None, parts))


def _wrap(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, subsequent_indent="  ")


def _fold(grid: Grid) -> list[Grid]:
    """Split a grid that is wider than the terminal into several, each with the leading columns."""
    marks, widths = measure(grid)
    widths = [width + bool(mark) + mark + 2 for width, mark in zip(widths, marks, strict=True)]
    last = max((at for at, is_text in enumerate(grid.is_text) if is_text), default=-1)
    leading = [*range(1 + last)]
    room = WIDTH + 2 - sum(widths[at] for at in leading)
    parts: list[list[int]] = [[]]
    for at in range(len(leading), len(widths)):
        if parts[-1] and sum(widths[place] for place in [*parts[-1], at]) > room:
            parts.append([])
        parts[-1].append(at)

    def choose(cells: Sequence[Any], part: Sequence[int]) -> tuple[Any, ...]:
        return tuple(cells[at] for at in [*leading, *part])

    return [
        replace(
            grid,
            columns=choose(grid.columns, part),
            is_text=choose(grid.is_text, part),
            rows=tuple(choose(row, part) for row in grid.rows),
        )
        for part in parts
    ]


def measure(grid: Grid) -> tuple[list[int], list[int]]:
    """Return the widest mark and the widest text of each column."""
    marks = [
        max((len(row[at].mark) for row in grid.rows), default=0) for at in range(len(grid.columns))
    ]
    widths = [
        max([len(name), *(len(row[at].text) for row in grid.rows)])
        for at, name in enumerate(grid.columns)
    ]
    return marks, widths


def _align(grid: Grid) -> str:
    """Return the rows of a grid with aligned columns; marks get a column of their own width."""
    marks, widths = measure(grid)

    def write_row(cells: Sequence[Cell]) -> str:
        parts = []
        for at, cell in enumerate(cells):
            text = cell.text.ljust(widths[at]) if grid.is_text[at] else cell.text.rjust(widths[at])
            mark = f" {cell.mark.ljust(marks[at])}" if marks[at] else ""
            parts.append(text + mark)
        return "  ".join(parts).rstrip()

    return "\n".join(map(write_row, [tuple(map(Cell, grid.columns)), *grid.rows]))
