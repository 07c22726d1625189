"""Feeds periods of data to the streams of a rule."""

from __future__ import annotations

import math
from datetime import timedelta

from rankscope.errors import InputError
from rankscope.monitor.alerts.detect.floors import T
from rankscope.monitor.alerts.detect.stream import Stream
from rankscope.monitor.alerts.rule import LENGTHS
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store.folding import OTHER, choose_versions
from rankscope.records import replace
from rankscope.stats.clusters import average_by_cluster
from rankscope.stats.detector import Detector, advance
from rankscope.stats.discoveries import discover
from rankscope.stats.means import estimate_mean
from rankscope.stats.threshold import Threshold, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.alerts.detect.floors import Floors
    from rankscope.monitor.alerts.detect.progress import RuleProgress
    from rankscope.monitor.alerts.detect.sample import Sample
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.definition.slices import Slice, Slicing
    from rankscope.monitor.store.folding import Folding, Pair
    from rankscope.monitor.store.records import Context

NOTHING = timedelta()
LEAVE = timedelta(days=2)
"""A version that shows nothing for so long, while others of its rule do, is watched no more."""


def feed(
    progress: RuleProgress,
    rule: Rule,
    period: Sample,
    *,
    contexts: Mapping[int, Context],
    slicing: Slicing,
    floors: Floors,
) -> RuleProgress:
    """Check the next period for a rule.

    A rule watches the versions with the most rankings in the period; of two with as many, one that
    it has watched before. All others are one stream of their model, named `<other>`.

    Streams start with the first period in which their version and slice have rankings and the
    baseline has enough of theirs; with it their floor is made, which stays. Where labels are late,
    the period tells nothing, so that a lack of labels is never taken for a drop.

    Args:
        progress: What was concluded so far.
        rule: The rule.
        period: The rankings of that period in production, of all models.
        contexts: The contexts of the rankings.
        slicing: Which values have slices of their own.
        floors: Finds what values are held against.
    """
    start, length = progress.following, timedelta(microseconds=LENGTHS[rule.period])
    watched = {(stream.model, stream.version) for stream in progress.streams}
    folding = _choose(rule, period, contexts, watched)
    groups = group_contexts(rule, period, contexts, folding)
    shown = {(model, version) for model, version, _ in groups}
    whole = [numbers for (_, _, place), numbers in groups.items() if not place]
    rows = period.find([number for numbers in whole for number in numbers])
    labelled = int(period.is_labelled[rows].sum())
    counted = replace(progress.count(len(rows), labelled), following=start + LENGTHS[rule.period])
    is_late = counted.has_late_labels
    known = {
        stream.key: stream
        for stream in progress.streams
        if stream.key[:2] in folding.pairs or OTHER in stream.key[:2]
    }
    for key in groups:
        if key not in known and is_kept(key[2], slicing):
            known[key] = Stream(model=key[0], version=key[1], slice=key[2])
    streams = []
    for key, stream in sorted(known.items()):
        absent = NOTHING if key[:2] in shown else stream.absent + (length if shown else NOTHING)
        if absent >= LEAVE:
            continue
        followed = replace(stream, absent=absent)
        numbers = groups.get(key)
        if numbers and not is_late:
            if followed.floor is None:
                followed = _hold(followed, rule, floors)
            if followed.floor is not None:
                rows = period.find(numbers)
                values, users = period.values[rule.measure][rows], period.clusters[rows]
                followed = observe(followed, rule, start, values, users)
        streams.append(followed)
    if rule.kind == "drop":
        streams = name_drops(streams, rule)
    return replace(
        counted, streams=tuple(streams), passed_over=progress.passed_over + (1 if is_late else 0)
    )


def _hold(stream: Stream, rule: Rule, floors: Floors) -> Stream:
    """Set the floor of a stream."""
    held = floors.find(rule, *stream.key)
    return replace(stream, floor=held.floor, baseline=held.baseline, reason=held.reason)


