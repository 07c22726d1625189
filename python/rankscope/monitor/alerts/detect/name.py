"""Names the streams whose evidence is sufficient among all that a rule collects."""

from __future__ import annotations

import math

from rankscope.records import replace
from rankscope.stats.sequential.detector import cap
from rankscope.stats.sequential.discoveries import discover
from rankscope.stats.sequential.reach import find_reach
from rankscope.stats.sequential.recovery import begin_recovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.alerts.detect.lane import Lane
    from rankscope.monitor.alerts.detect.stream import Judgment, Stream
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.stats.sequential.baseline import Baseline


def name_drops(streams: Sequence[Stream], rule: Rule) -> list[Stream]:
    """Mark the streams whose evidence is sufficient among all streams and ages of the rule.

    A lane that was named stays so until there is evidence that its mean is back above the floor;
    then it starts fresh. Evidence beyond what a single lane would need is let go, so that a drop
    that has lasted for months is not called one for months after it has ended; less evidence is
    never a false alarm.

    Args:
        streams: All streams of a rule about drops.
        rule: The rule.
    """
    evidence = {
        f"{place} {at}": lane.log_evidence
        for place, stream in enumerate(streams)
        for at, lane in enumerate(stream.lanes)
        if lane.detector is not None
    }
    found = discover(evidence, 1 / rule.run_length)
    named = set(found.names)
    most = math.log(max(len(evidence), 1) * rule.run_length)
    judged = []
    for place, stream in enumerate(streams):
        lanes = tuple(
            _name(lane, is_sufficient=f"{place} {at}" in named, needed=found.log_needed, most=most)
            for at, lane in enumerate(stream.lanes)
        )
        judged.append(_judge(stream, lanes, rule, len(evidence)))
    return judged


def _name(lane: Lane, *, is_sufficient: bool, needed: float, most: float) -> Lane:
    detector = lane.detector
    if detector is None:
        return lane
    if lane.is_named and lane.recovery is not None and lane.recovery.is_recovered:
        return replace(lane.restart(), needed=needed)
    capped = cap(detector, most + math.log(len(detector.bets)))
    kept = lane
    if capped is not detector or needed != lane.needed:
        kept = replace(lane, detector=capped, needed=needed)
    if lane.is_named or not is_sufficient or detector.fall is None:
        return kept
    return replace(
        kept,
        is_named=True,
        since=dict(lane.moments).get(detector.since or 0),
        recovery=begin_recovery(detector.fall, detector.size),
    )


def _judge(stream: Stream, lanes: tuple[Lane, ...], rule: Rule, count: int) -> Stream:
    """Return the stream with its lanes, its state, and the falls that it finds."""
    state: Judgment = "OK"
    if any(lane.is_named for lane in lanes):
        state = "ALERT"
    elif stream.state == "STALE":
        state = "STALE"
    elif stream.reason or all(lane.detector is None for lane in lanes):
        state = "INSUFFICIENT"
    told = stream.reason
    if state == "INSUFFICIENT" and not told:
        told = next((lane.reason for lane in lanes if lane.reason), "")
    judged = replace(stream, lanes=lanes, state=state, reason=told)
    usual = judged.final.usual
    if usual is None:
        return judged
    reach = find_reach(usual.value, run_length=rule.run_length, streams=max(count, 1))
    return replace(
        judged,
        smallest_fall=reach.smallest_fall,
        users_needed=reach.users_needed,
        warnings=_warn(stream, usual.value),
    )


def _warn(stream: Stream, usual: Baseline) -> tuple[str, ...]:
    """Return the warnings of a stream; one about days if its tolerance is below their effects."""
    kept = [one for one in stream.warnings if not one.startswith(DAYS)]
    if usual.day_deviation <= usual.tolerance:
        return tuple(kept)
    told = (
        f"{DAYS} by {usual.day_deviation:.3f} (one standard deviation), more than the tolerance "
        f"of {usual.tolerance:.3f}: small drops take long to be told from chance"
    )
    return (*kept, told)


DAYS = "days differ"
