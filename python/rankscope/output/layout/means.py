"""The table of means: a row for each run, a column for each measure, the best ones marked."""

from __future__ import annotations

import math

from rankscope.measures.direction import SIGNS
from rankscope.output.layout.description import Cell, Grid
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.measures.direction import Direction

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
    leading: Sequence[tuple[str, Sequence[str], bool]],
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
    parts = [[*map(Cell, cells)] for _, cells, _ in leading]
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
