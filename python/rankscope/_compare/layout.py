"""Lays out a comparison: its verdicts, its tables and its small print, and the table of a paper."""

from __future__ import annotations

from rankscope._compare.notes import CORRECTIONS, TESTS, describe_test, make_notes
from rankscope._compare.pair import PRINTED, have_unjudged
from rankscope._compare.verdict import decide
from rankscope._evaluate.evaluation import find_name
from rankscope.errors import UsageError
from rankscope.names import find_closest
from rankscope.output.layout.description import WIDTH, Cell, Grid, Layout, list_grave, point_to
from rankscope.output.layout.means import MeasureColumn, lay_out_paper, order_runs
from rankscope.output.text import format_value, show
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison, Settings
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction
    from rankscope.output.layout.description import Paper

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
        compared = [each for each in comparison.comparisons if each.measure == measure]
        if compared:
            pairs = _make_pairs(comparison, compared, letters)
            grids.append(replace(pairs, title=_head(comparison, measure, compared)))
    return Layout(
        above=tuple(" ".join(filter(None, (str(each), each.power))) for each in verdicts),
        grids=tuple(grids),
        small_print=tuple(make_notes(comparison)),
    )


def lay_out_short(comparison: Comparison) -> Layout:
    """Return the same with at most two lines below the numbers: the test, and where the rest is."""
    whole = lay_out(comparison)
    pairs = sum(len(grid.rows) for grid in whole.grids[1:])
    if pairs > MOST_PAIRS:
        left_out = f"{pairs:,} differences are not shown: name a baseline, see .table(), or make a "
        means = whole.grids[0]
        below = (*means.notes, f"{left_out}leaderboard.")
        whole = replace(whole, above=whole.above[:1], grids=(replace(means, notes=below),))
    lines = [] if any(grid.notes for grid in whole.grids) else [*_say_how(comparison)]
    grave = list_grave(whole.small_print)
    lines += grave
    count = len(whole.small_print) - len(grave)
    if count:
        notes = comparison.diagnostics
        what = f"{count} line{'s' * (count != 1)}{'' if notes else ' of small print'}"
        lines.append(point_to(what, notes, WIDTH))
    return replace(whole, small_print=tuple(lines))


def _say_how(comparison: Comparison) -> Iterator[str]:
    """Yield the test, the correction and the intervals in one short line."""
    compared = comparison.comparisons
    if not compared:
        return
    settings = comparison.settings
    test = TESTS[settings.test]
    corrected = f", {CORRECTIONS[compared[0].correction]} over {len(compared):,} comparisons"
    if len(compared) == 1 or compared[0].correction == "none":
        corrected = ""
    methods = dict.fromkeys(each.interval_method for each in compared if each.interval_method)
    intervals = f"; intervals: {100 * settings.level:g}%, {' or '.join(methods)}" if methods else ""
    yield f"{test[:1].upper()}{test[1:]}{corrected}{intervals}."


