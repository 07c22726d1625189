"""Groups incidents that have the same cause, so that one release is one message, and names it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from rankscope.monitor.ask.cause import explains, leave_out_rankers
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.incidents.transitions import Turn

ANY = "<all>"
"""The version of a stream that goes on over all versions."""
PERIODS = 2
"""Incidents of one cause begin at most so many periods apart."""


def find_group(
    incident: Incident, others: Iterable[Incident], lengths: Mapping[str, timedelta]
) -> str:
    """Return the group that a new incident belongs to: that of the oldest that it relates to."""
    related = [one for one in others if one.group and are_related(incident, one, lengths)]
    if related:
        return min(related, key=lambda one: (one.opened, one.incident_id)).group
    digest = blake2b(json.dumps([incident.incident_id]).encode(), digest_size=10).hexdigest()
    return f"group_{digest}"


def are_related(one: Incident, other: Incident, lengths: Mapping[str, timedelta]) -> bool:
    """Return whether two incidents seem to have the same cause.

    They begin close together, or one goes on with the fall of the other's version. They have the
    same cause if the trace named the same one for both. Otherwise, they have if one slice contains
    the other, and they are about the same model and version; that of missing data then explains
    that of quality, and so does an early warning. Early warnings of several models or versions have
    one cause, too, and so have falls of quality, unless the trace named a new version for one.
    """
    near = PERIODS * max(lengths[one.rule], lengths[other.rule])
    if abs(one.began - other.began) > near:
        return False
    if one.cause is not None and other.cause is not None and _is_same(one.cause, other.cause):
        return True
    if not are_nested(one.slice, other.slice):
        return False
    if _may_be(one.model, other.model) and _may_be(one.version, other.version):
        return True
    if one.kind == other.kind == "early":
        return True
    if one.kind != "quality" or other.kind != "quality":
        return False
    goes_on = (one.model, one.began) == (other.model, other.began)
    return goes_on or not any((each.cause or {}).get("new_version") for each in (one, other))


def are_nested(one: Slice, other: Slice) -> bool:
    """Return whether one of two slices contains the other."""
    return set(one) <= set(other) or set(other) <= set(one)


def _may_be(one: str, other: str) -> bool:
    """Return whether two names may be the same; an empty one and `ANY` stand for all."""
    return one in {"", ANY, other} or other in {"", ANY}


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two causes are the same, whichever models they were found in."""
    here, there = (
        (leave_out_rankers(_read_slice(cause)), cause.get("new_version")) for cause in (one, other)
    )
    return sorted(here[0]) == sorted(there[0]) and here[1] == there[1] and any(here)


def share_causes(turns: Sequence[Turn], known: Mapping[str, Incident], now: datetime) -> list[Turn]:
    """Set the cause of each group that has changed to the best cause of its active incidents.

    A part keeps its own cause where that of the group contradicts its slice. Each model has its
    own, as the numbers of a cause are those of one model.
    """
    changed = {turn.incident.incident_id: turn for turn in turns}
    current = {**known, **{name: turn.incident for name, turn in changed.items()}}
    touched = {
        (turn.incident.group, turn.incident.model)
        for name, turn in changed.items()
        if name not in known or known[name].cause != turn.incident.cause
    }
    for group, model in sorted(touched):
        parts = [
            one
            for one in current.values()
            if group
            and (one.group, one.model) == (group, model)
            and one.is_active
            and one.kind == "quality"
        ]
        causes = [part.cause for part in parts if part.cause is not None]
        if not causes:
            continue
        best = min(causes, key=_rank)
        is_everywhere = not _read_slice(best)
        for part in parts:
            fits = is_everywhere or explains(_read_slice(best), part.slice)
            if not fits or part.cause == best:
                continue
            name = part.incident_id
            told = replace(part, cause=best, updated=now)
            turn = changed.get(name)
            changed[name] = Turn(told) if turn is None else replace(turn, incident=told)
    return list(changed.values())


def find_cause(incidents: Iterable[Incident]) -> str:
    """Return the best cause of some incidents in one sentence; an empty text if none was found."""
    causes = [one.cause for one in incidents if one.cause and one.cause.get("sentence")]
    return str(min(causes, key=_rank)["sentence"]) if causes else ""


def list_facts(told: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the signals that changed, of a cause or of what an early warning is based on."""
    facts = (told or {}).get("facts") or ()
    return [
        fact for fact in facts if isinstance(fact, dict) and isinstance(fact.get("sentence"), str)
    ]


def _rank(cause: Mapping[str, Any]) -> tuple[object, ...]:
    """Order causes: slices before everything, then by confidence, then the largest."""
    return (
        not cause.get("slice"),
        cause.get("p_value", 1.0),
        cause.get("contribution", 0.0),
        str(sorted(_read_slice(cause))),
    )


def _read_slice(cause: Mapping[str, Any]) -> Slice:
    return tuple(dict(cause.get("slice") or {}).items())
