"""The sentences of early warnings, and their findings."""

from __future__ import annotations

from typing import Any

from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.progress import KIND, EarlyWarning, Fact
from rankscope.monitor.rules.state import Finding, Verdict
from rankscope.monitor.signals.kinds import REFERENCE_DAYS, SIGNALS

MOST_SHOWN = 20
KNOWN = {signal.name: signal for signal in SIGNALS}
TOLD = {
    "length": "{who} have {after} of the usual number of documents; {before} is usual",
    "no_results": "{after} of {who} are empty; {before} is usual",
    "tied": "{after} of neighboring documents have equal scores in {who}; {before} is usual",
    "constant": "{after} of {who} have the same score for all documents; {before} is usual",
    "ascending": "in {after} of neighboring documents, the lower one has the higher score in "
    "{who}; {before} is usual",
    "unseen": "{after} of the top documents of {who} weren't shown in the "
    f"{REFERENCE_DAYS} days before; {{before}} is usual",
    "overlap": "{who} overlap {after} with those of {earlier}; {before} is usual",
}
CHANGES = frozenset({"unseen", "overlap"})
"""What compares lists with those before: it is as usual again once the change is a day old."""


def name_stream(segment: Segment) -> str:
    """Name the lists of a stream, such as `lists of version 4 with device=tv`."""
    version = f" of version {segment.version}" if segment.version else ""
    model = f" of model {segment.model}" if segment.model and not version else ""
    place = " and ".join(f"{name}={value}" for name, value in segment.slice)
    return f"lists{version or model}{f' with {place}' if place else ''}"


def write_number(value: float) -> str:
    """Write the value of a signal as a percentage."""
    return f"{100 * value:.0f}%" if abs(value) >= 0.1 or not value else f"{100 * value:.1f}%"


def describe_fact(fact: Fact, earlier: str = "") -> str:
    """Say what changed, in a sentence; `earlier` is the version that lists are compared with.

    Examples:
        >>> from rankscope.monitor.rules.data.counts import Segment
        >>> from rankscope.monitor.rules.early.progress import Fact
        >>> tv = Segment("gbdt", "4", (("device", "tv"),))
        >>> numbers = {"began": 0, "found": 0, "rankings": 40, "spread": 0.1, "evidence": 20.0}
        >>> fact = Fact(signal="overlap", segment=tv, before=0.92, after=0.41, **numbers)
        >>> describe_fact(fact)
        'Lists of version 4 with device=tv overlap 41% with those of the same queries before; 92% \
is usual.'
        >>> describe_fact(fact, "3")
        'Lists of version 4 with device=tv overlap 41% with those of version 3 for the same \
queries; 92% is usual.'
    """
    before, after = (write_number(each) for each in (fact.before, fact.after))
    who = name_stream(fact.segment)
    told = TOLD.get(fact.signal)
    if told is None:
        verb = "rose" if fact.change > 0 else "fell"
        told = f"{KNOWN[fact.signal].label} of {{who}} {verb} to {{after}}; {{before}} is usual"
    them = f"version {earlier} for the same queries" if earlier else "the same queries before"
    said = told.format(who=who, before=before, after=after, earlier=them)
    return f"{said[:1].upper()}{said[1:]}."


def choose_fact(warning: EarlyWarning) -> Fact:
    """Return the fact that tells most of a warning: of its own stream, the most surprising one."""
    own = [fact for fact in warning.facts if fact.segment == warning.segment]
    return (own or warning.facts)[0]


def conclude(warning: EarlyWarning, verdict: Verdict, reason: str = "") -> Finding:
    """Return what is known of a warning as a finding."""
    lead, segment = choose_fact(warning), warning.segment
    told = describe_fact(lead)
    more = len({fact.signal for fact in warning.facts}) - 1
    if more:
        told += f" {more} other signal{'s' if more > 1 else ''} changed, too."
    return Finding(
        kind=KIND,
        model=segment.model,
        version=segment.version,
        slice=segment.slice,
        verdict=verdict,
        began=to_datetime(warning.began),
        before=lead.before,
        after=lead.after,
        reason=reason or told,
        evidence=write_evidence(warning),
    )


def write_evidence(warning: EarlyWarning) -> dict[str, Any]:
    """Return the facts of a warning, and whether later labels confirmed it, as JSON holds them."""
    lead = choose_fact(warning)
    # That of its own stream first.
    ordered = sorted(warning.facts, key=lambda one: one is not lead)
    facts = [write_fact(fact) for fact in ordered[:MOST_SHOWN]]
    return {
        "signal": lead.signal,
        "rankings": lead.rankings,
        "log_evidence": round(lead.evidence, 3),
        "facts": facts,
        "outcome": warning.outcome or "unknown",
        "outcome_sentence": warning.told or "Labels don't tell yet.",
    }


def write_fact(fact: Fact, earlier: str = "") -> dict[str, Any]:
    """Return a fact as JSON holds it, in the words of `describe_fact`."""
    return {
        "signal": fact.signal,
        "model": fact.segment.model,
        "version": fact.segment.version,
        "slice": dict(fact.segment.slice),
        "before": fact.before,
        "after": fact.after,
        "rankings": fact.rankings,
        "sentence": describe_fact(fact, earlier),
    }


def describe_end(warning: EarlyWarning, *, is_accepted: bool) -> str:
    """Say why a warning is over."""
    if is_accepted:
        return "This has lasted for 28 days and counts as usual now."
    since = describe_time(warning.began)
    if all(fact.signal in CHANGES for fact in warning.facts):
        return (
            "Lists haven't changed further for a day. They are now compared with those that were "
            f"shown since {since}."
        )
    return "The signals were as usual for a day."
