"""Lays out a leaderboard: its table, its small print, and the table of a paper."""

from __future__ import annotations

from rankscope._compare.layout import describe_tests, explain_signs, mark_against
from rankscope._compare.notes import CORRECTIONS, TESTS
from rankscope.errors import UsageError
from rankscope.output.layout.description import Layout, list_grave, point_to
from rankscope.output.layout.means import MeasureColumn, lay_out_means, lay_out_paper, order_runs
from rankscope.output.text import finish, show
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankscope._compare.leaderboard.result import Entry, Leaderboard
    from rankscope._compare.result import ComparedPairs
    from rankscope.output.layout.description import Grid, Paper
    from rankscope.output.layout.means import Leading


def lay_out(board: Leaderboard) -> Layout:
    """Return the table, and all of the small print."""
    return Layout(
        grids=(_make_grid(board),),
        small_print=(*_explain(board), *_describe_input(board)),
    )


def write_short(board: Leaderboard) -> Layout:
    """Return the table with two lines of small print, which say where all of it is."""
    whole = lay_out(board)
    meanings = [*explain_signs(board.baselines, find_marks(board))]
    if board.groups is not None:
        meanings.insert(0, _summarise(board.groups, {each.group for each in board.entries} - {""}))
    lines = [" ".join(meanings)] if meanings else []
    tested = [each for each in (board.groups, board.against) if each is not None]
    how = ""
    if tested:
        settings = tested[0].settings
        counts = " and ".join(f"{each.settings.comparisons:,}" for each in tested)
        corrected = f", {CORRECTIONS[settings.correction]} over {counts} comparisons"
        if max(each.settings.comparisons for each in tested) == 1:
            corrected = ""
        test = TESTS[settings.test]
        how = f"{test[:1].upper()}{test[1:]}, p < {settings.alpha:g}{corrected}. "
    shown = "" if board.top is None else f"{len(board)} of {len(board.entries)} runs. "
    grave = list_grave(whole.small_print)
    count = len(whole.small_print) - len(grave)
    rest = point_to(f"{count} lines of small print", board.diagnostics)
    return replace(whole, small_print=(*lines, *grave, f"{shown}{how}{rest}"))


def _summarise(tested: ComparedPairs, groups: set[str]) -> str:
    """Return what the groups say, in one sentence."""
    if len(groups) > 1:
        return (
            "The first run of a group is significantly better than all runs of later groups; runs "
            "of one group can still differ."
        )
    if tested.warnings:
        return finish(tested.warnings[-1])
    return "No run is significantly worse than the best, which doesn't show that they are equal."


def _make_grid(board: Leaderboard) -> Grid:
    return lay_out_means(*_list_columns(board, board.shown))


def _list_columns(
    board: Leaderboard, entries: Sequence[Entry]
) -> tuple[Leading, list[MeasureColumn]]:
    """Return the columns before those of measures, and these."""
    tests = () if board.against is None else board.against.comparisons
    leading: list[tuple[str, Sequence[str], bool]] = [
        ("rank", ["–" if each.rank is None else f"{each.rank}" for each in entries], False),
        ("run", [each.run for each in entries], True),
    ]
    if board.groups is not None:
        leading.append(("group", [each.group or "–" for each in entries], True))
    columns = []
    for measure in board.measures:
        own = [each for each in tests if each.measure == measure.name]
        columns.append(
            MeasureColumn(
                name=measure.name,
                direction=measure.better,
                values=[each.values[measure.name] for each in entries],
                marks=[mark_against(own, each.run, board.baselines) for each in entries],
            )
        )
    return leading, columns


def find_marks(board: Leaderboard) -> set[str]:
    """Return the signs that are in the table."""
    return {cell.mark for row in _make_grid(board).rows for cell in row if cell.mark}


def _explain(board: Leaderboard, name: Callable[[str], str] = str) -> Iterator[str]:
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
    yield from explain_signs([*map(name, board.baselines)], find_marks(board))
    if board.against is not None:
        yield from _describe_tested("Signs", board.against, "all baselines, runs and measures")
    yield from board.warnings


def _describe_tested(what: str, tested: ComparedPairs, over: str) -> Iterator[str]:
    test = describe_tests(tested.settings).removeprefix("Test: ").removesuffix(".")
    yield f"{what}: {test} ({over})."
    yield from map(finish, tested.warnings)


def _say_ungrouped(board: Leaderboard) -> str:
    measure = next(each for each in board.measures if each.name == board.sort)
    if measure.better == "neither":
        return f"neither higher nor lower values of {board.sort} are better"
    if board.sort not in board.queries:
        return f"{board.sort} is not a mean over queries, so its differences aren't tested"
    return f"fewer than two runs have a value of {board.sort}"


def _describe_input(board: Leaderboard) -> Iterator[str]:
    yield _count_queries(board)
    yield f"Policy: {board.policy}"
    for note in board.notes:
        yield f"Note: {show(str(note))}"


def _count_queries(board: Leaderboard) -> str:
    counts = {*board.queries.values()}
    if not counts:
        return "No measure is a mean over queries."
    low, high = min(counts), max(counts)
    count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"Means over {count} quer{'y' if high == 1 else 'ies'}."


def describe_paper(board: Leaderboard, paper: Paper) -> Layout:
    """Return the table for a paper; see `Written.to_latex`."""
    if paper.baseline is not None:
        raise UsageError(
            "a leaderboard has the baselines that it was made with",
            hint=f"write leaderboard(…, baseline={paper.baseline!r})",
            code="bad_parameter",
        )
    entries = [*board.shown]
    if paper.sort is not None:
        name = board.find_measure(paper.sort)
        better = next(each.better for each in board.measures if each.name == name)
        order = order_runs([each.values[name] for each in entries], better)
        entries = [entries[at] for at in order]
    over = _count_queries(board).removeprefix("Means over ").removesuffix(".")
    base = next(iter(board.baselines), None)
    names = ", ".join(paper.name(each.name) for each in board.measures)
    return lay_out_paper(
        paper,
        *_list_columns(board, entries),
        title=f"{len(board.entries)} runs by {names}, over {over}.",
        notes=[*_explain(board, paper.name), _count_queries(board)],
        baseline=base,
        means=None if base is None else board[base].values,
    )
