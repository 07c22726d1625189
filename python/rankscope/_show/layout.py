"""What a result shows as tables and sentences, which is then written in a format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rankscope._names import find_closest
from rankscope._show.diagnostics import PRINTED, SHORT, shorten
from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.measures import Measure, parse
from rankscope.measures.spec import SIGNS, Direction

Leading = Sequence[tuple[str, Sequence[str], bool]]
"""Columns before the measures: their heads, their cells, and whether they are text."""


WIDTH = 80
"""The columns of a terminal."""
MOST_DIGITS = 15
MOST_OF_SHARES = 2
"""Values of measures below it are shares; those of alpha_nDCG can be above 1."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the raised mark after it, and whether it is bold or underlined."""

    text: str
    mark: str = ""
    is_best: bool = False
    is_second: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, with its caption above and notes such as what the marks mean directly below."""

    columns: tuple[str, ...]
    is_text: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """The choices for the table of a paper; see `Written.to_latex`."""

    caption: str
    label: str
    digits: int | None
    sort: Measure | str | None
    baseline: str | Sequence[str] | None
    names: Mapping[str, str]
    percent: bool
    relative: bool

    @property
    def places(self) -> int:
        """The number of decimal places."""
        if self.digits is None:
            return 2 if self.percent else 4
        if type(self.digits) is not int or not 0 <= self.digits <= MOST_DIGITS:
            raise UsageError(
                f"expected digits as a whole number from 0 to {MOST_DIGITS}, found {self.digits!r}",
                hint="write digits=3",
                code="bad_parameter",
            )
        return self.digits

    def name(self, name: str) -> str:
        """Return what the paper calls a run or a measure."""
        return self.names.get(name, name)

    def scale(self, measure: str) -> float:
        """Return what the values of a measure are multiplied by: counts are no percentages."""
        is_share = max(map(abs, parse(measure).row.value_range)) < MOST_OF_SHARES
        return 100.0 if self.percent and is_share else 1.0

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse new names of what isn't in the table."""
        for name in self.names:
            if name not in names:
                closest = find_closest(name, names)
                others = f"there are {', '.join(names)}"
                raise UsageError(
                    f"there is no run or measure {name!r} to rename",
                    hint=f"did you mean {closest!r}?" if closest else others,
                    code="bad_parameter",
                )

    def say_percent(self, measures: Sequence[str]) -> list[str]:
        """Return the sentence about percentages, if there are any."""
        shares = [self.name(measure) for measure in measures if self.scale(measure) != 1]
        return [f"In percent: {', '.join(shares)}."] if shares else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """All that a result shows: sentences such as verdicts, tables, and the small print below.

    `label` is the name by which a paper refers to the first table.
    """

    above: tuple[str, ...] = ()
    grids: tuple[Grid, ...]
    small_print: tuple[str, ...] = ()
    label: str = ""

    def shorten(self, notes: Mapping[str, int] | None = None) -> Layout:
        """Return it with at most two lines below the numbers, which say where the others are."""
        room = SHORT - sum(len(grid.notes) for grid in self.grids)
        lines = shorten(self.small_print, notes, room, WIDTH, where=PRINTED)
        return replace(self, small_print=lines)


FEW = 3
"""With fewer runs, the second best is the worst, and isn't underlined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureColumn:
    """The means of all runs by a measure, NaN where there is none, and their raised marks."""

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
    """Return the grid of means.

    The best and the second best are decided by the digits that are printed, so that equal numbers
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
    printed = {float(text) for text in texts if text != "–"}
    # Where all are equal, none is better than another.
    ranked = sorted(printed, reverse=sign > 0) if sign and len(printed) > 1 else []
    places = {value: place for place, value in enumerate(ranked[: 2 if len(texts) >= FEW else 1])}
    marks = column.marks or [""] * len(texts)
    cells = []
    for text, mark in zip(texts, marks, strict=True):
        place = None if text == "–" else places.get(float(text))
        cells.append(Cell(text, mark, is_best=place == 0, is_second=place == 1))
    return cells


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
    """Return the table of means for a paper, whose leading column `run` has the names of the runs.

    `means` are those of the baseline, from which relative changes are.
    """
    runs = next(cells for head, cells, _ in leading if head == "run")
    names = [column.name for column in columns]
    paper.check_names([*runs, *names])
    scaled = []
    for column in columns:
        values = [paper.scale(column.name) * value for value in column.values]
        scaled.append(replace(column, name=paper.name(column.name), values=values))
    grid = lay_out_means(
        [
            (head, [*map(paper.name, cells)] if head == "run" else cells, is_text)
            for head, cells, is_text in leading
        ],
        scaled,
        digits=paper.places,
        title=show(paper.caption or title),
        notes=[*_say_best(len(runs)), *paper.say_percent(names), *notes],
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
    heads, cells = [*grid.columns[:first]], [*zip(*grid.rows, strict=True)]
    parts = cells[:first]
    for at, (column, base) in enumerate(zip(columns, baseline, strict=True), first):
        changes = [100 * (value - base) / abs(base or math.nan) for value in column.values]
        texts = ["–" if math.isnan(change) else f"{change:+.1f}" for change in changes]
        heads += [grid.columns[at], "Δ%"]
        parts += [cells[at], tuple(map(Cell, texts))]
    is_text = (*grid.is_text, *[False] * len(columns))
    return replace(
        grid, columns=tuple(heads), is_text=is_text, rows=tuple(zip(*parts, strict=True))
    )


def _say_best(runs: int) -> list[str]:
    """Return the sentence about bold and underlined values of so many runs, if there are any."""
    if runs < 2:
        return []
    second = "" if runs < FEW else ", underlined: the second best"
    return [f"Bold: the best value of a measure{second}."]


def order_runs(values: Sequence[float], direction: Direction) -> list[int]:
    """Return the places of runs, best first and those without a value last; equal ones as given."""
    sign = SIGNS[direction] or 1
    missing = [at for at, value in enumerate(values) if math.isnan(value)]
    others = [at for at in range(len(values)) if at not in missing]
    return [*sorted(others, key=lambda at: -sign * values[at]), *missing]
