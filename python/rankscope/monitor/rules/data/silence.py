"""Watches on volume, freshness, models and versions: whether rankings come as usual."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import TOTAL, Segment
from rankscope.monitor.rules.data.surprise import FALLEN, sum_windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.rules.data.progress import Anomaly
    from rankscope.monitor.rules.data.traffic import Change, Traffic

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
    change = traffic.find_silence(TOTAL)
    if change is None:
        return None
    silence = traffic.count_silence(TOTAL)
    return traffic.make_anomaly("freshness", TOTAL, change, silence)


def watch_fall(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a fall of all rankings together."""
    return _report(traffic, segment, traffic.find_fall(segment))


def watch_rise(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a rise of all rankings together."""
    return _report(traffic, segment, traffic.find_rise(segment))


def watch_model(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a model that has stopped."""
    change = traffic.find_silence(segment, scale=traffic.scale(segment))
    if change is None:
        return None
    silence = traffic.count_silence(segment)
    is_replaced = _has_faded(traffic, segment, silence) or _has_heir(traffic, segment)
    if is_replaced and not _is_missed(traffic, segment, change):
        return None
    return traffic.make_anomaly("versions", segment, change, silence)


def watch_model_volume(traffic: Traffic, segment: Segment) -> Anomaly | None:
    """Look for a model whose rankings have fallen, and are missing from the total."""
    change = traffic.find_fall(segment, scale=traffic.scale(segment))
    # Where others were shown in its segment, somebody has split the traffic in another way.
    if change is None or not _is_missed(traffic, segment, change):
        return None
    return _report(traffic, segment, change)


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
    return traffic.make_anomaly("versions", segment, change, silence)


def _report(traffic: Traffic, segment: Segment, change: Change | None) -> Anomaly | None:
    if change is None or not change.surprise.count:
        return None
    return traffic.make_anomaly("volume", segment, change, change.hours)


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
