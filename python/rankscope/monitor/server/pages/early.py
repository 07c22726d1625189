"""Early warnings as pages show them: what changed, and how good warnings were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rankscope._stats.sums import quantile_of, wilson
from rankscope.monitor.events.times import describe_length
from rankscope.monitor.incidents import grouping
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.incidents.warnings import WarningRecord
from rankscope.monitor.rules.early.progress import KIND as EARLY
from rankscope.monitor.rules.kinds import DEFAULTS
from rankscope.monitor.rules.limit import SIGNALED

FEWEST = 5
"""Of fewer warnings that labels tell of, nobody can say how often warnings are right."""
LEVEL = 0.95


def list_signals(incident: Incident) -> list[str]:
    """Return the signals that an incident is about, each once; none where it is about others."""
    if incident.kind == "limit" and incident.measure in SIGNALED:
        return [incident.measure]
    return list(dict.fromkeys(str(fact.get("signal")) for fact in list_facts(incident)))


def list_facts(incident: Incident) -> list[Mapping[str, Any]]:
    """Return what an early warning is based on; nothing for another incident."""
    return grouping.list_facts(incident.evidence) if incident.kind == EARLY else []


def count_active(incidents: Iterable[Incident]) -> str:
    """Say how many incidents are active, and how many early warnings, which ask for less.

    Examples:
        >>> count_active([])
        'no active incidents'
    """
    kinds = Counter(each.kind == EARLY for each in incidents)
    said = [f"{kinds[False]:,} active incident{'s' if kinds[False] != 1 else ''}"]
    if kinds[True]:
        said.append(f"{kinds[True]:,} early warning{'s' if kinds[True] != 1 else ''}")
    return " and ".join(said if kinds[False] else said[1:]) or "no active incidents"


def describe_record(record: WarningRecord) -> str:
    """Say how good the early warnings of the last 90 days were; nothing where there were none.

    Examples:
        >>> from datetime import timedelta
        >>> from rankscope.monitor.incidents.warnings import WarningRecord
        >>> few = WarningRecord(warnings=2, confirmed=1, unknown=1, lead=timedelta(days=2))
        >>> for sentence in describe_record(few).split(". "):
        ...     print(sentence)
        2 in the last 90 days: labels confirmed 1, and don't tell of 1
        That is too few to tell how often warnings are right
        The confirmed one came 2 days before labels would have shown it.
    """
    if not record.warnings:
        return ""
    counts = {
        "confirmed": record.confirmed,
        "didn't confirm": record.not_confirmed,
        "don't tell of": record.unknown,
    }
    *parts, last = [f"{words} {count:,}" for words, count in counts.items() if count]
    told = ", ".join(parts) + (", and " if parts else "") + last
    said = [f"{record.warnings:,} in the last 90 days: labels {told}."]
    judged, precision = record.confirmed + record.not_confirmed, record.precision
    if precision is None or judged < FEWEST:
        said.append("That is too few to tell how often warnings are right.")
    else:
        low, high = wilson(precision, judged, quantile_of(LEVEL))
        said.append(f"Precision: {precision:.0%} (95% interval: {low:.0%} to {high:.0%}).")
    if record.lead is not None:
        lead, is_one = describe_length(record.lead), record.confirmed == 1
        who, them = ("The confirmed one", "it") if is_one else ("Confirmed ones", "them")
        often = "" if is_one else ", on average"
        said.append(f"{who} came {lead} before labels would have shown {them}{often}.")
    return " ".join(said)


WORDS = {
    "count_active": count_active,
    "describe_record": describe_record,
    "default_rules": DEFAULTS,
}
