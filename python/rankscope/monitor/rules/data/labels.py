"""Watches on labels: how many a ranking gets, and how many rankings have no relevant document."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rankscope.monitor.evaluate.stored_windows import AGES
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.data.counts import TOTAL, Counts, Segment
from rankscope.monitor.rules.data.progress import Anomaly, DataProgress, RateDay
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.data.traffic import Traffic
from rankscope.monitor.rules.data.usual import measure_surprise
from rankscope.monitor.rules.data.words import name, write_share
from rankscope.monitor.rules.state import LOST_LABELS, Kind
from rankscope.monitor.sequential.label_rate import LabelVerdict, fit_label_rate, judge_label_rate
from rankscope.monitor.store.folding import OTHER

FEWEST_DAYS = 17
"""How many final days are needed to know what is usual: with fewer, 4.9 standard deviations that
are estimated from them are too few for the promise."""
DAYS = 28
MORE_EMPTY = 0.02
"""By how much the share of rankings without relevant document must rise to be reported."""
ROOM = 1.0
SILENT_HOURS = 72
SILENT_VARIANCE = 0.2**2
MOST_EXPECTED = 200.0
"""Enough labels that have not come: nothing more is looked at."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate that is not as usual.

    Args:
        label: The kind of label; empty for rankings without relevant document.
        verdict: What is usual.
    """

    label: str
    verdict: LabelVerdict

    @property
    def ratio(self) -> float:
        """The rate as a part of the usual one."""
        expected = self.verdict.expected
        return self.verdict.rate / expected if expected else 1.0


def count_day(reader: Counts, day: int) -> RateDay:
    """Count the rankings and labels of a day that is final."""
    counts = reader.read_day(day)
    of_models = dict(counts.sizes), dict(counts.labelled), dict(counts.empty)
    return RateDay(day, *of_models, reader.count_labels(day))


def watch_labels(
    rule: DataRule, progress: DataProgress, segment: Segment, today: RateDay
) -> tuple[Rate, ...] | None:
    """Return the kinds of labels of which a day has too few or too many; `None` if unknown."""
    days = find_days(progress, "labels", segment)
    kinds = sorted({kind for day in days for row in day.labels.values() for kind in row})
    size = _add(today.rankings, segment)
    if len(days) < FEWEST_DAYS or not kinds or not size:
        return None
    found = []
    needed = math.log(rule.run_length * len(kinds) * len(find_segments(progress))) + ROOM
    for kind in kinds:
        verdict = _judge(days, today, segment, partial(_count, kind))
        if verdict is None or verdict.state == "usual":
            continue
        if _measure(verdict.rate, verdict.expected, size) >= needed:
            found.append(Rate(kind, verdict))
    return tuple(found)


def watch_relevance(
    rule: DataRule, progress: DataProgress, segment: Segment, today: RateDay
) -> tuple[Rate, ...] | None:
    """Return whether too many rankings of a day have no relevant document; `None` if unknown."""
    days = find_days(progress, "relevance", segment)
    if len(days) < FEWEST_DAYS:
        return None
    verdict = _judge(days, today, segment, lambda one, model: one.empty.get(model, 0))
    if verdict is None:
        return None
    needed = math.log(rule.run_length * len(find_segments(progress))) + ROOM
    explained = 1 - (1 - verdict.expected) * find_left(progress, segment, today)
    is_more = verdict.state == "gained" and verdict.rate >= explained + MORE_EMPTY
    size = _add(today.rankings, segment)
    evidence = _measure(verdict.rate, explained, size)
    return (Rate("", verdict),) if is_more and evidence >= needed else ()


def find_left(progress: DataProgress, segment: Segment, today: RateDay) -> float:
    """Return which part of the usual labels came of a segment, 1 at most."""
    lost = {
        anomaly.segment: 1 - min(1.0, anomaly.ratio)
        for anomaly in progress.anomalies
        if anomaly.kind == "labels"
    }
    own = max(lost.get(segment, 0.0), lost.get(TOTAL, 0.0))
    if segment != TOTAL:
        return 1 - own
    size = max(_add(today.rankings, segment), 1)
    parts = sum(one * _add(today.rankings, model) / size for model, one in lost.items())
    return 1 - max(own, parts)


def find_segments(progress: DataProgress) -> list[Segment]:
    """Find the models that are watched on their own, after all of them together."""
    models = sorted({model for one in progress.rates for model in one.rankings if model})
    models = [model for model in models if model != OTHER]
    return [TOTAL, *(map(Segment, models) if len(models) > 1 else ())]


def make_anomaly(
    kind: Kind,
    segment: Segment,
    rates: Sequence[Rate],
    *,
    day: int,
    now: int,
    before: Anomaly | None,
) -> Anomaly:
    """Make or update the anomaly of a day."""
    began = day if before is None else before.began
    worst = min(rates, key=lambda one: (-_distance(one.verdict), one.label))
    verdict = worst.verdict
    made = Anomaly(
        kind=kind,
        segment=segment,
        began=began,
        found=now if before is None else before.found,
        ratio=worst.ratio,
        evidence={
            "day": describe_time(day),
            "value": round(verdict.rate, 4),
            "expected": round(verdict.expected, 4),
            "lower": round(verdict.lower, 4),
            "upper": round(verdict.upper, 4),
            "labels": {
                one.label: [round(one.verdict.rate, 4), round(one.verdict.expected, 4)]
                for one in rates
                if one.label
            },
        },
    )
    who = f" of model {name(segment.model)}" if segment.model else ""
    if kind == "relevance":
        told = (
            f"{write_share(verdict.rate)} of rankings{who} on {describe_time(day)} have no "
            f"relevant document; {write_share(verdict.expected)} is usual."
        )
        return replace(made, reason=told)
    verb = "have fewer" if worst.ratio < 1 else "have more"
    parts = ", ".join(
        f"{one.verdict.rate:.3g} {name(one.label)} labels instead of {one.verdict.expected:.3g}"
        for one in rates
    )
    change = write_share(abs(1 - worst.ratio))
    told = (
        f"Rankings{who} {verb} labels than usual since {describe_time(began)}: "
        f"{parts} per ranking on {describe_time(day)} ({'−' if worst.ratio < 1 else '+'}{change})."
    )
    return replace(made, reason=told)


def watch_silence(traffic: Traffic, progress: DataProgress) -> Anomaly | None:
    """Look for labels that do not arrive any more."""
    expected, hours = _expect_unlabelled(traffic, progress)
    if expected <= 0:
        return None
    evidence = float(measure_surprise(np.array(0.0), np.array(expected), SILENT_VARIANCE))
    if evidence < traffic.needed:
        return None
    began = traffic.moment - hours * HOUR
    return Anomaly(
        kind="label_freshness",
        segment=TOTAL,
        began=began,
        found=traffic.moment,
        ratio=0.0,
        reason=f"No labels have arrived for rankings since {describe_time(began)}; by now, about "
        f"{expected:,.0f} of them usually have one.",
        evidence={
            "log_evidence": round(evidence, 3),
            "needed": round(traffic.needed, 3),
            "hours": hours,
            "count": 0,
            "expected": round(expected, 1),
        },
    )


def is_silence_over(traffic: Traffic, anomaly: Anomaly) -> bool:
    """Return whether labels arrive again: two hours since have some."""
    first = max(anomaly.began, traffic.moment - SILENT_HOURS * HOUR)
    found = 0
    for start in range(traffic.moment - HOUR, first - 1, -HOUR):
        found += traffic.reader.has_labels(start, start + HOUR, traffic.moment)
        if found == 2:
            return True
    return False


def _expect_unlabelled(traffic: Traffic, progress: DataProgress) -> tuple[float, int]:
    """Return how many of the rankings after the last that has labels should have some by now."""
    days = progress.rates[-DAYS:]
    rankings = sum(sum(day.rankings.values()) for day in days)
    labelled = sum(sum(day.labelled.values()) for day in days)
    ages = [0] * (len(AGES) + 1)
    for day in days[-7:]:
        of_day = traffic.reader.read_day(day.day).ages
        ages = [before + more for before, more in zip(ages, of_day, strict=True)]
    if len(days) < FEWEST_DAYS or not labelled or not sum(ages):
        return 0.0, 0
    counts = traffic.recent()[::-1]
    expected, hours = 0.0, 0
    for back in range(min(SILENT_HOURS, len(counts))):
        start = traffic.moment - (back + 1) * HOUR
        if not counts[back]:
            continue
        if traffic.reader.has_labels(start, start + HOUR, traffic.moment):
            return expected, hours
        share = _share_by(ages, back * HOUR)
        expected += float(counts[back]) * labelled / rankings * share
        hours = back + 1
        if expected > MOST_EXPECTED:
            return expected, hours
    # Nothing in three days: too little to say, or there never were any.
    return (expected, hours) if expected > 0 else (0.0, 0)


def _share_by(ages: Sequence[int], age: int) -> float:
    """Return the share of labels that come by an age."""
    return sum(count for by, count in zip(AGES, ages, strict=False) if by <= age) / sum(ages)


def find_days(progress: DataProgress, kind: Kind, segment: Segment) -> list[RateDay]:
    """Find the days from which it is learned what is usual."""
    since = progress.find_restart(lambda *key: key == (kind, segment))
    kinds, segments = {kind, *LOST_LABELS}, {segment, TOTAL}
    bad = progress.list_unusual(
        lambda of, where: of in kinds and where in segments, progress.following
    )
    days = [
        one
        for one in progress.rates
        if _add(one.rankings, segment)
        and one.day >= since
        and not any(one.day < until and one.day + DAY > begin for begin, until in bad)
    ]
    return days[-DAYS:]


def _judge(
    days: Sequence[RateDay],
    today: RateDay,
    segment: Segment,
    count: Callable[[RateDay, str], int],
) -> LabelVerdict | None:

    def total(one: RateDay) -> int:
        models = [segment.model] if segment.model else list(one.rankings)
        return sum(count(one, model) for model in models)

    usual = fit_label_rate(
        np.array([total(day) for day in days]),
        np.array([_add(day.rankings, segment) for day in days]),
        np.array([day.day // DAY for day in days]),
    )
    size = _add(today.rankings, segment)
    if usual is None or not size:
        return None
    return judge_label_rate(usual, labels=total(today), rankings=size, day=today.day // DAY)


def _measure(rate: float, usual: float, size: int) -> float:
    """Return the evidence of a rate, if labels come independently of each other."""
    count, expected = np.array(rate * size), np.array(usual * size)
    return float(measure_surprise(count, expected, 1e-6))


def _distance(verdict: LabelVerdict) -> float:
    """Return how far a rate is from what is usual, in widths of that."""
    width = max(verdict.upper - verdict.expected, 1e-12)
    return abs(verdict.rate - verdict.expected) / width


def _add(counts: Mapping[str, int], segment: Segment) -> int:
    return counts.get(segment.model, 0) if segment.model else sum(counts.values())


def _count(kind: str, one: RateDay, model: str) -> int:
    return one.labels.get(model, {}).get(kind, 0)
