"""Writes blocks as self-contained HTML, without scripts or links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from rankscope._explain.terms import (
    Aside,
    Block,
    Equation,
    Grid,
    Heading,
    Id,
    Inline,
    Math,
    Note,
    shorten,
    write_terms,
)
from rankscope._explain.text import write_inline
from rankscope._show.html import write_fade
from rankscope._show.table import show

# Every rule is of this class alone, and colors are those of the page around, so that nothing else
# changes and a dark page stays dark. Notebooks insist on cells that end on the right.
STYLE = (
    """
.rankscope-explanation{line-height:1.55;text-align:left}
.rankscope-explanation h4,.rankscope-explanation p,.rankscope-explanation .sum{max-width:60rem}
.rankscope-explanation sub,.rankscope-explanation sup{line-height:0;font-size:.75em}
.rankscope-explanation h4{margin:0 0 .5em;font-size:1.15em;font-weight:600;
overflow-wrap:anywhere}
.rankscope-explanation p{margin:.6em 0;overflow-wrap:anywhere}
.rankscope-explanation .sum{display:grid;grid-template-columns:max-content 1fr;
column-gap:.4em;margin:.7em 0;font-variant-numeric:tabular-nums}
.rankscope-explanation .sum span,.rankscope-explanation p span{white-space:nowrap}
.rankscope-explanation .sum div:nth-child(even){padding-left:2em;text-indent:-2em}
.rankscope-explanation .wide{overflow-x:auto;margin:0 0 1em}
.rankscope-explanation table{border-collapse:collapse;border:0;margin:0;width:auto;
font-size:.95em;font-variant-numeric:tabular-nums}
.rankscope-explanation .title{font-weight:600;margin:1em 0 .3em}
.rankscope-explanation th,.rankscope-explanation td{padding:.22em .7em;text-align:right;
border:0;border-bottom:1px solid rgba(128,128,128,.28);background:none;white-space:nowrap}
.rankscope-explanation th:first-child,.rankscope-explanation td:first-child{padding-left:.1em}
.rankscope-explanation th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.7)}
.rankscope-explanation .words{text-align:left!important}
.rankscope-explanation td.words{white-space:normal;overflow-wrap:normal}
.rankscope-explanation td.id{white-space:nowrap;min-width:0}
.rankscope-explanation td.long{white-space:normal;overflow-wrap:anywhere;min-width:12em}
.rankscope-explanation .aside td{text-align:left;font-style:italic;opacity:.8}
.rankscope-explanation .note{font-size:.88em;opacity:.85}
""".replace("\n", "")
    + write_fade(".rankscope-explanation .wide")
)

SHORT_ID = 24
"""A longer identifier may break in a table."""

LOGARITHM = re.compile(r"\blog_?(\d[\d.]*)(?=\()")
MINUS = re.compile(r"^-|(?<= )-(?= )")
POWER = re.compile(r"\^([\w.]+)")


def render(blocks: Iterable[Block]) -> str:
    """Write blocks as one `div`, in ASCII so that any page can contain it."""
    body = write(blocks)
    whole = f'<div class="rankscope-explanation"><style>{STYLE}</style>\n{body}\n</div>'
    return whole.encode("ascii", "xmlcharrefreplace").decode()


def write(blocks: Iterable[Block]) -> str:
    """Write blocks for a page that already has the style."""
    return "\n".join(map(_write, blocks))


def render_page(blocks: Sequence[Block]) -> str:
    """Write blocks as a page that follows the reader's color scheme."""
    heads = [block for block in blocks if isinstance(block, Heading)]
    title = "".join(write_inline(part) for head in heads for part in head.parts)
    piece = render(blocks)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>body{{font-family:system-ui,sans-serif;margin:1.5rem}}</style>
</head>
<body>
{piece}
</body>
</html>
"""


def _write(block: Block) -> str:
    if isinstance(block, Equation):
        return _write_equation(block)
    if isinstance(block, Grid):
        return "".join(_write_grid(block))
    if isinstance(block, Note):
        return f'<p class="note">{escape(block.text)}</p>'
    words = "".join(map(_inline, block.parts))
    return f"<h4>{words}</h4>" if isinstance(block, Heading) else f"<p>{words}</p>"


def _write_equation(equation: Equation) -> str:
    """Write a line per step, which can break before each sign and each line of division."""
    lines = []
    left = escape(equation.text)
    for step in equation.steps:
        # A quotient of words is longer than a phone is wide.
        terms = [" / ".join(map(_span, term.split(" / "))) for term in write_terms(step)]
        lines.append(f"<div>{left}</div><div>= {' '.join(terms)}</div>")
        left = ""
    return f'<div class="sum">{"".join(lines)}</div>'


def _span(text: str) -> str:
    return f"<span>{_formula(text)}</span>"


def _write_grid(grid: Grid) -> Iterator[str]:
    title = escape(grid.title)
    yield f'<p class="title">{title}</p>'
    # What scrolls can be reached by the keyboard.
    yield f'<div class="wide" role="group" tabindex="0" aria-label="{title}"><table><thead><tr>'
    for column in grid.columns:
        kind = ' class="words"' if column.is_text else ""
        yield f'<th scope="col"{kind}>{escape(column.name)}</th>'
    yield "</tr></thead><tbody>"
    for row in grid.rows:
        if isinstance(row, Aside):
            width = len(grid.columns)
            yield f'<tr class="aside"><td colspan="{width}">{escape(row.text)}</td></tr>'
            continue
        yield "<tr>"
        for cell, column in zip(row, grid.columns, strict=True):
            kinds = ["words"] * column.is_text
            if isinstance(cell, Id):
                kinds.append("id" if len(show(cell.text)) <= SHORT_ID else "long")
            kind = f' class="{" ".join(kinds)}"' if kinds else ""
            yield f"<td{kind}>{_inline(cell)}</td>"
        yield "</tr>"
    yield "</tbody></table></div>"


def _inline(part: Inline) -> str:
    """Escape text, and isolate the writing direction of ids."""
    if isinstance(part, Math):
        return _span(part.text)
    if isinstance(part, Id):
        return f'<bdi dir="ltr">{escape(shorten(show(part.text)))}</bdi>'
    return escape(part)


def _formula(text: str) -> str:
    written = LOGARITHM.sub(r"log<sub>\1</sub>", escape(text))
    written = MINUS.sub("&minus;", written)
    return POWER.sub(r"<sup>\1</sup>", written)
