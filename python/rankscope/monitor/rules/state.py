"""Findings: what a check has concluded about one stream at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.plain import write_record
from rankscope.monitor.rules.rule import Rule
from rankscope.monitor.rules.stream import Stream

# One of `rankscope.monitor.rules.kinds.PROBLEMS`.
Kind: TypeAlias = str
Verdict: TypeAlias = Literal["bad", "good", "gone", "noted", "unknown"]
StreamKey: TypeAlias = tuple[Kind, str, str, Slice]

LOST_LABELS: frozenset[Kind] = frozenset({"labels", "label_freshness"})
"""The kinds that are about labels that are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check has concluded about one stream at one moment.

    A stream is what a rule watches on its own: a kind of problem, a model, a version and a slice.

    Args:
        kind: What the check is about.
        model: The model; empty where the check is about all of them.
        version: Its version; empty where the check is about all of them.
        slice: Pairs of an attribute and its value; empty for all rankings.
        verdict: `bad` if there is a problem, `good` if there is none, `gone` if what it is about is
            no longer served, `noted` if only more is known about an incident, `unknown` if the
            data doesn't tell; this changes nothing.
        began: When the problem seems to have begun, in UTC.
        before: The value, count or share before; `None` where there is none.
        after: The same since it began.
        reason: The reason, in one sentence.
        evidence: What it is based on, as JSON holds it.

    Examples:
        >>> Finding(kind="volume", model="gbdt", verdict="bad", reason="No rankings.").key
        ('volume', 'gbdt', '', ())
    """

    kind: Kind
    model: str = ""
    version: str = ""
    slice: Slice = ()
    verdict: Verdict
    began: datetime | None = None
    before: float | None = None
    after: float | None = None
    reason: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> StreamKey:
        """What tells the stream apart from the others of its rule."""
        return self.kind, self.model, self.version, self.slice


State: TypeAlias = Literal["OK", "ALERT", "NO_DATA", "STALE", "INSUFFICIENT"]
STATES: tuple[State, ...] = get_args(State)
MOST_NAMED = 3


class RuleVerdict(NamedTuple):
    """The state of a rule and its reason.

    Args:
        state: Its state.
        reason: Why.
    """

    state: State
    reason: str


def join_first(texts: Sequence[str], between: str = "; ", last: str = "; ") -> str:
    """Join the first texts of a list, and say how many more there are."""
    more = len(texts) - MOST_NAMED
    shown = between.join(texts[:MOST_NAMED])
    return f"{shown}{last}and {more:,} more" if more > 0 else shown


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleState:
    """The state of a rule and its streams.

    Args:
        rule: The rule.
        state: `OK`; `ALERT` while something has fallen; `NO_DATA` where nothing comes any more;
            `STALE` where a slice has no rankings any more; `INSUFFICIENT` where nothing can be
            said.
        since: Since when it is in this state, in UTC; in ALERT, when the first problem began.
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
        return write_record(self)
