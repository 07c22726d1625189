"""Summaries of a gate: text for a terminal, Markdown for a pull request, and JUnit XML."""

from __future__ import annotations

import math

from rankscope._compare.gate.result import BROKEN, HOLDS, INCONCLUSIVE, UNCHANGED
from rankscope._compare.notes import format_ends, format_signed, round_plan
from rankscope.measures import parse
from rankscope.output.layout.description import Cell, Grid, Layout, list_grave
from rankscope.output.layout.text import write
from rankscope.output.text import format_value, show
from rankscope.settings.interval import METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope._compare.gate.result import Check, GateResult, Verdict


LONGEST_NAME, LONGEST_NOTE = 60, 400


MOST_ROWS = 20
"""The most checks with one verdict that a summary lists; the others are counted."""


SIGNS = {HOLDS: "✅", UNCHANGED: "✅", BROKEN: "❌", INCONCLUSIVE: "⚠️"}


DIFFERENCES = ("max-drop", "tolerance")
"""The kinds of budgets that limit a difference, which is written with its sign."""


ORDER = (BROKEN, INCONCLUSIVE, UNCHANGED, HOLDS)


NAMES = METHODS | {"order statistics": "order statistics of losses"}


def describe_check(check: Check) -> str:
    """Return a sentence that explains the verdict with its numbers.

    An inconclusive verdict says how many queries would decide.
    """
    if check.interval_method == "identical":
        return check.note
    if check.budget.kind == "tolerance":
        return f"{_describe_values(check)} {check.note}"
    what = {
        "max-drop": "The difference",
        "max-loss": f"The p{100 * check.budget.quantile:g} loss",
        "min": "The mean",
    }[check.budget.kind]
    where = f"over {check.n:,} {'query' if check.n == 1 else 'queries'}"
    if check.clusters is not None:
        where += f" in {check.clusters:,} cluster{'s' * (check.clusters != 1)}"
    sentence = f"{what} is {_format_value(check, check.value)} {where}"
    if math.isnan(check.lower) or math.isnan(check.upper):
        note = check.note[:1].upper() + check.note[1:]
        return f"{sentence}, without an interval. {note}".rstrip()
    sentence += f" ({_format_level(check)} interval: {_format_interval(check)})"
    limit = _format_value(check, check.threshold)
    if check.budget.is_relative:
        limit += f" ({100 * check.budget.limit:g}% of {format_value(check.baseline_mean)})"
    is_most = check.budget.kind == "max-loss"
    if check.verdict == HOLDS:
        return f"{sentence}, not {'above' if is_most else 'below'} the limit of {limit}."
    if check.verdict == BROKEN:
        return f"{sentence}, {'above' if is_most else 'below'} the limit of {limit}."
    sentence += f", which includes the limit of {limit}."
    return f"{sentence} {_plan(check)}"


def _describe_values(check: Check) -> str:
    """Say how two values of all lists compare with the tolerance."""
    old, new = format_value(check.baseline_mean), format_value(check.candidate_mean)
    values = f"The value is {new} against {old}"
    if math.isnan(check.value):
        return f"{values}, so there is no difference to compare with the tolerance."
    limit = f"{check.budget.limit:g}"
    if check.budget.is_relative:
        limit = f"{100 * check.budget.limit:g}% of {old}"
    side = "higher" if parse(check.measure).better == "lower" else "lower"
    where = "within" if check.verdict == HOLDS else "beyond"
    return (
        f"{values}, a difference of {format_signed(check.value)}, which is {where} the tolerance: "
        f"at most {limit} {side}."
    )


def _plan(check: Check) -> str:
    """Say about how many queries it takes to show that a good candidate holds the budget.

    The number is as uncertain as the variance from which it is computed, so its range is said, too.
    """
    needed = check.queries_needed
    if needed is None:
        return "More queries are needed. " + (check.note or "These don't tell how many.")
    numbers = f"about {round_plan(needed):,} queries"
    if check.slice is not None:
        numbers += " of this slice"
    is_loss = check.budget.kind == "max-loss"
    lower, upper = check.queries_needed_lower, check.queries_needed_upper
    if lower is not None and upper is not None:
        numbers += f" ({round_plan(lower, is_up=False):,} to {round_plan(upper):,}"
        numbers += f", as far as these {check.n:,} tell)"
    elif not is_loss:
        numbers += " or more"
    if is_loss:
        allowed = 100 * (1 - check.budget.quantile)
        start = f"If only {allowed / 2:g}% of queries lose more than the limit"
    else:
        start = "If the candidate is exactly as good as the baseline"
    plan = f"{start}, {numbers} show with a probability of 80% that the budget holds"
    if needed > check.n:
        return f"{plan}."
    return f"{plan}, and there are {check.n:,}. More queries may show that it doesn't."


