"""The words of a comparison, and the sentences below it: test, intervals and their limits."""

from __future__ import annotations

import math

from rankscope.output.text import finish, format_value, show
from rankscope.settings.interval import METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison, Settings
    from rankscope.output.diagnostics import Diagnostic


TESTS = {
    "permutation": "paired permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "bounded": "bounded test",
}
CORRECTIONS = {
    "holm": "Holm",
    "max-t": "max-T",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "none": "not corrected",
}
NARROW_CORRECTIONS = CORRECTIONS | {"bh": "BH"}
"""The same, for the head of a narrow column."""
UNJUDGED = ("all_unjudged", "subtopics_unjudged")


def are_unjudged(notes: Sequence[Diagnostic]) -> bool:
    """Return whether no retrieved document of any run is judged."""
    return any(note.code in UNJUDGED and not note.file for note in notes)


def name_p(compared: Sequence[Compared]) -> str:
    """Return the head of a column of p-values, with the correction if there is one."""
    if len(compared) < 2 or compared[0].correction == "none":
        return "p"
    return f"p ({NARROW_CORRECTIONS[compared[0].correction]})"


def format_signed(number: float) -> str:
    """Return a difference with its sign and four decimal places.

    Examples:
        >>> [format_signed(number) for number in (0.25, -0.25, 0.0, 1e-9)]
        ['+0.2500', '-0.2500', '0.0000', '+0.0000']
    """
    text = format_value(number)
    return f"+{text}" if number > 0 else text


def format_ends(lower: float, upper: float) -> str:
    """Return the two ends of a range."""
    if math.isnan(lower) or math.isnan(upper):
        return "none"
    return f"{format_signed(lower)} to {format_signed(upper)}"


def round_plan(number: int, *, is_up: bool = True) -> int:
    """Return a number of queries that are needed with two digits: more of them aren't known.

    Examples:
        >>> round_plan(8403), round_plan(8403, is_up=False), round_plan(88)
        (8500, 8400, 88)
    """
    step: int = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // step) * step if is_up else number // step * step


def format_p(p: float | None) -> str:
    """Return a p-value with as many places as can matter.

    Examples:
        >>> [format_p(p) for p in (0.25, 0.0123, 0.00004, 1.0)]
        ['0.250', '0.012', '<0.001', '1.000']
    """
    if p is None or math.isnan(p):
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


SMALL_P = 1e-4
"""Smaller p-values are as good as 0 for any decision."""


def make_notes(comparison: Comparison) -> Iterator[str]:
    """Yield the sentences below the tables."""
    yield from describe_methods(comparison)
    if comparison.policy is not None:
        yield f"Policy: {comparison.policy}"
    for note in comparison.notes:
        yield f"Note: {show(str(note))}"


def describe_methods(comparison: Comparison) -> Iterator[str]:
    """Yield the sentences that state the test, the correction, the intervals and their limits."""
    compared = comparison.comparisons
    if not compared:
        return
    settings = comparison.settings
    test = describe_test(settings)
    if all(pair.test == "bounded" for pair in compared):
        test = f"two-sided {TESTS['bounded']}"
    yield f"Test: {test}.{_describe_correction(compared)}"
    yield from _describe_intervals(compared, settings.level)
    yield from _describe_power(comparison)
    margin = compared[0].margin
    if margin is not None:
        yield (
            f"Not worse: the interval excludes that the run is worse by {margin:g} or more. "
            f"Equivalent: it excludes so large a difference in either direction."
        )
    yield from _describe_ranges(compared)
    yield from map(finish, comparison.warnings)


def _describe_ranges(compared: Sequence[Compared]) -> Iterator[str]:
    """Yield what unjudged documents and ties could change."""
    unjudged = [
        each.unjudged for each in compared if each.unjudged is not None and each.unjudged.documents
    ]
    if unjudged:
        certain = sum(each.is_certain for each in unjudged)
        yield (
            "If unjudged judged: the lowest and highest difference if the unjudged documents were "
            "judged. This is not a confidence interval. The winner is certain despite unjudged "
            f"documents in {_count(certain, len(unjudged))}."
        )
    tied = [each.tied for each in compared if each.tied is not None]
    moved = [each for each in tied if each.lowest != each.highest]
    if moved:
        certain = sum(each.is_certain for each in tied)
        yield (
            f"Tied scores: their order changes the difference in {_count(len(moved), len(tied))}. "
            f"The winner is certain despite ties in {_count(certain, len(tied))}."
        )


