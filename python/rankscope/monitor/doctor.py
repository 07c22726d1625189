"""Checks a store, its events and its stored values, for `rankscope monitor doctor`."""

from __future__ import annotations

import os
import random
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from rankscope._show.table import show
from rankscope.errors import FileError
from rankscope.monitor.ask.quality import Quality
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.days import SummedDay, find_closed, sum_day
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.outcome import OTHER_COUNTERS
from rankscope.monitor.events.times import describe_time, to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.webhook import find_webhook
from rankscope.monitor.plain import write_record
from rankscope.monitor.rules.state import MOST_NAMED, join_first
from rankscope.monitor.store.records import CellRow, HourRow, Progress, Version
from rankscope.monitor.store.sqlite.files import beside, find_open_files
from rankscope.monitor.store.sqlite.high_water import HighWater
from rankscope.monitor.store.sqlite.startup import read_facts
from rankscope.monitor.store.store import StoreReader

WindowKey: TypeAlias = tuple[int, int]


MOST_REJECTED = 0.01
MOST_PENDING = 0.05
MOST_BEHIND = 15 * MINUTE
LEAST_FREE = 0.05
MOST_LOG = 128 << 20
QUIET = 2 * DAY
STORED = ("accepted", "duplicate", "conflict")
CLOCK = ("future_time", "too_old", "time_zone", "time_format")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Args:
        name: What, such as `events` or `disk`.
        is_good: Whether nothing has to be done.
        told: What was seen.
        hint: What to do; empty where nothing has to be.
    """

    name: str
    is_good: bool
    told: str
    hint: str = ""

    def to_dict(self) -> dict[str, str | bool]:
        """Return the fields by name."""
        return write_record(self)


def _judge(name: str, is_good: bool, told: str, hint: str) -> Finding:
    """Return a finding, with its hint only if something has to be done."""
    return Finding(name, is_good, told, "" if is_good else hint)


def examine(
    monitor: Monitor, path: Path | None, *, is_complete: bool = False
) -> tuple[Finding, ...]:
    """Run all checks; another process may write to the store."""
    findings = [_check_pages(monitor)]
    if path is None:
        findings.append(_check_server(monitor))
    else:
        findings += [
            _check_mark(monitor, path),
            _check_files(path),
            _check_disk(path),
        ]
    findings += _check_events(monitor)
    if not monitor.is_configured:
        findings.append(
            Finding(
                "configuration",
                False,
                "the project is not set up",
                "run rankscope monitor configure STORE --positive click=1 --window 24h",
            )
        )
        return tuple(findings)
    findings.append(_check_windows(monitor, is_complete=is_complete))
    try:
        quality = monitor.quality()
    except FileError as error:
        findings.append(Finding("values", False, error.message, error.hint))
        return tuple(findings)
    checks: tuple[Callable[[Quality, int], Finding], ...] = (
        _check_evaluation,
        partial(_check_flow, monitor.store.versions(monitor.project)),
        _check_late_labels,
        _check_unshown_labels,
        _check_values,
    )
    findings += [check(quality, monitor.clock()) for check in checks]
    findings += [_check_names(monitor), _check_incidents(monitor), _check_rules(monitor)]
    return (*findings, _check_notifications(monitor))


def _check_pages(monitor: Monitor) -> Finding:
    try:
        monitor.store.verify()
    except FileError as error:
        return Finding("store", False, error.message, error.hint)
    events, commits = monitor.store.lost_events(), monitor.store.lost_commits()
    if events or commits:
        told = f"{commits:,} acknowledged transactions with {events:,} events are lost; "
        return Finding("store", False, f"{told}this was accepted when the store was opened")
    return Finding("store", True, "the whole store can be read")


def _check_server(monitor: Monitor) -> Finding:
    from rankscope.monitor.store.postgres.connection import read_health

    health = monitor.store.query(read_health)
    told = f"PostgreSQL {health.version}, {health.size / 1e9:,.1f} GB in the database"
    if health.unsafe:
        told += f"; a power loss may lose acknowledged events, because {health.unsafe} is off"
        return Finding("server", False, told, f"set {health.unsafe} = on in postgresql.conf")
    return Finding("server", True, told)


def _check_mark(monitor: Monitor, path: Path) -> Finding:
    # The mark is read first: what is written meanwhile is beyond it.
    try:
        mark = HighWater(beside(path, ".high-water")).read()
    except FileError as error:
        return Finding("high-water mark", False, error.message, error.hint)
    stored = monitor.store.query(partial(read_facts, path=path))
    if mark is None:
        hint = "restore its .high-water file, which shows whether events were lost"
        return _judge("high-water mark", stored.is_new, "there is no high-water mark", hint)
    if mark.store != stored.store:
        told = "the high-water mark belongs to another store"
        return Finding("high-water mark", False, told, "restore the .high-water file of this store")
    for what, said, found in (
        ("events", mark.seq, stored.seq),
        ("transactions", mark.commit, stored.commit),
    ):
        if said > found:
            told = f"{said:,} {what} were acknowledged, but only {found:,} are stored"
            return Finding("high-water mark", False, told, "restore a backup")
    return Finding("high-water mark", True, f"all {mark.seq:,} acknowledged events are stored")


def _check_files(path: Path) -> Finding:
    if os.name != "posix":
        return Finding("files", True, "this system has no file permissions to check")
    opened = find_open_files(path)
    if not opened:
        return Finding("files", True, "only the owner can read the files")
    named = ", ".join(f"{one.name} ({stat.S_IMODE(one.stat().st_mode):o})" for one in opened)
    hint = "run chmod 600 on these files"
    return Finding("files", False, f"others can read or write {named}", hint)


def _check_windows(monitor: Monitor, *, is_complete: bool) -> Finding:
    try:
        done = recompute_windows(
            monitor.store, monitor.project, monitor.configuration, is_complete=is_complete
        )
    except FileError as error:
        return Finding("windows", False, error.message, error.hint)
    told = f"{done.hours:,} of {done.total:,} final hours were recomputed from their events"
    if done.wrong:
        wrong = join_first(done.wrong, ", ", " ")
        hint = "restore a backup, and check the disk and the memory"
        return Finding("windows", False, f"{told}: {wrong} have other values", hint)
    return Finding("windows", True, f"{told}: all values are equal")


def _check_disk(path: Path) -> Finding:
    disk = shutil.disk_usage(path.parent)
    share = disk.free / disk.total
    log = beside(path, "-wal")
    size = log.stat().st_size if log.exists() else 0
    told = f"{disk.free / 1e9:,.1f} GB are free, {100 * share:.0f}% of the disk"
    if share < LEAST_FREE:
        return Finding("disk", False, told, "free some space, or run rankscope monitor retain")
    if size > MOST_LOG:
        told = f"the log has {size / 1e6:,.0f} MB"
        return Finding("disk", False, told, "stop processes that read the store for a long time")
    return Finding("disk", True, told)


def _check_events(monitor: Monitor) -> Iterator[Finding]:
    counts = monitor.store.counters(monitor.project)
    stored = sum(counts.get(name, 0) for name in STORED)
    rejected = {name: count for name, count in counts.items() if name not in OTHER_COUNTERS}
    yield _check_rejected(rejected, stored)
    clock = sum(rejected.get(name, 0) for name in CLOCK)
    told = f"{clock:,} events had times out of range"
    yield _judge("clocks", not clock, told, "check the clocks of the senders")
    conflicts = counts.get("conflict", 0)
    told = f"{conflicts:,} events had the id of another event"
    yield _judge("ids", not conflicts, told, "use a new id for each event")
    unknown = counts.get("unknown_field", 0)
    yield Finding("fields", True, f"{unknown:,} unknown fields were ignored")
    pending = monitor.store.count_pending(monitor.project)
    told = f"{pending:,} labels wait for their ranking"
    is_good = pending <= MOST_PENDING * max(counts.get("accepted", 0), 1)
    yield _judge("labels", is_good, told, "check that their rankings are logged")


def _check_rejected(rejected: Mapping[str, int], stored: int) -> Finding:
    total = sum(rejected.values())
    worst = sorted(rejected, key=lambda name: (-rejected[name], name))[:3]
    reasons = ", ".join(f"{name} {rejected[name]:,}" for name in worst)
    told = f"{total:,} of {total + stored:,} events were rejected{': ' if total else ''}{reasons}"
    is_good = total <= MOST_REJECTED * (total + stored)
    return _judge("events", is_good, told, "fix the code that sends them")


def _check_evaluation(quality: Quality, now: int) -> Finding:
    is_late = quality.behind > 0
    told = "nothing has been evaluated yet"
    if quality.as_of is not None:
        is_late = is_late and now - to_micros(quality.as_of) > MOST_BEHIND
        when = describe_time(quality.as_of)
        told = f"last evaluated {when}; {quality.behind:,} events have arrived since"
    hint = "run rankscope monitor evaluate STORE, or rankscope serve STORE"
    return _judge("evaluation", not is_late, told, hint)


def _check_flow(versions: Iterable[Version], quality: Quality, now: int) -> Finding:
    # Rankings that are not evaluated yet have no windows, and windows outlive what was deleted.
    times = [
        version.last - version.last % HOUR
        for version in versions
        if version.environment == "production"
    ]
    if quality.newest is not None:
        times.append(to_micros(quality.newest))
    if not times:
        return Finding("flow", False, "there are no production rankings", "log rankings")
    newest = max(times)
    told = f"the newest production ranking is from the hour of {describe_time(newest)}"
    is_good = now - newest < QUIET + HOUR
    return _judge("flow", is_good, told, "check that rankings are still logged")


def _check_late_labels(quality: Quality, _now: int) -> Finding:
    total = sum(quality.curve.counts)
    told = f"{quality.late:,} labels arrived after the attribution window of their ranking"
    is_good = quality.late <= MOST_PENDING * max(total, 1)
    return _judge("late labels", is_good, told, "use a longer window")


def _check_unshown_labels(quality: Quality, _now: int) -> Finding:
    total = sum(quality.curve.counts)
    told = f"{quality.unshown:,} labels are for documents that their ranking did not show"
    is_good = quality.unshown <= MOST_PENDING * max(total, 1)
    return _judge("unshown", is_good, told, "use the same document ids in both")


def _check_values(quality: Quality, _now: int) -> Finding:
    rankings = quality.shown["rankings"]
    labelled = quality.shown["labelled"]
    share = f" ({100 * labelled / rankings:.0f}%)" if rankings else ""
    told = f"{labelled:,} of {rankings:,} rankings have labels{share}"
    is_good = labelled > 0 or rankings == 0
    return _judge("values", is_good, told, "run rankscope monitor label STORE FILE")


def _check_names(monitor: Monitor) -> Finding:
    try:
        found = monitor.mismatches()
    except FileError as error:  # the labels of the last day are read
        return Finding("names", False, error.message, error.hint)
    # Senders may log more than what counts.
    is_good = not any(one.like or one.kind != "unknown_attribute" for one in found)
    told = join_first([*map(str, found)])
    return _judge(
        "names",
        is_good,
        told or "all labels and attributes of the last day match the configuration",
        "rename them where they are logged, or change the configuration",
    )


def _check_incidents(monitor: Monitor) -> Finding:
    incidents = monitor.incidents()
    if not incidents:
        return Finding("incidents", True, "no incident lasts")
    shown = [f"{one.kind} of {show(one.name)} ({one.state})" for one in incidents]
    told = join_first(shown)
    return Finding("incidents", False, told, "run rankscope monitor incidents STORE")


def _check_rules(monitor: Monitor) -> Finding:
    stale = [one for one in monitor.check() if one.state in {"STALE", "NO_DATA"}]
    told = "; ".join(f"{show(one.rule.name)}: {show(one.reason)}" for one in stale[:MOST_NAMED])
    hint = "check that rankings are still logged, or delete the rule"
    return _judge("rules", not stale, told or "every rule gets data", hint)


def _check_notifications(monitor: Monitor) -> Finding:
    webhook = find_webhook(monitor.store, monitor.project)
    if webhook is not None and webhook.disabled is None and webhook.secret is None:
        told = "the secret of the webhook is missing, so nothing can be sent to it"
        return Finding("notifications", False, told, "run rankscope monitor webhook set STORE URL")
    letters = monitor.notifications()
    lost = [letter for letter in letters if letter.status == "dead"]
    if lost:
        told = f"{len(lost):,} of the last {len(letters):,} notifications failed: {lost[0].problem}"
        return Finding("notifications", False, told, "run rankscope monitor webhook test STORE")
    waiting = sum(letter.attempts > 0 and letter.status == "waiting" for letter in letters)
    return Finding("notifications", True, f"{waiting:,} notifications wait for a retry")


SAMPLE_HOURS = 24
SAMPLE_RANKINGS = 100_000


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The result of recomputing windows.

    Args:
        hours: How many hours.
        total: How many hours can be recomputed: their events are there, and they are final.
        wrong: The windows whose stored values are not those of their events, such as
            `the hour of 2026-11-21T18:00:00.000000Z`.
    """

    hours: int
    total: int
    wrong: tuple[str, ...]