def write_text(result: GateResult) -> str:
    """Return a table for a terminal, with the verdict first."""
    return write(lay_out(result).shorten())


def write_whole(result: GateResult) -> str:
    """Return the same with all of the small print."""
    return write(lay_out(result))


def lay_out(result: GateResult) -> Layout:
    """Return the verdict, the table of checks, and all of the small print."""
    rows, left_out = _choose(result)
    grid = Grid(
        ("verdict", "budget", "value", "interval"),
        (True, True, False, False),
        tuple(
            (
                Cell(check.verdict.upper() if check.verdict == BROKEN else check.verdict),
                Cell(show(_cut(check.name))),
                Cell(_format_value(check, check.value)),
                Cell(_format_interval(check)),
            )
            for check in rows
        ),
        notes=(" ".join(left_out),) if left_out else (),
    )
    names = f"{show(_cut(result.candidate))} against {show(_cut(result.baseline))}"
    messages = [
        f"{show(_cut(each.name))}: {show(each.message)}" for each in rows if each.verdict != HOLDS
    ]
    return Layout(
        above=(f"Gate {_describe_verdict(result)}", names),
        grids=(grid,),
        small_print=(
            *_say_needed(result),
            *messages,
            *_describe(result, show(_cut(result.cluster))),
            *_list_notes(result),
        ),
    )


def _list_notes(result: GateResult) -> list[str]:
    return [f"Note: {show(str(note))}" for note in result.notes]


def _say_needed(result: GateResult) -> list[str]:
    """Return how many queries would decide what is inconclusive, and what that assumes."""
    needed = [
        each.queries_needed_upper or each.queries_needed
        for each in result.checks
        if each.verdict == INCONCLUSIVE and each.queries_needed is not None
    ]
    if not needed:
        return []
    most = f"{round_plan(max(filter(None, needed))):,}"
    return [f"If it is exactly as good, {most} queries decide; if it is worse, it takes more."]


