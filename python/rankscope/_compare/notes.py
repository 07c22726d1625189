"""The words of a comparison, and the sentences below it: test, intervals and their limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._compare.pair import find_other
from rankscope._settings import METHODS, Policy
from rankscope._show.diagnostics import Diagnostic
from rankscope._show.table import finish, format_value, show, show_name
from rankscope.measures.parse import parse
from rankscope.measures.spec import SIGNS

if TYPE_CHECKING:
    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison, Settings


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
UNJUDGED = ("all_unjudged", "subtopics_unjudged")


def capitalize(test: str) -> str:
    """Return the name of a test at the start of a sentence."""
    return f"{TESTS[test][:1].upper()}{TESTS[test][1:]}"


def name_correction(settings: Settings, *counts: int) -> str:
    """Return how p-values are corrected over so many comparisons, to go on after the test."""
    if max(counts) == 1:
        return ""
    if settings.correction == "none":
        return ", not corrected"
    over = " and ".join(f"{count:,}" for count in counts)
    return f", {CORRECTIONS[settings.correction]} over {over} comparisons"


def name_p(pairs: Sequence[Compared]) -> str:
    """Return the head of a column of p-values, with the correction if there is one."""
    correction = pairs[0].correction
    if len(pairs) < 2 or correction == "none":
        return "p"
    return f"p ({'BH' if correction == 'bh' else CORRECTIONS[correction]})"


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
    """Yield the sentences below the tables: test, correction, intervals, limits, and input."""
    pairs, settings = comparison.comparisons, comparison.settings
    test = describe_test(settings)
    if all(pair.test == "bounded" for pair in pairs):
        test = f"two-sided {TESTS['bounded']}"
    yield f"Test: {test}.{_describe_correction(pairs)}"
    yield from _describe_intervals(pairs, settings.level)
    yield from _describe_power(comparison)
    margin = pairs[0].margin
    if margin is not None:
        yield (
            f"Not worse: the interval excludes that the run is worse by {margin:g} or more. "
            f"Equivalent: it excludes so large a difference in either direction."
        )
    yield from _describe_ranges(pairs)
    yield from map(finish, comparison.warnings)
    yield from describe_input(comparison.policy, comparison.notes)


def describe_input(policy: Policy | None, notes: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield the policy of an evaluation, and the notes about its input."""
    if policy is not None:
        yield f"Policy: {policy}"
    for note in notes:
        yield f"Note: {show(str(note))}"