def recompute_windows(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    *,
    is_complete: bool = False,
    threads: int | None = None,
) -> Recomputed:
    """Recompute windows from their events and compare them with the stored ones.

    Hours that are not final are left out, and so are those to which events came since the last
    evaluation, and those whose events were deleted. With an hour, its day is checked: it has to be
    the sum of its hours.
    """
    digest = configuration.digest
    progress = store.progress(project, digest)
    if progress is None:
        return Recomputed(0, 0, ())
    final = _find_final(store, project, configuration, progress)
    chosen = final
    if not is_complete and len(final) > SAMPLE_HOURS:
        # Another sample each time, so that a check every night covers most hours after a while.
        chosen = sorted(random.SystemRandom().sample(final, SAMPLE_HOURS))
    compute = partial(
        sum_day,
        store,
        project=project,
        configuration=configuration,
        slicing=Slicing.from_json(progress.slicing),
        now=progress.as_of,
        threads=threads,
    )
    hours = rankings = 0
    wrong = set(_find_strays(store, project, digest))
    for _, same_day in groupby(chosen, lambda start: start - start % DAY):
        starts = list(same_day)
        summed = compute(starts)
        wrong.update(_compare(store, project, digest, summed))
        hours += len(starts)
        rankings += sum(summed.rankings)
        if not is_complete and rankings > SAMPLE_RANKINGS:
            break
    if wrong:
        # What another process has changed meanwhile was compared with something else.
        still = set(_find_final(store, project, configuration, progress))
        days = {start - start % DAY for start in still.symmetric_difference(final)}
        wrong = {(length, at) for length, at in wrong if at - at % DAY not in days}
    return Recomputed(hours, len(final), tuple(_name(*window) for window in sorted(wrong)))


