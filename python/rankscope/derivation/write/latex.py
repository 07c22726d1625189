"""Writes blocks as LaTeX, for documents that use the amsmath package."""

from __future__ import annotations

from rankscope.derivation.write import text
from rankscope.derivation.write.blocks import Aside, Equation, Grid, Heading, Math, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankscope.derivation.write.blocks import Block, Inline, Term

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "×": r"$\times$",
    "–": "--",
    "…": r"\ldots{}",
    '"': r"\char34{}",  # which some languages give a meaning
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
ESCAPES = str.maketrans(SPECIAL)

TERMS_ON_A_LINE = 5


def render(blocks: Iterable[Block]) -> str:
    """Write blocks, separated by empty lines."""
    return "\n\n".join(map(_write, blocks)) + "\n"


def _write(block: Block) -> str:
    if isinstance(block, Equation):
        return _write_equation(block)
    if isinstance(block, Grid):
        return _write_grid(block)
    if isinstance(block, Note):
        return rf"\noindent{{\footnotesize {_escape(block.text)}}}"
    words = "".join(map(_inline, block.parts))
    return rf"\paragraph{{{words}}}" if isinstance(block, Heading) else rf"\noindent {words}"


def _write_equation(equation: Equation) -> str:
    lines = []
    left = equation.latex
    for step in equation.steps:
        starts = range(0, len(step), TERMS_ON_A_LINE)
        parts = [_join(step[at : at + TERMS_ON_A_LINE], is_first=at == 0) for at in starts]
        lines.append(f"{left} &= {parts[0]}")
        lines += [rf"&\quad {part}" for part in parts[1:]]
        left = ""
    body = " \\\\\n".join(line.strip() for line in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _join(terms: Sequence[Term], *, is_first: bool) -> str:
    written = ""
    for term in terms:
        sign = "-" if term.is_negative else "+"
        is_start = is_first and not written
        written += f"{'-' * term.is_negative if is_start else f' {sign} '}{term.latex}"
    return written.strip()


def _write_grid(grid: Grid) -> str:
    form = "".join("l" if column.is_text else "r" for column in grid.columns)
    lines = [
        rf"\noindent\textbf{{{_escape(grid.title)}}}\par\medskip\noindent",
        rf"\begin{{tabular}}{{{form}}}",
        r"\hline",
        _line(_escape(column.name) for column in grid.columns),
        r"\hline",
    ]
    for row in grid.rows:
        if isinstance(row, Aside):
            lines.append(
                rf"\multicolumn{{{len(grid.columns)}}}{{l}}{{\textit{{{_escape(row.text)}}}}} \\"
            )
        else:
            lines.append(_line(map(_inline, row)))
    return "\n".join([*lines, r"\hline", r"\end{tabular}\par\medskip"])


def _line(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _inline(part: Inline) -> str:
    return f"${part.latex}$" if isinstance(part, Math) else _escape(text.write_inline(part))


def _escape(words: str) -> str:
    r"""Escape text for LaTeX.

    Examples:
        >>> print(_escape("50%_of\\x"))
        50\%\_of\textbackslash{}x
    """
    return words.translate(ESCAPES)
