"""Lays out a comparison: its verdicts, its tables and its small print, and the table of a paper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, product
from string import ascii_lowercase
from typing import TYPE_CHECKING

from rankscope._compare.notes import (
    capitalize,
    decide,
    describe_test,
    format_ends,
    format_p,
    format_signed,
    make_notes,
    name_correction,
    name_p,
)
from rankscope._compare.pair import Compared
from rankscope._evaluate.query_values import bad_parameter
from rankscope._names import find_closest
from rankscope._show.diagnostics import list_grave, point_to
from rankscope._show.layout import (
    WIDTH,
    Cell,
    Grid,
    Layout,
    MeasureColumn,
    Paper,
    lay_out_paper,
    order_runs,
)
from rankscope._show.table import format_value, show
from rankscope.errors import UsageError

if TYPE_CHECKING:
    from rankscope._compare.result import Comparison, Settings


WIDEST_PAIR = 20
"""The most characters of a pair of names; letters stand for longer ones."""
NARROW_PAIR = 8
"""The same in a table that also has the column of unjudged documents."""
SIGNS = "†‡§¶"
"""What marks the runs that are significantly better than a baseline, one for each baseline."""
WORSE = "▼"
MOST_PAIRS = 200
"""More differences than these are more than anybody reads where a comparison is printed."""


def lay_out(comparison: Comparison) -> Layout:
    """Return all that a comparison says."""
    letters = name_letters(comparison.runs)
    verdicts = [decide(comparison, measure) for measure in comparison.measures]
    grids = [_make_means(comparison, letters)]
    for measure in comparison.measures:
        pairs = [pair for pair in comparison.comparisons if pair.measure == measure]
        grid = _make_pairs(comparison, pairs, letters)
        grids.append(replace(grid, title=_head(comparison, pairs[0])))
    return Layout(
        above=tuple(f"{verdict.sentence} {verdict.power}".rstrip() for verdict in verdicts),
        grids=tuple(grids),
        small_print=tuple(make_notes(comparison)),
    )


def lay_out_short(comparison: Comparison) -> Layout:
    """Return the same with at most two lines below the numbers: the test, and where the rest is."""
    whole = lay_out(comparison)
    rows = sum(len(grid.rows) for grid in whole.grids[1:])
    if rows > MOST_PAIRS:
        means = whole.grids[0]
        left_out = (
            f"{rows:,} differences are not shown: name a baseline, see .table(), or make a "
            "leaderboard."
        )
        means = replace(means, notes=(*means.notes, left_out))
        whole = replace(whole, above=whole.above[:1], grids=(means,))
    lines = [] if any(grid.notes for grid in whole.grids) else [_summarize(comparison)]
    grave = list_grave(whole.small_print)
    left = len(whole.small_print) - len(grave)
    notes = comparison.diagnostics
    rest = f"{left} line{'s' * (left != 1)}{'' if notes else ' of small print'}"
    return replace(whole, small_print=(*lines, *grave, point_to(rest, notes, WIDTH)))


def _summarize(comparison: Comparison) -> str:
    """Return the test, the correction and the intervals in one short line."""
    pairs, settings = comparison.comparisons, comparison.settings
    corrected = name_correction(settings, len(pairs))
    methods = dict.fromkeys(pair.interval_method for pair in pairs if pair.interval_method)
    intervals = f"; intervals: {100 * settings.level:g}%, {' or '.join(methods)}" if methods else ""
    return f"{capitalize(settings.test)}{corrected}{intervals}."


def name_letters(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each of several names: a, b, …, z, aa, ab, …."""
    letters = (product(ascii_lowercase, repeat=size) for size in count(1))
    return dict(zip(names, map("".join, chain.from_iterable(letters)), strict=False))


def _make_means(comparison: Comparison, letters: dict[str, str]) -> Grid:
    separator = "" if len(comparison.runs) <= 26 else ","
    best = {measure: comparison.find_best(measure) for measure in comparison.measures}
    rows = []
    for run in comparison.runs:
        cells = [Cell(letters[run]), Cell(show(run))]
        for measure in comparison.measures:
            mark = separator.join(letters[name] for name in comparison.find_beaten(measure, run))
            mean = format_value(comparison.means[run][measure])
            cells.append(Cell(mean, mark, best[measure] == run))
        rows.append(tuple(cells))
    has_marks = any(cell.mark for row in rows for cell in row)
    return Grid(
        ("", "run", *comparison.measures),
        (True, True, *[False] * len(comparison.measures)),
        tuple(rows),
        notes=(_explain_letters(comparison),) if has_marks else (),
    )


