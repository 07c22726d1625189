"""Watches on rankings: all of them, models, versions, values of attributes, names and files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.mismatch import Expected, Mismatch
from rankscope.monitor.rules.data.counts import TOTAL, Counts, Segment
from rankscope.monitor.rules.data.progress import Anomaly
from rankscope.monitor.rules.data.traffic import Change, Traffic, place_missing
from rankscope.monitor.rules.data.usual import (
    AGAIN,
    FALLEN,
    FEWEST_DAYS,
    HOURS,
    LONGEST,
    find_start,
    measure_surprise,
    sum_windows,
    weigh_return,
)

LEAST_EXPECTED = 1e-9
JUST = 7 * DAY
"""A model that is younger may have replaced another one."""


def find_models(traffic: Traffic) -> list[Segment]:
    """Find the models that are watched on their own: none where there is only one."""
    models = [
        segment for segment in sorted(traffic.counts) if segment.model and not segment.version
    ]
    known = [segment for segment in models if traffic.find_steady(segment) is not None]
    return known if len(models) > 1 or traffic.rule.model is not None else []


def find_versions(traffic: Traffic) -> list[Segment]:
    """Find the versions that are watched on their own."""
    segments = [segment for segment in sorted(traffic.counts) if segment.version]
    models = [segment.model for segment in segments]
    return [
        segment
        for segment in segments
        if models.count(segment.model) > 1 and traffic.find_steady(segment) is not None
    ]


def watch_silence(traffic: Traffic) -> Anomaly | None:
    """Look for rankings that do not arrive any more."""
    return traffic.report_silence("freshness", TOTAL, traffic.find_silence(TOTAL))


def watch_fall(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a fall of all rankings together."""
    return traffic.report_volume(segment, traffic.find_fall(segment))


