"""Checks rules against every period that is final, and updates their states."""

from __future__ import annotations

import json
from functools import cached_property
from hashlib import sha256

from rankscope.errors import UsageError
from rankscope.monitor.alerts.detect.feed import feed
from rankscope.monitor.alerts.detect.floors import Floors
from rankscope.monitor.alerts.detect.progress import RuleProgress, begin
from rankscope.monitor.alerts.detect.sample import collect_sample
from rankscope.monitor.alerts.detect.state import RuleVerdict, decide, read_word
from rankscope.monitor.alerts.notify.alert import announce
from rankscope.monitor.alerts.rule import LENGTHS, Rule, check_rule
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.times import count_micros, to_micros
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import AlertRow
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.alerts.detect.sample import Sample
    from rankscope.monitor.alerts.notify.alert import Alert
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slicing
    from rankscope.monitor.store.records import Context, RuleRow, Version
    from rankscope.monitor.store.store import Store, StoreReader

ACTOR = "rankscope"
"""The actor of changes that nobody has asked for."""


@record(frozen=True, slots=True)
class Advanced:
    """What a check of all rules has changed.

    Args:
        rules: How many there are.
        periods: How many periods were looked at, counted once for each rule.
        alerts: The changes of their states.
    """

    rules: int
    periods: int
    alerts: tuple[Alert, ...]


def advance_rules(
    store: Store,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    *,
    now: int,
    threads: int | None = None,
) -> Advanced:
    """Check the rules of a project against all periods that are final by now.

    A period is looked at once the attribution windows of all its rankings, and the grace of the
    configuration, are over. What was concluded is stored with the change of the state that it
    makes; where nothing changes the state, when all is done. If the process ends before, the same
    periods are looked at again, with the same result. A clock that jumps makes no difference to
    that: what is next is stored, and not taken from the clock.

    Args:
        store: The store that holds the events and the rules.
        project: The name of the project.
        configuration: The configuration of the project.
        slicing: Which values have slices of their own.
        now: The current time, in microseconds since 1970 in UTC.
        threads: The number of threads; the result does not depend on it.

    Raises:
        FileError: The store does not take what is to be stored.
    """
    rows = store.list_rules(project)
    if not rows:
        return Advanced(0, 0, ())
    seq = store.last_seq
    versions = store.versions(project)
    runs = [
        _Run(store, project, configuration, row, versions=versions, now=now, seq=seq)
        for row in rows
    ]
    reader = _PeriodReader(
        store, project, configuration, runs, versions=versions, now=now, threads=threads
    )
    while True:
        due = [run for run in runs if run.is_due]
        if not due:
            break
        # Of all that is due, the period that was over first, for all rules that wait for it.
        length, start = min(
            ((LENGTHS[run.rule.period], run.progress.following) for run in due),
            key=lambda one: (sum(one), one),
        )
        period = reader.read(start, start + length)
        for run in due:
            if (LENGTHS[run.rule.period], run.progress.following) == (length, start):
                run.take(period, reader, slicing)
    for run in runs:
        run.finish()
    alerts = tuple(alert for run in runs for alert in run.alerts)
    return Advanced(len(runs), sum(run.periods for run in runs), alerts)


class _PeriodReader:
    """Reads periods and baselines, once for all rules of a project."""

    def __init__(
        self,
        store: StoreReader,
        project: str,
        configuration: Configuration,
        runs: Sequence[_Run],
        *,
        versions: Sequence[Version],
        now: int,
        threads: int | None,
    ) -> None:
        definition = configuration.definition
        asked = {run.rule.measure for run in runs if not run.complaint}
        chosen = tuple(one for one in definition.measures if one.name in asked)
        self._store = store
        self._project = project
        self._definition = replace(definition, measures=chosen) if chosen else definition
        self._choice = configuration.baseline
        self._versions = versions
        self._window = definition.window * SECOND
        self._now = now
        self._threads = threads

    @cached_property
    def contexts(self) -> dict[int, Context]:
        """The contexts, read when the first period is due."""
        return self._store.contexts(self._project)

    @cached_property
    def floors(self) -> Floors:
        """The baseline that values are compared with."""
        return Floors(
            self._store,
            self._project,
            self._choice,
            self._definition,
            contexts=self.contexts,
            versions=self._versions,
            now=self._now,
            threads=self._threads,
        )

    def read(self, since: int, until: int) -> Sample:
        """Read a period of production as of the time when its last attribution window closes."""
        shown = [
            number
            for number, context in self.contexts.items()
            if context.environment == "production"
        ]
        return collect_sample(
            self._store.read(self._project, since, until),
            shown,
            self._definition,
            now=until + self._window,
            threads=self._threads,
        )


