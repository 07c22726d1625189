"""Writes a layout as an HTML fragment: text left, numbers right, all text escaped."""

from __future__ import annotations

from html import escape

from rankscope.output.layout.text import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.output.layout.description import Cell, Grid, Layout


def write(layout: Layout) -> str:
    """Return HTML without styles of its own."""
    parts = [_write_lines(layout.above)]
    for grid in layout.grids:
        title = f"<p><b>{escape(grid.title)}</b></p>" if grid.title else ""
        parts += [title, _write_grid(grid), _write_lines(grid.notes, "font-size:smaller;")]
    return "".join([*parts, _write_lines(layout.small_print, "font-size:smaller;")])


def _write_lines(lines: Iterable[str], size: str = "") -> str:
    style = f"{size}max-width:60em;overflow-wrap:anywhere"
    return "".join(f"<div style='{style}'>{mark_line(line)}</div>" for line in lines)


def mark_line(line: str) -> str:
    """Return a sentence in which names keep the direction of their text to themselves."""
    return escape(line).replace("\u2068", "<bdi>").replace("\u2069", "</bdi>")


def _write_grid(grid: Grid) -> str:
    styles = [
        "text-align:left" if is_text else "text-align:right;font-variant-numeric:tabular-nums"
        for is_text in grid.is_text
    ]
    styles = [f"{style};padding:0.1em 0.5em;white-space:nowrap" for style in styles]
    marks, _ = measure(grid)
    head = "".join(
        f"<th style='{style}'>{escape(name)}{raise_mark('', room)}</th>"
        for name, style, room in zip(grid.columns, styles, marks, strict=True)
    )
    rows = [
        "".join(
            f"<td style='{style}'>{mark_text(cell)}{raise_mark(cell.mark, room)}</td>"
            for cell, style, room in zip(row, styles, marks, strict=True)
        )
        for row in grid.rows
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        "<div class='wide' role='region' tabindex='0' aria-label='Table' "
        "style='overflow-x:auto'><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def mark_text(cell: Cell) -> str:
    """Return the text of a cell, bold or underlined."""
    text = escape(cell.text)
    if cell.is_best:
        return f"<b>{text}</b>"
    return f"<span style='text-decoration:underline'>{text}</span>" if cell.is_second else text


def raise_mark(mark: str, room: int) -> str:
    """Return a mark as wide as all of its column, so that its numbers stay aligned."""
    width = f"display:inline-block;width:{room}ch;text-align:left"
    return f"<sup style='{width}'>{escape(mark)}</sup>" if room else ""
