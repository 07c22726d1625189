"""Watches on volume, freshness, models and versions: whether rankings come as usual."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.data.counts import TOTAL, Segment
from rankscope.monitor.rules.data.surprise import FALLEN, sum_windows
from rankscope.monitor.rules.data.traffic import LEAST_DAILY
from rankscope.monitor.rules.data.words import name, write_count, write_times
from rankscope.records import replace

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
    known = [segment for segment in models if _is_steady(traffic, segment)]
    return known if len(models) > 1 or traffic.rule.model is not None else []


def find_versions(traffic: Traffic) -> list[Segment]:
    """Find the versions that are watched on their own."""
    segments = [segment for segment in sorted(traffic.counts) if segment.version]
    models = [segment.model for segment in segments]
    return [
        segment
        for segment in segments
        if models.count(segment.model) > 1 and _is_steady(traffic, segment)
    ]


def watch_silence(traffic: Traffic) -> Anomaly | None:
    """Look for rankings that do not arrive any more."""
    change = traffic.find_silence(TOTAL)
    if change is None:
        return None
    silence = traffic.count_silence(TOTAL)
    return describe(traffic.make_anomaly("freshness", TOTAL, change, silence))


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
    return describe(traffic.make_anomaly("versions", segment, change, silence))


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
        one
        for one in traffic.counts
        if one.model == segment.model
        and one.version
        and traffic.find_first(one) > first
        and traffic.recent(one)[-silence:].sum() > 0
    ]
    others = traffic.recent(model)[-silence:].sum()
    if newer or not others or _has_faded(traffic, segment, silence):
        return None
    return describe(traffic.make_anomaly("versions", segment, change, silence))


def describe(anomaly: Anomaly) -> Anomaly:
    """Say in a sentence what is wrong."""
    segment, numbers = anomaly.segment, anomaly.evidence
    since = describe_time(anomaly.began)
    daily = f"before, about {write_count(numbers['daily'])} a day"
    is_silent = not numbers["count"]
    if anomaly.kind == "freshness" and is_silent:
        told = f"No rankings have arrived since {since}; {daily}."
    elif anomaly.kind == "versions" and segment.version:
        told = (
            f"Version {name(segment.version)} of model {name(segment.model)} has shown "
            f"{'no' if is_silent else 'few'} rankings since {since}, and older versions are shown "
            f"in its segment; {daily}."
        )
    elif anomaly.kind == "versions" and is_silent:
        told = f"Model {name(segment.model)} has shown no rankings since {since}; {daily}."
    else:
        who = f" of model {name(segment.model)}" if segment.model else ""
        told = f"Rankings{who} {compare(anomaly)}."
    return replace(anomaly, reason=told)


def compare(anomaly: Anomaly) -> str:
    """Say how far counts are from what is usual, and since when."""
    numbers = anomaly.evidence
    count, expected = numbers["count"], numbers["expected"]
    verb = "fallen" if anomaly.ratio < 1 else "risen"
    return (
        f"have {verb} to {write_times(count, expected)} the usual number since "
        f"{describe_time(anomaly.began)}: {write_count(count)} instead of about "
        f"{write_count(expected)}" + ("" if numbers["hours"] < 168 else " in the last 7 days")
    )


def _report(traffic: Traffic, segment: Segment, change: Change | None) -> Anomaly | None:
    if change is None or not change.surprise.count:
        return None
    return describe(traffic.make_anomaly("volume", segment, change, change.hours))


def _is_steady(traffic: Traffic, segment: Segment) -> bool:
    usual = traffic.usual(segment)
    return usual is not None and usual.daily >= LEAST_DAILY


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
        traffic.find_first(one) > began - JUST
        and traffic.recent(one)[-silence:].sum() >= FALLEN * lost
        for one in traffic.counts
        if one.model and not one.version and one != segment
    )
