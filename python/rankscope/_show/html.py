"""Writes a layout as an HTML fragment: text left, numbers right, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rankscope._show.layout import Cell, Grid, Layout
from rankscope._show.table import show
from rankscope._show.text import measure


def write(layout: Layout) -> str:
    """Return HTML without styles of its own."""
    parts = [_write_lines(layout.above, "")]
    for grid in layout.grids:
        title = f"<p><b>{escape(grid.title)}</b></p>" if grid.title else ""
        parts += [title, _write_grid(grid), _write_lines(grid.notes)]
    return "".join([*parts, _write_lines(layout.small_print)])


def _write_lines(lines: Iterable[str], size: str = "font-size:smaller;") -> str:
    style = f"{size}max-width:60em;overflow-wrap:anywhere"
    return "".join(f"<div style='{style}'>{mark_line(line)}</div>" for line in lines)


def mark_line(line: str) -> str:
    """Return a sentence in which names keep the direction of their text to themselves."""
    return escape(line).replace("\u2068", "<bdi>").replace("\u2069", "</bdi>")


def _write_grid(grid: Grid) -> str:
    number = "text-align:right;font-variant-numeric:tabular-nums"
    styles = [
        f"{'text-align:left' if is_text else number};padding:0.1em 0.5em;white-space:nowrap"
        for is_text in grid.is_text
    ]
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


def write_fade(selector: str) -> str:
    """Return a style for what scrolls sideways: its right edge fades until the end is reached."""
    gradient = "mask-image:linear-gradient(to left,transparent,black 3em)"
    return (
        "@supports (animation-timeline:scroll(x self)){"
        f"{selector}{{animation:rankscope-fade linear both;animation-timeline:scroll(x self)}}"
        f"@keyframes rankscope-fade{{0%,99%{{{gradient}}}to{{mask-image:none}}}}}}"
    )


# Notebooks have a style for tables of their own: full width, and cells that end on the right.
STYLE = (
    """
.rankscope-result{line-height:1.5;text-align:left}
.rankscope-result .line{max-width:60rem;overflow-wrap:anywhere}
.rankscope-result .wide{overflow-x:auto;width:fit-content;max-width:100%;margin:.4em 0 .7em;
scrollbar-width:thin}
.rankscope-result table{border-collapse:collapse;border:0;margin:0;width:auto;
font-size:.95em;font-variant-numeric:tabular-nums}
.rankscope-result th,.rankscope-result td{padding:.22em .8em;text-align:right;border:0;
border-bottom:1px solid rgba(128,128,128,.28);background:none;white-space:nowrap;vertical-align:top}
.rankscope-result th:first-child,.rankscope-result td:first-child{padding-left:.1em}
.rankscope-result th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.7);
vertical-align:bottom}
.rankscope-result th.text,.rankscope-result td.text{text-align:left}
.rankscope-result td.long{white-space:normal;overflow-wrap:anywhere;min-width:14em;max-width:40em}
.rankscope-result .notes{font-size:.88em;opacity:.85}
.rankscope-result sup{line-height:0;font-size:.75em}
""".replace("\n", "")
    + write_fade(".rankscope-result .wide")
)

LONG_TEXT = 32
"""A longer text may break in a cell."""
LONGEST = 1000
"""Longer texts in cells are cut: an id may have any length."""
MOST_ROWS = 60
"""Tables with more rows are cut."""
FIRST_ROWS = 50
"""The number of rows that are shown of these."""


def write_result(*pieces: str) -> str:
    """Return pieces of HTML with the style of results, in ASCII so that any page can contain it."""
    whole = f'<div class="rankscope-result"><style>{STYLE}</style>{"".join(pieces)}</div>'
    return whole.encode("ascii", "xmlcharrefreplace").decode()


def write_lines(lines: Iterable[str], *, are_notes: bool = False) -> str:
    """Return lines of text, each on a line of its own; empty ones are left out.

    Examples:
        >>> write_lines(["", "a < b"])
        '<div class="line">a &lt; b</div>'
    """
    html = "".join(f'<div class="line">{_escape(line)}</div>' for line in lines if line)
    return f'<div class="notes">{html}</div>' if are_notes and html else html


def write_table(
    names: Sequence[str], rows: Iterable[Sequence[str]], is_text: Sequence[bool], *, left: int = 0
) -> str:
    """Return a table that scrolls by itself where it is wider than the page."""
    heads = "".join(
        f'<th scope="col"{_name_class(name, is_left)}>{_write_text(name)}</th>'
        for name, is_left in zip(names, is_text, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_name_class(cell, is_left)}>{_write_text(cell)}</td>"
            for cell, is_left in zip(row, is_text, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    more = write_lines([f"and {left:,} more rows" if left else ""], are_notes=True)
    # What scrolls can be reached by the keyboard.
    label = escape(show(f"Table of {', '.join(filter(None, names))}"))
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{label}"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _name_class(text: str, is_left: bool) -> str:
    if not is_left:
        return ""
    return ' class="text long"' if len(text) > LONG_TEXT else ' class="text"'


def _write_text(text: str) -> str:
    """Escape the text of a cell, and cut it if it is very long."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text):,} characters)"
    return _escape(text)


def _escape(text: str) -> str:
    """Escape text, and isolate its writing direction."""
    html = escape(show(text))
    return html if html.isascii() else f"<bdi>{html}</bdi>"
