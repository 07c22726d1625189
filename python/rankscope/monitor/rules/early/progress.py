"""What a rule about signals remembers from one hour to the next."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.plain import Stored
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.usual import DAYS
from rankscope.monitor.rules.run import Progress
from rankscope.monitor.rules.state import StreamKey

Outcome: TypeAlias = Literal["", "confirmed", "not confirmed", "unknown"]
KIND = "early"
KEPT = 100 * DAY
"""How long a warning that is over is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Stored):
    """A signal of a stream that changed.

    Args:
        signal: The name of the signal.
        segment: The stream.
        began: When it seems to have changed, in microseconds since 1970 in UTC.
        found: When that was found.
        before: What is usual.
        after: The mean since it changed.
        rankings: The number of rankings since.
        spread: The standard deviation of the change, if nothing had changed.
        evidence: How surprising that is.
    """

    signal: str
    segment: Segment
    began: int
    found: int
    before: float
    after: float
    rankings: int
    spread: float
    evidence: float

    @property
    def key(self) -> tuple[str, Segment]:
        """What tells it from others."""
        return self.signal, self.segment

    @property
    def change(self) -> float:
        """By how much it changed."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyWarning(Stored):
    """Signals that changed at one time for one cause.

    Args:
        segment: The smallest stream that explains them.
        began: When they seem to have changed, in microseconds since 1970 in UTC.
        found: When that was found.
        facts: The signals that changed, the most surprising first.
        until: When they were as usual again, or a person said that they are; 0 while they aren't.
        is_accepted: Whether what came since it began is what is usual.
        outcome: Whether later labels confirmed it; empty until they can.
        told: What they say, in a sentence.
        judged: As of when they do.
    """

    segment: Segment
    began: int
    found: int
    facts: tuple[Fact, ...]
    until: int = 0
    is_accepted: bool = False
    outcome: Outcome = ""
    told: str = ""
    judged: int = 0

    @property
    def key(self) -> StreamKey:
        """The stream of its incident."""
        return KIND, *self.segment


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyProgress(Progress):
    """What a rule about signals remembers.

    Args:
        basis: The model that is watched, and since when; empty for all.
        first: When the first hour begins, in microseconds since 1970 in UTC.
        following: When the hour begins that is looked at next.
        warnings: The warnings that last.
        over: Those that are over.
        peaks: The most surprising of each of the last days: the day, and its evidence.
        watched: How many streams are compared with what is usual.
        rows: How many signals of streams are.
    """

    basis: str
    first: int
    following: int
    warnings: tuple[EarlyWarning, ...] = ()
    over: tuple[EarlyWarning, ...] = ()
    peaks: tuple[tuple[int, float], ...] = ()
    watched: int = 0
    rows: int = 0

    @property
    def is_alert(self) -> bool:
        """Whether signals aren't as usual."""
        return bool(self.warnings)

    def restart(
        self,
        keys: Collection[StreamKey],
        now: int,
        *,
        is_all: bool,
    ) -> EarlyProgress:
        """Take what came since warnings began for usual, as a person has resolved them."""
        progress = self
        for each in self.warnings:
            if is_all or each.key in keys:
                progress = progress.end(each, -(-now // HOUR) * HOUR, is_accepted=True)
        return progress

    def put(self, warning: EarlyWarning) -> EarlyProgress:
        """Add a warning, or replace the one of its stream."""
        others = [each for each in self.warnings if each.key != warning.key]
        return replace(self, warnings=tuple(sorted([*others, warning], key=lambda one: one.key)))

    def end(self, warning: EarlyWarning, until: int, *, is_accepted: bool = False) -> EarlyProgress:
        """Remove a warning that is over."""
        others = tuple(each for each in self.warnings if each.key != warning.key)
        done = replace(warning, until=until, is_accepted=is_accepted)
        return replace(self, warnings=others, over=(*self.over, done))

    def forget(self, moment: int) -> EarlyProgress:
        """Forget what was over long before a time."""
        return replace(
            self,
            over=tuple(each for each in self.over if each.until >= moment - KEPT),
            peaks=tuple(each for each in self.peaks if each[0] >= moment - (DAYS + 1) * DAY),
        )

    def list_skipped(self) -> dict[tuple[str, Segment], list[tuple[int, int]]]:
        """List from when until when nothing is learned of what is usual, by signal and stream."""
        skipped: dict[tuple[str, Segment], list[tuple[int, int]]] = {}
        for each in (*self.over, *self.warnings):
            for fact in each.facts:
                began, until = each.began, each.until or self.following + HOUR
                span = (0, began) if each.is_accepted else (began, until)
                skipped.setdefault(fact.key, []).append(span)
        return skipped