def _explain_letters(comparison: Comparison) -> str:
    return (
        "Letters mark the runs that a run is significantly better than "
        f"(p < {comparison.settings.alpha:g})."
    )


def _head(comparison: Comparison, pair: Compared) -> str:
    noun = "query" if pair.n == 1 else "queries"
    over = f"{pair.n:,} {'weighted ' * comparison.settings.is_weighted}{noun}"
    if pair.clusters is not None:
        over += f" in {pair.clusters:,} cluster{'s' * (pair.clusters != 1)}"
    return f"{pair.measure}: differences over {over}"


def _make_pairs(comparison: Comparison, pairs: Sequence[Compared], letters: dict[str, str]) -> Grid:
    """Return the table of differences, with the columns that these pairs have."""
    # Where all documents are judged, the range would repeat the difference.
    has_unjudged = any(pair.unjudged is not None and pair.unjudged.documents for pair in pairs)
    names = [f"{show(pair.run)} - {show(pair.baseline)}" for pair in pairs]
    if max(map(len, names)) > (NARROW_PAIR if has_unjudged else WIDEST_PAIR):
        names = [f"{letters[pair.run]} - {letters[pair.baseline]}" for pair in pairs]
    columns: list[tuple[str, bool, Iterable[str]]] = []

    def add(head: str, cells: Iterable[str], *, is_text: bool = False) -> None:
        columns.append((head, is_text, cells))

    if any(pair.slice is not None for pair in pairs):
        slices = (show(pair.slice or "all") for pair in pairs)
        add(comparison.by or "slice", slices, is_text=True)
        add("n", (f"{pair.n}" for pair in pairs))
    add("pair", names, is_text=True)
    add("difference", (format_signed(pair.difference) for pair in pairs))
    level = f"{100 * comparison.settings.level:g}% interval"
    add(level, (format_ends(pair.lower, pair.upper) for pair in pairs))
    add(name_p(comparison.comparisons), (format_p(pair.p_corrected) for pair in pairs))
    if pairs[0].margin is not None:
        shown = {True: "yes", False: "not shown"}
        add("not worse", (shown[pair.is_not_worse] for pair in pairs))
        add("equivalent", (shown[pair.is_equivalent] for pair in pairs))
    add("W/T/L", (f"{pair.wins}/{pair.ties}/{pair.losses}" for pair in pairs))
    bounds = [format_ends(pair.bounded_lower, pair.bounded_upper) for pair in pairs]
    if any(
        pair.interval_method != "bounded" and ends != "none"
        for pair, ends in zip(pairs, bounds, strict=True)
    ):
        add("bounded", bounds)
    if has_unjudged:
        reaches = [pair.unjudged for pair in pairs]
        add(
            "if unjudged judged",
            (format_ends(reach.lowest, reach.highest) if reach else "" for reach in reaches),
        )
    heads, is_text, cells = zip(*columns, strict=True)
    return Grid(heads, is_text, tuple(tuple(map(Cell, row)) for row in zip(*cells, strict=True)))


