"""Summaries of a gate: text for a terminal, Markdown for a pull request, and JUnit XML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from rankscope._compare.gate.budget import BROKEN, DIFFERENCES, HOLDS, INCONCLUSIVE, UNCHANGED
from rankscope._compare.notes import format_ends, format_signed, round_plan
from rankscope._settings import METHODS
from rankscope._show.layout import Cell, Grid, Layout
from rankscope._show.table import format_value, show
from rankscope.measures import parse

if TYPE_CHECKING:
    from rankscope._compare.gate.result import Check, GateResult

WriteName: TypeAlias = Callable[..., str]


LONGEST_NAME, LONGEST_NOTE = 60, 400
MOST_ROWS = 20
"""The most checks with one verdict that a summary lists; the others are counted."""
SIGNS = {BROKEN: "❌", INCONCLUSIVE: "⚠️", UNCHANGED: "✅", HOLDS: "✅"}
"""The verdicts, the worst first."""
NAMES = METHODS | {"order statistics": "order statistics of losses"}
SUITE = "rankscope gate"


def describe_check(check: Check) -> str:
    """Return a sentence that explains the verdict with its numbers.

    An inconclusive verdict says how many queries would decide.
    """
    budget, has_interval = check.budget, not math.isnan(check.lower)
    if check.verdict == UNCHANGED:
        return check.note
    value, limit = (_format_value(check, number) for number in (check.value, check.threshold))
    old, new = map(format_value, (check.baseline_mean, check.candidate_mean))
    if budget.is_relative:
        limit += f" ({100 * budget.limit:g}% of {old})"
    what, is_most = "mean" if budget.kind == "min" else "difference", budget.kind == "max-loss"
    where = f"over {check.n:,} {'query' if check.n == 1 else 'queries'}"
    if is_most:
        what = f"p{100 * budget.quantile:g} loss"
    elif budget.kind == "tolerance":
        is_most = parse(check.measure).better == "lower"
        where = f"(from {old} to {new})"
    if check.clusters is not None:
        where += f" in {check.clusters:,} cluster{'s' * (check.clusters != 1)}"
    if has_interval:
        where += f" ({_format_level(check)} interval: {_format_interval(check)})"
    side = "above" if is_most else "below"
    outcomes = {HOLDS: f"not {side} the limit of {limit}", BROKEN: f"{side} the limit of {limit}"}
    is_open = f"which includes the limit of {limit}" if has_interval else "without an interval"
    sentence = f"The {what} is {value} {where}, {outcomes.get(check.verdict, is_open)}."
    note = check.note[:1].upper() + check.note[1:]
    is_planned = check.verdict == INCONCLUSIVE and has_interval
    return f"{sentence} {_plan(check) if is_planned else note}".rstrip()


def _plan(check: Check) -> str:
    """Say about how many queries it takes to show that a good candidate holds the budget.

    The number is as uncertain as the variance from which it is computed, so its range is said, too.
    """
    needed = check.queries_needed
    if needed is None:
        return "More queries are needed. " + (check.note or "These don't tell how many.")
    numbers = f"about {round_plan(needed):,} queries" + " of this slice" * (check.slice is not None)
    start = "If the candidate is exactly as good as the baseline"
    if check.budget.kind == "max-loss":
        allowed = 100 * (1 - check.budget.quantile)
        start = f"If only {allowed / 2:g}% of queries lose more than the limit"
    elif check.queries_needed_lower is None or check.queries_needed_upper is None:
        numbers += " or more"
    else:
        least = round_plan(check.queries_needed_lower, is_up=False)
        most = round_plan(check.queries_needed_upper)
        numbers += f" ({least:,} to {most:,}, as far as these {check.n:,} tell)"
    plan = f"{start}, {numbers} show with a probability of 80% that the budget holds"
    if needed > check.n:
        return f"{plan}."
    return f"{plan}, and there are {check.n:,}. More queries may show that it doesn't."


def lay_out(result: GateResult, *, is_markdown: bool = False) -> Layout:
    """Return the verdict, the table of checks, and all of the small print.

    Names of runs and slices come from files. In Markdown they are written as code, in which other
    Markdown, HTML and mentions such as `@team` have no effect.
    """
    write_name = _code if is_markdown else _shorten
    checks, left_out = _choose(result)
    grid = _tabulate(checks, write_name, is_markdown=is_markdown)
    plans = (check.queries_needed_upper or check.queries_needed for check in result.checks)
    needed = round_plan(max(filter(None, plans), default=0))
    decide = f"Needed to decide: {needed:,} queries if the candidate is as good, more if worse."
    explained = [
        f"{_name_check(check, write_name)}: {show(check.message)}"
        for check in checks
        if check.verdict != HOLDS or check.note
    ]
    notes = [f"Note: {write_name(str(note), LONGEST_NOTE)}" for note in result.notes]
    return Layout(
        above=(
            f"Gate {_describe_verdict(result)}",
            f"{write_name(result.candidate)} against {write_name(result.baseline)}",
        ),
        grids=(replace(grid, notes=left_out),),
        small_print=(*[decide] * bool(needed), *explained, *_describe(result, write_name), *notes),
    )


def write_markdown(result: GateResult) -> str:
    """Return Markdown with the verdict first, a table, and all of the small print."""
    layout = lay_out(result, is_markdown=True)
    [grid] = layout.grids
    rule = [":--" if is_text else "--:" for is_text in grid.is_text]
    rows = [grid.columns, rule, *([cell.text for cell in row] for row in grid.rows)]
    verdict, names = layout.above
    parts = [
        f"### {SIGNS[result.verdict]} {verdict}",
        names,
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        *grid.notes,
        "\n".join(f"- {line}" for line in layout.small_print),
    ]
    return "\n\n".join(parts) + "\n"


def write_junit(result: GateResult) -> str:
    """Return JUnit XML: a test suite with one test case for each check.

    A broken budget is a `failure`. An inconclusive one is an `error` if it fails the gate, and
    `skipped` if it passes. The attributes are those that the schema of Jenkins' xUnit plugin and
    GitLab's parser ask for. Characters that XML doesn't have are escaped by `show`.
    """
    from xml.etree import ElementTree as ET

    tags = [_choose_tag(check) for check in result.checks]
    counts = {"tests": str(len(tags)), "time": "0"}
    counts |= {f"{tag}s": str(tags.count(tag)) for tag in ("failure", "error")}
    root = ET.Element("testsuites", {"name": SUITE} | counts)
    name = show(f"{SUITE}: {result.candidate} against {result.baseline}")
    counts |= {"name": name, "skipped": str(tags.count("skipped"))}
    suite = ET.SubElement(root, "testsuite", counts)
    for check, tag in zip(result.checks, tags, strict=True):
        case = {"classname": "rankscope.gate", "name": show(check.name), "time": "0"}
        outcome = ET.SubElement(ET.SubElement(suite, "testcase", case), tag)
        outcome.text = show(check.message)
        if tag != "system-out":
            outcome.attrib |= {"type": check.verdict, "message": outcome.text}
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _choose_tag(check: Check) -> str:
    """Return the element that says how a test case ended."""
    if check.verdict == INCONCLUSIVE:
        return "skipped" if check.passed else "error"
    return "failure" if check.verdict == BROKEN else "system-out"


def _describe_verdict(result: GateResult) -> str:
    """Return whether the gate passed, and why not.

    For example, `failed: 1 of 3 checks is broken, 1 is inconclusive`.
    """
    count = len(result.checks)
    reasons: list[str] = []
    for verdict in (BROKEN, INCONCLUSIVE):
        number = result.count(verdict)
        of = "" if reasons else f" of {count:,} check{'s' * (count != 1)}"
        if number:
            reasons.append(f"{number:,}{of} {'is' if number == 1 else 'are'} {verdict}")
    if result.verdict == UNCHANGED:
        reasons = ["no list changed"]
    elif not reasons:
        unchanged = " or are unchanged" * (result.count(UNCHANGED) > 0)
        reasons = ["the check holds" if count == 1 else f"all {count:,} checks hold{unchanged}"]
    return f"{'passed' if result.passed else 'failed'}: {', '.join(reasons)}"


def _choose(result: GateResult) -> tuple[list[Check], tuple[str, ...]]:
    """Return the checks to list, worst first, and a sentence about those left out."""
    listed: list[Check] = []
    left_out = []
    for verdict in SIGNS:
        checks = [check for check in result.checks if check.verdict == verdict]
        listed += checks[:MOST_ROWS]
        if len(checks) > MOST_ROWS:
            left_out.append(f"{len(checks) - MOST_ROWS:,} {verdict}")
    return listed, (f"Checks that are not listed: {', '.join(left_out)}.",) if left_out else ()


def _tabulate(checks: Sequence[Check], write_name: WriteName, *, is_markdown: bool) -> Grid:
    """Return a row for each check; a terminal has no room for the number of queries."""
    attributes = {check.by for check in checks if check.by}
    verdicts = {name: f"{sign} {name}" for name, sign in SIGNS.items()}
    if not is_markdown:
        verdicts = {name: name.upper() if name == BROKEN else name for name in SIGNS}
    slices = [check.slice if len(attributes) == 1 else _name_slice(check) for check in checks]
    columns = {
        "verdict": [verdicts[check.verdict] for check in checks],
        "budget": [write_name(check.budget.describe(check.measure)) for check in checks],
        "slice": ["" if name is None else write_name(name) for name in slices],
        "queries": [f"{check.n:,}" for check in checks] if is_markdown else [],
        "value": [_format_value(check, check.value) for check in checks],
        "interval": [_format_interval(check) for check in checks],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip(*shown.values(), strict=True)
    is_text = tuple(name in {"verdict", "budget", "slice"} for name in shown)
    return Grid(tuple(shown), is_text, tuple(tuple(map(Cell, row)) for row in rows))


def _describe(result: GateResult, write_name: WriteName) -> list[str]:
    """Return the footnotes: how intervals were made, and what an inconclusive check does."""
    checks = result.checks
    methods = dict.fromkeys(NAMES.get(check.interval_method, "") for check in checks)
    levels = dict.fromkeys(_format_level(check) for check in checks if not math.isnan(check.level))
    notes = []
    if levels:
        names = ", ".join(filter(None, methods))
        notes.append(f"Two-sided intervals at {' and '.join(levels)}{': ' * bool(names)}{names}.")
    if any(check.corrected_for > 1 for check in checks):
        notes.append("Intervals of slices are corrected for their number (Bonferroni).")
    if result.is_weighted:
        notes.append("Means and intervals have the weights of queries.")
    if result.cluster:
        notes.append(f"Queries of one {write_name(result.cluster)} count as one cluster.")
    ends = {check.passed for check in checks if check.verdict == INCONCLUSIVE}
    if ends:
        word = "passes" if all(ends) else "fails"
        notes.append(f"An inconclusive check {word} here (on-inconclusive).")
    return notes


def _format_value(check: Check, number: float) -> str:
    is_difference = check.budget.kind in DIFFERENCES
    return format_signed(number) if is_difference else format_value(number)


def _format_interval(check: Check) -> str:
    if check.budget.kind == "max-drop" or math.isnan(check.lower):
        return format_ends(check.lower, check.upper)
    return f"{format_value(check.lower)} to {format_value(check.upper)}"


def _format_level(check: Check) -> str:
    """Return a level with as many digits as a corrected one needs.

    Bonferroni's correction of 95 % for 20 slices gives 99.75 %.
    """
    return f"{100 * check.level:.6g}%"


def _name_slice(check: Check) -> str | None:
    return None if check.slice is None else f"{check.by} = {check.slice}"


def _name_check(check: Check, write_name: WriteName) -> str:
    name, where = write_name(check.budget.describe(check.measure)), _name_slice(check)
    return name if where is None else f"{name} in {write_name(where)}"


def _shorten(text: str, longest: int = LONGEST_NAME) -> str:
    return show(text if len(text) <= longest else f"{text[: longest - 1]}…")


def _code(text: str, longest: int = LONGEST_NAME) -> str:
    """Return text as inline code that can stand in a table."""
    text = _shorten(text, longest) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " * (len(fence) > 1)
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")
