"""How a rule stands."""

from __future__ import annotations

from rankscope.monitor.alerts.progress import Progress
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.alerts.states import read_word
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.alerts.states import State
    from rankscope.monitor.alerts.stream import Stream
    from rankscope.monitor.store.rule_rows import RuleRow


@record(frozen=True, slots=True, kw_only=True)
class RuleState:
    """How a rule stands.

    Args:
        rule: The rule.
        state: `OK`; `ALERT` while something has fallen; `NO_DATA` where nothing comes any more;
            `INSUFFICIENT` where nothing can be said.
        since: Since when, in microseconds since 1970 in UTC.
        reason: Why.
        streams: What is known of each version and slice, those in ALERT first, then by evidence.
        evaluated: When something was concluded last.
        following: When the period begins that is looked at next.
        silenced_until: Until when nobody is told, or `None`.
        late_rankings: How many rankings came after their period was looked at.
        passed_over: How many periods told nothing, because their labels were late.
    """

    rule: Rule
    state: State
    since: int
    reason: str
    streams: tuple[Stream, ...]
    evaluated: int
    following: int
    silenced_until: int | None
    late_rankings: int
    passed_over: int

    def to_dict(self) -> dict[str, Any]:
        """Give it as numbers and texts."""
        said = {name: getattr(self, name) for name in FIELDS}
        streams = [stream.to_dict() for stream in self.streams]
        return said | {"rule": self.rule.to_dict(), "streams": streams}


FIELDS: tuple[str, ...] = RuleState.__match_args__


def read_state(row: RuleRow) -> RuleState:
    """Read how a rule stands from how it is stored."""
    progress = Progress.from_json(row.progress)
    return RuleState(
        rule=Rule.from_json(row.rule),
        state=read_word(row.state),
        since=row.since,
        reason=row.reason,
        streams=tuple(sorted(progress.streams, key=_urgency)),
        evaluated=row.evaluated,
        following=progress.following,
        silenced_until=row.silenced_until,
        late_rankings=progress.late_rankings,
        passed_over=progress.passed_over,
    )


def _urgency(stream: Stream) -> tuple[object, ...]:
    return stream.state != "ALERT", -stream.log_evidence, stream.key
