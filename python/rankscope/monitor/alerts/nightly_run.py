"""A rule that traces each model every night, during a check."""

from __future__ import annotations

import json

from rankscope.errors import UsageError
from rankscope.monitor.alerts.detect.nightly import NightlyTrace, SliceNight
from rankscope.monitor.alerts.detect.state import RuleVerdict
from rankscope.monitor.alerts.incidents.transitions import ACTOR
from rankscope.monitor.alerts.rule import check_rule
from rankscope.monitor.alerts.rule_run import RuleRun, name_basis
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import count_micros, describe_time, to_micros
from rankscope.monitor.store.keys import AuditEntry
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankscope.monitor.alerts.incidents.finding import Finding, StreamKey
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import RuleRow, Version
    from rankscope.monitor.store.store import StoreReader


@record(frozen=True, slots=True, kw_only=True)
class NightlyProgress:
    """The nights that a rule has traced.

    Args:
        basis: The hash of what is measured.
        first: When the first day begins, in microseconds since 1970 in UTC.
        following: When the day begins whose end is traced next.
        slices: The slices that were found and have not recovered.
        models: How many models were compared in the last night.
        problem: Why some were not, in one sentence; empty if all were.
    """

    basis: str
    first: int
    following: int
    slices: tuple[SliceNight, ...] = ()
    models: int = 0
    problem: str = ""

    def mute(self, keys: Collection[StreamKey] | None = None) -> NightlyProgress:
        """Return the progress with slices, or all of them, muted: they open nothing for now."""
        slices = (one.mute() if keys is None or one.key in keys else one for one in self.slices)
        return replace(self, slices=tuple(slices))

    def to_json(self) -> str:
        """Return JSON that `from_json` reads back."""
        said = {name: getattr(self, name) for name in FIELDS}
        return json.dumps(said | {"slices": [one.to_dict() for one in self.slices]}, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> NightlyProgress:
        """Read what `to_json` has written."""
        said = json.loads(text)
        known = {name: said[name] for name in FIELDS if name in said}
        return NightlyProgress(
            **known | {"slices": tuple(map(SliceNight.from_dict, said.get("slices", ())))}
        )


FIELDS: tuple[str, ...] = NightlyProgress.__match_args__


def begin_nights(rule: Rule, basis: str, now: int) -> NightlyProgress:
    """Return the progress of a rule before its first night."""
    at = now if rule.since is None else to_micros(rule.since)
    first = at - at % DAY
    return NightlyProgress(basis=basis, first=first, following=first)


def mute_slices(row: RuleRow, keys: Collection[StreamKey] | None = None) -> RuleRow:
    """Mute slices of a rule, or all of them, as a person has resolved their incidents."""
    return replace(row, progress=NightlyProgress.from_json(row.progress).mute(keys).to_json())


class NightlyRun(RuleRun):
    """A rule of kind `trace`: one trace of each model with each day that becomes final.

    Args:
        store: Where it is stored.
        project: The name of the project.
        configuration: The configuration of the project.
        row: The rule as it was stored.
        versions: The versions that have rankings in production.
        now: The current time, in microseconds since 1970 in UTC.
        is_replay: Whether a rule that has traced nothing begins with the first ranking.
        threads: The number of threads.
    """

    def __init__(
        self,
        store: StoreReader,
        project: str,
        configuration: Configuration,
        row: RuleRow,
        *,
        versions: Sequence[Version],
        now: int,
        is_replay: bool,
        threads: int | None,
    ) -> None:
        super().__init__(row, now)
        self.progress = NightlyProgress.from_json(row.progress)
        self.complaint = ""
        self._wait = configuration.definition.window * SECOND + count_micros(configuration.grace)
        self._versions = versions
        self._night = NightlyTrace(store, project, configuration, versions, threads=threads)
        try:
            check_rule(self.rule, configuration)
        except UsageError as error:
            self.complaint = error.message
            return
        basis = name_basis(self.rule, configuration)
        if basis != self.progress.basis:
            following = self.progress.following
            self.progress = NightlyProgress(basis=basis, first=following, following=following)
            subject = f"{self.rule.name}: what is measured was changed"
            self.audit = AuditEntry(now, ACTOR, "rule.restart", subject)
            self.is_restarted = self.is_new = True
        if versions:
            self._pass_empty(is_replay=is_replay)

    def _pass_empty(self, *, is_replay: bool) -> None:
        """Pass all days before the first ranking at once."""
        progress = self.progress
        start = min(one.first for one in self._versions) // DAY * DAY
        has_begun = progress.following > progress.first
        if is_replay and self.rule.since is None and not has_begun:
            self.progress = replace(progress, first=start, following=start)
        elif progress.following < start:
            self.progress = replace(progress, following=min(start, self._now // DAY * DAY))

    def find_due(self) -> int | None:
        """Return the moment at which the next day is final, `None` if that is not yet."""
        if self.complaint or not self._versions:
            return None
        due = self.progress.following + DAY + self._wait
        return due if due <= self._now else None

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Trace the days up to the next one, and return what was found."""
        end = self.progress.following + DAY
        night = self._night.check(self.rule, self.progress.slices, end)
        self.progress = replace(
            self.progress,
            following=end,
            slices=night.slices,
            models=night.models,
            problem=night.problem,
        )
        self.has_ended_day = self.is_new = True
        self.periods += 1
        return night.findings

    def write(self, moment: int) -> RuleRow:
        """Return the row to be stored: what was concluded by a moment."""
        return self._make_row(self.progress.to_json(), self._decide(), moment)

    def _decide(self) -> RuleVerdict:
        if self.complaint:
            return RuleVerdict("INSUFFICIENT", self.complaint)
        return decide_night(self.progress)

    def has_news(self, moment: int) -> bool:  # noqa: ARG002 - nights alone change the state
        """Whether the state or its reason are not those that are stored."""
        verdict = self._decide()
        return (verdict.state, verdict.reason) != (self.row.state, self.row.reason)


def decide_night(progress: NightlyProgress) -> RuleVerdict:
    """Return the state of a rule from its nights: `ALERT` while slices are found and not muted."""
    until = describe_time(progress.following)
    if progress.following == progress.first:
        told = f"no day is final yet; the first begins at {describe_time(progress.first)}"
        return RuleVerdict("INSUFFICIENT", told)
    fallen = [one for one in progress.slices if one.muted is None]
    if fallen:
        return RuleVerdict("ALERT", "; ".join(one.reason for one in fallen[:MOST_NAMED]))
    if not progress.models:
        return RuleVerdict("INSUFFICIENT", progress.problem or f"no rankings by {until}")
    models = "1 model" if progress.models == 1 else f"{progress.models} models"
    told = f"no slice of {models} had fallen by {until}"
    return RuleVerdict("OK", f"{told}; {progress.problem}" if progress.problem else told)


MOST_NAMED = 3
