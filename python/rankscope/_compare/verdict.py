"""The verdict of a comparison: which run is better, by how much, and how sure that is."""

from __future__ import annotations

import math

from rankscope._compare.notes import (
    CORRECTIONS,
    TESTS,
    are_unjudged,
    format_ends,
    format_p,
    round_plan,
)
from rankscope.measures import parse
from rankscope.measures.direction import SIGNS
from rankscope.output.text import format_value, show_name
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison

MOST_NAMES = 3
"""More runs than these are counted, not named."""
MOST_QUERIES = 1_000_000
"""Nobody judges more queries than these."""


@record(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a comparison says about one measure, over all queries.

    Args:
        measure: The name of the measure.
        sentence: Which run is better and by how much, or that none is significantly best. Where
            neither higher nor lower values are better, which run has higher values.
        power: How many queries would decide; empty if a difference is significant.
    """

    measure: str
    sentence: str
    power: str

    def __str__(self) -> str:
        return self.sentence


def decide(comparison: Comparison, measure: str) -> Verdict:
    """Return the verdict by a measure, from the pairs of runs over all queries."""
    pairs = comparison.over_all(measure)
    if len(pairs) == 1:
        key = pairs[0]
        parts = (_decide_pair(comparison, key), _say_answered(key), _say_bounds(key))
        sentence = " ".join(filter(None, (*parts, _say_margin(key))))
    elif comparison.baseline is not None:
        sentence, key = _decide_baseline(comparison.baseline, measure, pairs)
    else:
        sentence, key = _decide_many(comparison, measure, pairs)
    if are_unjudged(comparison.notes) and not parse(measure).row.of_items:
        sentence = f"No retrieved document is judged, so {measure} can't compare the runs."
    is_open = key.higher is None and key.wins + key.losses > 0
    return Verdict(
        measure=measure,
        sentence=sentence,
        power=_say_power(comparison, key) if is_open else "",
    )


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
    own = pair.answered
    if own is None:
        return ""
    left = pair.n - own.n
    text = f"For {left:,} of the {pair.n:,} queries, one of them has no list, which counts as 0."
    where = f"{text} On the {own.n:,} that both have,"
    if own.wins == own.losses == 0:
        return f"{where} they are the same."
    first, second = _order(own)
    size, p = format_value(abs(own.difference)), _show_p(own.p_corrected)
    return f"{where} {first} leads {second} by {size} ({p})."


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
    gains = {each.run: 0 if each.higher is None else sign * each.difference for each in pairs}
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
    return text, max(pairs, key=lambda each: sign * each.run_mean)


def _decide_many(
    comparison: Comparison, measure: str, pairs: Sequence[Compared]
) -> tuple[str, Compared]:
    """Return the verdict, and the pair of the run with the best mean that decides it."""
    means = {run: comparison.means[run][measure] for run in comparison.runs}
    direction, sign = pairs[0].direction, _sign(pairs[0])
    top = max(means, key=lambda run: sign * means[run])
    own = [each for each in pairs if top in (each.run, each.baseline)]
    own.sort(key=lambda each: -sign * means[_other(each, top)])
    rivals = [each for each in own if each.higher is None or sign * _lead(each, top) <= 0]
    closest = rivals[0] if rivals else own[0]
    name, size = show_name(top), format_value(abs(closest.difference))
    end = f"{_show_evidence(comparison, closest)}.{_say_direction(pairs[0])}"
    if not rivals:
        beats = f"is better than each of the other {len(own)} runs by {measure}. It leads"
        if direction == "neither":
            beats = f"has a higher {measure} than each of the other {len(own)} runs. It is above"
        return (
            f"{name} {beats} {show_name(_other(closest, top))}, the closest, by {size} {end}",
            closest,
        )
    trailing = [_other(each, top) for each in rivals]
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


def _other(pair: Compared, run: str) -> str:
    return pair.baseline if pair.run == run else pair.run


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
    interval = (
        f"{100 * pair.level:g}% interval {format_value(lower)} to {format_value(upper)}; "
        if pair.interval_method
        else ""
    )
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
    count = pair.n if pair.clusters is None else pair.clusters
    units = "queries" if pair.clusters is None else "clusters"
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
