"""Feeds periods of data to the streams of a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.definition.calendar import Span
from rankscope.monitor.definition.slices import Slice, Slicing
from rankscope.monitor.events.times import EPOCH, describe_duration, describe_time, to_datetime
from rankscope.monitor.rules.drop.check import START, Period, check_stream, compare_grades
from rankscope.monitor.rules.drop.confirm import ALIKE, Confirmation, describe_group
from rankscope.monitor.rules.drop.floors import CALENDAR
from rankscope.monitor.rules.drop.periods import FINAL, Step, continue_at
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule, choose_ages, find_dimension
from rankscope.monitor.rules.drop.sample import Cells, Sample
from rankscope.monitor.rules.stream import ALL, Evidence, Judgment, Stream
from rankscope.monitor.sequential.baseline import Baseline
from rankscope.monitor.sequential.detector import NEEDED, begin_recovery, cap
from rankscope.monitor.sequential.discoveries import discover
from rankscope.monitor.sequential.reach import find_reach
from rankscope.monitor.store.folding import OTHER, Folding, Pair, choose_versions
from rankscope.monitor.store.records import Context

Key: TypeAlias = tuple[str, str, Slice]


NOTHING = timedelta()
LEAVE = timedelta(days=2)
"""A version that shows nothing for so long, while others of its rule do, is watched no more."""
FORGET = timedelta(days=28)
"""A slice that shows nothing for so long is watched no more."""
STALE = timedelta(days=2)
"""A slice that shows nothing for so long, and for longer than ever, is stale."""
MOST_STREAMS = 400
"""A rule watches so many versions and slices at most, those with the most rankings."""


def feed(progress: RuleProgress, period: Period) -> RuleProgress:
    """Check the next period for a rule.

    A rule watches the versions with the most rankings in the period; of two with as many, one that
    it has watched before. All others are one stream of their model, named `<other>`.

    Streams start with the first period in which their version and slice have rankings and the
    baseline has some of theirs; what is expected of them is made then, and stays. Where labels are
    late or lost, the period tells nothing, so that a lack of labels is never taken for a drop.
    """
    rule, step, sample = period.rule, period.step, period.sample
    reader = period.floors.reader
    cells = reader.cells
    watched = {
        (stream.model, stream.version) for stream in progress.streams if stream.version != ALL
    }
    folding = _choose(rule, sample, cells.contexts, watched)
    has_anchor = step.age == FINAL and period.floors.has_anchor
    groups = group_contexts(rule, sample, cells, folding, has_anchor=has_anchor)
    passed = continue_at(progress, step.age, step.until)
    is_late = False
    special = period.floors.refer(step)
    is_left = special is not None and not special[1]
    told = "" if special is None else period.floors.explain(special[0])
    if step.age == FINAL and not is_left:
        passed = _count(passed, groups, sample)
        is_late = passed.has_late_labels and not all(
            stream.knows_labels for stream in progress.streams
        )
    rows = {key: sample.find(numbers) for key, numbers in groups.items()}
    known = {stream.key: stream for stream in progress.streams if _is_watched(stream, folding)}
    new = [key for key in groups if key not in known and is_kept(key[2], cells.slicing)]
    new.sort(key=lambda key: (-len(rows[key]), key))
    room = max(MOST_STREAMS - len(known), 0)
    known |= {key: _begin(key, progress.streams, step) for key in new[:room]}
    lanes = 1 + len(choose_ages(reader.scene.window))
    streams = []
    for key, stream in sorted(known.items()):
        followed: Stream | None = stream
        if step.age == FINAL:
            followed = _follow(stream, step, shown={key[:2] for key in groups}, has=key in groups)
        if followed is not None and key in rows and not is_left:
            count = len(known) * lanes
            spans = () if special is None else special[1]
            followed = _check(
                followed, period, rows[key], is_late=is_late, count=count, spans=spans
            )
        if followed is not None and step.age == FINAL:
            followed = _tell_period(followed, told)
        if followed is not None:
            streams.append(followed)
    return replace(
        passed,
        streams=tuple(name_drops(streams, rule, Confirmation(period))),
        passed_over=progress.passed_over + (1 if is_late else 0),
        unwatched=len(new[room:]) if step.age == FINAL else progress.unwatched,
    )


def _begin(key: Key, watched: Sequence[Stream], step: Step) -> Stream:
    """Return the stream of a version and slice; it goes on with a fall of the version before."""
    model, version, place = key
    fresh = Stream(model=model, version=version, slice=place)
    if version == ALL or OTHER in {model, version}:
        return fresh
    came = to_datetime(step.start)
    fallen = [
        (stream.last or EPOCH, followed)
        for stream in watched
        if (stream.model, stream.slice) == (model, place) and stream.version not in {ALL, OTHER}
        if (followed := stream.follow(version, came)) is not None
    ]
    return max(fallen, key=lambda one: one[0])[1] if fallen else fresh


def _count(progress: RuleProgress, groups: Mapping[Key, list[int]], period: Sample) -> RuleProgress:
    """Count the rankings of a period and those that have labels."""
    whole = [
        numbers for (_, version, place), numbers in groups.items() if not place and version != ALL
    ]
    rows = period.find([number for numbers in whole for number in numbers])
    return progress.count(len(rows), int(period.is_labelled[rows].sum()))


def _is_watched(stream: Stream, folding: Folding) -> bool:
    pair = stream.model, stream.version
    return pair in folding.pairs or OTHER in pair or stream.version == ALL


def _follow(stream: Stream, step: Step, *, shown: set[Pair], has: bool) -> Stream | None:
    """Return the stream after a final period in which it may have shown nothing."""
    length = timedelta(microseconds=step.until - step.start)
    until = to_datetime(step.until)
    if has:
        gap = NOTHING if stream.last is None else until - length - stream.last
        state = "INSUFFICIENT" if stream.state == "STALE" else stream.state
        reason = "" if stream.state == "STALE" else stream.reason
        return replace(
            stream,
            absent=NOTHING,
            last=until,
            longest=max(stream.longest, gap),
            state=state,
            reason=reason,
        )
    if any(lane.at is not None and lane.at >= until for lane in stream.lanes):
        # Its early values are newer than this period: a release whose first day isn't final yet.
        return stream
    pair = stream.model, stream.version
    absent = NOTHING if pair in shown else stream.absent + (length if shown else NOTHING)
    if absent >= LEAVE:
        return None
    quiet = replace(stream, absent=absent)
    silent = NOTHING if stream.last is None else until - stream.last
    if silent < max(STALE, 2 * length, 2 * stream.longest) or stream.is_named:
        return quiet
    if stream.last is None or silent >= FORGET:
        return None
    told = f"no rankings for {describe_duration(silent)}, since {describe_time(stream.last)}"
    return replace(quiet, state="STALE", reason=told)


def _check(
    stream: Stream,
    period: Period,
    rows: NDArray[np.int64],
    *,
    is_late: bool,
    count: int,
    spans: Sequence[Span] = (),
) -> Stream:
    """Check the rankings of a stream; its baseline is made first if it has none."""
    step, sample = period.step, period.sample
    age = timedelta(microseconds=step.age)
    lane = stream.lane(age) or Evidence(age=age)
    if lane.mean is None:
        floor = period.floors.find(period.rule, stream.key, lane, step, count)
        lane = floor.lane
        if age and lane.mean is None:
            return stream
        known = stream if stream.lane(age) else replace(stream, lanes=(*stream.lanes, lane))
        stream = known.set_lane(lane)
        if step.age == FINAL:
            stream = replace(
                stream,
                reason=lane.reason,
                compared=floor.compared or stream.compared,
                label_days=floor.label_days or stream.label_days,
            )
        if floor.grades is not None:
            told = compare_grades(floor.grades, floor.lists, sample.grades, len(sample.times))
            others = [warning for warning in stream.warnings if not warning.startswith(START)]
            stream = replace(stream, warnings=(*others, *([told] if told else [])))
    if lane.mean is None or (is_late and not stream.knows_labels):
        return stream
    if not spans:
        return check_stream(stream, lane, period, rows)
    own = period.floors.compare(period.rule, stream.key, lane, tuple(spans), step, count=count)
    if own is None:
        return stream
    found = check_stream(stream, own, period, rows)
    judged = found.lane(age) or lane
    return found.set_lane(replace(judged, usual=lane.usual, mix=lane.mix, mean=lane.mean))


def _tell_period(stream: Stream, told: str) -> Stream:
    """Return a stream that says how the newest period is judged, if it is one of the calendar."""
    others = tuple(one for one in stream.warnings if not one.startswith(CALENDAR))
    warnings = (*others, told) if told else others
    return stream if warnings == stream.warnings else replace(stream, warnings=warnings)


def _choose(
    rule: DropRule, period: Sample, contexts: Mapping[int, Context], watched: set[Pair]
) -> Folding:
    """Return which versions have streams of their own."""
    weights = dict.fromkeys(watched, 1)
    numbers, counts = np.unique(period.contexts, return_counts=True)
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        context = contexts[number]
        if rule.model in {None, context.model}:
            pair = context.model, context.version
            weights[pair] = weights.get(pair, 0) + 2 * count
    return choose_versions(weights)


def group_contexts(
    rule: DropRule,
    period: Sample,
    cells: Cells,
    folding: Folding,
    *,
    has_anchor: bool,
) -> dict[Key, list[int]]:
    """Return the contexts of each version and slice that a rule watches, if any."""
    attributes = [name for name, _ in cells.slicing.values]
    dimensions = [(), *(find_dimension(name, attributes) for name in rule.slices)]
    groups: dict[Key, list[int]] = {}
    for number in np.unique(period.contexts).tolist():
        context = cells.contexts[number]
        if rule.model is not None and context.model != rule.model:
            continue
        said = dict(context.attributes)
        places: list[Slice] = [
            tuple((name, said[name]) for name in names)
            for names in dict.fromkeys(dimensions)
            if all(name in said for name in names)
        ]
        model, version = folding.place(context.model, context.version)
        for place in places:
            groups.setdefault((model, version, place), []).append(number)
            if has_anchor and model != OTHER:
                groups.setdefault((model, ALL, place), []).append(number)
    return groups


def is_kept(place: Slice, slicing: Slicing) -> bool:
    """Whether a slice is kept apart from `<other>`."""
    values = dict(slicing.values)
    return all(value in values.get(name, ()) for name, value in place)


INHERIT = timedelta(days=7)
"""For so long, a fall of a new version counts as that of the version before if that had fallen.

It is named at an evidence of 20 for each of these days and each of these streams, as far as that is
less than others need: if no new version has fallen, that happens in 5 % of the cases at most.
"""


def name_drops(
    streams: Sequence[Stream], rule: DropRule, confirmation: Confirmation | None = None
) -> list[Stream]:
    """Mark the streams whose evidence is sufficient among all streams and ages of the rule.

    A fall is named only once its users confirm it.

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
        lanes = []
        told = [one for one in stream.warnings if not one.startswith(ALIKE)]
        for at, lane in enumerate(stream.lanes):
            is_sufficient = f"{place} {at}" in named or lane.log_evidence >= needed
            if is_sufficient and confirmation is not None and not lane.is_named:
                verdict = confirmation.judge(stream, lane)
                is_sufficient = verdict is None or verdict.state == "confirmed"
                if verdict is not None and verdict.state == "group":
                    told.append(describe_group(verdict))
            lanes.append(_name(lane, is_sufficient=is_sufficient, needed=needed, most=most))
        followed = replace(stream, warnings=tuple(dict.fromkeys(told)))
        judged.append(_judge(followed, tuple(lanes), rule, len(evidence)))
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
