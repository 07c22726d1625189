"""Writes a trace as text: sentences and tables."""

from __future__ import annotations

from rankscope._explain.ledger import NOT_OBSERVABLE
from rankscope._show.table import Table, format_share, format_value, show
from rankscope.monitor.why.decomposition_result import ALL
from rankscope.monitor.why.result import Cause, Ends, IdealChange, Paired, Sampling, Search, Trace

NOTHING = 0.00005
"""Amounts below this round to 0 at four decimal places."""

MOST_VALUES = 5
"""The maximum number of values of a document attribute to show."""

VERDICTS = {
    "unchanged": "The ideal did not change, so the labels are not the cause.",
    "ideal": "The ideal changed, but the gain of the rankings did not: check the labels first.",
    "both": "The ideal and the gain of the rankings both changed: check the labels as well.",
    "unclear": "Neither the value nor the ideal changed clearly.",
}


def explain(trace: Trace) -> str:
    """Return a trace as text."""
    lines = [_head(trace), *_name_windows(trace), *_name_interval(trace)]
    lines += [] if trace.sampling is None else [describe_sampling(trace.sampling)]
    lines += [""]
    lines += [_short_table(trace), ""]
    lines += [_count_search(trace.search), *_judge(trace), *_name_arrivals(trace), ""]
    lines += _describe_ideal(trace.ideal)
    lines += _describe_paired(trace.paired)
    lines += _list_facts(trace)
    lines += _list_regrets(trace)
    if len(trace.fallen):
        moved = "fell" if trace.sign < 0 else "rose"
        lines += ["", f"The queries that {moved} most:", str(_short_fallen(trace.fallen))]
    return "\n".join(lines)


def _list_facts(trace: Trace) -> list[str]:
    """Return what changed in the lists at the same time, with how many rankings tell of it."""
    if not trace.facts:
        return []
    facts = [
        f"{show(str(fact['sentence']))} ({fact['rankings']} rankings from "
        f"{str(fact['since'])[:16].replace('T', ' ')} UTC)"
        for fact in trace.facts
    ]
    return ["", "What else changed at the same time, which doesn't prove a cause:", *facts]


def _head(trace: Trace) -> str:
    """Return how much the value changed and why, in one line; the amounts add up."""
    before, after = trace.decomposition.means
    change = trace.change
    ends = f"from {format_value(before)} to {format_value(after)}"
    if abs(change) < NOTHING:
        return f"{trace.measure} did not change: {ends}"
    moved = "fell" if change < 0 else "rose"
    named = (*trace.causes, *trace.shifts)
    parts = [_name_part(each, change) for each in named]
    rest = change - sum(each.contribution for each in named)
    if not parts:
        return f"{trace.measure} {moved} by {_amount(abs(change))}, {ends}; no cause stands out"
    if any(not each.slice for each in named):
        # What is left is the mix, which no single slice stands for.
        if abs(rest) >= NOTHING:
            parts.append(f"{_signed(rest)} by the mix")
    elif rest * change >= NOTHING * abs(change):
        parts.append(f"{_amount(abs(rest))} elsewhere")
    elif abs(rest) >= NOTHING:
        parts.append(f"elsewhere it {'fell' if rest < 0 else 'rose'} by {_amount(abs(rest))}")
    return f"{trace.measure} {moved} by {_amount(abs(change))}, {ends}: {'; '.join(parts)}"


def _name_part(cause: Cause, change: float) -> str:
    own = cause.contribution / _sign(change)
    amount = f"{_amount(own)} of it"
    if own <= -NOTHING:
        amount = f"against {_amount(-own)}"
    line = cause.change
    before, after = (format_share(share) for share in line.shares)
    if cause.by == "within":
        where = f"within {cause.name}" if cause.slice else cause.name
        return f"{amount} {where} by {cause.main_loss(_sign(cause.contribution))}"
    if line.means[0] is None:
        return f"{amount} by {cause.name}, which entered with {after} of the queries"
    if line.means[1] is None:
        return f"{amount} by {cause.name}, which left with {before} of the queries"
    return f"{amount} by the share of {cause.name}, from {before} to {after} of the queries"


