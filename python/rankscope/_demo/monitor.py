"""`rankscope demo`: simulates a bad release, monitors it, and prints what happens."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

from rankscope._demo.generator import SEED, make_story
from rankscope._demo.story import (
    DEVICE,
    POSITIVE,
    RULE,
    WINDOW,
    Clock,
    Story,
    list_spans,
    play,
    prepare,
)
from rankscope._show.table import Table
from rankscope._writing import make_folder
from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import (
    count_micros,
    describe_duration,
    format_time,
    read_clock,
    to_datetime,
    to_micros,
)
from rankscope.monitor.incidents.incident import Event, Incident
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.run.service import serve_store
from rankscope.monitor.store import open_store
from rankscope.monitor.store.sqlite.files import SQLITE

FILE = "story.db"
HOST = "127.0.0.1"
SHOWN_BEFORE = 3
"""The number of days before the release that are listed."""


def run(options: Namespace) -> int:
    """Play the story, print it, and serve its dashboard."""
    with ExitStack() as stack:
        folder = options.keep
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rankscope-demo-"))
        path = _choose_path(Path(folder))
        midnight = read_clock() // DAY * DAY
        story = make_story(SEED if options.seed is None else options.seed, end=midnight)
        clock = Clock(story.start)
        with Monitor.open(str(path), now=clock) as monitor:
            _print_story(story, monitor, clock)
        if not options.once:
            _serve(path, options.port or 0, late=read_clock() - to_micros(clock()))
    return 0


def _choose_path(folder: Path) -> Path:
    """Return the path of the store, after making its folder for the owner only."""
    make_folder(folder, mode=0o700)
    path = folder / FILE
    if path.exists():
        raise UsageError(
            f"the folder {folder} already has a store, {FILE}",
            hint="choose another folder: the demo starts with an empty store",
            code="usage",
        )
    return path


def _serve(path: Path, port: int, late: int) -> None:
    """Serve the dashboard, whose clock goes on from the end of the story."""
    with closing(open_store(f"{SQLITE}{path}")) as store:
        # The story has told what the log would say.
        serve_store(
            store,
            host=HOST,
            port=port,
            announce=lambda address: _say(
                "", f"The dashboard is at {address}. Press Ctrl-C to stop."
            ),
            write_log=lambda _line: None,
            now=lambda: read_clock() - late,
        )


def _print_story(story: Story, monitor: Monitor, clock: Clock) -> None:
    """Play and print the story."""
    _print_preparation(story, monitor)
    _print_incidents(story, monitor, _print_production(story, monitor, clock))
    _print_cause(story, monitor)


def _print_preparation(story: Story, monitor: Monitor) -> None:
    weights = ", ".join(f"{label} {weight}" for label, weight in POSITIVE.items())
    _say(
        f"Demo: a bad release, {_day(story.start)} to {_day(story.end)} (seed {story.seed})",
        "",
        "1. Before the release",
        f"A music app logs its searches. Feedback adds to the grade of a track: {weights}. "
        f"Feedback counts for {describe_duration(WINDOW)} after a search.",
    )
    logged = prepare(story, monitor)
    baseline = monitor.baseline()
    means = {} if baseline is None else baseline.means
    _say(
        f"The baseline is a validation set of {logged.accepted} searches with known grades:",
        "",
        str(
            Table(
                {
                    "measure": list(means),
                    "baseline": [mean.value for mean in means.values()],
                    "lower": [mean.lower for mean in means.values()],
                    "upper": [mean.upper for mean in means.values()],
                }
            )
        ),
        "",
        f"An alert rule checks {RULE.measure} of each version, overall and by "
        f"{', '.join(RULE.slices)}: early values every hour, final values every day. It tolerates "
        f"{RULE.tolerance} below the baseline, and raises a false alarm in at most "
        f"{100 * RULE.false_alarms:g}% of quarters.",
    )


def _print_production(story: Story, monitor: Monitor, clock: Clock) -> list[tuple[Event, Incident]]:
    """Play the story, print what happens, and return the changes of incidents."""
    _say("", "2. Production", "time (UTC)        searches  feedback")
    changes: list[tuple[Event, Incident]] = []
    for step in play(story, monitor, clock):
        changes += step.events
        if step.rankings.objects:
            counts = f"{step.rankings.accepted:>8}  {step.labels.accepted:>8}"
            _say(f"{_moment(step.time)}  {counts}")
        for event, incident in step.events:
            _say(f"{_moment(step.time)}  {event}: {incident.reason}")
    events = dict(monitor.store.counters(monitor.project))
    kept = {name: events.pop(name) for name in ("accepted", "duplicate", "conflict")}
    wrong = ", ".join(f"{count} {code}" for code, count in sorted(events.items()))
    quality = monitor.quality()
    _say(
        "",
        f"Events stored: {kept['accepted']}. Duplicates ignored: {kept['duplicate']}. "
        f"Conflicting ids: {kept['conflict']}.",
        f"Events rejected as invalid: {wrong}.",
        f"Labels not counted: {quality.late} arrived after their attribution window, "
        f"{quality.unshown} are for tracks that were not shown, and {quality.pending_labels} "
        "have no search yet.",
    )
    _say(
        "",
        f"Version 4 was released on {_moment(story.release)} UTC:",
        "",
        str(_list_days(story, monitor)),
    )
    return changes


def _list_days(story: Story, monitor: Monitor) -> Table:
    """Return the values of the days around the release."""
    since = to_datetime((story.release // DAY - SHOWN_BEFORE) * DAY)
    whole = {name: monitor.series(name, every="day", since=since) for name in monitor.measures}
    name = RULE.measure
    harmed = monitor.series(name, every="day", since=since, slice=(("device", DEVICE),))
    first = whole[name]
    return Table(
        {
            "day": [_day(start) for start in first.times],
            "searches": first.rankings,
            **{name: series.values for name, series in whole.items()},
            f"{name} {DEVICE}": harmed.values,
            "status": ["final" if is_final else "provisional" for is_final in first.is_final],
        }
    )


def _print_incidents(story: Story, monitor: Monitor, changes: list[tuple[Event, Incident]]) -> None:
    opened = [incident for event, incident in changes if event == "opened"]
    _say("", f"3. Incidents: {len(opened)}")
    for incident in opened:
        after = to_micros(incident.opened) - story.release
        when = f", {describe_duration(after)} after the release" if after >= 0 else ""
        _say(f"{_moment(incident.opened)} UTC{when}: {incident.reason}")
    grace = count_micros(monitor.configuration.grace)
    _say(
        f"Final values of a day are known {describe_duration(WINDOW)} after it, plus "
        f"{describe_duration(grace)} for late events.",
    )
    for incident in monitor.incidents("all", rule="early"):
        if to_micros(incident.opened) >= story.release:
            _say(
                f"The early warning of {_moment(incident.opened)} UTC needed no labels. "
                f"{incident.evidence['outcome_sentence']}"
            )
    lasting = len(monitor.incidents())
    _say(f"Incidents that still last: {lasting}.")


def _print_cause(story: Story, monitor: Monitor) -> None:
    measure = RULE.measure
    trace = monitor.trace(*list_spans(story), measure)
    _say("", "4. Causes", str(trace))
    for ranking_id in trace.fallen.column("ranking_id")[:1]:
        _say(
            "",
            "5. A search for the query that dropped most",
            str(monitor.explain(str(ranking_id), measure)),
        )


def _say(*lines: str) -> None:
    print("\n".join(lines), flush=True)


def _day(time: int | datetime) -> str:
    return format_time(time)[:10]


def _moment(time: int | datetime) -> str:
    return format_time(time)[:16].replace("T", " ")