def name_letters(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each of several names: a, b, …, z, aa, ab, …."""
    return {name: _name_letter(at) for at, name in enumerate(names)}


def _name_letter(number: int) -> str:
    text = ""
    while number >= 0:
        text = chr(ord("a") + number % 26) + text
        number = number // 26 - 1
    return text


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
    is_text = (True, True, *[False] * len(comparison.measures))
    has_marks = any(cell.mark for row in rows for cell in row)
    notes = (_explain_letters(comparison),) if has_marks else ()
    return Grid(columns, is_text, tuple(rows), notes=notes)


def _explain_letters(comparison: Comparison) -> str:
    return (
        "Letters mark the runs that a run is significantly better than "
        f"(p < {comparison.settings.alpha:g})."
    )


def _head(comparison: Comparison, measure: str, compared: Sequence[Compared]) -> str:
    first = compared[0]
    noun = "query" if first.n == 1 else "queries"
    counts = [f"{first.n:,} {'weighted ' * comparison.settings.is_weighted}{noun}"]
    if first.clusters is not None:
        counts.append(f"{first.clusters:,} cluster{'s' * (first.clusters != 1)}")
    return f"{measure}: differences over {' in '.join(counts)}"


def _make_pairs(
    comparison: Comparison, compared: Sequence[Compared], letters: dict[str, str]
) -> Grid:
    names = [f"{show(each.run)} - {show(each.baseline)}" for each in compared]
    if max(map(len, names)) > (NARROW_PAIR if have_unjudged(compared) else WIDEST_PAIR):
        names = [f"{letters[each.run]} - {letters[each.baseline]}" for each in compared]
    columns = [column for column in PRINTED if column.is_shown(compared)]
    return Grid(
        tuple(
            column.head if isinstance(column.head, str) else column.head(comparison)
            for column in columns
        ),
        tuple(column.is_text for column in columns),
        tuple(
            tuple(Cell(column.cell(each, name)) for column in columns)
            for name, each in zip(names, compared, strict=True)
        ),
    )


def describe_paper(comparison: Comparison, paper: Paper) -> Layout:
    """Return the table of means for a paper, over all queries; see `Written.to_latex`."""
    runs, letters = [*comparison.runs], name_letters(comparison.runs)
    directions = find_directions(comparison)
    if paper.sort is not None:
        name = _find_measure(comparison, paper.sort)
        values = [comparison.means[run][name] for run in runs]
        runs = [runs[at] for at in order_runs(values, directions[name])]
    baselines = _read_baselines(comparison, paper.baseline)
    columns = [
        MeasureColumn(
            name=measure,
            direction=directions[measure],
            values=[comparison.means[run][measure] for run in runs],
            marks=[
                mark_against(comparison.over_all(measure), run, baselines)
                if baselines
                else "".join(letters[each] for each in comparison.find_beaten(measure, run))
                for run in runs
            ],
        )
        for measure in comparison.measures
    ]
    marks = {mark for column in columns for mark in column.marks if mark}
    leading = [("run", runs, True)]
    if not baselines and marks:
        leading.insert(0, ("", [letters[run] for run in runs], True))
    notes = [*explain_signs([*map(paper.name, baselines)], marks)]
    if not baselines and marks:
        notes.append(_explain_letters(comparison))
    notes.append(describe_tests(comparison.settings))
    count = _count_queries(comparison)
    title = f"Mean {', '.join(map(paper.name, comparison.measures))} over {count}."
    notes.append(f"Means over {count}.")
    base = next(iter(baselines), None)
    means = None if base is None else comparison.means[base]
    return lay_out_paper(
        paper, leading, columns, title=title, notes=notes, baseline=base, means=means
    )


def _find_measure(comparison: Comparison, measure: Measure | str) -> str:
    name = find_name(measure, comparison.measures, comparison.asked or {})
    if name not in comparison.measures:
        raise UsageError(
            f"{measure} was not compared",
            hint=f"the measures are {', '.join(comparison.measures)}",
            code="not_compared",
        )
    return name


def find_directions(comparison: Comparison) -> Mapping[str, Direction]:
    """Return which values of each measure are better."""
    return {each.measure: each.direction for each in comparison.comparisons}


def _count_queries(comparison: Comparison) -> str:
    """Return the number of queries of all measures."""
    counts = {each.n for each in comparison.comparisons if each.slice is None}
    low, high = min(counts, default=0), max(counts, default=0)
    count = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{count} quer{'y' if low == high == 1 else 'ies'}"


def _read_baselines(comparison: Comparison, given: str | Sequence[str] | None) -> list[str]:
    """Return the runs that the others are tested against."""
    if given is None:
        if comparison.baseline is None and len(comparison.runs) > 2:
            return []
        return [comparison.runs[0] if comparison.baseline is None else comparison.baseline]
    names = check_baselines(given, comparison.runs)
    if comparison.baseline is not None and names != [comparison.baseline]:
        raise UsageError(
            f"the runs were compared with {comparison.baseline!r} only, not with "
            f"{', '.join(map(repr, names))}",
            hint="compare without a baseline, which compares all pairs",
            code="not_compared",
        )
    return names


def check_baselines(given: str | Sequence[str], runs: Sequence[str]) -> list[str]:
    """Return names of baselines that are runs, each once."""
    names = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    for name in names:
        if name not in runs:
            closest = find_closest(name, runs)
            raise UsageError(
                f"there is no run {name!r} to be the baseline",
                hint=f"did you mean {closest!r}?" if closest else f"the runs are {', '.join(runs)}",
                code="bad_parameter",
            )
    if len(names) > len(SIGNS):
        raise UsageError(
            f"expected up to {len(SIGNS)} baselines, found {len(names)}",
            hint="choose the baselines that matter most",
            code="bad_parameter",
        )
    return names


def mark_against(pairs: Sequence[Compared], run: str, baselines: Sequence[str]) -> str:
    """Return the signs of the baselines that a run is significantly better than, or worse."""
    better, worse = "", ""
    for sign, baseline in zip(SIGNS, baselines, strict=False):
        pair = next((each for each in pairs if {each.run, each.baseline} == {run, baseline}), None)
        if pair is None:
            continue
        if pair.better == run:
            better += sign
        elif pair.better == baseline:
            worse += WORSE if len(baselines) == 1 else f"{WORSE}{sign}"
    return better + worse


def explain_signs(baselines: Sequence[str], marks: set[str]) -> Iterator[str]:
    """Yield what the signs mean that are in a table."""
    is_one = len(baselines) == 1
    for sign, baseline in zip(SIGNS, baselines, strict=False):
        worse = WORSE if is_one else f"{WORSE}{sign}"
        said = []
        if any(sign in mark.replace(f"{WORSE}{sign}", "") for mark in marks):
            said.append(f"{sign} significantly better than {show(baseline)}")
        if any(worse in mark for mark in marks):
            said.append(f"{worse} significantly worse{'' if said else f' than {show(baseline)}'}")
        if said:
            yield f"{'; '.join(said)}."


def describe_tests(settings: Settings) -> str:
    """Return the sentence with the test, the correction and the level."""
    corrected = f", {CORRECTIONS[settings.correction]} over {settings.comparisons:,} comparisons"
    if settings.correction == "none":
        corrected = ", not corrected"
    return (
        f"Test: {describe_test(settings)}, p < {settings.alpha:g}"
        f"{corrected if settings.comparisons > 1 else ''}."
    )
