"""Writes a layout as Markdown with tables, as GitHub and MkDocs read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankscope._show.layout import Cell, Grid, Layout

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$]|&(?=[#\w]+;))")


def write(layout: Layout) -> str:
    """Return Markdown."""
    parts = [*map(_escape, layout.above)]
    for grid in layout.grids:
        parts += _write_grid(grid)
    return "\n\n".join([*parts, *map(_escape, layout.small_print)])


def _write_grid(grid: Grid) -> Iterator[str]:
    if grid.title:
        yield f"**{_escape(grid.title)}**"
    rule = " | ".join(":--" if is_text else "--:" for is_text in grid.is_text)
    rows = [" | ".join(map(_escape, grid.columns)), rule]
    rows += [" | ".join(map(_mark, row)) for row in grid.rows]
    yield "\n".join(f"| {row} |" for row in rows)
    yield from map(_escape, grid.notes)


def _mark(cell: Cell) -> str:
    text = _escape(cell.text)
    if cell.is_best:
        text = f"**{text}**"
    elif cell.is_second:
        text = f"<ins>{text}</ins>"
    return f"{text}<sup>{cell.mark}</sup>" if cell.mark else text


def _escape(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)
