"""Findings about quality: what the streams of a rule say, for incidents."""

from __future__ import annotations

from rankscope.monitor.alerts.detect.lane import FINAL
from rankscope.monitor.alerts.detect.stream import ALL
from rankscope.monitor.alerts.incidents.finding import Finding
from rankscope.monitor.alerts.rule import EMPTY
from rankscope.monitor.events.times import (
    describe_duration,
    describe_time,
    format_time,
    write_duration,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from rankscope.monitor.alerts.detect.lane import Lane
    from rankscope.monitor.alerts.detect.progress import RuleProgress
    from rankscope.monitor.alerts.detect.stream import Stream
    from rankscope.monitor.alerts.rule import Rule

MEASURES = {EMPTY: "share of rankings without relevant documents"}
"""What measures that are no measures of rankings are called."""


def make_findings(rule: Rule, progress: RuleProgress) -> tuple[Finding, ...]:
    """Return what the streams of a rule say about quality, one finding for each stream.

    Args:
        rule: The rule.
        progress: What it has concluded.
    """
    return tuple(_make_finding(rule, stream) for stream in progress.streams)


def _make_finding(rule: Rule, stream: Stream) -> Finding:
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
        reason=f"{stream.name}: {reason}" if reason else "",
        evidence=_show_evidence(rule, stream) if verdict == "bad" else {},
    )


def describe_drop(rule: Rule, stream: Stream) -> str:
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
    if stream.labels != "usual":
        parts.append(
            f"labels were {stream.labels} too ({stream.told}), so the cause is labels or quality"
        )
    return "; ".join(parts)


def describe_value(rule: Rule, lane: Lane) -> str:
    """Compare the newest value of a lane with its floor, which it may have reached again."""
    measure = MEASURES.get(rule.measure, rule.measure)
    is_rise = rule.is_rise_bad
    if lane.judged == "discount":
        measure, is_rise = "mean discount of relevant documents", False
    if lane.value is None:
        return measure
    if lane.is_named and lane.age != FINAL and lane.detector is not None:
        # An hour has few rankings, so the mean since the drop is reported.
        fall, usual = lane.detector.fall or 0.0, lane.expected or 0.0
        rose, higher = ("risen", "above") if is_rise else ("fallen", "below")
        since = "" if lane.since is None else f" since {describe_time(lane.since)}"
        return f"{measure} has {rose}{since}: it is {fall:.4f} {higher} the usual {usual:.4f}"
    value, floor = lane.value.value, lane.floor
    if floor is None:
        return f"{measure} is {value:.4f}"
    is_there = value > floor if is_rise else value < floor
    limit, below, back = ("limit", "above", "below") if is_rise else ("floor", "below", "above")
    if is_there:
        return f"{measure} is {value:.4f}, {below} the {limit} of {floor:.4f}"
    if lane.is_named:
        drop = "rise" if is_rise else "drop"
        return f"{measure} is {value:.4f}, after a {drop} {below} the {limit} of {floor:.4f}"
    return f"{measure} is {value:.4f}, {back} the {limit} of {floor:.4f}"


def _show_evidence(rule: Rule, stream: Stream) -> dict[str, object]:
    said = stream.to_dict()
    value = said["value"] or {}
    lane = stream.leading
    fall = None if lane.detector is None else lane.detector.fall
    if lane.age != FINAL and fall is not None and lane.expected is not None:
        # An hour has few rankings, so the mean since the drop is reported.
        is_rise = rule.is_rise_bad and lane.judged == "value"
        value = {"value": lane.expected + fall if is_rise else lane.expected - fall}
    return {
        "value": value.get("value"),
        "lower": value.get("lower"),
        "upper": value.get("upper"),
        "rankings": value.get("rankings"),
        "users": value.get("clusters"),
        "baseline": (said["baseline"] or {}).get("value"),
        "expected": lane.expected,
        "floor": said["floor"],
        "fall": fall,
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
