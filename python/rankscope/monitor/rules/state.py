"""The state of a rule, as it is stored and shown."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from rankscope.monitor.rules.stored import show_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.rules.rule import Rule
    from rankscope.monitor.rules.stream import Stream

State: TypeAlias = Literal["OK", "ALERT", "NO_DATA", "STALE", "INSUFFICIENT"]
STATES: tuple[State, ...] = get_args(State)
MOST_NAMED = 3


@record(frozen=True, slots=True)
class RuleVerdict:
    """The state of a rule and its reason.

    Args:
        state: Its state.
        reason: Why.
    """

    state: State
    reason: str


def list_first(told: Sequence[str]) -> list[str]:
    """Return the first texts of a list, and how many more there are."""
    more = len(told) - MOST_NAMED
    return [*told[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def read_word(stored: str) -> State:
    """Return the state with a name."""
    return next(state for state in STATES if state == stored)


@record(frozen=True, slots=True, kw_only=True)
class RuleState:
    """The state of a rule and its streams.

    Args:
        rule: The rule.
        state: `OK`; `ALERT` while something has fallen; `NO_DATA` where nothing comes any more;
            `STALE` where a slice has no rankings any more; `INSUFFICIENT` where nothing can be
            said.
        since: Since when it is in this state, in UTC.
        reason: Why.
        evaluated: When something was concluded last.
        following: When the period begins that is looked at next.
        silenced_until: The end of the silence, or `None`.
        streams: What is known of each version and slice, those in ALERT first, then by evidence.
        late_rankings: How many rankings came after their period was looked at.
        passed_over: How many periods told nothing, because their labels were late.
        warnings: What makes conclusions doubtful, such as a baseline with other grades.
        unwatched: How many versions and slices there are beyond those that a rule watches at most.
    """

    rule: Rule
    state: State
    since: datetime
    reason: str
    evaluated: datetime
    following: datetime
    silenced_until: datetime | None
    streams: tuple[Stream, ...] = ()
    late_rankings: int = 0
    passed_over: int = 0
    warnings: tuple[str, ...] = ()
    unwatched: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        said = {name: getattr(self, name) for name in FIELDS}
        said |= {name: show_time(said[name]) for name in TIMES}
        streams = [stream.to_dict() for stream in self.streams]
        return said | {
            "rule": self.rule.to_dict(),
            "streams": streams,
            "warnings": list(self.warnings),
        }


FIELDS: tuple[str, ...] = RuleState.__match_args__
TIMES = ("since", "evaluated", "following", "silenced_until")
