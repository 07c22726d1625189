"""A leaderboard as HTML that can be sorted by each measure without scripts.

Each column has a radio button, and each row its place in the order of each measure. Style puts the
rows into the order of the button that is on. Browsers without `:has` or subgrids show the table
sorted as it is.
"""

from __future__ import annotations

from html import escape

from rankscope._compare.leaderboard.layout import lay_out
from rankscope.output.html import write_lines, write_result
from rankscope.output.layout.html import mark_text, raise_mark
from rankscope.output.layout.means import order_runs
from rankscope.output.layout.text import measure as measure_grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope._compare.leaderboard.result import Leaderboard

STYLE = """
.rankscope-board label{cursor:pointer;font-weight:600}
.rankscope-board input{display:none}
@supports selector(:has(a)) and (grid-template-columns:subgrid){
.rankscope-board table{display:grid}
.rankscope-board thead,.rankscope-board tbody,.rankscope-board tr{display:grid;
grid-template-columns:subgrid;grid-column:1/-1}
.rankscope-board input{display:inline;margin:0 .3em 0 0;vertical-align:baseline}
}
""".replace("\n", "")


def write_html(board: Leaderboard) -> str:
    """Return the table and all of its small print."""
    layout = lay_out(board)
    [grid] = layout.grids
    leading = len(grid.columns) - len(board.measures)
    places = []
    for measure in board.measures:
        values = [entry.values[measure.name] for entry in board.shown]
        order = order_runs(values, measure.better)
        places.append({at: place for place, at in enumerate(order)})
    chosen = [each.name for each in board.measures].index(board.sort)
    heads = [
        f'<th role="columnheader" scope="col"{_align(is_text)}>{escape(name)}</th>'
        for name, is_text in zip(grid.columns[:leading], grid.is_text, strict=False)
    ]
    heads += [
        '<th role="columnheader" scope="col"><label><input type="radio" name="sort" '
        f'class="by-{at}"{" checked" if at == chosen else ""}>{escape(measure.name)}</label></th>'
        for at, measure in enumerate(board.measures)
    ]
    marks, _ = measure_grid(grid)
    rows = []
    for at, row in enumerate(grid.rows):
        ranks = ";".join(f"--by-{by}:{place[at]}" for by, place in enumerate(places))
        cells = "".join(
            f'<td role="cell"{_align(is_text)}>{mark_text(cell)}{raise_mark(cell.mark, room)}</td>'
            for cell, is_text, room in zip(row, grid.is_text, marks, strict=True)
        )
        rows.append(f'<tr role="row" style="{ranks}">{cells}</tr>')
    rules = "".join(
        f".rankscope-board:has(.by-{at}:checked) tbody tr{{order:var(--by-{at})}}"
        for at in range(len(places))
    )
    columns = f"grid-template-columns:repeat({len(grid.columns)},auto)"
    # A form of its own, so that buttons of several tables on a page don't belong together.
    return write_result(
        f"<style>{STYLE}{rules}</style>"
        '<form class="rankscope-board"><div class="wide" role="region" tabindex="0" '
        f'aria-label="Leaderboard"><table role="table" style="{columns}">'
        f'<thead role="rowgroup"><tr role="row">{"".join(heads)}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(rows)}</tbody></table></div></form>',
        write_lines(layout.small_print, are_notes=True),
    )


def _align(is_text: bool) -> str:
    return ' class="text"' if is_text else ""