def compare_windows(
    copy: StoreReader, running: StoreReader, project: str, configuration: Configuration
) -> Recomputed:
    """Compare the windows of a restored store with those of the store it is a copy of.

    Hours are left out to which events have come since the copy was made, and so are all if the
    definition was changed.
    """
    digest = configuration.digest
    before, after = copy.progress(project, digest), running.progress(project, digest)
    if before is None or after is None:
        return Recomputed(0, 0, ())
    final = set(_find_final(copy, project, configuration, before))
    # Late labels come to hours that were final.
    final.difference_update(running.touched(project, before.seq, HOUR).times.tolist())
    final.difference_update(each.start for each in running.open_hours(project, digest))
    wrong: set[WindowKey] = set()
    for day in sorted({start - start % DAY for start in final}):
        one, other = (
            _by_window([*store.cells(project, digest, day, day + DAY), *hours])
            for store in (copy, running)
            for hours in [store.hours(project, digest, day, day + DAY)]
        )
        hours = {start for start in final if start - start % DAY == day}
        wrong.update((HOUR, at) for at in hours if one.get((HOUR, at)) != other.get((HOUR, at)))
    return Recomputed(len(final), len(final), tuple(_name(*window) for window in sorted(wrong)))


def _find_final(
    store: StoreReader, project: str, configuration: Configuration, progress: Progress
) -> list[int]:
    """Find the hours whose windows follow from the stored events."""
    if not progress.seq:
        return []
    starts = set(store.touched(project, 0, HOUR).times.tolist())
    starts.difference_update(store.touched(project, progress.seq, HOUR).times.tolist())
    starts.difference_update(hour.start for hour in store.open_hours(project, configuration.digest))
    # The clock may have been set back since they were summed.
    closed = find_closed(configuration, progress.as_of)
    whole_since = store.deleted_before(project)
    return sorted(
        start
        for start in starts
        if start <= closed and (whole_since is None or start >= whole_since)
    )


