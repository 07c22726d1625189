"""The sentences of findings about counts, and how they write numbers and names."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.data.progress import Anomaly
from rankscope.monitor.rules.data.traffic import Traffic
from rankscope.monitor.rules.data.watches import find_heirs, measure_share

LONGEST_NAME = 80
WORD = re.compile(rf"[\w.-]{{1,{LONGEST_NAME}}}")


def name(text: str) -> str:
    """Write a name from a log on one line.

    Examples:
        >>> name("gbdt"), name("")
        ('gbdt', "''")
    """
    shown = text if text and text.isprintable() else ascii(text)
    return shown if len(shown) <= LONGEST_NAME else f"{shown[:LONGEST_NAME]}…"


def code(text: str) -> str:
    """Write the name or the value of an attribute, in quotes unless it is one word.

    Examples:
        >>> print(code("tv"), code("smart tv"))
        tv "smart tv"
    """
    return text if WORD.fullmatch(text) else f'"{name(text)}"'


def write_count(count: float) -> str:
    """Write a count as people say it.

    Examples:
        >>> write_count(1234.4), write_count(3.2)
        ('1,234', '3')
    """
    return f"{count:,.0f}"


def write_share(share: float) -> str:
    """Write a share as a percentage.

    Examples:
        >>> write_share(0.123), write_share(0.004)
        ('12%', '0.4%')
    """
    return f"{100 * share:.0f}%" if share >= 0.01 or not share else f"{100 * share:.1f}%"


def write_times(count: float, expected: float) -> str:
    """Write a count as a part or a multiple of what is usual.

    Examples:
        >>> write_times(11, 100), write_times(300, 100)
        ('11% of', '3.0 times')
    """
    ratio = count / expected if expected else 0.0
    return f"{write_share(ratio)} of" if ratio < 1 else f"{ratio:.1f} times"


def describe(traffic: Traffic, anomaly: Anomaly) -> Anomaly:
    """Say in a sentence what is wrong with the counts of a segment."""
    if anomaly.segment.slice:
        told, more = _describe_value(traffic, anomaly)
        return replace(anomaly, reason=told, evidence={**anomaly.evidence, **more})
    return replace(anomaly, reason=_describe_rankings(anomaly))


def _describe_rankings(anomaly: Anomaly) -> str:
    segment, numbers = anomaly.segment, anomaly.evidence
    since = describe_time(anomaly.began)
    daily = f"before, about {write_count(numbers['daily'])} a day"
    is_silent = not numbers["count"]
    if anomaly.kind == "freshness" and is_silent:
        return f"No rankings have arrived since {since}; {daily}."
    if anomaly.kind == "versions" and segment.version:
        return (
            f"Version {name(segment.version)} of model {name(segment.model)} has shown "
            f"{'no' if is_silent else 'few'} rankings since {since}, and older versions are shown "
            f"in its segment; {daily}."
        )
    if anomaly.kind == "versions" and is_silent:
        return f"Model {name(segment.model)} has shown no rankings since {since}; {daily}."
    who = f" of model {name(segment.model)}" if segment.model else ""
    return f"Rankings{who} {_compare(anomaly)}."


def _describe_value(traffic: Traffic, anomaly: Anomaly) -> tuple[str, dict[str, Any]]:
    """Describe what changed about a value of an attribute, and add what the sentence needs."""
    segment, numbers = anomaly.segment, anomaly.evidence
    attribute, since = segment.attribute, describe_time(anomaly.began)
    what = f"{code(attribute)}={code(segment.value)}"
    if segment.is_missing:
        share, usual = write_share(numbers["share"]), write_share(numbers["usual"])
        return (
            f"{code(attribute)} is missing in {share} of rankings since {since}; {usual} is usual."
        ), {}
    if anomaly.is_new:
        share_since = measure_share(traffic, segment, anomaly.began)
        told = f"{what} is new since {since}, in {write_share(share_since)} of rankings."
        return told, {"share": round(share_since, 4)}
    if anomaly.kind == "volume" or numbers["count"]:
        return f"Rankings with {what} {_compare(anomaly)}.", {}
    heirs = numbers.get("after") or [
        one.value for one in find_heirs(traffic, attribute, anomaly.began)
    ]
    daily = f"before, about {write_count(numbers['daily'])} rankings a day"
    if not heirs:
        return f"{what} vanished on {since}; {daily}.", {}
    new, are = ", ".join(map(code, heirs)), "is" if len(heirs) == 1 else "are"
    told = f"{what} vanished on {since}, and {new} {are} new; {daily}."
    return told, {"before": segment.value, "after": heirs}


def _compare(anomaly: Anomaly) -> str:
    """Say how far counts are from what is usual, and since when."""
    numbers = anomaly.evidence
    count, expected = numbers["count"], numbers["expected"]
    verb = "fallen" if anomaly.ratio < 1 else "risen"
    return (
        f"have {verb} to {write_times(count, expected)} the usual number since "
        f"{describe_time(anomaly.began)}: {write_count(count)} instead of about "
        f"{write_count(expected)}" + ("" if numbers["hours"] < 168 else " in the last 7 days")
    )