def _name_windows(trace: Trace) -> list[str]:
    """Return what was compared."""
    return [
        f"{which}: {show(str(window['name']))} ({count} rankings)"
        for which, window, count in zip(
            ("before", "after"), trace.between or (), trace.decomposition.queries, strict=False
        )
    ]


def _name_interval(trace: Trace) -> list[str]:
    ends = trace.intervals["change"]
    if ends is None:
        return []
    chance = ", which may be chance" if ends[0] <= 0 <= ends[1] else ""
    return [f"change {_signed(trace.change)}{_within(ends, trace.level)}{chance}"]


def describe_sampling(sampling: Sampling) -> str:
    """Return a sentence about the sample that was traced, with its standard errors.

    Examples:
        >>> from rankscope.monitor.why.result import Sampling
        >>> made = Sampling(
        ...     rates=(0.25, 0.25),
        ...     rankings=(4_000_000, 3_900_000),
        ...     errors={"change": 0.0004},
        ...     contributions={"device=tv": 0.0003},
        ...     shares={"device=tv": 0.02},
        ... )
        >>> sample, errors = describe_sampling(made).split(". ")
        >>> print(sample)
        Sampled: 1 in 4 users, from 4,000,000 rankings before and 3,900,000 after
        >>> print(errors)
        Standard errors from sampling: change 0.0004; device=tv 0.0003, 2.0% of the change.
    """
    rates = [f"1 in {1 / rate:g} users" if rate < 1 else "all users" for rate in sampling.rates]
    before, after = sampling.rankings
    which = rates[0] if rates[0] == rates[1] else f"{rates[0]} before and {rates[1]} after"
    change = sampling.errors["change"]
    said = [] if change is None else [f"change {format_value(change)}"]
    for name, error in sampling.contributions.items():
        share = sampling.shares[name]
        if error is not None:
            part = "" if share is None else f", {format_share(share)} of the change"
            said.append(f"{show(name)} {format_value(error)}{part}")
    errors = f" Standard errors from sampling: {'; '.join(said)}." if said else ""
    return f"Sampled: {which}, from {before:,} rankings before and {after:,} after.{errors}"


def _short_table(trace: Trace) -> str:
    """Return the parts of the change by slice, with a last row that adds them up."""
    whole = trace.decomposition
    # Without other slices, "all others" are all queries.
    lines = whole.slices if len(whole.slices) > 1 else ()
    has_moved = any(each.entered or each.left for each in lines)
    table: dict[str, list[str | float | None]] = {
        "slice": [*(each.name for each in lines), ALL],
        "before": [*(each.means[0] for each in lines), whole.means[0]],
        "after": [*(each.means[1] for each in lines), whole.means[1]],
        "contribution": [*(each.total for each in lines), whole.change],
        "mix": [*(each.mix for each in lines), whole.mix],
        "within": [*(each.within for each in lines), whole.within],
    }
    if has_moved:
        table["entered or left"] = [
            *(each.entered + each.left for each in lines),
            whole.entered + whole.left,
        ]
    for loss, amount in whole.losses.items():
        column = [each.losses[loss] for each in lines]
        if amount is not None and any((*column, amount)):
            table[loss] = [*column, amount]
    shown = {
        name: [0.0 if isinstance(cell, float) and abs(cell) < NOTHING else cell for cell in column]
        for name, column in table.items()
    }
    text = str(Table(shown))
    return f"{text}\nretrieval: {NOT_OBSERVABLE}" if whole.losses["retrieval"] is None else text


def _count_search(search: Search) -> str:
    if not search.attributes:
        return "There are no attributes to search."
    names = ", ".join(search.attributes)
    left = f" Only one span has {', '.join(search.left_out)}." if search.left_out else ""
    among = f" with {search.new}, which is new" if search.new else ""
    folded = [
        f" {values} values of {name} ({queries} queries) are summed as <other>."
        for name, (values, queries) in search.folded.items()
    ]
    return (
        f"Searched {search.looked_at} slices by {names}, {search.supported} of them with at least "
        f"{search.support} queries in each span, in {search.searched[0]} queries before and "
        f"{search.searched[1]} after{among}.{left}{''.join(folded)}"
    )