def describe_paper(comparison: Comparison, paper: Paper) -> Layout:
    """Return the table of means for a paper, over all queries; see `Written.to_latex`."""
    runs, letters = [*comparison.runs], name_letters(comparison.runs)
    directions = {pair.measure: pair.direction for pair in comparison.comparisons}
    if paper.sort is not None:
        name = comparison.find_measure(paper.sort)
        values = [comparison.means[run][name] for run in runs]
        runs = [runs[at] for at in order_runs(values, directions[name])]
    baselines = _read_baselines(comparison, paper.baseline)
    columns = [
        MeasureColumn(
            name=measure,
            direction=directions[measure],
            values=[comparison.means[run][measure] for run in runs],
            marks=mark_against(comparison.over_all(measure), runs, baselines)
            if baselines
            else [
                "".join(letters[name] for name in comparison.find_beaten(measure, run))
                for run in runs
            ],
        )
        for measure in comparison.measures
    ]
    marks = {mark for column in columns for mark in column.marks if mark}
    leading = [("run", runs, True)]
    notes = [*explain_signs([*map(paper.name, baselines)], marks)]
    if not baselines and marks:
        leading.insert(0, ("", [letters[run] for run in runs], True))
        notes.append(_explain_letters(comparison))
    counts = {pair.n for pair in comparison.comparisons if pair.slice is None}
    means = f"{', '.join(map(paper.name, comparison.measures))} over {count_queries(counts)}"
    base = next(iter(baselines), None)
    return lay_out_paper(
        paper,
        leading,
        columns,
        title=f"Mean {means}.",
        notes=[
            *notes,
            describe_tests(comparison.settings),
            f"Means over {count_queries(counts)}.",
        ],
        baseline=base,
        means=None if base is None else comparison.means[base],
    )


def count_queries(counts: Collection[int]) -> str:
    """Return the number of queries of all measures."""
    low, high = min(counts), max(counts)
    number = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{number} quer{'y' if high == 1 else 'ies'}"


def _read_baselines(comparison: Comparison, baseline: str | Sequence[str] | None) -> list[str]:
    """Return the runs that the others are tested against."""
    if baseline is None:
        if comparison.baseline is None and len(comparison.runs) > 2:
            return []
        return [comparison.runs[0] if comparison.baseline is None else comparison.baseline]
    names = check_baselines(baseline, comparison.runs)
    if comparison.baseline is not None and names != [comparison.baseline]:
        raise UsageError(
            f"the runs were compared with {comparison.baseline!r} only, not with "
            f"{', '.join(map(repr, names))}",
            hint="compare without a baseline, which compares all pairs",
            code="not_compared",
        )
    return names


def check_baselines(baselines: str | Sequence[str], runs: Sequence[str]) -> list[str]:
    """Return names of baselines that are runs, each once."""
    names = [baselines] if isinstance(baselines, str) else list(dict.fromkeys(baselines))
    for name in names:
        if name not in runs:
            closest = find_closest(name, runs)
            raise bad_parameter(
                f"there is no run {name!r} to be the baseline",
                f"did you mean {closest!r}?" if closest else f"the runs are {', '.join(runs)}",
            )
    if len(names) > len(SIGNS):
        raise bad_parameter(
            f"expected up to {len(SIGNS)} baselines, found {len(names)}",
            "choose the baselines that matter most",
        )
    return names


def mark_against(
    pairs: Sequence[Compared], runs: Sequence[str], baselines: Sequence[str]
) -> list[str]:
    """Return the signs of the baselines that each run is significantly better than, or worse."""
    winners = {frozenset((pair.run, pair.baseline)): pair.better for pair in pairs}
    marks = []
    for run in runs:
        better, worse = "", ""
        for sign, baseline in zip(SIGNS, baselines, strict=False):
            winner = winners.get(frozenset((run, baseline)))
            if winner == run:
                better += sign
            elif winner is not None:
                worse += WORSE if len(baselines) == 1 else f"{WORSE}{sign}"
        marks.append(better + worse)
    return marks


def explain_signs(baselines: Sequence[str], marks: set[str]) -> Iterator[str]:
    """Yield what the signs mean that are in a table."""
    for sign, baseline in zip(SIGNS, baselines, strict=False):
        worse = WORSE if len(baselines) == 1 else f"{WORSE}{sign}"
        parts = []
        if any(sign in mark.replace(f"{WORSE}{sign}", "") for mark in marks):
            parts.append(f"{sign} significantly better than {show(baseline)}")
        if any(worse in mark for mark in marks):
            parts.append(f"{worse} significantly worse{'' if parts else f' than {show(baseline)}'}")
        if parts:
            yield f"{'; '.join(parts)}."


def describe_tests(settings: Settings) -> str:
    """Return the sentence with the test, the correction and the level."""
    corrected = name_correction(settings, settings.comparisons)
    return f"Test: {describe_test(settings)}, p < {settings.alpha:g}{corrected}."
