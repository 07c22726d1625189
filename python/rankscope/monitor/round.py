"""One round of evaluation: windows, baseline and rules of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from rankscope.monitor.ask.cause import CauseFinder
from rankscope.monitor.ask.shared_fall import FallComparison, add_comparison, compare_fall
from rankscope.monitor.definition.configuration import Configuration, find_configuration
from rankscope.monitor.evaluate.refresh import find_slicing, refresh
from rankscope.monitor.events.times import count_micros, format_time, to_datetime, to_micros
from rankscope.monitor.incidents.advance import advance_rules, replay_rules
from rankscope.monitor.incidents.conclusion import FindCause
from rankscope.monitor.incidents.facts import find_facts_of_incident
from rankscope.monitor.incidents.incident import Event, Incident, write_part
from rankscope.monitor.incidents.management import add_default_rules, summarize_rules
from rankscope.monitor.rules.state import RuleState
from rankscope.monitor.signals.kinds import digest
from rankscope.monitor.signals.refresh import refresh_signals
from rankscope.monitor.store.store import Store, StoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What an evaluation has done.

    Args:
        as_of: The time as of which everything is up to date, in UTC.
        seq: The number of the last event that counts.
        hours: How many hours were summed again.
        rankings: How many rankings they have.
        later: How many more hours, none of them final, are to be summed later.
        periods: How many periods rules have looked at, counted once for each rule.
        events: What people are notified of: what happened, and the incident.
    """

    as_of: datetime
    seq: int
    hours: int
    rankings: int
    later: int
    periods: int
    events: tuple[tuple[Event, Incident], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what people see of it, as JSON holds it."""
        return {
            "as_of": format_time(self.as_of),
            "hours": self.hours,
            "rankings": self.rankings,
            "incidents": [write_part(event, incident) for event, incident in self.events],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What an evaluation would find.

    Args:
        as_of: The time up to which the rules were checked, in UTC.
        rules: The states of the rules at that time.
        incidents: The incidents that would be opened, changed and closed, the oldest first.
        active: All incidents that last at that time, also those from before.
    """

    as_of: datetime
    rules: tuple[RuleState, ...]
    incidents: tuple[Incident, ...]
    active: tuple[Incident, ...]


def evaluate_project(
    store: Store,
    project: str,
    *,
    now: int,
    threads: int | None = None,
    is_thorough: bool = True,
    is_replay: bool = False,
) -> Round:
    """Compute the windows and the baseline of a project, and check its rules."""
    configuration = find_configuration(store, project)
    refreshed = refresh(
        store, project, configuration, now=now, threads=threads, is_thorough=is_thorough
    )
    shown = refresh_signals(
        store, project, configuration, refreshed.slicing, now=now, threads=threads
    )
    if refreshed.is_new or shown.is_new:
        store.drop_windows(project, [configuration.digest, digest(configuration)])
    add_default_rules(store, project, configuration, now)
    advanced = advance_rules(
        store,
        project,
        configuration,
        refreshed.slicing,
        now=now,
        threads=threads,
        find_cause=make_finder(store, project, configuration, threads),
        is_replay=is_replay,
    )
    return Round(
        as_of=to_datetime(now),
        seq=refreshed.seq,
        hours=refreshed.hours,
        rankings=refreshed.rankings,
        later=refreshed.later,
        periods=advanced.periods,
        events=advanced.events,
    )


def replay_project(
    store: StoreReader, project: str, *, now: int, threads: int | None = None
) -> Replay:
    """Return what an evaluation would find, without writing anything."""
    configuration = find_configuration(store, project)
    advanced = replay_rules(
        store,
        project,
        configuration,
        find_slicing(store, project, configuration),
        now=now,
        threads=threads,
        find_cause=make_finder(store, project, configuration, threads),
    )
    active = [one for one in advanced.lasting if one.is_active]
    return Replay(
        as_of=to_datetime(now),
        rules=summarize_rules(advanced.rows, active),
        incidents=advanced.incidents,
        active=tuple(sorted(active, key=lambda one: (one.opened, one.incident_id))),
    )


def make_finder(
    store: StoreReader, project: str, configuration: Configuration, threads: int | None
) -> FindCause:
    """Return a function that traces the causes of incidents, and reads nothing before."""
    choice = configuration.baseline
    open_finder = cache(
        lambda: CauseFinder(store, project, configuration.definition, choice, threads=threads)
    )

    def find_cause(incident: Incident, now: datetime) -> Mapping[str, Any] | None:
        found, age = None, incident.evidence.get("age")
        # Until a day is final, the values that found the incident are those that explain it.
        for each in (None, *([] if age is None else [count_micros(age)])):
            found = open_finder().find(
                incident.measure,
                model=incident.model,
                version=incident.version,
                began=to_micros(incident.began),
                now=to_micros(now),
                age=each,
                place=incident.slice,
            )
            if found is not None:
                break
        cause = None if found is None else found.to_dict()
        beside = _compare_beside(
            store, project, configuration, incident, now=to_micros(now), threads=threads
        )
        if beside is not None:
            cause = add_comparison(cause, beside)
        facts = find_facts_of_incident(
            store, project, configuration, incident, cause, now=to_micros(now)
        )
        if cause is None and not facts:
            return None
        return {"sentence": "", "slice": {}, **(cause or {}), "facts": list(facts)}

    return find_cause


def _compare_beside(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    incident: Incident,
    *,
    now: int,
    threads: int | None,
) -> FallComparison | None:
    """Compare the version of an incident with another one that served at the same time."""
    evidence = incident.evidence
    fall = evidence.get("fall")
    if not incident.version or not fall or evidence.get("judged") != "value":
        return None
    return compare_fall(
        store,
        project,
        configuration,
        measure=incident.measure,
        model=incident.model,
        version=incident.version,
        place=incident.slice,
        began=to_micros(incident.began),
        fall=fall,
        now=now,
        threads=threads,
    )
