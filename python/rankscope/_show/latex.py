"""Writes a layout as LaTeX tables in the style of booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rankscope._show.layout import Cell, Grid, Layout
from rankscope._show.text import measure

SPECIAL = str.maketrans(
    {
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
        "|": r"\textbar{}",
        '"': r"\symbol{34}",
        "–": "--",
        "…": r"\ldots{}",
        # After the end of a row, these would be its arguments.
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "§": r"\S{}",
        "¶": r"\P{}",
        "▼": r"$\blacktriangledown$",
        "−": "$-$",
        "Δ": r"$\Delta$",
    }
)
"""What LaTeX needs in place of characters that are commands, or that its fonts don't have."""
MINUS = re.compile(r"(?<![\w-])-(?=[\d ])")
"""A minus in front of a number or between two names, but not a hyphen in a name."""
LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)")
"""Between characters that would become another one, as two hyphens become a dash."""
LAST_LATIN = "\u017f"
"""The default fonts of pdfLaTeX have the characters of European languages up to it."""
LABEL = re.compile(r"[^\w:.+/-]+", re.ASCII)
"""What can't be in a label."""
PACKAGES = {"booktabs": r"\toprule", "amssymb": r"\blacktriangledown"}
"""The packages that a table may need, and the command that each is needed for."""


def write(layout: Layout) -> str:
    r"""Return LaTeX: a `table` for each grid, the small print in the last one.

    The first line names the packages that it needs.
    """
    parts = [escape(sentence) for sentence in layout.above]
    last = len(layout.grids) - 1
    for at, grid in enumerate(layout.grids):
        notes = (*grid.notes, *(layout.small_print if at == last else ()))
        parts.append(_write_grid(grid, notes, layout.label if at == 0 else ""))
    text = "\n\n".join(parts)
    needed = [name for name, command in PACKAGES.items() if command in text]
    return "\n".join([f"% needs \\usepackage{{{','.join(needed)}}}", *_define(text), text])


def _define(text: str) -> Iterator[str]:
    """Yield what pdfLaTeX shows for characters that it would stop at, unless a package knows them.

    Other engines have them in their fonts, and don't look at these definitions.
    """
    for character in sorted(set(filter(LAST_LATIN.__lt__, text))):
        name = rf"csname u8:\detokenize{{{character}}}\endcsname"
        code = f"[U+{ord(character):04X}]"
        yield rf"\if{name}\else\expandafter\gdef\{name}{{{code}}}\fi"


def _write_grid(grid: Grid, notes: Sequence[str], label: str) -> str:
    marks, _ = measure(grid)
    # Marks have a column of their own, so that the numbers before them stay aligned.
    columns = "".join(
        ("l" if is_text else "r") + ("@{}l" if mark else "")
        for is_text, mark in zip(grid.is_text, marks, strict=True)
    )
    heads = [
        rf"\multicolumn{{2}}{{c}}{{{escape(name)}}}" if mark else escape(name)
        for name, mark in zip(grid.columns, marks, strict=True)
    ]
    rows = [
        " & ".join(_mark(cell, has_mark=mark > 0) for cell, mark in zip(row, marks, strict=True))
        for row in grid.rows
    ]
    small = " ".join(map(escape, notes))
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        *([rf"\caption{{{escape(grid.title)}}}"] if grid.title else []),
        *([rf"\label{{{LABEL.sub('-', label)}}}"] if label else []),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *(rf"{row} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {small}}}"] if small else []),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _mark(cell: Cell, *, has_mark: bool) -> str:
    text = escape(cell.text)
    if cell.is_best:
        text = rf"\textbf{{{text}}}"
    elif cell.is_second:
        text = rf"\underline{{{text}}}"
    if not has_mark:
        return text
    return rf"{text} & \textsuperscript{{{escape(cell.mark)}}}" if cell.mark else f"{text} &"


def escape(text: str) -> str:
    r"""Return text in which no character is a command of LaTeX.

    Examples:
        >>> print(escape("50%_of--[x]"))
        50\%\_of-{}-{[}x{]}
    """
    parts = LIGATURE.split(MINUS.sub("−", text))
    return "{}".join(part.translate(SPECIAL) for part in parts)