class _Run:
    """A rule during a check.

    Args:
        store: Where it is stored.
        project: The name of the project.
        configuration: The configuration of the project.
        row: The rule as it was stored.
        versions: The versions that have rankings.
        now: The time.
        seq: The last number of the store.
    """

    def __init__(
        self,
        store: Store,
        project: str,
        configuration: Configuration,
        row: RuleRow,
        *,
        versions: Sequence[Version],
        now: int,
        seq: int,
    ) -> None:
        self.rule = Rule.from_json(row.rule)
        self.progress = RuleProgress.from_json(row.progress)
        self.alerts: list[Alert] = []
        self.periods = 0
        self.complaint = ""
        self._store = store
        self._project = project
        self._row = row
        self._versions = versions
        self._now = now
        self._seq = seq
        self._mature = (
            now - configuration.definition.window * SECOND - count_micros(configuration.grace)
        )
        self._is_lost = self._is_new = False
        self._audit: AuditEntry | None = None
        try:
            check_rule(self.rule, configuration)
        except UsageError as error:
            self.complaint = error.message
            return
        basis = name_basis(self.rule, configuration)
        if basis != self.progress.basis:
            self.progress = replace(
                begin(self.rule, basis, now, seq),
                first=self.progress.following,
                following=self.progress.following,
            )
            subject = f"{self.rule.name}: what is measured was changed"
            self._audit = AuditEntry(now, ACTOR, "rule.restart", subject)
        self._skip_nothing()

    def _skip_nothing(self) -> None:
        """Start at the first ranking; earlier periods are empty."""
        length = LENGTHS[self.rule.period]
        if self._versions and not self.progress.streams:
            first = min(one.first for one in self._versions)
            at = max(self.progress.following, min(first, self._now) // length * length)
            self.progress = replace(self.progress, following=at)

    @property
    def is_due(self) -> bool:
        """Whether there is a final period that is still to be checked."""
        if self._is_lost or self.complaint or not self._versions:
            return False
        return self.progress.following + LENGTHS[self.rule.period] <= self._mature

    def take(self, period: Sample, reader: _PeriodReader, slicing: Slicing) -> None:
        """Check the next period."""
        self.progress = feed(
            self.progress,
            self.rule,
            period,
            contexts=reader.contexts,
            slicing=slicing,
            floors=reader.floors,
        )
        self.periods += 1
        self._pass_silence()
        self._is_new = True
        self._conclude()

    def _pass_silence(self) -> None:
        """Check all periods after the last ranking at once, as they are empty."""
        following, length = self.progress.following, LENGTHS[self.rule.period]
        if self.is_due and following > max(one.last for one in self._versions):
            count = (self._mature - following) // length
            self.progress = replace(self.progress.count(0, 0), following=following + count * length)
            self.periods += count

    def finish(self) -> None:
        """Store the conclusions, and changes due to time alone."""
        if not self._is_lost:
            self._conclude(is_last=True)

    def _conclude(self, *, is_last: bool = False) -> None:
        """Store the conclusions if they change the state, or at the end."""
        verdict = (
            RuleVerdict("INSUFFICIENT", self.complaint)
            if self.complaint
            else decide(self.rule, self.progress, self._versions, self._now)
        )
        is_change = verdict.state != self._row.state
        is_news = is_change or self._audit is not None or verdict.reason != self._row.reason
        if is_change or (is_last and (is_news or self._is_new)):
            self._save(verdict, is_change=is_change)

    def _save(self, verdict: RuleVerdict, *, is_change: bool) -> None:
        late = self._store.count_late(
            self._project,
            model=self.rule.model,
            since=self.progress.first,
            until=RuleProgress.from_json(self._row.progress).following,
            after=self.progress.seq,
            upto=self._seq,
        )
        late += self.progress.late_rankings
        self.progress = replace(self.progress, late_rankings=late, seq=self._seq)
        row = replace(
            self._row,
            progress=self.progress.to_json(),
            state=verdict.state,
            reason=verdict.reason,
            since=self._now if is_change else self._row.since,
            evaluated=self._now,
            revision=self._row.revision + 1,
        )
        alert = None
        if is_change:
            alert = announce(
                self._project,
                self.rule,
                row.revision,
                time=self._now,
                before=read_word(self._row.state),
                after=verdict.state,
                reason=verdict.reason,
                streams=self.progress.streams,
            )
        addressed = None if alert is None else address(alert, self.rule, row)
        if not self._store.save_rule(self._project, row, alert=addressed, audit=self._audit):
            # Somebody has changed the rule in between: it is for the next time.
            self._is_lost = True
            return
        self._row, self._audit, self._is_new = row, None, False
        if alert is not None:
            self.alerts.append(alert)


def name_basis(rule: Rule, configuration: Configuration) -> str:
    """Return a hash of what a rule measures; evidence collected with another one is void."""
    chosen = configuration.baseline
    said = [
        rule.digest,
        configuration.definition.only(rule.measure).hash,
        None if chosen is None else configuration.to_dict()["baseline"],
    ]
    return sha256(json.dumps(said).encode()).hexdigest()[:32]


def address(alert: Alert, rule: Rule, row: RuleRow) -> AlertRow:
    """Return the alert with its channels: none while the rule is silenced."""
    time = to_micros(alert.time)
    is_silent = row.silenced_until is not None and time < row.silenced_until
    channels = ("log", "webhook") if rule.webhook else ("log",)
    return AlertRow(alert.alert_id, time, alert.to_json(), () if is_silent else channels)
