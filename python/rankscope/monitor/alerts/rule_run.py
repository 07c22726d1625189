"""A rule during a check: what is due, what it finds, and its row in the store."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from hashlib import sha256

from rankscope.errors import UsageError
from rankscope.monitor.alerts.detect.feed import feed
from rankscope.monitor.alerts.detect.findings import make_findings
from rankscope.monitor.alerts.detect.progress import RuleProgress, begin
from rankscope.monitor.alerts.detect.state import RuleVerdict, decide
from rankscope.monitor.alerts.detect.step import next_step, pass_empty
from rankscope.monitor.alerts.detect.stream import ALL
from rankscope.monitor.alerts.incidents.conclusion import Check
from rankscope.monitor.alerts.incidents.finding import Finding
from rankscope.monitor.alerts.incidents.transitions import ACTOR
from rankscope.monitor.alerts.rule import LENGTHS, Rule, check_rule, choose_lanes
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import count_micros, to_datetime
from rankscope.monitor.store.keys import AuditEntry
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankscope.monitor.alerts.detect.step import Step
    from rankscope.monitor.alerts.periods import PeriodReader
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slicing
    from rankscope.monitor.store.records import RuleRow, Version
    from rankscope.monitor.store.store import StoreReader


class RuleRun(ABC):
    """A rule during a check.

    Args:
        row: The rule as it was stored.
        now: The current time, in microseconds since 1970 in UTC.

    Attributes:
        rule: The rule.
        row: The rule as it was stored last.
        periods: How many periods were looked at.
        is_new: Whether something was concluded that is not stored.
        is_restarted: Whether what was concluded before is void.
        has_ended_day: Whether the period looked at last was final, and the last one of a day.
        audit: What was changed about the rule, for the audit log.
    """

    def __init__(self, row: RuleRow, now: int) -> None:
        self.rule = Rule.from_json(row.rule)
        self.row = row
        self.periods = 0
        self.is_new = self.is_restarted = self.has_ended_day = False
        self.audit: AuditEntry | None = None
        self._now = now

    @abstractmethod
    def find_due(self) -> int | None:
        """Return the moment at which the next period is final, `None` if there is none by now."""

    @abstractmethod
    def take(self, moment: int) -> tuple[Finding, ...]:
        """Look at the period that is due at a moment, and return what was found."""

    @abstractmethod
    def write(self, moment: int) -> RuleRow:
        """Return the row to be stored: what was concluded by a moment."""

    @abstractmethod
    def has_news(self, moment: int) -> bool:
        """Whether the state or its reason are not those that are stored."""

    def check(self, findings: Iterable[Finding] = ()) -> Check:
        """Return the rule with what it has found."""
        until = self.row.silenced_until
        silenced = None if until is None else to_datetime(until)
        return Check(self.rule, silenced, tuple(findings), self.has_ended_day)

    def keep(self, row: RuleRow) -> None:
        """Take note that a row was stored."""
        self.row, self.audit, self.is_new = row, None, False

    def _make_row(self, progress: str, verdict: RuleVerdict, moment: int) -> RuleRow:
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


class QualityRun(RuleRun):
    """A rule about the values of a measure.

    Args:
        store: Where it is stored.
        project: The name of the project.
        configuration: The configuration of the project.
        slicing: Which values have slices of their own.
        row: The rule as it was stored.
        versions: The versions that have rankings.
        now: The current time, in microseconds since 1970 in UTC.
        seq: The number of the last event.
        is_replay: Whether a rule that has looked at nothing begins with the first ranking.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        configuration: Configuration,
        slicing: Slicing,
        row: RuleRow,
        *,
        versions: Sequence[Version],
        now: int,
        seq: int,
        is_replay: bool,
    ) -> None:
        super().__init__(row, now)
        self.progress = RuleProgress.from_text(row.progress)
        self.reader: PeriodReader | None = None
        self.complaint = ""
        self._store = store
        self._project = project
        self._slicing = slicing
        self._versions = versions
        self._seq = seq
        self._window = configuration.definition.window * SECOND
        self._grace = count_micros(configuration.grace)
        self._counted = self.progress.following
        try:
            check_rule(self.rule, configuration)
        except UsageError as error:
            self.complaint = error.message
            return
        basis = name_basis(self.rule, configuration)
        shown = [one.first for one in versions if one.environment == "production"]
        if not self.progress.basis:  # of a store that was migrated
            self.progress = replace(self.progress, basis=basis)
        if basis != self.progress.basis:
            self.progress = replace(
                begin(self.rule, basis, now, seq),
                first=self.progress.following,
                following=self.progress.following,
            )
            subject = f"{self.rule.name}: what is measured was changed"
            self.audit = AuditEntry(now, ACTOR, "rule.restart", subject)
            self.is_restarted = self.is_new = True
        elif is_replay and shown and self.rule.since is None and not self._has_begun:
            length = LENGTHS[self.rule.period]
            first = min(shown) // length * length
            self.progress = replace(self.progress, first=first, following=first)
        self._pass_empty()

    @property
    def ages(self) -> tuple[int, ...]:
        """The ages at which it checks early values, in microseconds."""
        return () if self.complaint else choose_lanes(self.rule, self._window)

    @property
    def _has_begun(self) -> bool:
        progress = self.progress
        return bool(progress.streams) or progress.following > progress.first

    def find_due(self) -> int | None:
        """Return the moment at which the next period can be checked, `None` if that is not yet."""
        if self.complaint or not self._versions:
            return None
        due = self._next().due
        return due if due <= self._now else None

    def _next(self) -> Step:
        return next_step(self.rule, self.progress, self._window, self._grace)

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Look at the next period, and return what was found."""
        if self.reader is None:
            raise ValueError("a run needs a reader")
        step = self._next()
        watched = {stream.key for stream in self.progress.streams}
        self.progress = feed(
            self.progress,
            self.rule,
            step,
            self.reader.read(step),
            contexts=self.reader.contexts,
            slicing=self._slicing,
            floors=self.reader.floors,
        )
        self.has_ended_day = not step.age and step.until % DAY == 0
        self.periods += 1
        self._pass_empty()
        self.is_new = True
        left = watched - {stream.key for stream in self.progress.streams}
        return (*make_findings(self.rule, self.progress), *map(_leave, sorted(left)))

    def _pass_empty(self) -> None:
        """Pass all periods before the first ranking and after the last one at once."""
        if self._versions:
            self.progress, count = pass_empty(
                self.rule,
                self.progress,
                self._window,
                self._grace,
                first=min(one.first for one in self._versions),
                last=max(one.last for one in self._versions),
                now=self._now,
            )
            self.periods += count

    def write(self, moment: int) -> RuleRow:
        """Return the row to be stored: what was concluded by a moment."""
        late = self.progress.late_rankings + self._store.count_late(
            self._project,
            model=self.rule.model,
            since=self.progress.first,
            until=self._counted,
            after=self.progress.seq,
            upto=self._seq,
        )
        self.progress = replace(self.progress, late_rankings=late, seq=self._seq)
        return self._make_row(self.progress.to_text(), self._decide(moment), moment)

    def _decide(self, moment: int) -> RuleVerdict:
        if self.complaint:
            return RuleVerdict("INSUFFICIENT", self.complaint)
        return decide(self.rule, self.progress, self._versions, moment)

    def has_news(self, moment: int) -> bool:
        """Whether the state or its reason are not those that are stored."""
        verdict = self._decide(moment)
        return (verdict.state, verdict.reason) != (self.row.state, self.row.reason)

    def keep(self, row: RuleRow) -> None:
        """Take note that a row was stored."""
        super().keep(row)
        self._counted = self.progress.following


def _leave(key: tuple[str, str, tuple[tuple[str, str], ...]]) -> Finding:
    """Return the finding about a version that is watched no more, whether it had fallen or not."""
    model, version, place = key
    said = f"model {model}" if version in {"", ALL} else f"version {version}"
    return Finding(
        kind="quality",
        model=model,
        version=version,
        slice=place,
        verdict="gone",
        reason=f"{said} is no longer served",
    )


def name_basis(rule: Rule, configuration: Configuration) -> str:
    """Return a hash of what a rule measures; evidence collected with another one is void."""
    chosen, definition = configuration.baseline, configuration.definition
    measured = definition.to_dict()
    measured["measures"] = [one for one in measured["measures"] if one == rule.measure]
    said = [
        rule.digest,
        measured,
        None if chosen is None else configuration.to_dict()["baseline"],
    ]
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]
