"""Watches on attributes: values that vanish, change or are new, and rankings that lack them."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import TOTAL, Segment
from rankscope.monitor.rules.data.progress import Anomaly
from rankscope.monitor.rules.data.surprise import (
    AGAIN,
    FALLEN,
    LONGEST,
    find_start,
    measure_surprise,
    weigh_return,
)
from rankscope.monitor.rules.data.traffic import place_missing
from rankscope.monitor.rules.data.usual import FEWEST_DAYS, HOURS
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.monitor.rules.data.traffic import Traffic

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
    if change is None:
        return None
    return traffic.make_anomaly("attributes", segment, change, traffic.count_silence(segment))


def watch_value_volume(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a value that has fallen or risen, other than all rankings have."""
    scale = traffic.scale(segment)
    change = traffic.find_fall(segment, scale=scale) or traffic.find_rise(segment, scale=scale)
    if change is None or not change.surprise.count:
        return None
    return traffic.make_anomaly("volume", segment, change, change.hours)


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
