"""Lays out a comparison as headings, grids and notes, for any format."""

from __future__ import annotations

from rankscope.comparison.notes import make_notes
from rankscope.comparison.verdict import decide
from rankscope.comparison.words import format_ends, format_p, format_signed, name_p
from rankscope.output.text import format_value, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankscope.comparison.result import Compared, Comparison

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
    settings = comparison.settings
    is_sliced = any(each.slice is not None for each in compared)
    # Where all documents are judged, the range repeats the difference.
    has_ranges = any(each.unjudged is not None and each.unjudged.documents for each in compared)
    has_margin = compared[0].margin is not None
    names = [f"{show(each.run)} - {show(each.baseline)}" for each in compared]
    if max(map(len, names)) > (NARROW_PAIR if has_ranges else WIDEST_PAIR):
        names = [f"{letters[each.run]} - {letters[each.baseline]}" for each in compared]
    columns = [
        *([comparison.by or "slice", "n"] if is_sliced else []),
        "pair",
        "difference",
        f"{100 * settings.level:g}% interval",
        name_p(comparison.comparisons),
        *(["not worse", "equivalent"] if has_margin else []),
        "W/T/L",
        *(["if unjudged judged"] if has_ranges else []),
    ]
    rows = []
    for name, each in zip(names, compared, strict=True):
        cells = [
            *([show(each.slice or "all"), f"{each.n}"] if is_sliced else []),
            name,
            format_signed(each.difference),
            format_ends(each.lower, each.upper),
            format_p(each.p_corrected),
            *([format_p(each.p_not_worse), format_p(each.p_equivalent)] if has_margin else []),
            f"{each.wins}/{each.ties}/{each.losses}",
        ]
        if has_ranges:
            known = each.unjudged
            cells.append(
                ""
                if known is None
                else format_ends(known.if_unjudged_lowest, known.if_unjudged_highest)
            )
        rows.append(tuple(map(Cell, cells)))
    left = ("slice", comparison.by, "pair")
    return Grid(tuple(columns), tuple(name in left for name in columns), tuple(rows))
