"""Lays out a comparison as headings, grids and notes, and writes them in four formats."""

from __future__ import annotations

import re
import textwrap

from rankscope.comparison.notes import make_notes
from rankscope.comparison.pair import PRINTED, have_unjudged
from rankscope.comparison.verdict import decide
from rankscope.output.text import format_value, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from rankscope.comparison.pair import Compared
    from rankscope.comparison.result import Comparison

    Block: TypeAlias = "Heading | Grid | Note"

WIDEST_PAIR = 20
"""The most characters of a pair of names; letters stand for longer ones."""


NARROW_PAIR = 8
"""The same in a table that also has the column of unjudged documents."""


@record(frozen=True, slots=True)
class Cell:
    """A cell of a grid.

    Args:
        text: Its text.
        mark: The letters of the runs that it is significantly better than.
        is_best: Whether to print it in bold.
    """

    text: str
    mark: str = ""
    is_best: bool = False


@record(frozen=True, slots=True)
class Grid:
    """A table: the names of its columns, which of them hold text, and its rows."""

    columns: tuple[str, ...]
    is_text: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]


@record(frozen=True, slots=True)
class Heading:
    """A line above a grid."""

    text: str


@record(frozen=True, slots=True)
class Note:
    """A sentence below the grids."""

    text: str


def lay_out(comparison: Comparison) -> list[Block]:
    """Return the blocks of a comparison, in order."""
    letters = name_letters(comparison.runs)
    means = _make_means(comparison, letters)
    blocks: list[Block] = []
    for measure in comparison.measures:
        verdict = decide(comparison, measure)
        blocks.append(Note(" ".join(filter(None, (str(verdict), verdict.power)))))
    blocks.append(means)
    if any(cell.mark for row in means.rows for cell in row):
        blocks.append(
            Note(
                "Letters mark the runs that a run is significantly better than "
                f"(p < {comparison.settings.alpha:g})."
            )
        )
    for measure in comparison.measures:
        compared = [each for each in comparison.comparisons if each.measure == measure]
        if compared:
            blocks += [
                Heading(_head(measure, compared)),
                _make_pairs(comparison, compared, letters),
            ]
    return [*blocks, *map(Note, make_notes(comparison))]


def name_letters(runs: Sequence[str]) -> dict[str, str]:
    """Return a short name for each run: a, b, …, z, aa, ab, …."""
    names = {}
    for at, run in enumerate(runs):
        number, text = at, ""
        while number >= 0:
            text = chr(ord("a") + number % 26) + text
            number = number // 26 - 1
        names[run] = text
    return names


def _make_means(comparison: Comparison, letters: dict[str, str]) -> Grid:
    separator = "" if len(comparison.runs) <= 26 else ","
    rows = []
    for run in comparison.runs:
        cells = [Cell(letters[run]), Cell(show(run))]
        for measure in comparison.measures:
            beaten = comparison.find_beaten(measure, run)
            mark = separator.join(letters[each] for each in beaten)
            is_best = comparison.find_best(measure) == run
            cells.append(Cell(format_value(comparison.means[run][measure]), mark, is_best))
        rows.append(tuple(cells))
    columns = ("", "run", *comparison.measures)
    return Grid(columns, (True, True, *[False] * len(comparison.measures)), tuple(rows))


def _head(measure: str, compared: Sequence[Compared]) -> str:
    first = compared[0]
    counts = [f"{first.n:,} queries" if first.n != 1 else "1 query"]
    if first.clusters is not None:
        counts.append(f"{first.clusters:,} cluster{'s' * (first.clusters != 1)}")
    return f"{measure}: differences over {' in '.join(counts)}"


