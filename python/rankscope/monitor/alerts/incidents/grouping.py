"""Groups incidents that have the same cause, so that one release is one message."""

from __future__ import annotations

import json
from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import timedelta
    from typing import Any

    from rankscope.monitor.alerts.incidents.incident import Incident

ANY = "<all>"
"""The version of a stream that goes on over all versions."""
PERIODS = 2
"""Incidents of one cause begin at most so many periods apart."""


def find_group(
    incident: Incident, others: Iterable[Incident], lengths: Mapping[str, timedelta]
) -> str:
    """Return the group that a new incident belongs to: that of the oldest one that it relates to.

    Args:
        incident: The new incident.
        others: The incidents of the project that are not resolved.
        lengths: The lengths of the periods of rules, by the names of the rules.
    """
    related = [one for one in others if one.group and are_related(incident, one, lengths)]
    if related:
        return min(related, key=lambda one: (one.opened, one.incident_id)).group
    digest = blake2b(json.dumps([incident.incident_id]).encode(), digest_size=10).hexdigest()
    return f"group_{digest}"


def are_related(one: Incident, other: Incident, lengths: Mapping[str, timedelta]) -> bool:
    """Return whether two incidents seem to have the same cause.

    They have if the trace named the same cause for both. Otherwise, they have if they are about the
    same model and version, one slice contains the other, and they begin close together; that of
    missing data then explains that of quality.
    """
    near = PERIODS * max(lengths[one.rule], lengths[other.rule])
    if abs((one.began or one.opened) - (other.began or other.opened)) > near:
        return False
    if not (_may_be(one.model, other.model) and _may_be(one.version, other.version)):
        return False
    if one.cause is not None and other.cause is not None and _is_same(one.cause, other.cause):
        return True
    here, there = set(one.slice), set(other.slice)
    return here <= there or there <= here


def _may_be(one: str, other: str) -> bool:
    """Return whether two names may be the same; an empty one and `ANY` stand for all."""
    return one in {"", ANY, other} or other in {"", ANY}


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    names = ("slice", "new_version")
    said = [
        tuple(json.dumps(cause.get(name), sort_keys=True) for name in names)
        for cause in (one, other)
    ]
    return said[0] == said[1] and any(one.get(name) for name in names)
