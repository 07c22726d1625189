"""Findings about quality: what the streams of a rule say, for incidents."""

from __future__ import annotations

from rankscope.monitor.events.times import (
    describe_duration,
    describe_time,
    format_time,
    write_duration,
)
from rankscope.monitor.rules.evidence import FINAL
from rankscope.monitor.rules.finding import Finding
from rankscope.monitor.rules.settings import EMPTY
from rankscope.monitor.rules.stream import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from rankscope.monitor.rules.drop.progress import RuleProgress
    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.evidence import Evidence
    from rankscope.monitor.rules.stream import Stream

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
        reason=f"{stream.name}: {reason}" if reason else "",
        evidence=_show_evidence(rule, stream) if verdict == "bad" else {},
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
    since = find_mean_since(rule, lane)
    if lane.is_named and since is not None:
        side = "above" if is_rise else "below"
        return f"{measure} is {since:.4f}, {side} the usual {lane.expected:.4f}"
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


def find_mean_since(rule: DropRule, lane: Evidence) -> float | None:
    """Return the mean since the drop by early values; `None` where that of the period is reported.

    An hour has few rankings, so its mean says little.
    """
    fall = None if lane.detector is None else lane.detector.fall
    if lane.age == FINAL or fall is None or lane.expected is None:
        return None
    return (
        lane.expected + fall
        if rule.is_rise_bad and lane.judged == "value"
        else lane.expected - fall
    )


def _show_evidence(rule: DropRule, stream: Stream) -> dict[str, object]:
    said = stream.to_dict()
    value = said["value"] or {}
    lane = stream.leading
    since = find_mean_since(rule, lane)
    if since is not None:
        value = {"value": since}
    return {
        "value": value.get("value"),
        "lower": value.get("lower"),
        "upper": value.get("upper"),
        "rankings": value.get("rankings"),
        "users": value.get("clusters"),
        "baseline": (said["baseline"] or {}).get("value"),
        "expected": lane.expected,
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
