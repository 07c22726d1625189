"""Compares the grades of a baseline set with those of production."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import InputError
from rankscope.monitor.evaluate.means import Mean, estimate_mean
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.drop.floors import Floors, T, turn, turn_mean
from rankscope.monitor.rules.drop.periods import FINAL, Step
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.drop.sample import Sample
from rankscope.monitor.rules.stream import Evidence, LabelDay, Labels, Stream
from rankscope.monitor.sequential.detector import Detector, advance, follow
from rankscope.monitor.sequential.label_rate import LabelRate, fit_label_rate, judge_label_rate
from rankscope.monitor.sequential.lanes import judge_lane
from rankscope.monitor.sequential.observations import Observations

FEWEST = 100
"""A comparison needs so many documents with a grade above 0 on each side."""
LEAST_DISTANCE = 0.2
"""Distributions are unlike if so many of their documents would need another grade."""
LEAST_RATIO = 2.0
"""Lists are unlike if one side has so many times as many relevant documents a list."""
START = "the grades of the baseline"


def compare_grades(
    baseline: Mapping[float, int], lists: int, production: Mapping[float, int], shown: int
) -> str:
    """Return why the grades of a baseline set can't be compared with production, if they can't.

    Values of a set that was judged on other grounds, such as grades from 0 to 4 against clicks,
    differ from those of production however good the rankings are.

    Examples:
        >>> judged = {1.0: 500, 2.0: 300, 3.0: 150, 4.0: 50}
        >>> compare_grades(judged, 400, {1.0: 900}, 800)[:60]
        'the grades of the baseline are distributed unlike production'
        >>> compare_grades({1.0: 450}, 400, {1.0: 900}, 800)
        ''
    """
    counts = sum(baseline.values()), sum(production.values())
    if min(counts) < FEWEST or not (lists and shown):
        return ""
    shares = [
        {grade: count / total for grade, count in held.items()}
        for held, total in zip((baseline, production), counts, strict=True)
    ]
    every = set(shares[0]) | set(shares[1])
    distance = sum(abs(shares[0].get(one, 0.0) - shares[1].get(one, 0.0)) for one in every) / 2
    # What chance makes of two samples of one distribution.
    chance = (len(every) * (1 / counts[0] + 1 / counts[1])) ** 0.5
    if distance > LEAST_DISTANCE + chance:
        told = " and ".join(
            f"{_describe(share)} in {where}"
            for share, where in zip(shares, ("the baseline", "production"), strict=True)
        )
        return f"{START} are distributed unlike production's: {told}"
    rates = counts[0] / lists, counts[1] / shown
    if max(rates) / min(rates) > LEAST_RATIO:
        return (
            f"{START} are distributed unlike production's: {rates[0]:.2f} relevant documents a "
            f"list in the baseline and {rates[1]:.2f} in production"
        )
    return ""


def _describe(shares: Mapping[float, float]) -> str:
    most = sorted(shares.items(), key=lambda one: (-one[1], one[0]))[:3]
    return ", ".join(f"{100 * share:.0f}% grade {grade:g}" for grade, share in most)


MOST_DAYS = 28
"""The usual number of labels is that of so many days, those with an unusual one left out."""
LONG = 14
"""After so many unusual days on end, what was unusual is usual."""


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """Whether a day has as many labels as usual.

    Args:
        state: Whether it has fewer or more.
        days: The days by which the next one is judged.
        told: What is unusual, in a few words.
    """

    state: Labels
    days: tuple[LabelDay, ...]
    told: str = ""


def check_labels(days: tuple[LabelDay, ...], *, day: int, rankings: int, labels: int) -> LabelCheck:
    """Check whether a final day of a stream has as many labels as usual.

    Examples:
        >>> days = tuple((day, 100, 150, True) for day in range(28))
        >>> check_labels(days, day=28, rankings=100, labels=80).told
        '0.80 labels per ranking instead of 1.50'
        >>> check_labels(days, day=28, rankings=100, labels=140).state
        'usual'
    """
    if not rankings:
        return LabelCheck("usual", days)
    usual = _fit(days)
    if usual is None:
        return LabelCheck("usual", (*days, (day, rankings, labels, True))[-MOST_DAYS:])
    verdict = judge_label_rate(usual, labels=labels, rankings=rankings, day=day)
    is_usual = verdict.state == "usual"
    known = (*days, (day, rankings, labels, is_usual))[-MOST_DAYS:]
    if len(known) >= LONG and not any(one[3] for one in known[-LONG:]):
        known = tuple((one[0], one[1], one[2], True) for one in known[-LONG:])
    if is_usual:
        return LabelCheck("usual", known)
    told = f"{verdict.rate:.2f} labels per ranking instead of {verdict.expected:.2f}"
    return LabelCheck(verdict.state, known, told)


def _fit(days: tuple[LabelDay, ...]) -> LabelRate | None:

    usual = [day[:3] for day in days if day[3]]
    if not usual:
        return None
    number, rankings, labels = np.array(usual, dtype=np.int64).T
    return fit_label_rate(labels, rankings, number)


LEVEL = 0.95
HOURS = 24
Z = 1.959963984540054
NO_VALUE = "no ranking has a value yet"


@dataclass(frozen=True, slots=True)
class Period:
    """A period that a rule checks.

    Args:
        rule: The rule.
        step: Which period.
        sample: Its rankings.
        floors: What streams are compared with.
    """

    rule: DropRule
    step: Step
    sample: Sample
    floors: Floors


def check_stream(stream: Stream, lane: Evidence, period: Period, rows: NDArray[np.int64]) -> Stream:
    """Check the rankings of a period for a stream that has a baseline."""
    rule, step, sample = period.rule, period.step, period.sample
    values = turn(rule, sample.values[rule.measure][rows])
    if lane.usual is None:
        return stream
    seen = period.floors.reader.cells.observe(values, sample, rows, lane.mix)
    if step.age == FINAL and step.until - step.start >= DAY:
        labels = check_labels(
            stream.label_days,
            day=step.start // DAY,
            rankings=len(rows),
            labels=int(sample.labels[rows].sum()),
        )
        stream = replace(stream, labels=labels.state, label_days=labels.days, told=labels.told)
    is_usual = step.age != FINAL or stream.labels == "usual"
    try:
        followed = _detect(lane, period, rows, seen, is_usual=is_usual)
    except InputError as error:
        return replace(stream, reason=error.message)
    if followed.detector is None:
        return replace(stream, reason=NO_VALUE) if step.age == FINAL else stream
    if step.age == FINAL:
        shown = estimate_mean(values, sample.clusters[rows], T)
        if shown.rankings and followed.judged == "value":
            followed = replace(followed, value=turn_mean(rule, shown))
        stream = replace(stream, reason="")
    return stream.set_lane(followed)


def _detect(
    lane: Evidence,
    period: Period,
    rows: NDArray[np.int64],
    seen: Observations,
    *,
    is_usual: bool,
) -> Evidence:
    """Collect evidence that the mean is below what is expected."""
    if lane.usual is None:
        return lane
    rule, step, gains = period.rule, period.step, period.sample.gains[rows]
    usual, is_day = lane.usual, step.until - step.start >= DAY
    users = lane.users if lane.day == step.start // DAY else 0
    users += _count_users(seen)
    recent = _add_hour(lane, step, gains)
    if is_day and is_usual:
        # Whether there are as many labels as usual is known, and the value can be judged.
        usual = replace(usual, discount=None)
    found = judge_lane(
        usual,
        seen,
        gains,
        period.sample.discounts[rows],
        shared=None if is_day else users,
        recent_gain=None if is_day else _average_gain(recent),
        has_usual_labels=is_usual,
    )
    gaps = found.gaps
    if not len(gaps.gap):
        return lane
    before = lane.detector or Detector(run_length=rule.run_length)
    share = (step.until - step.start) / DAY
    detector = advance(before, gaps, share)
    start = to_datetime(step.start)
    # What fell with a release began with its first rankings, and not with that day.
    shown = int(period.sample.times[rows].min())
    began = to_datetime(max(step.start, shown - shown % HOUR))
    known = dict(lane.moments) | {detector.periods: began}
    value = Mean(
        gaps.value,
        gaps.value - Z * gaps.error,
        gaps.value + Z * gaps.error,
        LEVEL,
        len(gaps.gap),
        len(seen.value),
    )
    is_value = found.judged == "value"
    floor = max(gaps.floor, 0.0)
    return replace(
        lane,
        detector=detector,
        recovery=None if lane.recovery is None else follow(lane.recovery, gaps),
        moments=tuple((number, known[number]) for number in sorted(set(detector.starts))),
        value=turn_mean(rule, value) if is_value else value,
        floor=turn(rule, floor) if is_value else floor,
        expected=turn(rule, gaps.expected) if is_value else gaps.expected,
        judged=found.judged,
        at=start,
        day=step.start // DAY,
        users=users,
        recent=() if is_day else recent,
    )


def _add_hour(
    lane: Evidence, step: Step, gains: NDArray[np.float64]
) -> tuple[tuple[int, int, float], ...]:
    """Return the rankings and gains of the last hours, with those of this one."""
    hour = step.start // HOUR
    kept = [one for one in lane.recent if one[0] > hour - HOURS]
    return (*kept, (hour, len(gains), math.fsum(gains.tolist())))


def _average_gain(recent: tuple[tuple[int, int, float], ...]) -> float | None:
    count = sum(one[1] for one in recent)
    return math.fsum(one[2] for one in recent) / count if count else None


def _count_users(seen: Observations) -> int:

    return len(np.unique(seen.cluster[~np.isnan(seen.value)]))
