"""A rule during a check: what is due, what it finds, and its row in the store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.times import count_micros, to_datetime
from rankscope.monitor.plain import Stored
from rankscope.monitor.rules.rule import Rule
from rankscope.monitor.rules.state import Finding, RuleVerdict, StreamKey
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import LOG, OPERATOR, WEBHOOK, RuleRow, Version
from rankscope.monitor.store.store import StoreReader

T = TypeVar("T")
Drawn: TypeAlias = Literal["measure", "labelled", "empty", "rankings"]


ACTOR = "rankscope"
"""Who changes a rule or an incident where no person does."""
RESOLVED = "marked as resolved"


@dataclass(frozen=True, slots=True)
class Check:
    """A rule at one moment.

    Args:
        rule: The rule.
        silenced_until: When it sends notifications again, in UTC; `None` if it does so now.
        findings: What it has found, at most one finding for each stream.
        has_ended_day: Whether a day has just become final, so that causes are traced again.
    """

    rule: Rule
    silenced_until: datetime | None = None
    findings: tuple[Finding, ...] = ()
    has_ended_day: bool = False

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels of its notifications; `*` stands for all that the operator has defined."""
        if self.rule.channels is None:
            return (LOG, WEBHOOK, OPERATOR)
        return tuple(dict.fromkeys((LOG, *self.rule.channels)))

    def is_silent(self, now: datetime) -> bool:
        """Whether its notifications are kept back."""
        return self.silenced_until is not None and now < self.silenced_until


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the rules of a project are checked on.

    Args:
        store: Where events are stored.
        project: The name of the project.
        configuration: The configuration of the project.
        slicing: Which values have slices of their own.
        rules: All rules of the project.
        versions: The versions that have rankings.
        now: The current time, in microseconds since 1970 in UTC.
        seq: The number of the last event.
        is_replay: Whether a rule that has looked at nothing begins with the first ranking.
        threads: The number of threads.
        made: What rules share, by the function that made it.
    """

    store: StoreReader
    project: str
    configuration: Configuration
    slicing: Slicing
    rules: Sequence[Rule]
    versions: Sequence[Version]
    now: int
    seq: int
    is_replay: bool
    threads: int | None
    made: dict[Callable[[Scene], Any], Any]

    @property
    def shown(self) -> list[Version]:
        """The versions that have rankings in production."""
        return [each for each in self.versions if each.environment == "production"]

    @property
    def window(self) -> int:
        """The attribution window, in microseconds."""
        return self.configuration.definition.window * SECOND

    @property
    def grace(self) -> int:
        """How long late events are waited for, in microseconds."""
        return count_micros(self.configuration.grace)

    def share(self, make: Callable[[Scene], T]) -> T:
        """Return what a function makes of the scene; it is called once."""
        if make not in self.made:
            self.made[make] = make(self)
        made: T = self.made[make]
        return made


class Progress(Stored, ABC):
    """What a rule remembers, as it is stored: a base of records with at least these fields.

    Attributes:
        basis: A hash of what is measured; with another one the rule begins anew.
        first: When the first period begins, in microseconds since 1970 in UTC.
        following: When the period begins that is looked at next.
    """

    __slots__ = ()
    if TYPE_CHECKING:
        basis: str
        first: int
        following: int

    @classmethod
    def begin(cls, basis: str, first: int, seq: int) -> Self:  # noqa: ARG003 - of some kinds
        """Return what a rule remembers before its first period."""
        return cls(basis=basis, first=first, following=first)  # type: ignore[call-arg] # of records

    @property
    @abstractmethod
    def is_alert(self) -> bool:
        """Whether something is wrong that a person has not resolved."""

    @abstractmethod
    def restart(self, keys: Collection[StreamKey], now: int, *, is_all: bool) -> Self:
        """Discard the evidence about some streams, or all, as a person has resolved them."""

    def describe(self) -> dict[str, Any]:
        """Return fields of the rule's state."""
        return {}

    def to_text(self) -> str:
        """Return all of it as text that `from_text` reads back."""
        return self.to_json()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` has written."""
        return cls.from_json(text)


class RuleRun(ABC):
    """A rule during a check.

    Args:
        scene: What it is checked on.
        row: The rule as it was stored.

    Attributes:
        progress_type: What rules of the kind remember.
        rule: The rule.
        row: The rule as it was stored last.
        progress: What it remembers.
        wait: How long after a period it is due, in microseconds.
        periods: How many periods were looked at.
        complaint: Why it can't be checked; empty if it can.
        is_new: Whether something was concluded that is not stored.
        is_restarted: Whether what was concluded before is void.
        has_ended_day: Whether the period looked at last was final, and the last one of a day.
        audit: What was changed about the rule, for the audit log.
    """

    progress_type: ClassVar[type[Progress]]
    rule: Any
    progress: Any

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        self.rule = next(rule for rule in scene.rules if rule.name == row.name)
        self.row = row
        self.progress = self.progress_type.from_text(row.progress)
        self.wait = scene.window + scene.grace
        self.periods = 0
        self.complaint = ""
        self.is_new = self.is_restarted = self.has_ended_day = False
        self.audit: AuditEntry | None = None
        self._scene = scene
        self._has_rankings = bool(scene.shown)
        try:
            self.rule.check(scene.configuration)
        except UsageError as error:
            self.complaint = error.message
            return
        basis = self.rule.find_basis(scene.configuration)
        if basis != self.progress.basis:
            self.progress = self.progress_type.begin(basis, self.progress.following, scene.seq)
            subject = f"{self.rule.name}: what is measured was changed"
            self.audit = AuditEntry(scene.now, ACTOR, "rule.restart", subject)
            self.is_restarted = self.is_new = True
        if self._has_rankings and self.progress.following == self.progress.first:
            self._begin()

    def _begin(self) -> None:
        """Begin with the first period that has rankings."""
        scene, length = self._scene, self.rule.step
        start = min(each.first for each in scene.shown) // length * length
        if not scene.is_replay:
            start = max(self.progress.following, min(start, scene.now // length * length))
        self.progress = replace(self.progress, first=start, following=start)

    def find_due(self) -> int | None:
        """Return the moment at which the next period is final, `None` if there is none by now."""
        if self.complaint or not self._has_rankings:
            return None
        due = int(self.progress.following + self.rule.step + self.wait)
        return due if due <= self._scene.now else None

    @abstractmethod
    def take(self) -> tuple[Finding, ...]:
        """Look at the period that is due, and return what was found."""

    @abstractmethod
    def decide(self, moment: int) -> RuleVerdict:
        """Return the state of the rule at a moment, apart from its incidents."""

    def write_progress(self) -> str:
        """Return what it has looked at and concluded, as it is stored."""
        return str(self.progress.to_text())

    def pass_period(self, **concluded: object) -> None:
        """Go on with the next period, with what was concluded from this one."""
        self.progress = replace(self.progress, **concluded)
        self.periods += 1
        self.is_new = True

    def write(self, moment: int) -> RuleRow:
        """Return the row to be stored: what was concluded by a moment."""
        progress, verdict = self.write_progress(), self._decide(moment)
        is_change = verdict.state != self.row.state
        return replace(
            self.row,
            progress=progress,
            state=verdict.state,
            reason=verdict.reason,
            since=moment if is_change else self.row.since,
            evaluated=moment,
            revision=self.row.revision + 1,
        )

    def has_news(self, moment: int) -> bool:
        """Whether the state or its reason are not those that are stored."""
        return self._decide(moment) != (self.row.state, self.row.reason)

    def check(self, findings: Iterable[Finding] = ()) -> Check:
        """Return the rule with what it has found."""
        until = self.row.silenced_until
        silenced = None if until is None else to_datetime(until)
        return Check(self.rule, silenced, tuple(findings), self.has_ended_day)

    def keep(self, row: RuleRow) -> None:
        """Take note that a row was stored."""
        self.row, self.audit, self.is_new = row, None, False

    def _decide(self, moment: int) -> RuleVerdict:
        if self.complaint:
            return RuleVerdict("INSUFFICIENT", self.complaint)
        return self.decide(moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A kind of incidents.

    Args:
        name: What is wrong, in a few words that begin a message.
        verb: What the measure of an incident did, as in `nDCG@5 fell`; empty where it names none.
        step: What to do, in a sentence or two.
        drawn: What its chart shows.
        is_hourly: Whether that is drawn by hour where it is short.
    """

    name: str
    step: str
    verb: str = ""
    drawn: Drawn = "rankings"
    is_hourly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of rules.

    Args:
        record: What a rule of the kind says.
        words: When it alerts, for the choice in a form.
        text: What it does, in a phrase.
        problems: The kinds of its incidents.
        run: Looks at what is due, and names what it remembers.
    """

    record: type[Rule]
    words: str
    text: str
    problems: Mapping[str, Problem]
    run: type[RuleRun]

    def begin(self, rule: Rule, configuration: Configuration, now: int, seq: int) -> str:
        """Return the stored progress of a rule that has looked at nothing yet."""
        basis = rule.find_basis(configuration)
        return self.run.progress_type.begin(basis, now - now % rule.step, seq).to_text()

    def read_progress(self, text: str) -> Progress:
        """Read what `begin`, or a check, has returned."""
        return self.run.progress_type.from_text(text)

    def restart(
        self, row: RuleRow, keys: Collection[StreamKey], now: int, *, is_all: bool
    ) -> RuleRow:
        """Return a row without the evidence about some streams, or all, as they were resolved."""
        progress = self.read_progress(row.progress).restart(keys, now, is_all=is_all)
        changed = replace(row, progress=progress.to_text())
        if row.state == "ALERT" and not progress.is_alert:
            return replace(changed, state="OK", reason=RESOLVED, since=now, evaluated=now)
        return changed
