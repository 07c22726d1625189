"""Watches on volume, freshness, models and versions: whether rankings come as usual."""

from __future__ import annotations

from rankscope.monitor.alerts.watches.counts import TOTAL, Place
from rankscope.monitor.alerts.watches.surprise import FALLEN, RISEN
from rankscope.monitor.alerts.watches.traffic import LEAST_DAILY
from rankscope.monitor.alerts.watches.words import name, write_count, write_times
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.watches.progress import Trouble
    from rankscope.monitor.alerts.watches.traffic import Traffic

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


def watch_total(traffic: Traffic) -> Trouble | None:
    """Look for a change of all rankings together."""
    change = traffic.find_fall(TOTAL) or traffic.find_rise(TOTAL)
    if change is None:
        return None
    if not change.surprise.count:
        silence = traffic.count_silence(TOTAL)
        return describe(traffic.make_trouble("freshness", TOTAL, change, silence))
    return describe(traffic.make_trouble("volume", TOTAL, change, change.hours))


def watch_model(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a model that has stopped, or whose rankings are missing from the total."""
    change = traffic.find_fall(place, scale=traffic.scale(place))
    if change is None:
        return None
    hours = change.surprise.hours
    lost = float((traffic.expected(place, hours) - traffic.recent(place)[-hours:]).sum())
    usual = float(traffic.expected(TOTAL, hours).sum())
    is_missing = float(traffic.recent(TOTAL)[-hours:].sum()) < usual - FALLEN * lost
    if change.surprise.count:
        # Others were shown in its place: somebody has split the traffic in another way.
        if not is_missing:
            return None
        return describe(traffic.make_trouble("volume", place, change, change.hours))
    silence = traffic.count_silence(place)
    if not is_missing and (_has_faded(traffic, place, silence) or _has_heir(traffic, place)):
        return None
    return describe(traffic.make_trouble("versions", place, change, silence))


def watch_version(traffic: Traffic, place: Place) -> Trouble | None:
    """Look for a version that has stopped, without a newer one."""
    change = traffic.find_fall(place)
    if change is None or change.surprise.count:
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
    others = traffic.recent(Place(place.model))[-silence:].sum()
    if newer or not others or _has_faded(traffic, place, silence):
        return None
    return describe(traffic.make_trouble("versions", place, change, silence))


def explains(traffic: Traffic, trouble: Trouble, parts: list[Place]) -> bool:
    """Return whether some models alone make a fall or rise of all rankings."""
    hours = int(trouble.evidence["hours"])
    count = float(traffic.recent(TOTAL)[-hours:].sum())
    expected = float(traffic.expected(TOTAL, hours).sum())
    for place in parts:
        count -= float(traffic.recent(place)[-hours:].sum())
        expected -= float(traffic.expected(place, hours).sum())
    return bool(parts) and expected > 0 and FALLEN < count / expected < RISEN


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


def _is_steady(traffic: Traffic, place: Place) -> bool:
    usual = traffic.usual(place)
    return usual is not None and usual.daily >= LEAST_DAILY


def _has_faded(traffic: Traffic, place: Place, silence: int) -> bool:
    """Return whether a model had less than half of its rankings in the day before it stopped."""
    usual = traffic.usual(place)
    if usual is None:
        return False
    end = len(traffic.counts[place]) - silence
    before = float(traffic.counts[place][max(0, end - 24) : end].sum())
    expected = float(traffic.expected(place, silence + 24)[:24].sum())
    return before < FALLEN * expected


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
