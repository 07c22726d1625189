"""Writes a layout as Typst figures with tables.

All text is in strings, in which only quotes and backslashes mean something.
"""

from __future__ import annotations

from rankscope.output.layout.latex import clean_label
from rankscope.output.layout.text import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankscope.output.layout.description import Cell, Grid, Layout

MARK = 0.4
"""The width of a mark, as a share of the size of the text."""


def write(layout: Layout) -> str:
    """Return Typst: a `figure` for each grid, the small print in the last one."""
    parts = [f"#{_quote(sentence)}" for sentence in layout.above]
    last = len(layout.grids) - 1
    for at, grid in enumerate(layout.grids):
        notes = (*grid.notes, *(layout.small_print if at == last else ()))
        parts.append(_write_grid(grid, notes, layout.label if at == 0 else ""))
    return "\n\n".join(parts)


def _write_grid(grid: Grid, notes: Sequence[str], label: str) -> str:
    sides = ", ".join("left" if is_text else "right" for is_text in grid.is_text)
    marks, _ = measure(grid)
    rows = [[_mark(cell, room) for cell, room in zip(row, marks, strict=True)] for row in grid.rows]
    small = [f"  #align(left, text(size: 0.8em, {_quote(' '.join(notes))}))"] if notes else []
    lines = [
        "#figure(kind: table, [",
        f"  #table(columns: {len(grid.columns)}, align: ({sides},), stroke: none,",
        "    table.hline(),",
        f"    table.header({_join(map(_quote, grid.columns))}),",
        "    table.hline(stroke: 0.5pt),",
        *(f"    {_join(row)}," for row in rows),
        "    table.hline(),",
        "  )",
        *small,
        f"], caption: {_quote(grid.title)})" if grid.title else "])",
    ]
    return "\n".join(lines) + (f" <{clean_label(label).replace('/', '-')}>" if label else "")


def _mark(cell: Cell, room: int) -> str:
    """Return a cell; marks are as wide as all of their column, so that numbers stay aligned."""
    text = _quote(cell.text)
    if cell.is_best:
        text = f"strong({text})"
    elif cell.is_second:
        text = f"underline({text})"
    if not room:
        return text
    return f"{text} + box(width: {MARK * room:.2f}em, align(left, super({_quote(cell.mark)})))"


def _join(cells: Iterable[str]) -> str:
    return ", ".join(cells)


def _quote(text: str) -> str:
    written = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{written}"'