def _judge(trace: Trace) -> list[str]:
    """Return what the test says about each slice that was found."""
    lines = []
    for each in trace.found:
        if not each.is_confirmed:
            lines.append(
                f"No cause is named: {each.name} stands out most, but so would some slice in "
                f"{format_share(each.p_value)} of comparisons without a change."
            )
            continue
        ends = each.interval or (each.difference, each.difference)
        about = (
            f"by {_signed(each.difference)} ({_signed(ends[0])} to {_signed(ends[1])}, corrected "
            "for all slices searched)"
        )
        if each.by == "within":
            lines.append(
                f"{each.name} is confirmed: its mean changed {about}, "
                f"{_write_chance(each.p_value)}."
            )
        else:
            lines.append(f"{each.name} is confirmed: its share of the queries changed {about}.")
    return lines or ["No slice has enough queries to be searched."]


def _write_chance(p_value: float) -> str:
    return f"and chance makes a slice stand out as much in {format_share(p_value)} of comparisons"


def _name_arrivals(trace: Trace) -> list[str]:
    """Return what is new in a slice, and what it is compared with."""
    lines = []
    for cause in trace.causes:
        for new in cause.arrivals[:1]:
            where = cause.change.name if cause.change.slice else "all queries"
            lines.append(
                f"{new.name} is new: it has {format_share(new.share)} of {where} after, and "
                f"causes {format_share(new.part)} of its change. It is compared with {where} "
                f"before{_within(cause.interval, trace.level)}."
            )
    return lines


def _describe_ideal(ideal: IdealChange) -> list[str]:
    means = {fact.name: (fact.before, fact.after) for fact in ideal.facts}

    def say(name: str) -> str:
        return " to ".join(format_value(mean) for mean in means[name])

    shares = " to ".join(format_share(mean) for mean in means["without relevant"])
    facts = (
        f"Means per query: ideal DCG {say('ideal')}, DCG {say('gained')}, relevant documents "
        f"{say('relevant')}, queries without relevant documents {shares}."
    )
    return [VERDICTS[ideal.verdict], facts]


def _describe_paired(paired: Paired | None) -> list[str]:
    if paired is None:
        return ["No query occurs in both spans."]
    ends = paired.interval
    between = f" ({_signed(ends[0])} to {_signed(ends[1])})" if ends else ""
    other = f" ({paired.other_ideal} of them with another ideal)" if paired.other_ideal else ""
    by_ideal = (
        f", of which {_signed(paired.by_ideal)} is by the ideal"
        if abs(paired.by_ideal) >= NOTHING
        else ""
    )
    whole = f"The {paired.keys} queries that occur in both spans{other} changed by "
    return [f"{whole}{_signed(paired.change)}{between}{by_ideal}."]


def _list_regrets(trace: Trace) -> list[str]:
    """Return which documents lose more than before, over all queries."""
    lines = []
    for each in trace.regrets:
        rows = [row for row in each.table.rows() if abs(float(row[-1] or 0)) >= NOTHING]
        if each.slice != ALL or len(each.table) < 2 or not rows:
            continue
        rows = sorted(rows, key=lambda row: -abs(float(row[-1] or 0)))[:MOST_VALUES]
        columns = [*zip(*rows, strict=True)]
        lines += [
            "",
            (
                f"Loss by document, grouped by {show(each.attribute)} "
                f"({_signed(each.total)} in total):"
            ),
            str(Table(dict(zip(each.table.names, map(list, columns), strict=True)))),
        ]
    return lines


def _short_fallen(fallen: Table) -> Table:
    # Only show columns that the log has.
    known = [name for name in ("query_key", "ranking_id") if any(fallen.column(name))]
    names = ["slice", *known, "before", "after", "change"]
    return Table({name: fallen.column(name) for name in names})


def _within(ends: Ends, level: float) -> str:
    return f" ({100 * level:g}% interval: {_signed(ends[0])} to {_signed(ends[1])})" if ends else ""


def _signed(amount: float) -> str:
    return f"{0.0 if abs(amount) < NOTHING else amount:+.4f}"


def _amount(amount: float) -> str:
    return format_value(0.0 if abs(amount) < NOTHING else amount)


def _sign(amount: float) -> float:
    return 1.0 if amount > 0 else -1.0
