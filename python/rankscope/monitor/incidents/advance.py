"""Checks rules at every moment at which something is due, and keeps incidents up to date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.conclusion import (
    Conclusion,
    FindCause,
    conclude,
    find_next,
    settle,
)
from rankscope.monitor.incidents.incident import (
    LASTING,
    TRIES,
    Event,
    Incident,
    busy,
    read_incident,
    write_conclusion,
)
from rankscope.monitor.incidents.management import RESTARTED, find_default_rows
from rankscope.monitor.incidents.transitions import resolve
from rankscope.monitor.rules.kinds import KINDS, Rule, find_kind, read_progress
from rankscope.monitor.rules.run import ACTOR, RuleRun, Scene
from rankscope.monitor.rules.state import Finding
from rankscope.monitor.store.records import IncidentRow, RuleRow
from rankscope.monitor.store.store import Store, StoreReader


@dataclass(frozen=True, slots=True)
class Advanced:
    """What a check of all rules has changed.

    Args:
        periods: How many periods were looked at, counted once for each rule.
        events: What people are notified of: what happened, and the incident.
        incidents: The incidents that were changed, as they are now, the oldest first.
        lasting: All incidents that are not resolved.
        rows: The rules as they were evaluated last.
    """

    periods: int
    events: tuple[tuple[Event, Incident], ...] = ()
    incidents: tuple[Incident, ...] = ()
    lasting: tuple[Incident, ...] = ()
    rows: tuple[RuleRow, ...] = ()


def advance_rules(
    store: Store,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    *,
    now: int,
    threads: int | None = None,
    find_cause: FindCause | None = None,
    is_replay: bool = False,
) -> Advanced:
    """Check the rules of a project at every moment by now at which something is due.

    A period is due once the attribution windows of all its rankings, and the grace of the
    configuration, are over. A snooze, a reminder and a resolution are due at their time. Moments
    are passed in their order, however long the last check is ago, so that incidents are the same
    as if the rules had been checked all the time.

    What was concluded is stored with the incidents that follow from it; where nothing follows, when
    all is done. If the process ends before, the same periods are looked at again, with the same
    result. A clock that jumps makes no difference to that: what is next is stored, and not taken
    from the clock.
    """
    for _ in range(TRIES):
        rows = store.list_rules(project)
        scene = _open_scene(
            store,
            project,
            configuration,
            slicing,
            rows,
            now=now,
            threads=threads,
            is_replay=is_replay,
        )
        walk = _Walk(scene, rows, store.list_incidents(project, states=LASTING), find_cause)
        if walk.run(store):
            return walk.result
    raise busy("the rules were")


def replay_rules(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    *,
    now: int,
    threads: int | None = None,
    find_cause: FindCause | None = None,
) -> Advanced:
    """Return what `advance_rules` would change, without writing anything.

    A rule that has looked at no period yet begins with the first ranking.
    If the rules have looked at periods after the time, all of them begin again, without incidents:
    what was concluded later isn't known then. See `advance_rules` for the arguments.
    """
    rows, lasting = store.list_rules(project), store.list_incidents(project, states=LASTING)
    rows += find_default_rows(store, project, configuration, now)
    if any(read_progress(row).following > now for row in rows):
        rows = [_rewind(row, configuration, now, store.last_seq) for row in rows]
        lasting = []
    scene = _open_scene(
        store, project, configuration, slicing, rows, now=now, threads=threads, is_replay=True
    )
    walk = _Walk(scene, rows, lasting, find_cause)
    walk.run(None)
    return walk.result


def _rewind(row: RuleRow, configuration: Configuration, now: int, seq: int) -> RuleRow:
    """Return a rule that has looked at no period yet."""
    rule = Rule.from_json(row.rule)
    progress = KINDS[rule.kind].begin(rule, configuration, now, seq)
    return replace(row, progress=progress, state="INSUFFICIENT", reason="", since=now)


def _open_scene(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    slicing: Slicing,
    rows: Sequence[RuleRow],
    *,
    now: int,
    threads: int | None,
    is_replay: bool,
) -> Scene:
    return Scene(
        store=store,
        project=project,
        configuration=configuration,
        slicing=slicing,
        rules=[Rule.from_json(row.rule) for row in rows],
        versions=store.versions(project),
        now=now,
        seq=store.last_seq,
        is_replay=is_replay,
        threads=threads,
        made={},
    )


class _Walk:
    """Passes all moments at which something is due."""

    def __init__(
        self,
        scene: Scene,
        rows: Sequence[RuleRow],
        lasting: Iterable[IncidentRow],
        find_cause: FindCause | None,
    ) -> None:
        self._project = scene.project
        self._now = scene.now
        self._find_cause = find_cause
        self._sent = None if scene.is_replay else to_datetime(scene.now)
        self._runs: list[RuleRun] = [find_kind(row).run(scene, row) for row in rows]
        known = map(read_incident, lasting if rows else ())
        self._lasting = {incident.incident_id: incident for incident in known}
        self._unsaved = Conclusion()
        self._all: list[Conclusion] = []

    @property
    def result(self) -> Advanced:
        """What was changed so far."""
        incidents = {it.incident_id: it for one in self._all for it in one.incidents}
        return Advanced(
            periods=sum(run.periods for run in self._runs),
            events=tuple(event for one in self._all for event in one.events),
            incidents=tuple(sorted(incidents.values(), key=lambda it: (it.opened, it.incident_id))),
            lasting=tuple(self._lasting.values()),
            rows=tuple(run.row for run in self._runs),
        )

    def run(self, store: Store | None) -> bool:
        """Pass all moments by now, and return whether no rule was changed by others meanwhile."""
        self._end_restarted()
        moment = 0
        while True:
            due = {run.rule.name: run.find_due() for run in self._runs}
            moments = [at for at in due.values() if at is not None]
            timer = self._find_timer()
            if timer is not None and timer <= self._now:
                moments.append(timer)
            if not moments:
                break
            moment = max(moment, min(moments))
            findings = {}
            for run in self._runs:
                run.has_ended_day = False
            # Rules that look at the same period one after another, so that it is read once.
            for run in sorted(self._runs, key=lambda run: -run.rule.length):
                at = due[run.rule.name]
                if at is not None and at <= moment:
                    findings[run.rule.name] = run.take()
            self._conclude(moment, findings)
            if self._unsaved.changes and not self._save(store, moment):
                return False
        return self._save(store, self._now)

    def _find_timer(self) -> int | None:
        checks = [run.check() for run in self._runs]
        timer = find_next(self._lasting.values(), checks)
        return None if timer is None else to_micros(timer)

    def _end_restarted(self) -> None:
        """Resolve the incidents of rules whose evidence is void."""
        names = {run.rule.name for run in self._runs if run.is_restarted}
        void = [incident for incident in self._lasting.values() if incident.rule in names]
        if void:
            now = to_datetime(self._now)
            turns = [resolve(incident, now, actor=ACTOR, note=RESTARTED) for incident in void]
            checks = {run.rule.name: run.check() for run in self._runs}
            self._add(settle(self._project, turns, checks, now))

    def _conclude(self, moment: int, findings: dict[str, tuple[Finding, ...]]) -> None:
        checks = [run.check(findings.get(run.rule.name, ())) for run in self._runs]
        concluded = conclude(
            self._project,
            self._lasting.values(),
            checks,
            to_datetime(moment),
            find_cause=self._find_cause,
            sent=self._sent,
        )
        self._add(concluded)

    def _add(self, concluded: Conclusion) -> None:
        for incident in concluded.incidents:
            self._lasting.pop(incident.incident_id, None)
            if incident.state in LASTING:
                self._lasting[incident.incident_id] = incident
        before = self._unsaved
        current = {it.incident_id: it for it in (*before.incidents, *concluded.incidents)}
        self._unsaved = Conclusion(
            incidents=tuple(current.values()),
            changes=before.changes + concluded.changes,
            notices=before.notices + concluded.notices,
        )
        self._all.append(concluded)

    def _save(self, store: Store | None, moment: int) -> bool:
        """Store what was concluded by a moment, unless somebody has changed a rule meanwhile."""
        unsaved = self._unsaved
        touched = {incident.rule for incident in unsaved.incidents}
        is_end = moment == self._now
        runs = [
            run
            for run in self._runs
            if run.is_new or run.rule.name in touched or (is_end and run.has_news(moment))
        ]
        if not runs:
            return True
        rows = [run.write(moment) for run in runs]
        stale = store is not None and store.save_rules(
            self._project,
            rows,
            audit=[run.audit for run in runs if run.audit is not None],
            **write_conclusion(unsaved, self._now),
        )
        if stale:
            return False
        for run, row in zip(runs, rows, strict=True):
            run.keep(row)
        self._unsaved = Conclusion()
        return True