def _find_strays(store: StoreReader, project: str, digest: bytes) -> Iterator[WindowKey]:
    """Find the windows of hours that have no rankings, though no rankings were deleted."""
    known = store.hours(project, digest, store.deleted_before(project))
    starts = set(store.touched(project, 0, HOUR).times.tolist())
    return ((HOUR, hour.start) for hour in known if hour.start not in starts)


def _compare(
    store: StoreReader, project: str, digest: bytes, summed: SummedDay
) -> Iterator[WindowKey]:
    """Find the stored windows of a day that differ from the recomputed ones."""
    starts = set(summed.starts)
    day = summed.start
    stored = [
        *store.cells(project, digest, day, day + DAY),
        *store.cells(project, digest, day, day + 1, length=DAY),
    ]
    hours = store.hours(project, digest, day, day + DAY)
    for found, computed in (
        (_by_window(stored), _by_window(summed.cells)),
        (_by_window(hours), _by_window(summed.hours)),
    ):
        for window in found.keys() | computed.keys():
            is_compared = window[0] == DAY or window[1] in starts
            if is_compared and found.get(window) != computed.get(window):
                yield window


def _by_window(rows: Iterable[CellRow | HourRow]) -> dict[WindowKey, set[CellRow | HourRow]]:
    found: dict[WindowKey, set[CellRow | HourRow]] = {}
    for row in rows:
        found.setdefault((getattr(row, "length", HOUR), row.start), set()).add(row)
    return found


def _name(length: int, start: int) -> str:
    return f"the {'day' if length == DAY else 'hour'} of {describe_time(start)}"
