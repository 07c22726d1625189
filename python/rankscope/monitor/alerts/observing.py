"""What a stream concludes from one more period."""

from __future__ import annotations

import math

from rankscope.errors import InputError
from rankscope.monitor.alerts.floors import T
from rankscope.records import replace
from rankscope.stats.clusters import average_by_cluster
from rankscope.stats.detector import Detector, advance
from rankscope.stats.discoveries import discover
from rankscope.stats.means import estimate_mean
from rankscope.stats.threshold import Threshold, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.alerts.stream import Stream


def observe(
    stream: Stream,
    rule: Rule,
    start: int,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> Stream:
    """Let a stream that has a floor look at the rankings of a period.

    Args:
        stream: What is known so far.
        rule: What is asked.
        start: When the period begins.
        values: One a ranking; NaN where the mean leaves it out.
        clusters: Whose it is.
    """
    look = _detect if rule.kind == "drop" else _compare
    return look(stream, rule, start, values, clusters)


def _detect(
    stream: Stream,
    rule: Rule,
    start: int,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> Stream:
    """Collect evidence that the mean is below the floor."""
    means = average_by_cluster(values, clusters).value
    if stream.floor is None:
        return stream
    if not len(means):
        told = "no ranking has had a value yet" if stream.detector is None else stream.reason
        return replace(stream, reason=told)
    before = stream.detector or Detector(run_length=rule.run_length)
    try:
        detector = advance(before, means, stream.floor)
    except InputError as error:
        return replace(
            stream, state="ALERT" if stream.is_named else "INSUFFICIENT", reason=error.message
        )
    known = dict(stream.moments) | {detector.periods: start}
    return replace(
        stream,
        detector=detector,
        moments=tuple((number, known[number]) for number in sorted(set(detector.starts))),
        value=estimate_mean(values, clusters, T),
        at=start,
        reason="",
    )


def _compare(
    stream: Stream,
    rule: Rule,
    start: int,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> Stream:
    """Hold the mean against the threshold; who is below it stays so until the value is not."""
    if stream.baseline is None:
        return stream
    threshold = Threshold(
        baseline=stream.baseline.value,
        tolerance=rule.tolerance,
        is_relative=rule.is_relative,
        needs=rule.needs,
        fewest=rule.fewest,
    )
    verdict = judge(threshold, values, clusters, T)
    seen = replace(stream, value=verdict.mean, at=start)
    if verdict.state in {"NO_DATA", "INSUFFICIENT"}:
        if stream.state == "ALERT":
            return stream
        count = verdict.mean.clusters
        told = f"the period has {count} users or queries with a value, {rule.fewest} are needed"
        return replace(stream, state="INSUFFICIENT", reason=told)
    was_below = stream.state == "ALERT"
    if verdict.state == "ALERT" or (was_below and verdict.mean.value < verdict.limit):
        return replace(seen, state="ALERT", reason="", since=stream.since if was_below else start)
    return replace(seen, state="OK", reason="", since=None)


def name_drops(streams: Sequence[Stream], rule: Rule) -> list[Stream]:
    """Name the streams whose evidence is enough among all of the rule.

    One that was named stays so until the evidence since the drop seems to have begun is below 1.
    That of the detector itself counts each period as a possible beginning, and so stays near 1
    where all is well. Evidence beyond what a single stream would need is let go, so that a drop
    that has lasted for months is not called one for months after it has ended; less evidence is
    never a false alarm.

    Args:
        streams: All streams of a rule about drops.
        rule: The rule.
    """
    evidence = {
        str(place): stream.log_evidence
        for place, stream in enumerate(streams)
        if stream.detector is not None
    }
    found = discover(evidence, 1 / rule.run_length)
    named = set(found.names)
    judged = []
    for place, stream in enumerate(streams):
        detector = stream.detector
        if detector is None or stream.reason:
            judged.append(stream)
            continue
        is_named = str(place) in named or (stream.is_named and _still_falls(detector))
        since = stream.since if stream.is_named else dict(stream.moments).get(detector.since or 0)
        judged.append(
            replace(
                stream,
                detector=_cap(detector, math.log(len(evidence) * rule.run_length)),
                is_named=is_named,
                needed=found.log_needed,
                state="ALERT" if is_named else "OK",
                since=since if is_named else None,
            )
        )
    return judged


def _still_falls(detector: Detector) -> bool:
    """Whether the evidence since the drop seems to have begun is 1 or more."""
    return math.fsum(map(math.exp, detector.sums)) >= len(detector.sums)


def _cap(detector: Detector, needed: float) -> Detector:
    """Let go of evidence beyond what is needed, were it from one of the bets alone."""
    most = needed + math.log(len(detector.bets))
    return replace(
        detector,
        evidence=tuple(min(one, most) for one in detector.evidence),
        sums=tuple(min(one, most) for one in detector.sums),
    )
