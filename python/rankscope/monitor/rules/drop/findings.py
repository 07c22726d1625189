"""Findings about quality: what the streams of a rule say, for incidents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import (
    EPOCH,
    describe_duration,
    describe_time,
    format_time,
    write_duration,
)
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.settings import EMPTY
from rankscope.monitor.rules.state import Finding, RuleVerdict, join_first
from rankscope.monitor.rules.stream import ALL, FINAL, Evidence, Stream
from rankscope.monitor.store.records import Version

MEASURES = {EMPTY: "share of rankings without relevant documents"}
"""What measures that are no measures of rankings are called."""
DISCOUNT = "discount by rank"
"""What is judged where labels are lost: how high the documents that got labels are ranked."""


def make_findings(rule: DropRule, progress: RuleProgress) -> tuple[Finding, ...]:
    """Return what the streams of a rule say about quality, one finding for each stream."""
    return tuple(_make_finding(rule, stream) for stream in progress.streams)


def _make_finding(rule: DropRule, stream: Stream) -> Finding:
    verdict: Literal["bad", "good", "unknown"] = "unknown"
    if stream.state == "ALERT":
        verdict = "bad"
    elif stream.state == "OK":
        verdict = "good"
    reason = stream.reason
    if verdict == "bad":
        reason = describe_drop(rule, stream)
    elif verdict == "good" and not reason:
        reason = describe_value(rule, stream.final)
    return Finding(
        kind="quality",
        model=stream.model,
        version=stream.version,
        slice=stream.slice,
        verdict=verdict,
        began=stream.since,
        **(_find_pair(rule, stream.leading) if verdict == "bad" else {}),
        reason=f"{stream.name}: {reason}" if reason else "",
        evidence=_show_evidence(stream) if verdict == "bad" else {},
    )


def describe_drop(rule: DropRule, stream: Stream) -> str:
    """Describe a drop: the value, what it is compared with, and by which values it was found."""
    lane = stream.leading
    parts = [describe_value(rule, lane)]
    if stream.version == ALL and stream.compared is not None:
        parts.append(f"compared with all versions since {describe_time(stream.compared)}")
    if lane.age != FINAL:
        parts.append(
            f"found by early values, {describe_duration(lane.age)} after each ranking; final "
            "values follow"
        )
    if stream.continued is not None:
        parts.append(f"version {stream.continued.version} had fallen before")
    if stream.labels == "gained" or stream.has_lost_labels:
        parts.append(
            f"labels were {stream.labels} too ({stream.told}), so the cause is labels or quality"
        )
    elif stream.labels == "lost":
        parts.append(f"there are {stream.told}, which worse rankings alone can explain")
    return "; ".join(parts)


def describe_value(rule: DropRule, lane: Evidence) -> str:
    """Compare the newest value of a lane with its floor, which it may have reached again."""
    measure = MEASURES.get(rule.measure, rule.measure)
    is_rise = rule.is_rise_bad
    if lane.judged == "discount":
        measure, is_rise = f"{DISCOUNT} of relevant documents", False
        if lane.is_named:
            measure = f"relevant documents are ranked lower than usual: their {DISCOUNT}"
    if lane.value is None:
        return measure
    value, floor = lane.value.value, lane.floor
    if floor is None:
        return f"{measure} is {value:.4f}"
    is_there = value > floor if is_rise else value < floor
    limit, below, back = ("limit", "above", "below") if is_rise else ("floor", "below", "above")
    pair = _find_pair(rule, lane)
    if lane.is_named and pair:
        fell = "rose" if is_rise else "fell"
        said = f"{measure} {fell} from {{before:.4f}} to {{after:.4f}}".format(**pair)
        if is_there:
            return said
        return f"{said}; the newest value, {value:.4f}, is {back} the {limit} of {floor:.4f} again"
    if is_there:
        return f"{measure} is {value:.4f}, {below} the {limit} of {floor:.4f}"
    return f"{measure} is {value:.4f}, {back} the {limit} of {floor:.4f}"


def _find_pair(rule: DropRule, lane: Evidence) -> dict[str, float]:
    """Return the baseline, `before`, and what the drop has made of it, `after`, if they are known.

    The drop is the mean gap of all users since it began, each to what is expected of their slices.
    What is expected of one period changes with its slices, and an hour has few rankings.
    """
    fall = None if lane.detector is None else lane.detector.fall
    before = None if lane.mean is None else lane.mean.value
    if lane.judged == "discount":
        before = lane.expected
    if fall is None or before is None:
        return {}
    is_rise = rule.is_rise_bad and lane.judged == "value"
    return {"before": before, "after": before + (fall if is_rise else -fall)}


def _show_evidence(stream: Stream) -> dict[str, object]:
    said, lane = stream.to_dict(), stream.leading
    # An hour has few rankings, so its mean says little.
    value = (said["value"] or {}) if lane.age == FINAL else {}
    return {
        "value": value.get("value"),
        "lower": value.get("lower"),
        "upper": value.get("upper"),
        "rankings": value.get("rankings"),
        "users": value.get("clusters"),
        "floor": said["floor"],
        "fall": None if lane.detector is None else lane.detector.fall,
        "log_evidence": said["log_evidence"],
        "needed": said["needed"],
        "periods": said["periods"],
        "lane": said["lane"],
        "age": None if lane.age == FINAL else write_duration(lane.age),
        "judged": said["judged"],
        "labels": said["labels"],
        "at": None if stream.at is None else format_time(stream.at),
        "compared": None if stream.compared is None else format_time(stream.compared),
        "smallest_fall": said["smallest_fall"],
    }


QUIET_PERIODS = 2
"""After so many whole periods without a ranking there is no data."""


def decide(
    rule: DropRule, progress: RuleProgress, versions: Iterable[Version], now: int
) -> RuleVerdict:
    """Decide the state of a rule.

    A stream is in ALERT from when its evidence is enough until there is none any more. That comes
    first: what is missing later clears no alert. Then comes NO_DATA, where no ranking has a time in
    the last two whole periods or later, and there were some before; then STALE, where a slice has
    no rankings any more while others do; then INSUFFICIENT, where no stream can be judged, or less
    than half as many rankings have labels as had before.
    """
    fallen = [stream for stream in progress.streams if stream.state == "ALERT"]
    if fallen:
        return RuleVerdict("ALERT", _tell_fallen(rule, fallen))
    last = max((version.last for version in versions if _is_watched(rule, version)), default=None)
    quiet_since = now - now % rule.length - QUIET_PERIODS * rule.length
    if last is not None and last < quiet_since:
        silent = describe_duration((now - last) // HOUR * HOUR)
        return RuleVerdict("NO_DATA", f"no rankings since {describe_time(last)}, for {silent}")
    judged = [stream for stream in progress.streams if stream.state == "OK"]
    stale = [stream for stream in progress.streams if stream.state == "STALE"]
    if stale:
        return RuleVerdict("STALE", "; ".join([_tell_stale(stale), *_tell_judged(rule, judged)]))
    if not judged:
        reasons = Counter(stream.reason for stream in progress.streams if stream.reason)
        waits = f"no period is final yet; the first begins at {describe_time(progress.first)}"
        told = reasons.most_common(1)[0][0] if reasons else waits
        return RuleVerdict("INSUFFICIENT", told)
    if progress.has_late_labels and not all(stream.knows_labels for stream in judged):
        newest = percent(progress.newest_labelled, progress.newest_rankings)
        before = percent(progress.labelled, progress.rankings)
        told = f"labels are late: {newest} of rankings have labels, {before} before"
        return RuleVerdict("INSUFFICIENT", told)
    return RuleVerdict("OK", "; ".join(_tell_judged(rule, judged)))


def _tell_judged(rule: DropRule, judged: list[Stream]) -> list[str]:
    """Describe the streams that can be judged; without their state, as there are too many."""
    count = len(judged)
    if not count:
        return []
    floors = "its floor" if count == 1 else "their floors"
    slices = "slice is" if count == 1 else "slices are"
    if rule.is_rise_bad:
        limits = floors.replace("floor", "limit")
        return [f"{count} checked {slices} at or below {limits}"]
    return [f"{count} checked {slices} at or above {floors}"]


def _tell_stale(stale: list[Stream]) -> str:
    """Describe the streams without data, those with the longest silence first."""
    ordered = sorted(stale, key=lambda one: (one.last or EPOCH, one.key))
    return join_first([f"{stream.name}: {stream.reason}" for stream in ordered])


def _is_watched(rule: DropRule, version: Version) -> bool:
    return version.environment == "production" and version.may_be(rule.model, None)


def _tell_fallen(rule: DropRule, fallen: list[Stream]) -> str:
    """Describe the streams in ALERT, the one with the most evidence first."""
    ordered = sorted(fallen, key=lambda one: (-one.log_evidence, one.key))
    told = [f"{stream.name}: {describe_drop(rule, stream)}" for stream in ordered]
    return join_first(told)


def percent(count: int, of: int) -> str:
    """Write a share as a percentage.

    Examples:
        >>> percent(12, 100)
        '12%'
    """
    return f"{100 * count / of:.0f}%" if of else "none"
