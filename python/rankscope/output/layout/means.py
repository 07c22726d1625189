"""The table of means: a row for each run, a column for each measure, the best ones marked."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.measures.direction import SIGNS
from rankscope.output.layout.description import Cell, Grid, Layout
from rankscope.output.text import show
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.measures.direction import Direction
    from rankscope.output.layout.description import Paper

    Leading = Sequence[tuple[str, Sequence[str], bool]]

FEW = 3
"""With fewer runs, the second best is the worst, and isn't underlined."""


@record(frozen=True, slots=True, kw_only=True)
class MeasureColumn:
    """The means of all runs by a measure.

    Args:
        name: The measure.
        direction: Which values are better.
        values: The mean of each run; NaN where there is none.
        marks: What stands raised after each of them; empty for none at all.
    """

    name: str
    direction: Direction
    values: Sequence[float]
    marks: Sequence[str] = ()


def lay_out_means(
    leading: Leading,
    columns: Sequence[MeasureColumn],
    *,
    digits: int = 4,
    title: str = "",
    notes: Sequence[str] = (),
) -> Grid:
    """Return the grid of means, after leading columns: their heads, cells, and if they are text.

    What is best and second best is decided by the digits that are printed, so that equal numbers
    have equal marks.
    """
    parts = [[Cell(show(cell)) for cell in cells] for _, cells, _ in leading]
    parts += [_mark_best(column, digits) for column in columns]
    return Grid(
        (*(head for head, _, _ in leading), *(column.name for column in columns)),
        (*(is_text for _, _, is_text in leading), *[False] * len(columns)),
        tuple(zip(*parts, strict=True)),
        title,
        tuple(notes),
    )


def _mark_best(column: MeasureColumn, digits: int) -> list[Cell]:
    sign = SIGNS[column.direction]
    texts = ["–" if math.isnan(value) else f"{value:.{digits}f}" for value in column.values]
    known = {float(text) for text in texts if text != "–"}
    # Where all are equal, none is better than another.
    ranked = sorted(known, reverse=sign > 0) if sign and len(known) > 1 else []
    best, second = (*ranked[:2], None, None)[:2]
    if len(texts) < FEW:
        second = None
    marks = column.marks or [""] * len(texts)
    return [
        Cell(
            text,
            mark,
            is_best=best is not None and text != "–" and float(text) == best,
            is_second=second is not None and text != "–" and float(text) == second,
        )
        for text, mark in zip(texts, marks, strict=True)
    ]


def lay_out_paper(
    paper: Paper,
    leading: Leading,
    columns: Sequence[MeasureColumn],
    *,
    title: str,
    notes: Sequence[str],
    baseline: str | None = None,
    means: Mapping[str, float] | None = None,
) -> Layout:
    """Return the table of means for a paper, whose column `run` has the names of the runs.

    Args:
        paper: The choices.
        leading: As in `lay_out_means`.
        columns: As in `lay_out_means`.
        title: The caption, unless another one is chosen.
        notes: What stands below.
        baseline: The run that changes are from, if any.
        means: Its means, by measure.
    """
    runs = next(cells for head, cells, _ in leading if head == "run")
    names = [column.name for column in columns]
    paper.check_names([*runs, *names])
    shown = []
    for column in columns:
        values = [paper.scale(column.name) * value for value in column.values]
        shown.append(replace(column, name=paper.name(column.name), values=values))
    grid = lay_out_means(
        [
            (head, [*map(paper.name, cells)] if head == "run" else cells, is_text)
            for head, cells, is_text in leading
        ],
        shown,
        digits=paper.places,
        title=show(paper.caption or title),
        notes=[*say_best(len(runs)), *paper.say_percent(names), *notes],
    )
    if paper.relative:
        if baseline is None or means is None:
            raise UsageError(
                "a relative change needs a baseline",
                hint="name one: compare(…).to_latex(baseline=…, relative=True), or "
                "leaderboard(…, baseline=…).to_latex(relative=True)",
                code="bad_parameter",
            )
        grid = _add_changes(grid, columns, [means[name] for name in names])
        of = f"Δ%: the change from {show(paper.name(baseline))}, in percent of its mean."
        grid = replace(grid, notes=(*grid.notes, of))
    return Layout(grids=(grid,), label=paper.label)


def _add_changes(grid: Grid, columns: Sequence[MeasureColumn], baseline: Sequence[float]) -> Grid:
    """Add a column after each measure: the change from the baseline, relative to its mean."""
    first = len(grid.columns) - len(columns)
    heads, is_text = [*grid.columns[:first]], [*grid.is_text[:first]]
    cells = [*zip(*grid.rows, strict=True)]
    parts = cells[:first]
    for at, (column, base) in enumerate(zip(columns, baseline, strict=True), first):
        changes = [100 * (value - base) / abs(base or math.nan) for value in column.values]
        texts = ["–" if math.isnan(change) else f"{change:+.1f}" for change in changes]
        heads += [grid.columns[at], "Δ%"]
        is_text += [False, False]
        parts += [cells[at], tuple(map(Cell, texts))]
    return replace(
        grid, columns=tuple(heads), is_text=tuple(is_text), rows=tuple(zip(*parts, strict=True))
    )


def say_best(runs: int) -> list[str]:
    """Return the sentence about bold and underlined values of so many runs, if there are any."""
    if runs < 2:
        return []
    second = "" if runs < FEW else ", underlined: the second best"
    return [f"Bold: the best value of a measure{second}."]


def order_runs(values: Sequence[float], direction: Direction) -> list[int]:
    """Return the places of runs, best first and those without a value last; equal ones as given."""
    sign = SIGNS[direction] or 1
    known = [at for at, value in enumerate(values) if not math.isnan(value)]
    missing = [at for at, value in enumerate(values) if math.isnan(value)]
    return [*sorted(known, key=lambda at: -sign * values[at]), *missing]