def _describe_ranges(pairs: Sequence[Compared]) -> Iterator[str]:
    """Yield what unjudged documents and ties could change."""
    unjudged = [pair.unjudged for pair in pairs if pair.unjudged and pair.unjudged.documents]
    if unjudged:
        certain = sum(reach.is_certain for reach in unjudged)
        yield (
            "If unjudged judged: the lowest and highest difference if the unjudged documents were "
            "judged. This is not a confidence interval. The winner is certain despite unjudged "
            f"documents in {_count(certain, len(unjudged))}."
        )
    tied = [pair.tied for pair in pairs if pair.tied]
    moved = sum(reach.lowest != reach.highest for reach in tied)
    if moved:
        certain = sum(reach.is_certain for reach in tied)
        yield (
            f"Tied scores: their order changes the difference in {_count(moved, len(tied))}. "
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


def _describe_correction(pairs: Sequence[Compared]) -> str:
    count, correction = len(pairs), pairs[0].correction
    text = ""
    if count > 1 and correction == "none":
        text = f" The {count} p-values and intervals are not corrected."
    elif count > 1:
        rate = "familywise error rate"
        if correction == "bh":
            rate = "expected share of false ones among the significant differences"
        text = f" {CORRECTIONS[correction]} controls the {rate} over {count} comparisons."
    smallest = min((pair.smallest_p for pair in pairs if pair.smallest_p > 0), default=0)
    # The limit matters where it is near the p-values at which decisions are made.
    if smallest > SMALL_P:
        shown = format_p(smallest) if smallest >= 0.001 else f"{smallest:.4f}"
        text += f" The smallest p-value possible here is {shown}."
    return text


def _describe_intervals(pairs: Sequence[Compared], level: float) -> Iterator[str]:
    methods = list(dict.fromkeys(pair.interval_method for pair in pairs if pair.interval_method))
    if methods:
        names = " or ".join(METHODS.get(method, method) for method in methods)
        together = ""
        if len(pairs) > 1 and pairs[0].correction not in {"none", "bh"}:
            together = f", for all {len(pairs)} differences at once"
        yield f"Intervals: {100 * level:g}%, {names}{together}."
    if {*methods} - {"bounded"}:
        which = "Such" if "bounded" not in methods else "All but bounded"
        yield (
            f"{which} intervals assume that no rare, large difference is missing from these "
            "queries."
        )
    if "bounded" in methods and len(methods) > 1:
        count = sum(pair.interval_method == "bounded" for pair in pairs)
        yield (
            f"{_count(count, len(pairs))} {'is' if count == 1 else 'are'} bounded: with fewer "
            "than six queries or 20 clusters, or where no query differs, a permutation test says "
            "too little."
        )
    if any(pair.higher is not None and pair.lower <= 0 <= pair.upper for pair in pairs):
        yield (
            "The interval of a significant difference includes 0 here, because the Wilcoxon test "
            "isn't about means."
        )
    yield from map(
        finish, dict.fromkeys(pair.interval_note for pair in pairs if pair.interval_note)
    )


def _describe_power(comparison: Comparison) -> Iterator[str]:
    ranges = []
    for measure in comparison.measures:
        sizes = [pair.minimum_detectable for pair in comparison.over_all(measure)]
        sizes = [size for size in sizes if not math.isnan(size)]
        if sizes:
            ends = dict.fromkeys(map(format_value, (min(sizes), max(sizes))))
            ranges.append(f"{' to '.join(ends)} ({measure})")
    if ranges:
        power = f"{100 * comparison.settings.power:g}%"
        yield f"Minimum detectable difference ({power} power): {', '.join(ranges)}."


def describe_pair(pair: Compared) -> list[tuple[str, str]]:
    """Return the interval and the p-value of one comparison, as names and values.

    Examples:
        >>> import rankscope as rs
        >>> values = {"old": [0.1] * 6, "new": [0.2, 0.3, 0.2, 0.1, 0.3, 0.2]}
        >>> pair, *_ = rs.compare(values, values=True)
        >>> describe_pair(pair)[-1]
        ('p (paired permutation test)', '0.062')
    """
    interval = f"none: {pair.interval_note}"
    if pair.interval_method:
        interval = f"{format_ends(pair.lower, pair.upper)} ({METHODS[pair.interval_method]})"
    return [
        (f"{100 * pair.level:g}% confidence interval", interval),
        (f"p ({TESTS[pair.test]})", format_p(pair.p)),
    ]


MOST_NAMES = 3
"""More runs than these are counted, not named."""
MOST_QUERIES = 1_000_000
"""Nobody judges more queries than these."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison says about one measure, over all queries."""

    sentence: str
    power: str


def decide(comparison: Comparison, measure: str) -> Verdict:
    """Return the verdict by a measure, from the pairs of runs over all queries."""
    pairs = comparison.over_all(measure)
    if len(pairs) == 1:
        [key] = pairs
        sentences = (_decide_pair(comparison, key), _say_answered(key), _say_bounds(key))
        sentence = " ".join(filter(None, (*sentences, _say_margin(key))))
    elif comparison.baseline is not None:
        sentence, key = _decide_baseline(comparison.baseline, measure, pairs)
    else:
        sentence, key = _decide_many(comparison, measure, pairs)
    is_unjudged = any(note.code in UNJUDGED and not note.file for note in comparison.notes)
    if is_unjudged and not parse(measure).row.of_items:
        sentence = f"No retrieved document is judged, so {measure} can't compare the runs."
    is_open = key.higher is None and key.wins + key.losses > 0
    return Verdict(sentence, _say_power(comparison, key) if is_open else "")


def _decide_pair(comparison: Comparison, pair: Compared) -> str:
    first, second = _order(pair)
    if pair.wins == pair.losses == 0:
        names = f"{show_name(pair.baseline)} and {show_name(pair.run)}"
        return f"{names} have the same {pair.measure} for all {pair.n:,} queries."
    size, evidence = format_value(abs(pair.difference)), _show_evidence(comparison, pair)
    if pair.direction == "neither":
        start = "" if pair.higher is not None else "The difference is not significant: "
        return (
            f"{start}{first} has a higher {pair.measure} than {second} by {size} {evidence}. "
            "Neither higher nor lower values are better."
        )
    end = f"{second} by {size} {pair.measure} {evidence}.{_say_direction(pair)}"
    if pair.better is None:
        return f"No run is significantly better: {first} leads {end}"
    return f"{first} is better than {end}"


def _say_answered(pair: Compared) -> str:
    """Return what the verdict is on the queries that both runs have a list for."""
    both = pair.answered
    if both is None:
        return ""
    missing = pair.n - both.n
    text = (
        f"For {missing:,} of the {pair.n:,} queries, one of them has no list, which counts as 0. "
        f"On the {both.n:,} that both have,"
    )
    if both.wins == both.losses == 0:
        return f"{text} they are the same."
    first, second = _order(both)
    size, p = format_value(abs(both.difference)), _show_p(both.p_corrected)
    return f"{text} {first} leads {second} by {size} ({p})."


def _say_direction(pair: Compared) -> str:
    """Return a sentence about which values are better, unless higher ones are."""
    return " Lower values are better." if pair.direction == "lower" else ""


def _say_bounds(pair: Compared) -> str:
    """Return what rare differences could still change, where the queries hint at such ones.

    A difference of half of what there can be shows that they happen, and one decides little where
    the bounded interval agrees.
    """
    if math.isnan(pair.bounded_lower):
        return ""
    if pair.wins == pair.losses == 0:
        ends = format_ends(pair.bounded_lower, pair.bounded_upper)
        return f"Other queries could still differ, on average by {ends} (bounded)."
    decides = pair.higher is None or pair.is_bounded_apart or pair.interval_method == "bounded"
    if decides or not pair.has_large:
        return ""
    return (
        "This assumes that no rare, large difference is missing from these queries, and the "
        "largest here shows that there are such ones: the bounded interval includes 0."
    )


def _say_margin(pair: Compared) -> str:
    """Return whether the run is as good as the baseline, except for the margin."""
    if pair.margin is None or math.isnan(pair.lower) or pair.direction == "neither":
        return ""
    run, baseline, margin = show_name(pair.run), show_name(pair.baseline), f"{pair.margin:g}"
    # Nobody sees a rare loss that is missing: what is shown is shown except for such ones.
    low, high = pair.bounded_lower, pair.bounded_upper
    worst = low if pair.direction == "higher" else -high
    is_safe = worst > -pair.margin and (high < pair.margin or not pair.is_equivalent)
    unless = "" if is_safe else ", if no rare, large difference is missing here"
    if pair.is_equivalent and pair.better is None:
        return f"{run} and {baseline} are equivalent within {margin}{unless}."
    if pair.is_equivalent:
        worse = baseline if pair.better == pair.run else run
        return f"{worse} is worse by less than {margin}{unless}."
    if pair.better == pair.run:
        return ""
    if not pair.is_not_worse:
        return f"The data don't show that {run} is less than {margin} worse than {baseline}."
    return f"{run} is not worse than {baseline} by {margin} or more{unless}."


def _decide_baseline(
    baseline: str, measure: str, pairs: Sequence[Compared]
) -> tuple[str, Compared]:
    """Return the verdict about a baseline, and the pair of the run with the best mean."""
    up, down = ("higher", "lower") if pairs[0].direction == "neither" else ("better", "worse")
    sign = _sign(pairs[0])
    gains = {pair.run: 0 if pair.higher is None else sign * pair.difference for pair in pairs}
    groups = [
        (f"significantly {up}", [run for run, gain in gains.items() if gain > 0]),
        (f"significantly {down}", [run for run, gain in gains.items() if gain < 0]),
        ("not significantly different", [run for run, gain in gains.items() if gain == 0]),
    ]
    sentences = [
        f"{_list(runs)} {'is' if len(runs) == 1 else 'are'} {what}" for what, runs in groups if runs
    ]
    start = f"{measure}, against {show_name(baseline)}"
    text = f"{start}: {'; '.join(sentences)}.{_say_direction(pairs[0])}"
    return text, max(pairs, key=lambda pair: sign * pair.run_mean)


def _decide_many(
    comparison: Comparison, measure: str, pairs: Sequence[Compared]
) -> tuple[str, Compared]:
    """Return the verdict, and the pair of the run with the best mean that decides it."""
    means = {run: comparison.means[run][measure] for run in comparison.runs}
    direction, sign = pairs[0].direction, _sign(pairs[0])
    top = max(means, key=lambda run: sign * means[run])
    own = [pair for pair in pairs if top in (pair.run, pair.baseline)]
    own.sort(key=lambda pair: -sign * means[find_other(pair, top)])
    rivals = [pair for pair in own if pair.higher is None or sign * _lead(pair, top) <= 0]
    closest = rivals[0] if rivals else own[0]
    name, size = show_name(top), format_value(abs(closest.difference))
    end = f"{_show_evidence(comparison, closest)}.{_say_direction(pairs[0])}"
    if not rivals:
        beats = f"is better than each of the other {len(own)} runs by {measure}. It leads"
        if direction == "neither":
            beats = f"has a higher {measure} than each of the other {len(own)} runs. It is above"
        second = show_name(find_other(closest, top))
        return f"{name} {beats} {second}, the closest, by {size} {end}", closest
    trailing = [find_other(pair, top) for pair in rivals]
    best = "highest" if direction == "neither" else "best"
    extreme = "lowest" if direction == "lower" else "highest"
    start = (
        f"No run is significantly {best} by {measure}. {name} has the {extreme} mean, "
        f"{format_value(means[top])}, but its"
    )
    if len(rivals) == 1:
        text = f"lead of {size} over {show_name(trailing[0])} is not significant"
    else:
        text = (
            f"leads over {_list(trailing)} are not significant. The smallest is {size} over "
            f"{show_name(trailing[0])}"
        )
    return f"{start} {text} {end}", closest


def _sign(pair: Compared) -> int:
    """Return 1 if the run with the higher mean comes first in sentences, and -1 if last."""
    return SIGNS[pair.direction] or 1


def _lead(pair: Compared, run: str) -> float:
    """Return the mean of a run minus that of the other run."""
    return pair.difference if pair.run == run else -pair.difference


def _order(pair: Compared) -> tuple[str, str]:
    """Return the run with the better mean, then the other one."""
    run, baseline = show_name(pair.run), show_name(pair.baseline)
    return (run, baseline) if _sign(pair) * pair.difference >= 0 else (baseline, run)


def _list(runs: Sequence[str]) -> str:
    """Return names of runs with commas; of many, the first ones and how many others there are."""
    names = [*map(show_name, runs)]
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} others"]
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _show_evidence(comparison: Comparison, pair: Compared) -> str:
    """Return the interval, the p-value and how they were made, in parentheses."""
    lower, upper = (pair.lower, pair.upper) if pair.difference >= 0 else (-pair.upper, -pair.lower)
    interval = ""
    if pair.interval_method:
        ends = f"{format_value(lower)} to {format_value(upper)}"
        interval = f"{100 * pair.level:g}% interval {ends}; "
    if math.isnan(pair.p_corrected):
        return f"({interval}the data don't allow a test)"
    is_corrected = pair.correction != "none" and len(comparison.comparisons) > 1
    correction = f", {CORRECTIONS[pair.correction]}" if is_corrected else ""
    return f"({interval}{_show_p(pair.p_corrected)}, {TESTS[pair.test]}{correction})"


