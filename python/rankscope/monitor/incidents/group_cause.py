"""The cause that the incidents of a group have in common."""

from __future__ import annotations

from rankscope.monitor.ask.cause import explains
from rankscope.monitor.incidents.transitions import Turn
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.incidents.incident import Incident


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
        causes = [one.cause for one in parts if one.cause is not None]
        if not causes:
            continue
        best = min(causes, key=_rank)
        is_everywhere = not _read_slice(best)
        for one in parts:
            fits = is_everywhere or explains(_read_slice(best), one.slice)
            if not fits or one.cause == best:
                continue
            name = one.incident_id
            told = replace(one, cause=best, updated=now)
            turn = changed.get(name)
            changed[name] = Turn(told) if turn is None else replace(turn, incident=told)
    return list(changed.values())


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