def _make_pairs(
    comparison: Comparison, compared: Sequence[Compared], letters: dict[str, str]
) -> Grid:
    names = [f"{show(each.run)} - {show(each.baseline)}" for each in compared]
    if max(map(len, names)) > (NARROW_PAIR if have_unjudged(compared) else WIDEST_PAIR):
        names = [f"{letters[each.run]} - {letters[each.baseline]}" for each in compared]
    columns = [column for column in PRINTED if column.is_shown(compared)]
    return Grid(
        tuple(
            column.head if isinstance(column.head, str) else column.head(comparison)
            for column in columns
        ),
        tuple(column.is_text for column in columns),
        tuple(
            tuple(Cell(column.cell(each, name)) for column in columns)
            for name, each in zip(names, compared, strict=True)
        ),
    )


WIDTH = 80


LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
}
"""What LaTeX needs in place of characters that are commands there."""


MINUS = re.compile(r"(?<![\w-])-(?=[\d ])")
"""A minus in front of a number or between two names, but not a hyphen in a name."""


MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def write_text(blocks: Sequence[Block]) -> str:
    """Return text for a terminal of 80 columns."""
    parts = []
    for block in blocks:
        if isinstance(block, Grid):
            parts.append("\n\n".join(map(_align, _fold(block))))
        elif isinstance(block, Heading):
            parts.append(f"\n{block.text}")
        else:
            parts.append(textwrap.fill(block.text, WIDTH, subsequent_indent="  "))
    return "\n".join(_space(blocks, parts))


def _space(blocks: Sequence[Block], parts: list[str]) -> list[str]:
    """Put an empty line before the first grid, and after the last one."""
    grids = [at for at, block in enumerate(blocks) if isinstance(block, Grid)]
    first, last = grids[0], grids[-1]
    return [*parts[:first], "", *parts[first : last + 1], "", *parts[last + 1 :]]


def _fold(grid: Grid) -> list[Grid]:
    """Split a grid that is wider than the terminal into several, each with the leading columns."""
    marks, widths = _measure(grid)
    widths = [width + bool(mark) + mark + 2 for width, mark in zip(widths, marks, strict=True)]
    leading = [*range(1 + max(at for at, is_text in enumerate(grid.is_text) if is_text))]
    room = WIDTH + 2 - sum(widths[at] for at in leading)
    parts: list[list[int]] = [[]]
    for at in range(len(leading), len(widths)):
        if parts[-1] and sum(widths[each] for each in [*parts[-1], at]) > room:
            parts.append([])
        parts[-1].append(at)

    def choose(held: Sequence[Any], part: Sequence[int]) -> tuple[Any, ...]:
        return tuple(held[at] for at in [*leading, *part])

    return [
        Grid(
            choose(grid.columns, part),
            choose(grid.is_text, part),
            tuple(choose(row, part) for row in grid.rows),
        )
        for part in parts
    ]


def _measure(grid: Grid) -> tuple[list[int], list[int]]:
    """Return the widest mark and the widest text of each column."""
    marks = [
        max((len(row[at].mark) for row in grid.rows), default=0) for at in range(len(grid.columns))
    ]
    widths = [
        max(len(name), *(len(row[at].text) for row in grid.rows), 0)
        for at, name in enumerate(grid.columns)
    ]
    return marks, widths


def _align(grid: Grid) -> str:
    """Return the rows of a grid with aligned columns; marks get a column of their own width."""
    marks, widths = _measure(grid)

    def write(cells: Sequence[Cell]) -> str:
        parts = []
        for at, cell in enumerate(cells):
            text = cell.text.ljust(widths[at]) if grid.is_text[at] else cell.text.rjust(widths[at])
            mark = f" {cell.mark.ljust(marks[at])}" if marks[at] else ""
            parts.append(text + mark)
        return "  ".join(parts).rstrip()

    return "\n".join(map(write, [tuple(map(Cell, grid.columns)), *grid.rows]))


def write_markdown(blocks: Sequence[Block]) -> str:
    """Return Markdown with tables, as GitHub and MkDocs read it."""
    parts = []
    for block in blocks:
        if isinstance(block, Grid):
            rule = " | ".join(":--" if is_text else "--:" for is_text in block.is_text)
            rows = [" | ".join(map(_escape_markdown, block.columns)), rule]
            rows += [" | ".join(map(_mark_markdown, row)) for row in block.rows]
            parts.append("\n".join(f"| {row} |" for row in rows))
        elif isinstance(block, Heading):
            parts.append(f"**{_escape_markdown(block.text)}**")
        else:
            parts.append(_escape_markdown(block.text))
    return "\n\n".join(parts)


