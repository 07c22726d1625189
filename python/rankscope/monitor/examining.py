"""Looks for what is wrong with a store, its events, or their evaluation."""

from __future__ import annotations

import shutil

from rankscope.errors import FileError
from rankscope.monitor.limits import DAY, HOUR, MINUTE
from rankscope.monitor.outcomes import OTHER_COUNTERS
from rankscope.monitor.store.high_water import HighWater
from rankscope.monitor.store.filesystem import beside
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.quality import Quality

MOST_REJECTED = 0.01
MOST_PENDING = 0.05
MOST_BEHIND = 15 * MINUTE
LEAST_FREE = 0.05
MOST_LOG = 128 << 20
QUIET = 2 * DAY
STORED = ("accepted", "duplicate", "conflict")
CLOCK = ("future_time", "too_old", "time_zone", "time_format")


@record(frozen=True, slots=True)
class Finding:
    """Something that was looked at.

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
        """Give all of it by name."""
        return {"name": self.name, "is_good": self.is_good, "told": self.told, "hint": self.hint}


def examine(monitor: Monitor, path: Path) -> tuple[Finding, ...]:
    """Look at all of it, whoever writes to the store meanwhile.

    Args:
        monitor: The project.
        path: The file of the store.
    """
    findings = [_look_at_pages(monitor), _look_at_mark(monitor, path), _look_at_disk(path)]
    findings += _look_at_events(monitor)
    if not monitor.is_configured:
        findings.append(
            Finding(
                "configuration",
                False,
                "nothing is said of how the project is measured",
                "rankscope monitor configure STORE --positive click=1 --window 24h",
            )
        )
        return tuple(findings)
    quality = monitor.quality()
    looks: tuple[Callable[[Quality, int], Finding], ...] = (
        _look_at_evaluation,
        _look_at_flow,
        _look_at_late_labels,
        _look_at_unshown_labels,
        _look_at_values,
    )
    findings += [look(quality, monitor.now()) for look in looks]
    return (*findings, _look_at_notifications(monitor))


def _look_at_pages(monitor: Monitor) -> Finding:
    try:
        monitor.store.verify()
    except FileError as error:
        return Finding("store", False, error.message, error.hint)
    lost = monitor.store.lost_events()
    if lost:
        return Finding("store", False, f"{lost:,} acknowledged events are lost, as was accepted")
    return Finding("store", True, "all of it can be read")


def _look_at_mark(monitor: Monitor, path: Path) -> Finding:
    # The mark is read first: what is written meanwhile is beyond it.
    try:
        mark = HighWater(beside(path, ".high-water")).read()
    except FileError as error:
        return Finding("high-water mark", False, error.message, error.hint)
    stored = monitor.store.last_seq
    if mark is None:
        hint = "put back its file .high-water; without it, no loss is noticed"
        return Finding("high-water mark", stored == 0, "there is none", hint if stored else "")
    if mark.seq > stored:
        told = f"events up to {mark.seq:,} were acknowledged, and up to {stored:,} are stored"
        return Finding("high-water mark", False, told, "restore a backup")
    return Finding("high-water mark", True, f"all of {mark.seq:,} acknowledged events are stored")


def _look_at_disk(path: Path) -> Finding:
    disk = shutil.disk_usage(path.parent)
    share = disk.free / disk.total
    log = beside(path, "-wal")
    size = log.stat().st_size if log.exists() else 0
    told = f"{disk.free / 1e9:,.1f} GB are free, {100 * share:.0f} % of the disk"
    if share < LEAST_FREE:
        return Finding("disk", False, told, "make room, or delete old events: monitor retain")
    if size > MOST_LOG:
        told = f"the log has {size / 1e6:,.0f} MB"
        return Finding("disk", False, told, "end whoever reads the store for long")
    return Finding("disk", True, told)


def _look_at_events(monitor: Monitor) -> Iterator[Finding]:
    counts = monitor.store.counters(monitor.project)
    stored = sum(counts.get(name, 0) for name in STORED)
    rejected = {name: count for name, count in counts.items() if name not in OTHER_COUNTERS}
    yield _look_at_rejected(rejected, stored)
    clock = sum(rejected.get(name, 0) for name in CLOCK)
    told = f"{clock:,} events had times that could not be taken"
    yield Finding("clocks", not clock, told, "look at the clocks of the senders" if clock else "")
    conflicts = counts.get("conflict", 0)
    told = f"{conflicts:,} events had the id of another"
    yield Finding("ids", not conflicts, told, "give each event its own id" if conflicts else "")
    unknown = counts.get("unknown_field", 0)
    told = f"{unknown:,} fields meant nothing here"
    yield Finding("fields", True, told)
    pending = monitor.store.count_pending(monitor.project)
    told = f"{pending:,} labels are of rankings that are not there"
    is_good = pending <= MOST_PENDING * max(counts.get("accepted", 0), 1)
    yield Finding("labels", is_good, told, "" if is_good else "are rankings logged, under one id?")


def _look_at_rejected(rejected: Mapping[str, int], stored: int) -> Finding:
    total = sum(rejected.values())
    worst = sorted(rejected, key=lambda name: (-rejected[name], name))[:3]
    reasons = ", ".join(f"{name} {rejected[name]:,}" for name in worst)
    told = f"{total:,} of {total + stored:,} were rejected{': ' if total else ''}{reasons}"
    is_good = total <= MOST_REJECTED * (total + stored)
    return Finding("events", is_good, told, "" if is_good else "mend whoever sends them")


def _look_at_evaluation(quality: Quality, now: int) -> Finding:
    if quality.as_of is None:
        is_good = not quality.behind
        hint = "" if is_good else "rankscope monitor evaluate STORE, or serve it"
        return Finding("evaluation", is_good, "nothing was evaluated yet", hint)
    told = f"as of {format_time(quality.as_of)}, {quality.behind:,} events came since"
    is_late = quality.behind > 0 and now - quality.as_of > MOST_BEHIND
    hint = "rankscope monitor evaluate STORE, or serve it" if is_late else ""
    return Finding("evaluation", not is_late, told, hint)


def _look_at_flow(quality: Quality, now: int) -> Finding:
    if quality.newest is None:
        return Finding("flow", False, "no ranking of production is evaluated", "log rankings")
    told = f"the newest ranking of production is of the hour of {format_time(quality.newest)}"
    is_good = now - quality.newest < QUIET + HOUR
    return Finding("flow", is_good, told, "" if is_good else "are rankings still logged?")


def _look_at_late_labels(quality: Quality, _now: int) -> Finding:
    total = sum(quality.curve.counts)
    told = f"{quality.late:,} labels came after the attribution window of their ranking"
    is_good = quality.late <= MOST_PENDING * max(total, 1)
    return Finding("late labels", is_good, told, "" if is_good else "make the window longer")


def _look_at_unshown_labels(quality: Quality, _now: int) -> Finding:
    total = sum(quality.curve.counts)
    told = f"{quality.unshown:,} labels are of documents that their ranking did not show"
    is_good = quality.unshown <= MOST_PENDING * max(total, 1)
    return Finding("unshown", is_good, told, "" if is_good else "are documents logged by one id?")


def _look_at_values(quality: Quality, _now: int) -> Finding:
    rankings = quality.shown["rankings"]
    labelled = quality.shown["labelled"]
    share = f", {100 * labelled / rankings:.0f} %" if rankings else ""
    told = f"{labelled:,} of {rankings:,} rankings have labels{share}"
    is_good = labelled > 0 or rankings == 0
    return Finding("values", is_good, told, "" if is_good else "log labels: monitor label")


def _look_at_notifications(monitor: Monitor) -> Finding:
    letters = monitor.notifications()
    lost = [letter for letter in letters if letter.status == "dead"]
    if lost:
        told = f"{len(lost):,} of the last {len(letters):,} were given up: {lost[0].problem}"
        return Finding("notifications", False, told, "rankscope monitor webhook test STORE")
    waiting = sum(letter.attempts > 0 and letter.status == "waiting" for letter in letters)
    return Finding("notifications", True, f"{waiting:,} wait to be sent again")
