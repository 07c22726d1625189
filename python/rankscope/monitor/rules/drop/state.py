"""The state of a rule, computed from its progress and the current time."""

from __future__ import annotations

from collections import Counter

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import (
    EPOCH,
    describe_duration,
    describe_time,
)
from rankscope.monitor.rules.drop.findings import describe_drop
from rankscope.monitor.rules.state import RuleVerdict, list_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.monitor.rules.drop.progress import RuleProgress
    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.stream import Stream
    from rankscope.monitor.store.records import Version

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
        return RuleVerdict("STALE", "; ".join([*_tell_stale(stale), *_tell_judged(rule, judged)]))
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


def _tell_stale(stale: list[Stream]) -> list[str]:
    """Describe the streams without data, those with the longest silence first."""
    ordered = sorted(stale, key=lambda one: (one.last or EPOCH, one.key))
    return list_first([f"{stream.name}: {stream.reason}" for stream in ordered])


def _is_watched(rule: DropRule, version: Version) -> bool:
    return version.environment == "production" and version.may_be(rule.model, None)


def _tell_fallen(rule: DropRule, fallen: list[Stream]) -> str:
    """Describe the streams in ALERT, the one with the most evidence first."""
    ordered = sorted(fallen, key=lambda one: (-one.log_evidence, one.key))
    told = [f"{stream.name}: {describe_drop(rule, stream)}" for stream in ordered]
    return "; ".join(list_first(told))


def percent(count: int, of: int) -> str:
    """Write a share as a percentage.

    Examples:
        >>> percent(12, 100)
        '12%'
    """
    return f"{100 * count / of:.0f}%" if of else "none"