def watch_rise(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a rise of all rankings together."""
    return traffic.report_volume(segment, traffic.find_rise(segment))


def watch_model(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a model that has stopped."""
    change = traffic.find_silence(segment, scale=traffic.scale(segment))
    if change is None:
        return None
    silence = traffic.count_silence(segment)
    is_replaced = _has_faded(traffic, segment, silence) or _has_heir(traffic, segment)
    if is_replaced and not _is_missed(traffic, segment, change):
        return None
    return traffic.report_silence("versions", segment, change)


def watch_model_volume(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a model whose rankings have fallen, and are missing from the total."""
    change = traffic.find_fall(segment, scale=traffic.scale(segment))
    # Where others were shown in its segment, somebody has split the traffic in another way.
    is_missed = change is not None and _is_missed(traffic, segment, change)
    return traffic.report_volume(segment, change if is_missed else None)


def _is_missed(traffic: Traffic, segment: Segment, change: Change) -> bool:
    hours = change.surprise.hours
    lost = float((traffic.expected(segment, hours) - traffic.recent(segment)[-hours:]).sum())
    usual = float(traffic.expected(TOTAL, hours).sum())
    return float(traffic.recent(TOTAL)[-hours:].sum()) < usual - FALLEN * lost


def watch_version(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a version that has stopped, without a newer one."""
    model = Segment(segment.model)
    usual = traffic.usual(model)
    if usual is None:
        return None
    expected = np.maximum(usual.spans[0, traffic.end], LEAST_EXPECTED)
    change = traffic.find_silence(segment, scale=sum_windows(traffic.recent(model)) / expected)
    if change is None:
        return None
    silence = traffic.count_silence(segment)
    first = traffic.find_first(segment)
    newer = [
        other
        for other in traffic.counts
        if other.model == segment.model
        and other.version
        and traffic.find_first(other) > first
        and traffic.recent(other)[-silence:].sum() > 0
    ]
    others = traffic.recent(model)[-silence:].sum()
    if newer or not others or _has_faded(traffic, segment, silence):
        return None
    return traffic.report_silence("versions", segment, change)


def _has_faded(traffic: Traffic, segment: Segment, silence: int) -> bool:
    """Return whether less than half of its part of rankings came in the day before it stopped."""
    end = len(traffic.counts[TOTAL]) - silence
    mine, of_all = (
        float(traffic.counts[one][max(0, end - 24) : end].sum())
        / max(float(traffic.expected(one, silence + 24)[:24].sum()), LEAST_EXPECTED)
        for one in (segment, TOTAL)
    )
    return mine < FALLEN * min(1.0, of_all)


def _has_heir(traffic: Traffic, segment: Segment) -> bool:
    """Return whether a new model has taken most of the rankings of one that has stopped."""
    silence = traffic.count_silence(segment)
    began = traffic.moment - silence * HOUR
    lost = float(traffic.expected(segment, silence).sum())
    return any(
        traffic.find_first(other) > began - JUST
        and traffic.recent(other)[-silence:].sum() >= FALLEN * lost
        for other in traffic.counts
        if other.model and not other.version and other != segment
    )


MOST_VALUES = 50
"""How many values, of all attributes together, are watched: those with the most rankings."""
NEW_SHARE = 0.02
"""The share of rankings from which a new value is reported."""
NEW_COUNT = 20
"""The number of rankings from which it is."""
KNOWN_AFTER = 7 * DAY
"""A value that is older is not new."""
PATIENCE = 24
"""How many hours a new value waits for the one that it may replace to be missed."""
RENAMED = 5.0
"""The evidence that a value has vanished, where another one is new at the same time."""
MISSING_MORE = 0.05
"""By how much the share of rankings without an attribute must rise to be reported."""
MISSING_LEAST = 0.01
"""The share that is never surprising."""
MISSING_COUNT = 20
MISSING_VARIANCE = 0.15**2
MISSING_SPANS = (1, 3, 6, 12, 24)


def find_values(traffic: Traffic) -> list[Segment]:
    """Find the values that are watched, the ones with the most rankings."""
    steady = {each: traffic.find_steady(each) for each in traffic.counts if each.is_named}
    sizes = {each: usual.daily for each, usual in steady.items() if usual is not None}
    largest = sorted(sizes, key=lambda segment: (-sizes[segment], segment))[:MOST_VALUES]
    return sorted(largest)


def watch_value(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a value that has vanished, while others have not."""
    change = traffic.find_silence(segment, scale=traffic.scale(segment))
    return traffic.report_silence("attributes", segment, change)


def watch_value_volume(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a value that has fallen or risen, other than all rankings have."""
    scale = traffic.scale(segment)
    change = traffic.find_fall(segment, scale=scale) or traffic.find_rise(segment, scale=scale)
    return traffic.report_volume(segment, change)


def watch_new_values(traffic: Traffic, busy: Iterable[Segment]) -> list[Anomaly]:
    """Look for values that are new, and for the ones that they have replaced."""
    found: list[Anomaly] = []
    taken = set(busy)
    for segment in sorted(traffic.counts):
        if not segment.is_named or segment in taken:
            continue
        age = _find_age(traffic, segment)
        if age is None:
            continue
        day = min(24, age)
        count = float(traffic.recent(segment)[-day:].sum())
        share = count / max(float(traffic.recent()[-day:].sum()), 1.0)
        if share < NEW_SHARE or count < NEW_COUNT / 2:
            continue
        old, evidence = _find_renamed(traffic, segment, age, taken)
        if old is not None and evidence >= RENAMED:
            found.append(_make(traffic, old, traffic.count_silence(old), evidence))
            taken.add(old)
        elif (
            count >= NEW_COUNT
            and (old is None or age >= PATIENCE)
            and not _is_paired(traffic, segment, taken, age)
        ):
            found.append(_make(traffic, segment, age, 0.0))
    return found


def watch_missing(traffic: Traffic, attribute: str) -> Anomaly | None:
    """Look for an attribute that is missing in more rankings than usual."""
    segment = place_missing(attribute)
    if segment not in traffic.counts or traffic.usual() is None:
        return None
    usual = _find_missing_share(traffic, segment)
    missing = traffic.since_end(segment)
    total = traffic.recent()[LONGEST - len(missing) :]
    best = None
    for span in MISSING_SPANS:
        count, size = float(missing[-span:].sum()), float(total[-span:].sum())
        if span > len(missing) or count < MISSING_COUNT or count / size < usual + MISSING_MORE:
            continue
        expected = size * max(usual, MISSING_LEAST)
        evidence = float(measure_surprise(np.array(count), np.array(expected), MISSING_VARIANCE))
        if count > expected and (best is None or evidence > best[0]):
            best = evidence, span
    if best is None or best[0] < traffic.needed:
        return None
    evidence = best[0]
    hours = find_start(missing, total * max(usual, MISSING_LEAST))
    share = float(missing[-hours:].sum()) / max(float(total[-hours:].sum()), 1.0)
    return Anomaly(
        kind="attributes",
        segment=segment,
        began=traffic.moment - hours * HOUR,
        found=traffic.moment,
        ratio=share / max(usual, MISSING_LEAST),
        evidence={
            "log_evidence": round(evidence, 3),
            "needed": round(traffic.needed, 3),
            "hours": hours,
            "share": round(share, 4),
            "usual": round(usual, 4),
        },
    )


def advance_missing(traffic: Traffic, anomaly: Anomaly) -> Anomaly | None:
    """Take the newest hour of an attribute that was missing; `None` if it is there again."""
    missing, total = traffic.recent(anomaly.segment), traffic.recent()
    usual = max(float(anomaly.evidence["usual"]), MISSING_LEAST)
    more = weigh_return(
        float(missing[-1]), float(total[-1]) * usual, anomaly.ratio, MISSING_VARIANCE
    )
    back = max(0.0, anomaly.back + more)
    if back >= AGAIN:
        return None
    hours = min(LONGEST, (traffic.moment - anomaly.began) // HOUR)
    share = float(missing[-hours:].sum()) / max(float(total[-hours:].sum()), 1.0)
    return replace(
        anomaly, back=back, evidence={**anomaly.evidence, "hours": hours, "share": round(share, 4)}
    )


def is_new_over(traffic: Traffic, anomaly: Anomaly) -> bool:
    """Return whether a value that was new is known by now, or gone again."""
    is_known = traffic.moment - anomaly.began >= KNOWN_AFTER
    return is_known or not traffic.recent(anomaly.segment)[-24:].sum()


def _make(traffic: Traffic, segment: Segment, hours: int, evidence: float) -> Anomaly:
    is_value_new = not evidence
    return Anomaly(
        kind="attributes",
        segment=segment,
        began=traffic.moment - hours * HOUR,
        found=traffic.moment,
        ratio=0.0,
        evidence={
            "log_evidence": round(evidence, 3),
            "needed": NEW_COUNT if is_value_new else RENAMED,
            **({"is_new": True} if is_value_new else {}),
            **traffic.compare(segment, hours),
        },
    )


def _find_age(traffic: Traffic, segment: Segment) -> int | None:
    """Return how many hours ago a value was seen first, `None` if it is no new one."""
    counts = traffic.counts[segment]
    shown = np.flatnonzero(counts)
    if not len(shown):
        return None
    age = len(counts) - int(shown[0])
    first = traffic.find_first()
    before = (traffic.moment - age * HOUR - max(first, traffic.start)) // HOUR
    if age * HOUR > KNOWN_AFTER or before < FEWEST_DAYS * HOURS:
        return None
    # Where nearly no ranking had the attribute, all of its values are new.
    lacking = traffic.counts.get(place_missing(segment.attribute))
    total = traffic.counts[TOTAL][:-age].sum()
    if lacking is not None and lacking[:-age].sum() > FALLEN * total:
        return None
    return age


def _find_renamed(
    traffic: Traffic, segment: Segment, age: int, taken: set[Segment]
) -> tuple[Segment | None, float]:
    """Find the value that is missed most since another one is there, and the evidence for that."""
    best: tuple[Segment | None, float] = None, 0.0
    for other in sorted(traffic.counts):
        if not other.slice or other.attribute != segment.attribute or other in taken:
            continue
        usual = traffic.find_steady(other)
        hours = min(age, traffic.count_silence(other))
        if usual is None or hours < age - 1 or not hours:
            continue
        expected = float(traffic.expected(other, hours).sum())
        evidence = float(measure_surprise(np.array(0.0), np.array(expected), usual.variance))
        if evidence > best[1]:
            best = other, evidence
    return best


def _is_paired(traffic: Traffic, segment: Segment, taken: set[Segment], age: int) -> bool:
    """Return whether a new value is named with one that has vanished."""
    return any(
        one.slice
        and one.attribute == segment.attribute
        and abs(traffic.count_silence(one) - age) <= PATIENCE
        for one in taken
    )


def find_heirs(traffic: Traffic, attribute: str, began: int) -> list[Segment]:
    """Find the values that became notable about when another one vanished."""
    found = []
    for segment in sorted(traffic.counts):
        if segment.attribute != attribute or not segment.is_named:
            continue
        age = _find_age(traffic, segment)
        is_close = age is not None and abs(traffic.moment - age * HOUR - began) <= KNOWN_AFTER
        if is_close and measure_share(traffic, segment, began) >= NEW_SHARE:
            found.append(segment)
    return found


def measure_share(traffic: Traffic, segment: Segment, since: int) -> float:
    """Return the share of rankings that a segment has had since a time, for a week at most."""
    hours = max(1, min(LONGEST, (traffic.moment - since) // HOUR))
    total = float(traffic.recent()[-hours:].sum())
    return float(traffic.recent(segment)[-hours:].sum()) / max(total, 1.0)


def _find_missing_share(traffic: Traffic, segment: Segment) -> float:
    """Return the usual share of rankings without an attribute, that of the middle day."""
    size = len(traffic.counts[TOTAL]) // HOURS * HOURS
    missing = traffic.counts[segment][:size].reshape(-1, HOURS).sum(axis=1)
    total = traffic.counts[TOTAL][:size].reshape(-1, HOURS).sum(axis=1)
    kept = total > 0
    return float(np.median(missing[kept] / total[kept])) if kept.any() else 0.0


LEAST_SHARE = 0.02
"""The share of labels or rankings from which on a name that looks like a configured one matters."""


def is_due(reader: Counts, moment: int, *, is_first: bool) -> bool:
    """Return whether another day is over since the hour of the first ranking."""
    if reader.first is None:
        return False
    since = moment - reader.first // HOUR * HOUR
    return since >= DAY and (is_first or since % DAY == 0)


def watch_names(reader: Counts, moment: int) -> list[Anomaly]:
    """Look for names of the last day that match nothing, by what they are probably meant to be."""
    found: dict[Segment, Mismatch] = {}
    expected = reader.configuration.expected
    mismatches = reader.find_mismatches(moment - DAY, moment)
    unknown = sum(mismatch.count for mismatch in mismatches if mismatch.kind == "unknown_label")
    for mismatch in mismatches:
        segment = _find_segment(mismatch, expected, is_alone=unknown >= mismatch.of)
        if segment is not None:
            found.setdefault(segment, mismatch)
    return [
        Anomaly(
            kind="names",
            segment=segment,
            began=moment - DAY,
            found=moment,
            ratio=1.0,
            reason=f"In the last day, {one}.",
            evidence={"found": one.name, "looks_like": one.like} if one.like else {},
        )
        for segment, one in found.items()
    ]


def _find_segment(one: Mismatch, expected: Expected, *, is_alone: bool) -> Segment | None:
    """Return the stream that a mismatch is reported for, `None` if it may be intended.

    Senders may log more labels and attributes than count. They lack something if a name looks like
    one that counts, if an attribute is never there, or if no label counts.
    """
    is_near = bool(one.like) and one.count >= LEAST_SHARE * one.of
    if one.kind == "unmatched_label":
        return TOTAL
    if one.kind == "unknown_label":
        meant = one.like if is_near else expected.labels[0] if is_alone and expected.labels else ""
        return Segment(slice=(("label", meant),)) if meant else None
    if one.kind == "missing_attribute":
        return Segment(slice=(("attribute", one.name),))
    return Segment(slice=(("attribute", one.like),)) if is_near else None
