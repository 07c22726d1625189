"""Watches on volume, freshness, models and versions: whether rankings come as usual."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.data.counts import TOTAL, Place
from rankscope.monitor.rules.data.surprise import FALLEN, sum_windows
from rankscope.monitor.rules.data.traffic import LEAST_DAILY
from rankscope.monitor.rules.data.words import name, write_count, write_times
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.rules.data.progress import Trouble
    from rankscope.monitor.rules.data.traffic import Change, Traffic

LEAST_EXPECTED = 1e-9
JUST = 7 * DAY
"""A model that is younger may have replaced another one."""


def find_models(traffic: Traffic) -> list[Place]:
    """Find the models that are watched on their own: none where there is only one."""
    models = [place for place in sorted(traffic.counts) if place.model and not place.version]
    known = [place for place in models if _is_steady(traffic, place)]
    return known if len(models) > 1 or traffic.rule.model is not None else []


def find_versions(traffic: Traffic) -> list[Place]:
    """Find the versions that are watched on their own."""
    places = [place for place in sorted(traffic.counts) if place.version]
    models = [place.model for place in places]
    return [
        place for place in places if models.count(place.model) > 1 and _is_steady(traffic, place)
    ]


def watch_silence(traffic: Traffic) -> Trouble | None:
    """Look for rankings that do not arrive any more."""
    change = traffic.find_silence(TOTAL)
    if change is None:
        return None
    silence = traffic.count_silence(TOTAL)
    return describe(traffic.make_trouble("freshness", TOTAL, change, silence))


def watch_fall(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a fall of all rankings together."""
    return _report(traffic, place, traffic.find_fall(place))


def watch_rise(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a rise of all rankings together."""
    return _report(traffic, place, traffic.find_rise(place))


def watch_model(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a model that has stopped."""
    change = traffic.find_silence(place, scale=traffic.scale(place))
    if change is None:
        return None
    silence = traffic.count_silence(place)
    is_replaced = _has_faded(traffic, place, silence) or _has_heir(traffic, place)
    if is_replaced and not _is_missed(traffic, place, change):
        return None
    return describe(traffic.make_trouble("versions", place, change, silence))


def watch_model_volume(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a model whose rankings have fallen, and are missing from the total."""
    change = traffic.find_fall(place, scale=traffic.scale(place))
    # Where others were shown in its place, somebody has split the traffic in another way.
    if change is None or not _is_missed(traffic, place, change):
        return None
    return _report(traffic, place, change)


def _is_missed(traffic: Traffic, place: Place, change: Change) -> bool:
    hours = change.surprise.hours
    lost = float((traffic.expected(place, hours) - traffic.recent(place)[-hours:]).sum())
    usual = float(traffic.expected(TOTAL, hours).sum())
    return float(traffic.recent(TOTAL)[-hours:].sum()) < usual - FALLEN * lost


def watch_version(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a version that has stopped, without a newer one."""
    model = Place(place.model)
    usual = traffic.usual(model)
    if usual is None:
        return None
    expected = np.maximum(usual.spans[0, traffic.end], LEAST_EXPECTED)
    change = traffic.find_silence(place, scale=sum_windows(traffic.recent(model)) / expected)
    if change is None:
        return None
    silence = traffic.count_silence(place)
    first = traffic.find_first(place)
    newer = [
        one
        for one in traffic.counts
        if one.model == place.model
        and one.version
        and traffic.find_first(one) > first
        and traffic.recent(one)[-silence:].sum() > 0
    ]
    others = traffic.recent(model)[-silence:].sum()
    if newer or not others or _has_faded(traffic, place, silence):
        return None
    return describe(traffic.make_trouble("versions", place, change, silence))


def describe(trouble: Trouble) -> Trouble:
    """Say in a sentence what is wrong."""
    place, numbers = trouble.place, trouble.evidence
    since = describe_time(trouble.began)
    daily = f"before, about {write_count(numbers['daily'])} a day"
    is_silent = not numbers["count"]
    if trouble.kind == "freshness" and is_silent:
        told = f"No rankings have arrived since {since}; {daily}."
    elif trouble.kind == "versions" and place.version:
        told = (
            f"Version {name(place.version)} of model {name(place.model)} has shown "
            f"{'no' if is_silent else 'few'} rankings since {since}, and older versions are shown "
            f"in its place; {daily}."
        )
    elif trouble.kind == "versions" and is_silent:
        told = f"Model {name(place.model)} has shown no rankings since {since}; {daily}."
    else:
        who = f" of model {name(place.model)}" if place.model else ""
        told = f"Rankings{who} {compare(trouble)}."
    return replace(trouble, reason=told)


def compare(trouble: Trouble) -> str:
    """Say how far counts are from what is usual, and since when."""
    numbers = trouble.evidence
    count, expected = numbers["count"], numbers["expected"]
    verb = "fallen" if trouble.ratio < 1 else "risen"
    return (
        f"have {verb} to {write_times(count, expected)} the usual number since "
        f"{describe_time(trouble.began)}: {write_count(count)} instead of about "
        f"{write_count(expected)}" + ("" if numbers["hours"] < 168 else " in the last 7 days")
    )


def _report(traffic: Traffic, place: Place, change: Change | None) -> Trouble | None:
    if change is None or not change.surprise.count:
        return None
    return describe(traffic.make_trouble("volume", place, change, change.hours))


def _is_steady(traffic: Traffic, place: Place) -> bool:
    usual = traffic.usual(place)
    return usual is not None and usual.daily >= LEAST_DAILY


def _has_faded(traffic: Traffic, place: Place, silence: int) -> bool:
    """Return whether less than half of its part of rankings came in the day before it stopped."""
    end = len(traffic.counts[TOTAL]) - silence
    mine, of_all = (
        float(traffic.counts[one][max(0, end - 24) : end].sum())
        / max(float(traffic.expected(one, silence + 24)[:24].sum()), LEAST_EXPECTED)
        for one in (place, TOTAL)
    )
    return mine < FALLEN * min(1.0, of_all)


def _has_heir(traffic: Traffic, place: Place) -> bool:
    """Return whether a new model has taken most of the rankings of one that has stopped."""
    silence = traffic.count_silence(place)
    began = traffic.moment - silence * HOUR
    lost = float(traffic.expected(place, silence).sum())
    return any(
        traffic.find_first(one) > began - JUST
        and traffic.recent(one)[-silence:].sum() >= FALLEN * lost
        for one in traffic.counts
        if one.model and not one.version and one != place
    )