def _show_p(p: float) -> str:
    """Return a p-value as in a sentence."""
    text = format_p(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def _say_power(comparison: Comparison, pair: Compared) -> str:
    settings = comparison.settings
    count, units = (pair.n, "queries") if pair.clusters is None else (pair.clusters, "clusters")
    if count == 1:
        units = "query" if pair.clusters is None else "cluster"
    power = f"{100 * settings.power:g}% power"
    if pair.smallest_p >= settings.alpha:
        few = f"With {count:,} {units}"
        differing = pair.wins + pair.losses
        if pair.clusters is None and differing < count:
            few = f"Only {differing:,} of {count:,} {units} differ, and with so few"
        return (
            f"{few}, no difference can be significant: the smallest possible p-value is "
            f"{format_p(pair.smallest_p)}."
        )
    # Without a deviation, the difference is the same in all queries.
    if not pair.minimum_detectable > 0:
        return ""
    detectable = f"differences of {format_value(pair.minimum_detectable)} or more can be detected"
    size = abs(pair.difference)
    if size == 0:
        return f"With these {count:,} {units}, {detectable} with {power}."
    needed = pair.queries_needed
    many = f"more than {MOST_QUERIES:,}"
    if needed is not None and needed <= MOST_QUERIES:
        many = f"about {round_plan(needed):,}"
    return (
        f"To detect a difference of this size with {power} in a single t test, {many} {units} are "
        f"needed, if the true one is as large and others differ as much as these; there are "
        f"{count:,}. With these, {detectable}."
    )
