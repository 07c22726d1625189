"""Writes blocks as LaTeX, for documents that use the amsmath package."""

from __future__ import annotations

from collections.abc import Iterable

from rankscope._explain import text
from rankscope._explain.terms import Aside, Block, Equation, Grid, Heading, Inline, Math, Note, Term
from rankscope._show import latex

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
        for at in range(0, len(step), TERMS_ON_A_LINE):
            terms = _join(step[at : at + TERMS_ON_A_LINE])
            if at == 0:  # a sum begins without a plus
                terms = terms.removeprefix("+ ").replace("- ", "-", terms.startswith("- "))
            lines.append(f"{left} &= {terms}".strip() if at == 0 else rf"&\quad {terms}")
        left = ""
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _join(terms: Iterable[Term]) -> str:
    return " ".join(f"{'-' if term.is_negative else '+'} {term.latex}" for term in terms)


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
            remark = rf"\textit{{{_escape(row.text)}}}"
            lines.append(rf"\multicolumn{{{len(form)}}}{{l}}{{{remark}}} \\")
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
    return latex.escape(words).replace("×", r"$\times$")