def write_markdown(result: GateResult) -> str:
    """Return Markdown with the verdict first, a table, and what is inconclusive.

    Names of runs and slices come from files. They are written as code, in which Markdown, HTML and
    mentions such as `@team` have no effect.
    """
    rows, left_out = _choose(result)
    sign = SIGNS[result.verdict]
    table = [
        "| | Budget | Value | Interval | Queries |",
        "| :-: | :-- | --: | --: | --: |",
        *(
            f"| {SIGNS[each.verdict]} | {_name(each)} | {_format_value(each, each.value)} "
            f"| {_format_interval(each)} | {each.n:,} |"
            for each in rows
        ),
    ]
    notes = [f"- {_name(each)}: {show(each.message)}" for each in rows if each.verdict != HOLDS]
    notes += [f"- {_code(line, LONGEST_NOTE)}" for line in list_grave(_list_notes(result))]
    parts = [
        f"### {sign} Gate {_describe_verdict(result)}",
        f"{_code(result.candidate)} against {_code(result.baseline)}",
        "\n".join(table),
        *left_out,
        *(["\n".join(notes)] if notes else []),
        f"<sub>{' '.join(_describe(result, _code(result.cluster)))}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def _describe_verdict(result: GateResult) -> str:
    """Return whether the gate passed, and why not.

    For example, `failed: 1 of 3 budgets is broken, 1 is inconclusive`.
    """
    count = len(result.checks)
    word = "passed" if result.passed else "failed"
    counts = [(each, result.count(each)) for each in (BROKEN, INCONCLUSIVE)]
    parts = [
        f"{number} {'is' if number == 1 else 'are'} {name}" for name, number in counts if number
    ]
    if not parts:
        if result.verdict == UNCHANGED:
            return f"{word}: no list changed"
        unchanged = " or are unchanged" if result.count(UNCHANGED) else ""
        return f"{word}: " + (
            "the check holds" if count == 1 else f"all {count} checks hold{unchanged}"
        )
    first, *rest = parts
    number, _, tail = first.partition(" ")
    checks = "check" if count == 1 else "checks"
    return ", ".join([f"{word}: {number} of {count} {checks} {tail}", *rest])


def _describe(result: GateResult, cluster: str) -> list[str]:
    """Return the footnotes: how intervals were made, and what an inconclusive check does."""
    methods = list(dict.fromkeys(NAMES.get(each.interval_method, "") for each in result.checks))
    names = ", ".join(filter(None, methods))
    # Of others, the message says so.
    bare = [
        each.measure
        for each in result.checks
        if each.budget.kind == "tolerance" and each.verdict == HOLDS
    ]
    levels = list(
        dict.fromkeys(_format_level(each) for each in result.checks if not math.isnan(each.level))
    )
    notes = []
    if levels:
        notes.append(
            f"Two-sided intervals at {' and '.join(levels)}{f': {names}' if names else ''}."
        )
    if bare:
        notes.append(
            f"No interval for {', '.join(bare)}: one number of all lists together has no values of "
            "queries to resample, so the two values are compared as they are."
        )
    corrected = [each for each in result.checks if each.corrected_for > 1]
    if corrected:
        notes.append("Intervals of slices are corrected for their number (Bonferroni).")
    if result.cluster:
        notes.append(f"Queries of one {cluster} count as one cluster.")
    if result.count(INCONCLUSIVE):
        is_failed = any(not each.passed for each in result.checks if each.verdict == INCONCLUSIVE)
        word = "fails" if is_failed else "passes"
        notes.append(f"An inconclusive check {word} here (on-inconclusive).")
    return notes


def _choose(result: GateResult) -> tuple[list[Check], list[str]]:
    """Return the checks to list, worst first, and sentences about those left out."""
    rows: list[Check] = []
    left_out = []
    for verdict in ORDER:
        checks = [each for each in result.checks if each.verdict == verdict]
        rows += checks[:MOST_ROWS]
        more = len(checks) - MOST_ROWS
        if more > 0:
            left_out.append(f"{more:,} more {_plural(verdict, more)} not listed.")
    return rows, left_out


def _plural(verdict: Verdict, count: int) -> str:
    if verdict == HOLDS:
        return "check that holds is" if count == 1 else "checks that hold are"
    return f"check that is {verdict} is" if count == 1 else f"checks that are {verdict} are"


def _format_value(check: Check, number: float) -> str:
    return format_signed(number) if check.budget.kind in DIFFERENCES else format_value(number)


def _format_interval(check: Check) -> str:
    if check.budget.kind == "max-drop":
        return format_ends(check.lower, check.upper)
    if math.isnan(check.lower) or math.isnan(check.upper):
        return "none"
    return f"{format_value(check.lower)} to {format_value(check.upper)}"


def _format_level(check: Check) -> str:
    """Return a level with as many digits as a corrected one needs.

    Bonferroni's correction of 95 % for 20 slices gives 99.75 %.
    """
    return f"{100 * check.level:.6g}%"


def _cut(name: str, longest: int = LONGEST_NAME) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _name(check: Check) -> str:
    """Return the budget, and the slice as code."""
    budget = _code(check.budget.describe(check.measure))
    return budget if check.slice is None else f"{budget} in {_code(f'{check.by} = {check.slice}')}"


def _code(text: str, longest_text: int = LONGEST_NAME) -> str:
    """Return text as inline code that can stand in a table."""
    text = show(_cut(text, longest_text)) or " "
    longest = max(
        (len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0
    )
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


SUITE = "rankscope gate"


CLASS = "rankscope.gate"


def write_junit(result: GateResult) -> str:
    """Return JUnit XML: a test suite with one test case for each check.

    A broken budget is a `failure`. An inconclusive one is an `error` if it fails the gate, and
    `skipped` if it passes. The attributes are those that the schema of Jenkins' xUnit plugin and
    GitLab's parser ask for.
    """
    failures = sum(_kind(each) == "failure" for each in result.checks)
    errors = sum(_kind(each) == "error" for each in result.checks)
    skipped = sum(_kind(each) == "skipped" for each in result.checks)
    counts = f'tests="{len(result.checks)}" failures="{failures}" errors="{errors}" time="0"'
    name = _quote_xml(f"{SUITE}: {result.candidate} against {result.baseline}")
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="{SUITE}" {counts}>',
            f'  <testsuite name={name} {counts} skipped="{skipped}">',
            *(line for each in result.checks for line in _write_case(each)),
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _write_case(check: Check) -> list[str]:
    head = f'    <testcase classname="{CLASS}" name={_quote_xml(check.name)} time="0"'
    kind = _kind(check)
    message = _quote_xml(check.message)
    if not kind:
        return [
            f"{head}>",
            f"      <system-out>{_escape(check.message)}</system-out>",
            "    </testcase>",
        ]
    if kind == "skipped":
        return [f"{head}>", f"      <skipped message={message}/>", "    </testcase>"]
    body = (
        f'      <{kind} type="{check.verdict}" message={message}>{_escape(check.message)}</{kind}>'
    )
    return [f"{head}>", body, "    </testcase>"]


def _kind(check: Check) -> str:
    """Return the element that says why a test case didn't succeed; empty if it did."""
    if check.verdict == BROKEN:
        return "failure"
    if check.verdict == INCONCLUSIVE:
        return "skipped" if check.passed else "error"
    return ""


def _escape(text: str) -> str:
    """Return text that can stand in XML: characters that XML doesn't have are escaped, too."""
    from html import escape  # noqa: PLC0415 - only summaries need it

    return escape(show(text))


def _quote_xml(text: str) -> str:
    return f'"{_escape(text)}"'