def _mark_markdown(cell: Cell) -> str:
    text = _escape_markdown(cell.text)
    text = f"**{text}**" if cell.is_best else text
    return f"{text}<sup>{cell.mark}</sup>" if cell.mark else text


def _escape_markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", text)


def write_html(blocks: Sequence[Block]) -> str:
    """Return an HTML fragment: text left, numbers right, all text escaped."""
    from html import escape  # noqa: PLC0415 - only pages and notebooks ask for it

    parts = []
    is_below = False
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"<p><b>{escape(block.text)}</b></p>")
        elif isinstance(block, Grid):
            is_below = True
            parts.append(_write_html_grid(block, escape))
        else:
            # The verdicts are above the grids.
            size = "font-size:smaller;" if is_below else ""
            parts.append(
                f"<div style='{size}max-width:60em;overflow-wrap:anywhere'>"
                f"{escape(block.text)}</div>"
            )
    return "".join(parts)


def _write_html_grid(grid: Grid, escape: Callable[[str], str]) -> str:
    styles = [
        "text-align:left" if is_text else "text-align:right;font-variant-numeric:tabular-nums"
        for is_text in grid.is_text
    ]
    styles = [f"{style};padding:0.1em 0.5em;white-space:nowrap" for style in styles]
    marks, _ = _measure(grid)

    def mark(text: str, room: int) -> str:
        """Return a mark as wide as all of its column, so that its numbers stay aligned."""
        width = f"display:inline-block;width:{room}ch;text-align:left"
        return f"<sup style='{width}'>{escape(text)}</sup>" if room else ""

    head = "".join(
        f"<th style='{style}'>{escape(name)}{mark('', room)}</th>"
        for name, style, room in zip(grid.columns, styles, marks, strict=True)
    )
    rows = []
    for row in grid.rows:
        cells = []
        for cell, style, room in zip(row, styles, marks, strict=True):
            text = f"<b>{escape(cell.text)}</b>" if cell.is_best else escape(cell.text)
            cells.append(f"<td style='{style}'>{text}{mark(cell.mark, room)}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        "<div class='wide' role='region' tabindex='0' aria-label='Table' "
        "style='overflow-x:auto'><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def write_latex(blocks: Sequence[Block]) -> str:
    r"""Return LaTeX tables in the style of booktabs, with the notes below them.

    The document needs `\usepackage{booktabs}`.
    """
    parts = []
    for block in blocks:
        if isinstance(block, Grid):
            columns = "".join("l" if is_text else "r" for is_text in block.is_text)
            rows = [" & ".join(map(_mark_latex, row)) + r" \\" for row in block.rows]
            names = " & ".join(map(_escape_latex, block.columns))
            parts.append(
                "\n".join(
                    [
                        rf"\begin{{tabular}}{{{columns}}}",
                        r"\toprule",
                        names + r" \\",
                        r"\midrule",
                        *rows,
                        r"\bottomrule",
                        r"\end{tabular}",
                    ]
                )
            )
        elif isinstance(block, Heading):
            parts.append(rf"\paragraph{{{_escape_latex(block.text)}}}")
        else:
            parts.append(rf"{{\footnotesize {_escape_latex(block.text)}}}")
    return "\n\n".join(parts)


def _mark_latex(cell: Cell) -> str:
    text = _escape_latex(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    return rf"{text}\textsuperscript{{{cell.mark}}}" if cell.mark else text


def _escape_latex(text: str) -> str:
    return MINUS.sub("$-$", "".join(LATEX.get(character, character) for character in text))


WRITERS: dict[str, Callable[[Sequence[Block]], str]] = {
    "text": write_text,
    "markdown": write_markdown,
    "html": write_html,
    "latex": write_latex,
}
"""The writer of each format."""
