"""Checks: what the rankings of a period say about a stream."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import InputError
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.rules.drop.floors import T, turn, turn_mean
from rankscope.monitor.rules.drop.labels import check_labels
from rankscope.monitor.rules.drop.step import FINAL
from rankscope.records import record, replace
from rankscope.stats.means import Mean, estimate_mean
from rankscope.stats.sequential.detector import Detector, advance, follow
from rankscope.stats.sequential.lanes import judge_lane

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.monitor.rules.drop.floors import Floors
    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.drop.sample import Sample
    from rankscope.monitor.rules.drop.step import Step
    from rankscope.monitor.rules.evidence import Evidence
    from rankscope.monitor.rules.stream import Stream
    from rankscope.stats.sequential.observations import Observations

LEVEL = 0.95
HOURS = 24
Z = 1.959963984540054
NO_VALUE = "no ranking has a value yet"


@record(frozen=True, slots=True)
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
    share = min((step.until - step.start) / rule.length, 1.0)
    detector = advance(before, gaps, share)
    start = to_datetime(step.start)
    known = dict(lane.moments) | {detector.periods: start}
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
