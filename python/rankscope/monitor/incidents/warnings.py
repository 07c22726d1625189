"""How many early warnings were confirmed by later labels, and how early they came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.incidents.grouping import are_nested
from rankscope.monitor.incidents.incident import Incident, read_incident
from rankscope.monitor.rules.early.progress import EarlyProgress, EarlyWarning
from rankscope.monitor.rules.kinds import read_progress
from rankscope.monitor.store.store import StoreReader

LOOKED_BACK = 90 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningRecord:
    """What became of the early warnings of the last 90 days.

    Args:
        warnings: How many there were.
        confirmed: How many of them later labels confirmed.
        not_confirmed: How many labels didn't confirm.
        unknown: How many labels don't tell of, or not yet.
        lead: How long before people would have known without them confirmed warnings came, on
            average: when an incident of quality was opened, or else when the labels were final.
            `None` if none was confirmed.

    Examples:
        >>> rated = WarningRecord(warnings=4, confirmed=2, not_confirmed=1, unknown=1)
        >>> round(rated.precision, 2)
        0.67
    """

    warnings: int = 0
    confirmed: int = 0
    not_confirmed: int = 0
    unknown: int = 0
    lead: timedelta | None = None

    @property
    def precision(self) -> float | None:
        """The share of confirmed warnings among those that labels tell of; `None` for none."""
        told = self.confirmed + self.not_confirmed
        return self.confirmed / told if told else None


def rate_warnings(store: StoreReader, project: str, now: int) -> WarningRecord:
    """Rate the early warnings of the last 90 days of a project, of all of its rules."""
    known = [read_progress(row) for row in store.list_rules(project)]
    warnings = [
        each
        for progress in known
        if isinstance(progress, EarlyProgress)
        for each in (*progress.over, *progress.warnings)
        if each.found >= now - LOOKED_BACK
    ]
    confirmed = [each for each in warnings if each.outcome == "confirmed"]
    falls = []
    if confirmed:
        incidents = map(read_incident, store.list_incidents(project))
        falls = [each for each in incidents if each.kind == "quality"]
    leads = [_measure_lead(each, falls) for each in confirmed]
    lead = timedelta(microseconds=sum(leads) // len(leads)) if leads else None
    refuted = sum(each.outcome == "not confirmed" for each in warnings)
    return WarningRecord(
        warnings=len(warnings),
        confirmed=len(confirmed),
        not_confirmed=refuted,
        unknown=len(warnings) - len(confirmed) - refuted,
        lead=lead,
    )


def _measure_lead(warning: EarlyWarning, falls: Iterable[Incident]) -> int:
    """Return how long after a warning people would have known of what it is about."""
    segment = warning.segment
    opened = [
        to_micros(one.opened)
        for one in falls
        if one.model == segment.model
        and are_nested(one.slice, segment.slice)
        and to_micros(one.opened) >= warning.found
        and to_micros(one.began) <= warning.judged
    ]
    return max(min([*opened, warning.judged]) - warning.found, 0)
