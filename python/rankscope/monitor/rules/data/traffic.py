"""The counts of the last weeks at one hour, held against what is usual."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rankscope.monitor.definition.calendar import Period
from rankscope.monitor.definition.slices import MISSING
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import TOTAL, Counts, Hours, Segment
from rankscope.monitor.rules.data.progress import Anomaly, DataProgress
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.data.usual import (
    AGAIN,
    DAYS,
    FEWEST_DAYS,
    HOURS,
    LONGEST,
    WEEK,
    WINDOWS,
    Surprise,
    Usual,
    find_fall,
    find_rise,
    find_start,
    learn_usual,
    sum_windows,
    weigh_return,
)
from rankscope.monitor.rules.state import LOST_LABELS, Kind

MONDAY = 4 * DAY
"""The first Monday after the beginning of time, which was a Thursday."""
ROOM = 2.0
"""For looking at many spans each hour, which overlap."""
LEAST_DAILY = 5.0
"""How many rankings a day a stream usually has, to be watched."""
ACCEPTED_AFTER = 21 * DAY
"""What has lasted so long counts as usual."""
OF_LABELS = frozenset({*LOST_LABELS, "relevance", "names"})
"""The kinds of anomaly that do not change how many rankings there are."""
LEAST_IN_PERIOD = 0.1
"""In a period of the calendar, silence is compared with this part of what is usual."""
FEWEST_BACK = 2 * HOUR
"""How long something lasts at least."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a stream that is too surprising.

    Args:
        surprise: The span with the most evidence.
        hours: How many hours ago it began.
        needed: The evidence that is needed.
    """

    surprise: Surprise
    hours: int
    needed: float


class Traffic:
    """The counts up to one moment, and what is usual.

    Args:
        reader: Reads the counts.
        rule: The rule, which says how rare false alarms are.
        progress: What is remembered.
        moment: The end of the newest hour, in microseconds since 1970 in UTC.
        left: The models that are left out: all rankings are those of the others.
    """

    def __init__(
        self,
        reader: Counts,
        rule: DataRule,
        progress: DataProgress,
        moment: int,
        *,
        left: frozenset[Segment] = frozenset(),
    ) -> None:
        self.reader = reader
        self.rule = rule
        self.moment = moment
        self.progress = progress
        self.midnight = (moment - HOUR) // DAY * DAY
        self.start = self.midnight - DAYS * DAY
        self.counts = reader.read(self.start, moment)
        self.left = left
        if left:
            names = {one.model for one in left}
            rest = self.counts[TOTAL] - sum(self.counts[one] for one in left if one in self.counts)
            kept = {one: hours for one, hours in self.counts.items() if one.model not in names}
            self.counts = {**kept, TOTAL: rest}
        self.end = (moment - MONDAY) // HOUR % WEEK
        self.streams = 1

    @property
    def needed(self) -> float:
        """The evidence that is needed: a false alarm of any stream in `run_length` days at most."""
        return math.log(HOURS * self.rule.run_length * self.streams) + ROOM

    def without(self, models: Iterable[Segment]) -> Traffic:
        """Return the traffic of all other models, which an outage of these must not hide."""
        left = frozenset(models)
        if left == self.left:
            return self
        rest = Traffic(self.reader, self.rule, self.progress, self.moment, left=left)
        rest.streams = self.streams
        return rest

    def _list_periods(self) -> tuple[Period, ...]:
        calendar = self.reader.configuration.calendar
        return calendar.between(self.start, self.moment)

    def recent(self, segment: Segment = TOTAL) -> Hours:
        """Return the counts of the last week by hour, the newest last."""
        found = self.counts.get(segment)
        if found is None:
            return np.zeros(LONGEST)
        return found[-LONGEST:]

    def since_end(self, segment: Segment) -> Hours:
        """Return the counts of the last week that came after what was not as usual was over.

        A silence is over, for what follows it, with the first ranking after it.
        """
        ends = [
            span.until
            for span in self.progress.spans
            if _concerns(segment, span.kind, span.segment)
            and span.until > self.moment - LONGEST * HOUR
        ]
        ends += [
            self._find_return(anomaly)
            for anomaly in self.progress.anomalies
            if anomaly.is_silence and _concerns(segment, *anomaly.key)
        ]
        ends.append(self.progress.find_restart(partial(_restarts, segment)))
        # A period of the calendar has traffic of its own: nothing is judged in it, or by it.
        ends += [min(one.until, self.moment) for one in self._list_periods()]
        hours = (self.moment - max(ends)) // HOUR
        return self.recent(segment)[LONGEST - max(0, min(hours, LONGEST)) :]

    def usual(self, segment: Segment = TOTAL) -> Usual | None:
        """Return what is usual, `None` where too little is known."""
        gaps = self._find_gaps(segment)
        key = (segment, self.midnight, gaps, self.left)
        if key not in self.reader.learned:
            if len(self.reader.learned) > 5000:
                self.reader.learned.clear()
            self.reader.learned[key] = self._learn(segment, gaps)
        return self.reader.learned[key]

    def expected(self, segment: Segment, hours: int) -> Hours:
        """Return what is usual in the last hours, one by one."""
        usual = self.usual(segment)
        if usual is None:
            return np.zeros(hours)
        return usual.hours[(self.end - hours + np.arange(hours)) % WEEK]

    def scale(self, segment: Segment) -> Hours:
        """Return by span which part of what is usual came of all other rankings.

        Where they are so few that they say nothing, this is 1. For a value, they are the others
        that have its attribute, or all that have it.
        """
        usual, mine = self.usual(), self.usual(segment)
        if usual is None or mine is None:
            return np.ones(len(WINDOWS))
        of_all, of_mine = usual.spans[0, self.end], mine.spans[0, self.end]
        counts = self.recent()
        if segment.slice and not segment.is_missing:
            lacking = place_missing(segment.attribute)
            without = self.usual(lacking)
            of_all = of_all - (0.0 if without is None else without.spans[0, self.end])
            counts = counts - self.recent(lacking)
        expected = of_all - of_mine
        others = sum_windows(counts - self.recent(segment))
        is_known = expected > 0.05 * of_all
        everything = np.ones(len(WINDOWS))
        if segment.slice:
            everything = sum_windows(counts) / np.maximum(of_all, 1e-9)
        return np.where(is_known, others / np.where(is_known, expected, 1.0), everything)

    def find_steady(self, segment: Segment) -> Usual | None:
        """Return what is usual of a segment that is watched, `None` where that is too little."""
        usual = self.usual(segment)
        return None if usual is None or usual.daily < LEAST_DAILY else usual

    def find_fall(self, segment: Segment, *, scale: Hours | float = 1.0) -> Change | None:
        """Find a fall by half or more, also compared with the other rankings."""
        usual = self.find_steady(segment)
        if usual is None:
            return None
        lowest = usual.spans[1, self.end] * np.minimum(scale, 1.0)
        counts = self.since_end(segment)
        return self._judge(segment, find_fall(counts, lowest, usual.variance), counts)

    def find_rise(self, segment: Segment, *, scale: Hours | float = 1.0) -> Change | None:
        """Find a rise to twice of what is usual or more, also compared with the others."""
        usual = self.find_steady(segment)
        if usual is None:
            return None
        highest = usual.spans[2, self.end] * np.maximum(scale, 1.0)
        counts = self.since_end(segment)
        return self._judge(segment, find_rise(counts, highest, usual.variance), counts)

    def find_silence(self, segment: Segment, *, scale: Hours | float = 1.0) -> Change | None:
        """Find that nothing comes any more, whatever came before.

        Where few rankings are known to come, it takes longer.
        """
        usual, hours = self.find_steady(segment), self.count_silence(segment)
        if usual is None or not hours:
            return None
        level = self.find_level(segment, self.moment - hours * HOUR)
        lowest = usual.spans[1, self.end] * np.minimum(scale, 1.0) * level
        counts = self.since_end(segment)
        if self.reader.configuration.calendar.find(self.moment - HOUR) is not None:
            # Little may come in a period of the calendar, but not nothing at all.
            counts, lowest = self.recent(segment), lowest * LEAST_IN_PERIOD
        return self._judge(segment, find_fall(counts[-hours:], lowest, usual.variance), counts)

    def find_level(self, segment: Segment, until: int) -> float:
        """Return which part of what is usual came while a known fall lasted, before a time."""
        known = self.progress.find("volume", segment)
        if known is None or known.ratio >= 1:
            return 1.0
        hours = min(LONGEST, (self.moment - known.began) // HOUR)
        kept = hours - (self.moment - until) // HOUR
        expected = float(self.expected(segment, hours)[: max(kept, 0)].sum())
        if expected <= 0:
            return known.ratio
        start = LONGEST - hours
        count = float(self.recent(segment)[start : start + kept].sum())
        # One more, so that where nearly nothing comes, silence is not a surprise.
        return min(1.0, (count + 1) / expected)

    def count_silence(self, segment: Segment) -> int:
        """Count the last hours without any ranking, up to a week."""
        shown = np.flatnonzero(self.recent(segment)[::-1])
        return int(shown[0]) if len(shown) else LONGEST

    def report_silence(self, kind: Kind, segment: Segment, change: Change | None) -> Anomaly | None:
        """Report that nothing comes any more of a segment, if that was found."""
        if change is None:
            return None
        return self._make_anomaly(kind, segment, change, self.count_silence(segment))

    def report_volume(self, segment: Segment, change: Change | None) -> Anomaly | None:
        """Report that fewer or more come of a segment, if that was found and some do."""
        if change is None or not change.surprise.count:
            return None
        return self._make_anomaly("volume", segment, change, change.hours)

    def _make_anomaly(self, kind: Kind, segment: Segment, change: Change, hours: int) -> Anomaly:
        surprise = change.surprise
        return Anomaly(
            kind=kind,
            segment=segment,
            began=self.moment - hours * HOUR,
            found=self.moment,
            ratio=surprise.ratio,
            evidence={
                "log_evidence": round(surprise.evidence, 3),
                "needed": round(change.needed, 3),
                **self.compare(segment, hours),
            },
        )

    def compare(self, segment: Segment, hours: int) -> dict[str, Any]:
        """Return the numbers of the last hours, at most a week, and what is usual."""
        hours = max(1, min(hours, LONGEST))
        usual = self.usual(segment)
        count = float(self.recent(segment)[-hours:].sum())
        expected = float(self.expected(segment, hours).sum())
        return {
            "hours": hours,
            "count": round(count),
            "expected": round(expected, 1),
            "daily": round(0.0 if usual is None else usual.daily, 1),
        }

    def advance(self, anomaly: Anomaly, *, scale: float = 1.0) -> Anomaly | None:
        """Take the newest hour of an anomaly; `None` if it is as usual again."""
        segment = anomaly.segment
        usual = self.usual(segment)
        if usual is None:
            return anomaly
        count = float(self.recent(segment)[-1])
        expected = float(self.expected(segment, 1)[0]) * scale
        more = weigh_return(count, expected, anomaly.ratio, usual.variance)
        back = max(0.0, anomaly.back + more)
        if back >= AGAIN and self.moment - anomaly.found >= FEWEST_BACK:
            return None
        hours = (self.moment - anomaly.began) // HOUR
        evidence = {**anomaly.evidence, **self.compare(segment, hours)}
        return replace(anomaly, back=back, evidence=evidence)

    def _find_return(self, anomaly: Anomaly) -> int:
        """Return when the first hour with a ranking after a silence began; now, if none has."""
        hours = min(LONGEST, (self.moment - anomaly.began) // HOUR)
        shown = np.flatnonzero(self.recent(anomaly.segment)[LONGEST - hours :])
        return self.moment - (hours - int(shown[0]) if len(shown) else 0) * HOUR

    def _judge(self, segment: Segment, surprise: Surprise | None, counts: Hours) -> Change | None:
        if surprise is None or surprise.evidence < self.needed:
            return None
        return Change(
            surprise, find_start(counts, self.expected(segment, len(counts))), self.needed
        )

    def _find_gaps(self, segment: Segment) -> tuple[tuple[int, int], ...]:
        """Find the times from which nothing is learned."""
        found = self.progress.list_unusual(partial(_concerns, segment), self.moment)
        restart = self.progress.find_restart(partial(_restarts, segment))
        found = [(since, until) for since, until in found if until > self.start]
        found += [(self.start, restart)] if restart else []
        found += [(one.since, one.until) for one in self._list_periods()]
        # Whole hours, and no later than what is learned from: the same while nothing changes.
        return tuple(
            sorted((since // HOUR, -(-min(until, self.midnight) // HOUR)) for since, until in found)
        )

    def _learn(self, segment: Segment, gaps: tuple[tuple[int, int], ...]) -> Usual | None:

        found = self.counts.get(segment)
        if found is None or self.reader.first is None:
            return None
        counts = found[: DAYS * HOURS].copy()
        counts[: self._count_before(segment, counts)] = np.nan
        base = self.start // HOUR
        for since, until in gaps:
            counts[max(0, since - base) : max(0, until - base)] = np.nan
        return learn_usual(counts, (self.start - MONDAY) // DAY % 7)

    def _count_before(self, segment: Segment, counts: Hours) -> int:
        """Count the hours before the first whole day of a segment."""
        first = -(-self.find_first(segment) // DAY) * DAY
        before = max(0, (first - self.start) // HOUR)
        shown = np.flatnonzero(counts)
        at = int(shown[0]) if len(shown) else len(counts)
        # A value that had no ranking for a week and more is new.
        if at - before >= FEWEST_DAYS * HOURS:
            before = -(-at // HOURS) * HOURS
        return min(before, len(counts))

    def find_first(self, segment: Segment = TOTAL) -> int:
        """Find the time of the first ranking of a model or version, or of all."""
        of = [
            version.first
            for version in self.reader.versions
            if segment.model in {"", version.model}
            and segment.version in {"", version.version}
            and Segment(version.model) not in self.left
        ]
        return min(of, default=self.moment)


def place_missing(attribute: str) -> Segment:
    """Return the segment of the rankings without an attribute."""
    return Segment(slice=((attribute, MISSING),))


def _concerns(segment: Segment, kind: Kind, wrong: Segment) -> bool:
    """Return whether counts of a segment tell nothing while something is wrong with another one."""
    if kind in OF_LABELS:
        return False
    if wrong.is_missing and segment.slice:
        # Where an attribute is missing, so are its values.
        return segment.attribute == wrong.attribute
    return wrong in {TOTAL, segment}


def _restarts(segment: Segment, kind: Kind, restarted: Segment) -> bool:
    return restarted == segment and kind not in OF_LABELS