def _count(number: int, total: int) -> str:
    return f"{number} of {total} comparison{'s' * (total != 1)}"


def describe_test(settings: Settings) -> str:
    """Return the test, its permutations, and what its units are."""
    how = ""
    if settings.is_exact:
        how = ", all sign flips"
    elif settings.permutations:
        how = f", {settings.permutations:,} random sign flips"
    units = f", whole clusters ({settings.clusters})" if settings.clusters else ""
    weights = ", with the weights of queries" if settings.is_weighted else ""
    return f"two-sided {TESTS[settings.test]}{how}{units}{weights}"


def _describe_correction(compared: Sequence[Compared]) -> str:
    count, correction = len(compared), compared[0].correction
    text = ""
    if count > 1 and correction == "none":
        text = f" The {count} p-values and intervals are not corrected."
    elif count > 1:
        rate = "familywise error rate"
        if correction == "bh":
            rate = "expected share of false ones among the significant differences"
        text = f" {CORRECTIONS[correction]} controls the {rate} over {count} comparisons."
    smallest = min((each.smallest_p for each in compared if each.smallest_p > 0), default=0)
    # The limit matters where it is near the p-values at which decisions are made.
    if smallest > SMALL_P:
        shown = format_p(smallest) if smallest >= 0.001 else f"{smallest:.4f}"
        text += f" The smallest p-value possible here is {shown}."
    return text


def _describe_intervals(compared: Sequence[Compared], level: float) -> Iterator[str]:
    methods = list(dict.fromkeys(each.interval_method for each in compared if each.interval_method))
    if methods:
        names = " or ".join(METHODS.get(each, each) for each in methods)
        together = ""
        if len(compared) > 1 and compared[0].correction not in {"none", "bh"}:
            together = f", for all {len(compared)} differences at once"
        yield f"Intervals: {100 * level:g}%, {names}{together}."
    if {*methods} - {"bounded"}:
        which = "Such" if "bounded" not in methods else "All but bounded"
        yield (
            f"{which} intervals assume that no rare, large difference is missing from these "
            "queries."
        )
    if "bounded" in methods and len(methods) > 1:
        count = sum(each.interval_method == "bounded" for each in compared)
        yield (
            f"{_count(count, len(compared))} {'is' if count == 1 else 'are'} bounded: with fewer "
            "than six queries or 20 clusters, or where no query differs, a permutation test says "
            "too little."
        )
    if any(each.higher is not None and each.lower <= 0 <= each.upper for each in compared):
        yield (
            "The interval of a significant difference includes 0 here, because the Wilcoxon test "
            "isn't about means."
        )
    reasons = dict.fromkeys(each.interval_note for each in compared if each.interval_note)
    yield from map(finish, reasons)


def _describe_power(comparison: Comparison) -> Iterator[str]:
    found = []
    for measure in comparison.measures:
        sizes = [
            each.minimum_detectable
            for each in comparison.over_all(measure)
            if not math.isnan(each.minimum_detectable)
        ]
        if sizes:
            low, high = format_value(min(sizes)), format_value(max(sizes))
            found.append(f"{low if low == high else f'{low} to {high}'} ({measure})")
    if found:
        power = f"{100 * comparison.settings.power:g}%"
        yield f"Minimum detectable difference ({power} power): {', '.join(found)}."


def describe_pair(compared: Compared) -> list[tuple[str, str]]:
    """Return the interval and the p-value of one comparison, as names and values.

    Examples:
        >>> import rankscope as rs
        >>> values = {"old": [0.1] * 6, "new": [0.2, 0.3, 0.2, 0.1, 0.3, 0.2]}
        >>> compared, *_ = rs.compare(values, values=True)
        >>> describe_pair(compared)[-1]
        ('p (paired permutation test)', '0.062')
    """
    test = TESTS[compared.test]
    level = f"{100 * compared.level:g}% confidence interval"
    if compared.interval_method:
        ends = format_ends(compared.lower, compared.upper)
        interval = f"{ends} ({METHODS[compared.interval_method]})"
    else:
        interval = f"none: {compared.interval_note}"
    return [(level, interval), (f"p ({test})", format_p(compared.p))]
