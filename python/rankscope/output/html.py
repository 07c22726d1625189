"""Results as HTML for notebooks, without scripts: text on the left, numbers on the right.

Every rule of the style is of one class, and colors are those of the page around it, so that nothing
else on the page changes and a dark notebook stays dark.
"""

from __future__ import annotations

from html import escape

from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
    written = "".join(f'<div class="line">{_escape(line)}</div>' for line in lines if line)
    return f'<div class="notes">{written}</div>' if are_notes and written else written


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
    written = escape(show(text))
    return written if written.isascii() else f"<bdi>{written}</bdi>"
