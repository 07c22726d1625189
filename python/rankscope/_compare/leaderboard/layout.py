"""Lays out a leaderboard: its table, its small print, and the table of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from rankscope._compare.layout import (
    count_queries,
    describe_tests,
    explain_signs,
    mark_against,
)
from rankscope._compare.notes import capitalize, describe_input, name_correction
from rankscope._compare.result import ComparedPairs
from rankscope._evaluate.query_values import bad_parameter
from rankscope._show.diagnostics import list_grave, point_to
from rankscope._show.html import mark_text, raise_mark, write_lines, write_result
from rankscope._show.layout import (
    Grid,
    Layout,
    Leading,
    MeasureColumn,
    Paper,
    lay_out_means,
    lay_out_paper,
    order_runs,
)
from rankscope._show.table import finish
from rankscope._show.text import measure as measure_grid

if TYPE_CHECKING:
    from rankscope._compare.leaderboard.result import Entry, Leaderboard


def lay_out(board: Leaderboard) -> Layout:
    """Return the table, and all of the small print."""
    grid = lay_out_means(*_list_columns(board, board.shown))
    input_lines = describe_input(board.policy, board.notes)
    return Layout(
        grids=(grid,),
        small_print=(*_explain(board, _find_marks(grid)), _count_means(board), *input_lines),
    )


def write_short(board: Leaderboard) -> Layout:
    """Return the table with two lines of small print, which say where all of it is."""
    whole = lay_out(board)
    meanings = [*explain_signs(board.baselines, _find_marks(whole.grids[0]))]
    if board.groups is not None:
        meanings.insert(0, _summarize(board.groups, {entry.group for entry in board.entries}))
    lines = [" ".join(meanings)] if meanings else []
    settings = [tested.settings for tested in (board.groups, board.against) if tested is not None]
    test = ""
    if settings:
        corrected = name_correction(settings[0], *(each.comparisons for each in settings))
        test = f"{capitalize(settings[0].test)}, p < {settings[0].alpha:g}{corrected}. "
    shown = "" if board.top is None else f"{len(board)} of {len(board.entries)} runs. "
    grave = list_grave(whole.small_print)
    count = len(whole.small_print) - len(grave)
    rest = point_to(f"{count} lines of small print", board.diagnostics)
    return replace(whole, small_print=(*lines, *grave, f"{shown}{test}{rest}"))


def _summarize(tested: ComparedPairs, groups: set[str]) -> str:
    """Return what the groups say, in one sentence."""
    if len(groups - {""}) > 1:
        return (
            "The first run of a group is significantly better than all runs of later groups; runs "
            "of one group can still differ."
        )
    if tested.warnings:
        return finish(tested.warnings[-1])
    return "No run is significantly worse than the best, which doesn't show that they are equal."


def _list_columns(
    board: Leaderboard, entries: Sequence[Entry]
) -> tuple[Leading, list[MeasureColumn]]:
    """Return the columns before those of measures, and these."""
    runs = [entry.run for entry in entries]
    ranks = ["–" if entry.rank is None else f"{entry.rank}" for entry in entries]
    leading: list[tuple[str, Sequence[str], bool]] = [("rank", ranks, False), ("run", runs, True)]
    if board.groups is not None:
        leading.append(("group", [entry.group or "–" for entry in entries], True))
    tests = () if board.against is None else board.against.comparisons
    columns = [
        MeasureColumn(
            name=measure.name,
            direction=measure.better,
            values=[entry.values[measure.name] for entry in entries],
            marks=mark_against(
                [pair for pair in tests if pair.measure == measure.name], runs, board.baselines
            ),
        )
        for measure in board.measures
    ]
    return leading, columns


def _find_marks(grid: Grid) -> set[str]:
    """Return the signs that are in the table."""
    return {cell.mark for row in grid.rows for cell in row if cell.mark}


def _explain(
    board: Leaderboard, marks: set[str], name: Callable[[str], str] = str
) -> Iterator[str]:
    """Yield what groups and signs mean, and how they were tested."""
    total, shown, sort = len(board.entries), len(board.shown), name(board.sort)
    if shown < total:
        are = "is" if shown == 1 else "are"
        yield f"{shown} of {total} runs {are} shown. Ranks, groups and tests are those of all runs."
    if board.groups is not None:
        yield (
            f"Groups by {sort}: the best run leads group A, with all runs that it is not "
            "significantly better than; the best of the others leads group B, and so on. Each "
            "leader is significantly better than all runs of later groups. Runs of one group can "
            "still differ, and other runs of different groups need not: a difference that isn't "
            "significant doesn't show that runs are equally good."
        )
        yield from _describe_tested("Groups", board.groups, f"all pairs of runs by {sort}")
    elif total > 1:
        yield f"There are no groups, because {_say_ungrouped(board)}."
    yield from explain_signs([*map(name, board.baselines)], marks)
    if board.against is not None:
        yield from _describe_tested("Signs", board.against, "all baselines, runs and measures")
    yield from board.warnings


def _describe_tested(what: str, tested: ComparedPairs, over: str) -> Iterator[str]:
    test = describe_tests(tested.settings).removeprefix("Test: ").removesuffix(".")
    yield f"{what}: {test} ({over})."
    yield from map(finish, tested.warnings)


def _say_ungrouped(board: Leaderboard) -> str:
    measure = next(measure for measure in board.measures if measure.name == board.sort)
    if measure.better == "neither":
        return f"neither higher nor lower values of {board.sort} are better"
    if board.sort not in board.queries:
        return f"{board.sort} is not a mean over queries, so its differences aren't tested"
    return f"fewer than two runs have a value of {board.sort}"


def _count_means(board: Leaderboard) -> str:
    counts = {*board.queries.values()}
    if not counts:
        return "No measure is a mean over queries."
    return f"Means over {count_queries(counts)}."


def describe_paper(board: Leaderboard, paper: Paper) -> Layout:
    """Return the table for a paper; see `Written.to_latex`."""
    if paper.baseline is not None:
        raise bad_parameter(
            "a leaderboard has the baselines that it was made with",
            f"write leaderboard(…, baseline={paper.baseline!r})",
        )
    entries = [*board.shown]
    if paper.sort is not None:
        name = board.find_measure(paper.sort)
        better = next(measure.better for measure in board.measures if measure.name == name)
        order = order_runs([entry.values[name] for entry in entries], better)
        entries = [entries[at] for at in order]
    leading, columns = _list_columns(board, entries)
    marks = {mark for column in columns for mark in column.marks if mark}
    means = _count_means(board)
    names = ", ".join(paper.name(measure.name) for measure in board.measures)
    base = next(iter(board.baselines), None)
    return lay_out_paper(
        paper,
        leading,
        columns,
        title=f"{len(board.entries)} runs by {names}, over {means.removeprefix('Means over ')}",
        notes=[*_explain(board, marks, paper.name), means],
        baseline=base,
        means=None if base is None else board[base].values,
    )


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
    heads = [
        f'<th role="columnheader" scope="col"{_align(is_text)}>{escape(name)}</th>'
        for name, is_text in zip(grid.columns[:leading], grid.is_text, strict=False)
    ]
    heads += [
        '<th role="columnheader" scope="col"><label><input type="radio" name="sort" '
        f'class="by-{at}"{" checked" * (measure.name == board.sort)}>{escape(measure.name)}'
        "</label></th>"
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
