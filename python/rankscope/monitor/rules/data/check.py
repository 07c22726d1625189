"""Checks whether the data of a project arrive as usual, one hour after another.

What is found depends only on the stored events and on the hour, so that a replay finds the same.
"""

from __future__ import annotations

from hashlib import sha256

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.rules.data import labels
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.data.hour import FORGOTTEN_AFTER, HourCheck, is_watched
from rankscope.monitor.rules.data.progress import WatchProgress
from rankscope.monitor.rules.data.traffic import ACCEPTED_AFTER
from rankscope.monitor.rules.data.usual import FEWEST_DAYS
from rankscope.monitor.rules.finding import Finding
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.rules.data.counts import Counts
    from rankscope.monitor.rules.data.progress import Anomaly
    from rankscope.monitor.rules.data.rule import DataRule
    from rankscope.monitor.rules.finding import StreamKey, Verdict
    from rankscope.monitor.rules.state import State


def check_data(
    reader: Counts, rule: DataRule, progress: WatchProgress | None, moment: int
) -> tuple[list[Finding], WatchProgress]:
    """Check the data of a project as of the end of an hour."""
    before, findings = _begin(reader, rule, progress, moment)
    known = {anomaly.key: anomaly for anomaly in before.anomalies}
    check = HourCheck(reader, rule, before, moment)
    check.run()
    after = check.progress
    found = {anomaly.key for anomaly in after.anomalies}
    findings += [
        _recover(one, is_accepted=key in check.accepted)
        for key, one in known.items()
        if key not in found
    ]
    findings += [_conclude(anomaly, "bad", anomaly.reason) for anomaly in after.anomalies]
    if after.waits:
        reason = f"The data are watched from {describe_time(after.waits)} on, after "
        findings.append(
            Finding(
                kind="volume",
                verdict="unknown",
                reason=f"{reason}{FEWEST_DAYS} days to compare with.",
            )
        )
    return findings, after


def restart_stream(known: WatchProgress, key: StreamKey, moment: int) -> WatchProgress:
    """Take what comes from a moment on for usual, as when a person has resolved an incident."""
    kind, model, version, where = key
    # Files are known by when they were found; counts, by hour.
    since = moment if kind == "files" else -(-moment // HOUR) * HOUR
    return known.restart(kind, Segment(model, version, where), since)


def summarize(known: WatchProgress | None) -> tuple[State, str]:
    """Return the state of the rule apart from its incidents, and the reason."""
    if known is None:
        return "INSUFFICIENT", "no hour is final yet"
    if known.anomalies:
        return "ALERT", " ".join(anomaly.reason for anomaly in known.anomalies[:3])
    if known.waits:
        return "INSUFFICIENT", (
            f"watched from {describe_time(known.waits)} on, after {FEWEST_DAYS} days to compare "
            "with"
        )
    if not known.watched:
        return "NO_DATA", f"no rankings in the last {FORGOTTEN_AFTER // DAY} days"
    are = "stream arrives" if known.watched == 1 else "streams arrive"
    return "OK", f"{known.watched} {are} as usual"


def _begin(
    reader: Counts, rule: DataRule, known: WatchProgress | None, moment: int
) -> tuple[WatchProgress, list[Finding]]:
    """Read what is remembered, or begin anew where something else is to be watched."""
    # What is counted.
    basis = sha256(reader.configuration.digest).hexdigest()[:16]
    gone: list[Finding] = []
    if known is not None:
        off = [
            anomaly
            for anomaly in known.anomalies
            if known.basis != basis or not is_watched(rule, anomaly)
        ]
        gone = [_conclude(one, "good", "This is no longer watched in this way.") for one in off]
        if known.basis == basis:
            kept = tuple(anomaly for anomaly in known.anomalies if anomaly not in off)
            return replace(known, anomalies=kept), gone
    window = reader.window
    day = (moment - window) // DAY * DAY - labels.DAYS * DAY
    if reader.first is not None:
        day = max(day, -(-reader.first // DAY) * DAY)
    return WatchProgress(basis=basis, first=moment, moment=moment, day=day), gone


def _recover(anomaly: Anomaly, *, is_accepted: bool) -> Finding:
    if is_accepted:
        reason = f"This has lasted for {ACCEPTED_AFTER // DAY} days and counts as usual now."
    elif anomaly.kind == "files":
        reason = "All files of the data lake can be read again, or are gone."
    elif anomaly.is_new:
        reason = "The value is no longer new."
    else:
        reason = "The data arrive as usual again."
    return _conclude(anomaly, "good", reason)


def _conclude(anomaly: Anomaly, verdict: Verdict, reason: str) -> Finding:
    segment = anomaly.segment
    return Finding(
        kind=anomaly.kind,
        model=segment.model,
        version=segment.version,
        slice=segment.slice,
        verdict=verdict,
        began=to_datetime(anomaly.began),
        reason=reason,
        evidence=anomaly.evidence,
    )
