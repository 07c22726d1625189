"""Checks whether signals are as usual, one hour after another.

What is found depends only on the stored signals and on the hour, so that a replay finds the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import HOURS, Segment
from rankscope.monitor.rules.early.causes import find_cause
from rankscope.monitor.rules.early.cells import MOST_STREAMS, Cells, Hours, choose_streams, get_rows
from rankscope.monitor.rules.early.progress import EarlyProgress, EarlyWarning, Fact
from rankscope.monitor.rules.early.queries import Asked
from rankscope.monitor.rules.early.rule import EarlyRule
from rankscope.monitor.rules.early.usual import (
    DAYS,
    FEWEST_DAYS,
    SPANS,
    Floats,
    Judgment,
    Sums,
    accumulate,
    add_up,
    judge,
)
from rankscope.monitor.rules.early.words import CHANGES, conclude, describe_end
from rankscope.monitor.rules.state import Finding
from rankscope.monitor.signals.kinds import REFERENCE_DAYS, Signal

QUARTER = 90
REACH = 2 * DAYS
"""Days that were left out are made up for by days from before, up to so many days ago."""
TAILS = math.log(4)
"""The most surprising hours of a quarter are more surprising than those of most days tell."""
MIDDLE = -math.log(math.log(2))
"""The median of the largest of many, beyond the logarithm of how many there are."""
DEPENDENT = 3.0
"""Streams and signals that move together count as fewer, but no less than by this factor's power
of e."""
ACCEPTED_AFTER = 28 * DAY
"""What has lasted so long is what is usual."""
BACK = 0.5
"""A signal is as usual again if it is closer to it than by this part of its change, for a day."""
SHARED = 2.0
"""A stream that changes by no more than this times what all do needs no cause of its own."""
CHANCE = 4.0
"""So many standard deviations more may be chance."""
MOST_FACTS = 60
POOLED = frozenset({"score_rank"})
"""What compares a list with all that was shown on the days before."""


@dataclass(frozen=True, slots=True)
class Table:
    """The signals of a project, by stream.

    Args:
        signals: The signals.
        cells: Their cells, by hour.
        calendar: The days that say nothing of others, nor others of them.
        read_queries: Returns the rankings of a stream from one hour to before another.
    """

    signals: Sequence[Signal]
    cells: Cells
    calendar: Calendar = field(default_factory=Calendar)
    read_queries: Callable[[Segment, int, int], Asked] | None = None

    def list_left_out(self, signal: str, since: int, until: int) -> list[tuple[int, int]]:
        """List the periods of the calendar.

        After one, lists are compared with its own: with the last one of a query for about as long
        as it was, and with all that was shown for as many days as these are.
        """
        most = REFERENCE_DAYS * DAY
        periods = self.calendar.between(since - most, until)
        if signal in POOLED:
            return [(one.since, one.until + most) for one in periods]
        most *= signal in CHANGES
        return [(one.since, one.until + min(one.until - one.since, most)) for one in periods]


class Seen(NamedTuple):
    """What the newest hours say of each stream and signal.

    Args:
        table: The table.
        hours: The sums of its streams.
        judgment: What spans say: streams and signals × spans, of several moments × moments × spans.
        evidence: The evidence of changes that matter.
    """

    table: Table
    hours: Hours
    judgment: Judgment
    evidence: Floats

    def list_keys(self) -> list[tuple[str, Segment]]:
        """Return the signal and the stream of each row."""
        return [(one.name, stream) for stream in self.hours.segments for one in self.table.signals]

    def at(self, number: int) -> Seen:
        """Return what is said at one of several moments."""
        judgment = Judgment(*(each[:, number] for each in self.judgment))
        return self._replace(judgment=judgment, evidence=self.evidence[:, number])


def check_signals(
    table: Table, rule: EarlyRule, progress: EarlyProgress, moment: int
) -> tuple[list[Finding], EarlyProgress]:
    """Check the signals of a project as of the end of an hour."""
    progress = replace(progress, following=moment).forget(moment)
    findings = []
    for each in progress.warnings:
        if moment - each.began >= ACCEPTED_AFTER:
            progress = progress.end(each, moment, is_accepted=True)
            findings.append(conclude(each, "good", describe_end(each, is_accepted=True)))
    seen = look(table, rule, progress, [moment]).at(0)
    is_left_out = table.calendar.find(moment - HOUR) is not None
    if not is_left_out:
        progress = _count(seen, progress)
    needed = find_needed(rule, progress, moment)
    known = {fact.key for each in progress.warnings for fact in each.facts}
    seen = _weigh_queries(seen, known, moment, needed)
    if not is_left_out:
        progress = _note_peak(seen, known, progress, moment)
    progress = _take(seen, progress, moment, needed)
    is_whole = not table.calendar.between(moment - DAY, moment)
    for each in progress.warnings:
        if is_whole and _is_back(seen, each, moment):
            progress = progress.end(each, moment)
            findings.append(conclude(each, "good", describe_end(each, is_accepted=False)))
    findings += [conclude(each, "bad") for each in progress.warnings]
    return findings, progress


def look(table: Table, rule: EarlyRule, progress: EarlyProgress, moments: Sequence[int]) -> Seen:
    """Compare the newest hours of all streams with what is usual, at moments of one day."""
    skipped = progress.list_skipped()
    until = -(-moments[-1] // DAY) * DAY
    special = {
        one.name: table.list_left_out(one.name, until - REACH * DAY, until) for one in table.signals
    }
    reach = REACH if skipped or any(special.values()) else DAYS
    since = until - (reach + 1 + max(SPANS) // HOURS) * DAY
    hours = table.cells.add_up(since, until, choose_streams, MOST_STREAMS)
    if rule.model is not None:
        hours = hours.choose(
            [at for at, each in enumerate(hours.segments) if each.model == rule.model]
        )
    times = np.array(moments)
    ends = (times - since) // HOUR
    end = int(ends[-1])
    keys = [(one.name, stream) for stream in hours.segments for one in table.signals]
    left_out = _mark([skipped.get(key, []) + special[key[0]] for key in keys], since, end)
    index = _find_before(hours, len(table.signals), end)
    if left_out is None:
        before = hours.summed if index is None else Sums(*(each[index] for each in hours.summed))
    else:
        chosen = slice(None) if index is None else index
        rows = get_rows(hours.sums[:, :end])
        before = add_up(Sums(*(each[chosen] * ~left_out for each in rows)))
    judgment, evidence = weigh(
        hours.summed,
        ends,
        table.signals,
        before=before,
        skipped=None if left_out is None else accumulate(left_out),
        reach=reach,
    )
    # What a warning was about, and is over, doesn't count again.
    over = {one.segment.model: one.until for one in sorted(progress.over, key=lambda it: it.until)}
    ended = [
        max(over.get(stream.model, 0), *(last for _, last in special[signal]), 0)
        for signal, stream in keys
    ]
    is_new = times[:, None] - np.array(SPANS) * HOUR >= np.array(ended)[:, None, None]
    return Seen(table, hours, judgment, evidence * is_new)


def weigh(
    sums: Sums,
    ends: NDArray[np.int64],
    signals: Sequence[Signal],
    **given: Any,  # noqa: ANN401 - of `judge`
) -> tuple[Judgment, Floats]:
    """Judge rows, each signal of each stream, and return the evidence of changes that matter."""
    sides = {"rise": 1, "fall": -1, "both": 0}
    streams = len(sums.total) // len(signals)
    least = np.tile([one.least for one in signals], streams)[:, None, None]
    side = np.tile([sides[one.suspicious] for one in signals], streams)[:, None, None]
    judgment = judge(sums, ends, margin=least[..., 0] / 2, **given)
    change = judgment.value - judgment.usual
    with np.errstate(invalid="ignore"):
        matters = (np.abs(change) >= least) & (change * side >= 0)
    return judgment, judgment.evidence * matters


def _mark(
    skipped: Sequence[Sequence[tuple[int, int]]], since: int, end: int
) -> NDArray[np.bool_] | None:
    """Mark the hours of rows that are left out of the baseline; `None` if none are."""
    if not any(skipped):
        return None
    marks = np.zeros((len(skipped), end), np.bool_)
    for row, spans in zip(marks, skipped, strict=True):
        for began, until in spans:
            first, last = ((each - since) // HOUR for each in (began, until))
            row[max(first, 0) : max(last, 0)] = True
    return marks


def _find_before(hours: Hours, signals: int, end: int) -> NDArray[np.int64] | None:
    """Return the rows of the baseline: a new version is compared with its model.

    `None` where each row is compared with itself.
    """
    places = {segment: at for at, segment in enumerate(hours.segments)}
    chosen = np.arange(len(hours.segments))
    early = max(end - (FEWEST_DAYS + 1) * HOURS, 0)
    for at, segment in enumerate(hours.segments):
        if segment.version and not hours.sums[at, :early, 0].any():
            chosen[at] = places.get(segment._replace(version=""), at)
    if (chosen == np.arange(len(chosen))).all():
        return None
    index: NDArray[np.int64] = (chosen[:, None] * signals + np.arange(signals)).ravel()
    return index


def _weigh_queries(
    seen: Seen, known: Collection[tuple[str, Segment]], moment: int, needed: float
) -> Seen:
    """Lower the evidence of changes that may be those of a few queries which are asked often.

    That queries share lists makes days differ, which is known as far as it is usual.
    """
    if seen.table.read_queries is None:
        return seen
    evidence, keys = seen.evidence.copy(), seen.list_keys()
    shown: dict[Segment, Asked] = {}
    for row, span in np.argwhere(evidence >= needed).tolist():
        signal, segment = keys[row]
        if (signal, segment) in known:
            continue
        if segment not in shown:
            shown[segment] = seen.table.read_queries(segment, moment - max(SPANS) * HOUR, moment)
        since = moment - SPANS[span] * HOUR
        effect = shown[segment].find_design_effect(signal, since)
        judgment = seen.judgment
        known_variance = float(judgment.spread[row, span]) ** 2
        variance = effect * float(judgment.users[row, span])
        evidence[row, span] *= known_variance / max(variance, known_variance)
    return seen._replace(evidence=evidence)


def _count(seen: Seen, progress: EarlyProgress) -> EarlyProgress:
    """Count what is watched."""
    is_known = np.asarray((seen.judgment.days >= FEWEST_DAYS).any(axis=-1))
    watched = {key[1] for key, known in zip(seen.list_keys(), is_known, strict=True) if known}
    return replace(progress, watched=len(watched), rows=int(is_known.sum()))


def _note_peak(
    seen: Seen,
    known: Collection[tuple[str, Segment]],
    progress: EarlyProgress,
    moment: int,
) -> EarlyProgress:
    """Take note of how surprising this day is, apart from what has a warning."""
    peak = max(
        (
            float(evidence.max())
            for key, evidence in zip(seen.list_keys(), seen.evidence, strict=True)
            if key not in known
        ),
        default=0.0,
    )
    day = (moment - HOUR) // DAY * DAY
    peaks = dict(progress.peaks)
    peaks[day] = max(peak, peaks.get(day, 0.0))
    return replace(progress, peaks=tuple(sorted(peaks.items())))


def find_needed(rule: EarlyRule, progress: EarlyProgress, moment: int) -> float:
    """Return the evidence that is needed, so that false warnings are as rare as promised.

    The number of independent streams and signals is estimated from the largest evidence of each
    day: with m of them, it is above log m + `MIDDLE` on every other day.
    """
    day = (moment - HOUR) // DAY * DAY
    days = [peak for at, peak in progress.peaks if at < day]
    many = math.log(max(progress.rows, 1))
    if len(days) >= FEWEST_DAYS:
        many = max(float(np.median(days)) - MIDDLE, many - DEPENDENT)
    return many + math.log(QUARTER / rule.false_warnings) + TAILS


def _take(seen: Seen, progress: EarlyProgress, moment: int, needed: float) -> EarlyProgress:
    """Add what has changed to the warnings of the same cause, and open new ones."""
    facts = _list_facts(seen, moment, needed)
    for model in sorted({fact.segment.model for fact in facts}):
        rest = [fact for fact in facts if fact.segment.model == model]
        whole = _find_changes(seen, Segment(model))
        for each in progress.warnings:
            if each.segment.model == model:
                mine = [fact for fact in rest if _belongs(fact, each, whole)]
                rest = [fact for fact in rest if fact not in mine]
                if mine:
                    progress = progress.put(_extend(each, mine))
        while rest:
            lead = max(rest, key=lambda one: (one.evidence, one.key))
            widest = max(
                (one for one in rest if one.signal == lead.signal),
                key=lambda one: (one.rankings, not one.segment.slice, bool(one.segment.version)),
            )
            cause = find_cause(seen.table, replace(widest, began=lead.began), moment)
            if cause is None:
                break
            opened = EarlyWarning(
                segment=cause.segment, began=lead.began, found=moment, facts=(cause,)
            )
            mine = [fact for fact in rest if fact is lead or _belongs(fact, opened, whole)]
            rest = [fact for fact in rest if fact not in mine]
            known = next((one for one in progress.warnings if one.key == opened.key), opened)
            progress = progress.put(_extend(known, mine))
    return progress


def _list_facts(seen: Seen, moment: int, needed: float) -> list[Fact]:
    facts = []
    keys = seen.list_keys()
    for at in np.flatnonzero(seen.evidence.max(axis=-1, initial=0.0) >= needed).tolist():
        numbers, evidence = seen.judgment, seen.evidence[at]
        # Of spans that tell nearly as much, the shortest one that is most of all after the change.
        change = np.abs(np.nan_to_num(numbers.value[at] - numbers.usual[at]))
        telling = change * (evidence >= evidence.max() / 2)
        span = min(np.flatnonzero(telling == telling.max()).tolist(), key=SPANS.__getitem__)
        signal, segment = keys[at]
        facts.append(
            Fact(
                signal=signal,
                segment=segment,
                began=moment - SPANS[span] * HOUR,
                found=moment,
                before=float(numbers.usual[at, span]),
                after=float(numbers.value[at, span]),
                rankings=int(numbers.rankings[at, span]),
                spread=float(numbers.spread[at, span]),
                evidence=float(evidence.max()),
            )
        )
    return facts


def _find_changes(seen: Seen, segment: Segment) -> dict[str, float]:
    """Return the largest change of each signal of a stream, of all spans."""
    change = np.abs(np.nan_to_num(seen.judgment.value - seen.judgment.usual)).max(axis=-1)
    keys = enumerate(seen.list_keys())
    return {signal: float(change[at]) for at, (signal, stream) in keys if stream == segment}


def _belongs(fact: Fact, warning: EarlyWarning, whole: Mapping[str, float]) -> bool:
    """Return whether a fact has the cause of a warning.

    It has if one of their streams contains the other. Other streams share rankings with that of
    the warning: they change with it, but hardly more than all rankings do.
    """
    mine, its = fact.segment, warning.segment
    is_near = not (mine.version and its.version and mine.version != its.version)
    here, there = set(mine.slice), set(its.slice)
    if is_near and (here <= there or there <= here):
        return True
    shared = SHARED * whole.get(fact.signal, 0.0)
    return abs(fact.change) <= shared + CHANCE * fact.spread


def _extend(warning: EarlyWarning, facts: Iterable[Fact]) -> EarlyWarning:
    """Add facts to a warning; of one that it has, the newest numbers count."""
    known = {fact.key: fact for fact in warning.facts}
    for fact in facts:
        old = known.get(fact.key)
        first = fact if old is None else replace(fact, began=old.began, found=old.found)
        known[fact.key] = first
    ordered = sorted(known.values(), key=lambda one: (-one.evidence, one.key))
    return replace(warning, facts=tuple(ordered[:MOST_FACTS]))


def _is_back(seen: Seen, warning: EarlyWarning, moment: int) -> bool:
    """Return whether all signals of a warning were as usual for a day."""
    rows = {key: at for at, key in enumerate(seen.list_keys())}
    for fact in warning.facts:
        at = rows.get(fact.key)
        if at is None:  # its stream is no longer shown
            continue
        value, usual = seen.judgment.value[at, 0], seen.judgment.usual[at, 0]
        if math.isnan(value) or math.isnan(usual):
            continue
        if abs(value - usual) > BACK * abs(fact.change) or moment - fact.found < DAY:
            return False
    return True
