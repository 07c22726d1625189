"""Names the streams whose evidence is sufficient among all that a rule collects."""

from __future__ import annotations

import math
from datetime import timedelta

from rankscope.monitor.rules.stream import ALL
from rankscope.records import replace
from rankscope.stats.sequential.detector import cap
from rankscope.stats.sequential.discoveries import discover
from rankscope.stats.sequential.reach import find_reach
from rankscope.stats.sequential.recovery import NEEDED, begin_recovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.stream import Evidence, Judgment, Stream
    from rankscope.stats.sequential.baseline import Baseline


INHERIT = timedelta(days=7)
"""For so long, a fall of a new version counts as that of the version before if that had fallen.

It is named at an evidence of 20 for each of these days and each of these streams, as far as that is
less than others need: if no new version has fallen, that happens in 5 % of the cases at most.
"""


def name_drops(streams: Sequence[Stream], rule: DropRule) -> list[Stream]:
    """Mark the streams whose evidence is sufficient among all streams and ages of the rule.

    A lane that was named stays so until there is evidence that its mean is back above the floor;
    then it starts fresh. Evidence beyond what a single lane would need is let go, so that a drop
    that has lasted for months is not called one for months after it has ended; less evidence is
    never a false alarm.
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
    heirs = sum(len(stream.lanes) for stream in streams if _may_inherit(stream))
    inherited = math.log(max(NEEDED * heirs * INHERIT.days, 1.0))
    judged = []
    for place, stream in enumerate(streams):
        needed = found.log_needed
        if _may_inherit(stream):
            needed = min(needed, inherited)
        lanes = tuple(
            _name(
                lane,
                is_sufficient=f"{place} {at}" in named or lane.log_evidence >= needed,
                needed=needed,
                most=most,
            )
            for at, lane in enumerate(stream.lanes)
        )
        judged.append(_judge(stream, lanes, rule, len(evidence)))
    return [_find_loss(stream, judged) for stream in judged]


def _may_inherit(stream: Stream) -> bool:
    """Whether a fall of the stream counts as that of the version before."""
    fall = stream.inherited
    return fall is not None and (stream.at is None or stream.at < fall.came + INHERIT)


def _find_loss(stream: Stream, streams: Sequence[Stream]) -> Stream:
    """Return a fallen stream with whether labels were lost also where the order is as usual.

    Worse rankings get fewer labels, so fewer labels of the stream itself are no loss of labels.
    """
    is_loss = (
        stream.is_named
        and stream.labels == "lost"
        and any(_has_only_lost(one) and _is_apart(stream, one) for one in streams)
    )
    return stream if is_loss == stream.has_lost_labels else replace(stream, has_lost_labels=is_loss)


def _has_only_lost(stream: Stream) -> bool:
    """Whether fewer labels were seen than usual, though as high in the lists as usual."""
    lane = stream.final
    is_high = lane.value is not None and lane.floor is not None and lane.value.value >= lane.floor
    return stream.labels == "lost" and not stream.is_named and lane.judged == "discount" and is_high


def _is_apart(one: Stream, other: Stream) -> bool:
    """Whether two streams have no ranking in common."""
    if one.model != other.model:
        return True
    if ALL not in {one.version, other.version} and one.version != other.version:
        return True
    said = dict(other.slice)
    return any(said.get(name, value) != value for name, value in one.slice)


def _name(lane: Evidence, *, is_sufficient: bool, needed: float, most: float) -> Evidence:
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


def _judge(stream: Stream, lanes: tuple[Evidence, ...], rule: DropRule, count: int) -> Stream:
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
    has_recovered = stream.is_named and state != "ALERT"
    judged = replace(
        stream,
        lanes=lanes,
        state=state,
        reason=told,
        inherited=None if has_recovered else stream.inherited,
    )
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
    kept = [warning for warning in stream.warnings if not warning.startswith(DAYS)]
    if usual.day_deviation <= usual.tolerance:
        return tuple(kept)
    told = (
        f"{DAYS} by {usual.day_deviation:.3f} (one standard deviation), more than the tolerance "
        f"of {usual.tolerance:.3f}: small drops take long to be told from chance"
    )
    return (*kept, told)


DAYS = "days differ"