def _choose(
    rule: Rule, period: Sample, contexts: Mapping[int, Context], watched: set[Pair]
) -> Folding:
    """Return which versions have streams of their own."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    weights = dict.fromkeys(watched, 1)
    numbers, counts = np.unique(period.contexts, return_counts=True)
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        context = contexts[number]
        if rule.model in {None, context.model}:
            pair = context.model, context.version
            weights[pair] = weights.get(pair, 0) + 2 * count
    return choose_versions(weights)


def group_contexts(
    rule: Rule, period: Sample, contexts: Mapping[int, Context], folding: Folding | None = None
) -> dict[tuple[str, str, Slice], list[int]]:
    """Return the contexts of each version and slice that a rule watches, as far as there are any.

    Args:
        rule: The rule.
        period: The rankings.
        contexts: The contexts of the rankings.
        folding: Which versions are watched on their own; all of them by default.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    groups: dict[tuple[str, str, Slice], list[int]] = {}
    for number in np.unique(period.contexts).tolist():
        context = contexts[number]
        if rule.model is not None and context.model != rule.model:
            continue
        said = dict(context.attributes)
        places: Iterable[Slice] = (
            (),
            *(((name, said[name]),) for name in rule.slices if name in said),
        )
        pair = context.model, context.version
        model, version = pair if folding is None else folding.place(*pair)
        for place in places:
            groups.setdefault((model, version, place), []).append(number)
    return groups


def is_kept(place: Slice, slicing: Slicing) -> bool:
    """Whether a slice is kept apart from `<other>`."""
    values = dict(slicing.values)
    return all(value in values.get(name, ()) for name, value in place)


def observe(
    stream: Stream,
    rule: Rule,
    start: int,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> Stream:
    """Check the rankings of a period for a stream that has a floor.

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
        told = "no ranking has a value yet" if stream.detector is None else stream.reason
        return replace(stream, reason=told)
    before = stream.detector or Detector(run_length=rule.run_length)
    try:
        detector = advance(before, means, stream.floor)
    except InputError as error:
        return replace(
            stream, state="ALERT" if stream.is_named else "INSUFFICIENT", reason=error.message
        )
    known = dict(stream.moments) | {detector.periods: to_datetime(start)}
    return replace(
        stream,
        detector=detector,
        moments=tuple((number, known[number]) for number in sorted(set(detector.starts))),
        value=estimate_mean(values, clusters, T),
        at=to_datetime(start),
        reason="",
    )


def _compare(
    stream: Stream,
    rule: Rule,
    start: int,
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
) -> Stream:
    """Compare the mean with the threshold; ALERT lasts until the value is back above it."""
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
    began = to_datetime(start)
    seen = replace(stream, value=verdict.mean, at=began)
    if verdict.state in {"NO_DATA", "INSUFFICIENT"}:
        if stream.state == "ALERT":
            return stream
        count = verdict.mean.clusters
        told = f"the period has {count} users or queries with a value, and needs {rule.fewest}"
        return replace(stream, state="INSUFFICIENT", reason=told)
    was_below = stream.state == "ALERT"
    if verdict.state == "ALERT" or (was_below and verdict.mean.value < verdict.limit):
        return replace(seen, state="ALERT", reason="", since=stream.since if was_below else began)
    return replace(seen, state="OK", reason="", since=None)


def name_drops(streams: Sequence[Stream], rule: Rule) -> list[Stream]:
    """Mark the streams whose evidence is sufficient among all streams of the rule.

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
    """Whether the evidence since the estimated start of the drop is 1 or more."""
    return math.fsum(map(math.exp, detector.sums)) >= len(detector.sums)


def _cap(detector: Detector, needed: float) -> Detector:
    """Cap the evidence at what a single bet would need."""
    most = needed + math.log(len(detector.bets))
    return replace(
        detector,
        evidence=tuple(min(one, most) for one in detector.evidence),
        sums=tuple(min(one, most) for one in detector.sums),
    )
