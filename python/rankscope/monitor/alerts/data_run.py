"""The rule that watches the data of a project, during a check."""

from __future__ import annotations

import json

from rankscope.monitor.alerts.detect.state import RuleVerdict
from rankscope.monitor.alerts.incidents.transitions import ACTOR
from rankscope.monitor.alerts.rule_run import RuleRun
from rankscope.monitor.alerts.watches.check import (
    check_data,
    default_rule,
    restart_stream,
    summarize,
)
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import count_micros, to_micros
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import RuleRow
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankscope.monitor.alerts.incidents.finding import Finding, StreamKey
    from rankscope.monitor.alerts.rule import Rule
    from rankscope.monitor.alerts.watches.counts import Counts
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import Version
    from rankscope.monitor.store.store import Store, StoreReader

WAITS = "no hour has been checked yet"


@record(frozen=True, slots=True, kw_only=True)
class DataProgress:
    """The hours that a rule about data has checked.

    Args:
        first: When the first hour begins, in microseconds since 1970 in UTC.
        following: When the hour begins that is looked at next.
        watched: What the watches remember.
    """

    first: int
    following: int
    watched: str = ""

    def to_json(self) -> str:
        """Return JSON that `from_json` reads back."""
        return json.dumps({name: getattr(self, name) for name in FIELDS}, sort_keys=True)

    @staticmethod
    def from_json(text: str) -> DataProgress:
        """Read what `to_json` has written."""
        said = json.loads(text)
        return DataProgress(**{name: said[name] for name in FIELDS if name in said})


FIELDS: tuple[str, ...] = DataProgress.__match_args__


def begin_data(rule: Rule, now: int) -> DataProgress:
    """Return the progress of a rule about data before its first hour."""
    at = now if rule.since is None else to_micros(rule.since)
    first = at - at % HOUR
    return DataProgress(first=first, following=first)


def find_default_row(store: StoreReader, project: str, now: int) -> RuleRow | None:
    """Return the row of the rule about data if a project lacks it and nobody has removed it."""
    name = default_rule().name
    if store.find_rule(project, name) is not None:
        return None
    known = {"rule.create", "rule.remove"}
    if any(entry.subject == name and entry.action in known for entry in store.audit(project)):
        return None
    return make_default_row(now)


def add_data_rule(store: Store, project: str, now: int) -> None:
    """Create the rule about data if a project lacks it and nobody has removed it."""
    row = find_default_row(store, project, now)
    if row is not None:
        # If somebody else has created one meanwhile, it stays.
        store.save_rules(project, [row], audit=[AuditEntry(now, ACTOR, "rule.create", row.name)])


def restart_data(row: RuleRow, keys: Iterable[StreamKey], now: int) -> RuleRow:
    """Take what comes from now on for usual in some streams, as a person has resolved them."""
    progress = DataProgress.from_json(row.progress)
    watched = progress.watched
    for key in keys:
        watched = restart_stream(watched, key, now)
    return replace(row, progress=replace(progress, watched=watched).to_json())


def make_default_row(now: int) -> RuleRow:
    """Return the row of the rule about data that a project has unless somebody changes it."""
    rule = default_rule()
    return RuleRow(
        name=rule.name,
        rule=rule.to_json(),
        progress=begin_data(rule, now).to_json(),
        state="INSUFFICIENT",
        reason=WAITS,
        since=now,
        evaluated=now,
        silenced_until=None,
        revision=1,
    )


class DataRun(RuleRun):
    """A rule about the data of a project.

    Args:
        reader: Reads how many rankings and labels there are.
        configuration: The configuration of the project.
        row: The rule as it was stored.
        versions: The versions that have rankings.
        now: The current time, in microseconds since 1970 in UTC.
        is_replay: Whether a rule that has looked at nothing begins with the first ranking.
    """

    def __init__(
        self,
        reader: Counts,
        configuration: Configuration,
        row: RuleRow,
        *,
        versions: Sequence[Version],
        now: int,
        is_replay: bool,
    ) -> None:
        super().__init__(row, now)
        self.progress = DataProgress.from_json(row.progress)
        self._reader = reader
        self._grace = count_micros(configuration.grace)
        self._has_rankings = bool(versions)
        if not self.progress.watched and versions:
            start = min(one.first for one in versions) // HOUR * HOUR
            if not (is_replay and self.rule.since is None):
                start = max(self.progress.following, min(start, now // HOUR * HOUR))
            self.progress = replace(self.progress, first=start, following=start)

    def find_due(self) -> int | None:
        """Return the moment at which the next hour is checked, `None` if that is not yet."""
        due = self.progress.following + HOUR + self._grace
        return due if self._has_rankings and due <= self._now else None

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Look at the next hour, and return what was found."""
        end = self.progress.following + HOUR
        findings, watched = check_data(self._reader, self.rule, self.progress.watched, end)
        self.progress = replace(self.progress, following=end, watched=watched)
        self.periods += 1
        self.is_new = True
        return tuple(findings)

    def write(self, moment: int) -> RuleRow:
        """Return the row to be stored: what was concluded by a moment."""
        return self._make_row(self.progress.to_json(), self._decide(), moment)

    def _decide(self) -> RuleVerdict:
        return RuleVerdict(*summarize(self.progress.watched))

    def has_news(self, moment: int) -> bool:  # noqa: ARG002 - hours alone change the state
        """Whether the state or its reason are not those that are stored."""
        verdict = self._decide()
        return (verdict.state, verdict.reason) != (self.row.state, self.row.reason)
