"""`rankscope demo`: plays the story of a release into a monitor, and tells it as it goes."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from rankscope.demo.generator import SEED, make_story
from rankscope.demo.playback import Clock, play, prepare
from rankscope.demo.story import DEVICE, POSITIVE, WINDOW
from rankscope.demo.verification import check_monitor, list_spans
from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import format_time, read_clock
from rankscope.monitor.store.sqlite.files import SQLITE
from rankscope.results import Table
from rankscope.writing import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.demo.playback import Step
    from rankscope.demo.story import Story
    from rankscope.monitor.alerts.notify.alert import Alert
    from rankscope.monitor.monitor import Monitor

FILE = "story.db"
HOST = "127.0.0.1"
SHOWN_BEFORE = 3
"""How many days before the release are listed."""


def run(options: Namespace) -> int:
    """Play the story, tell it, and serve the dashboard of it."""
    with ExitStack() as stack:
        folder = options.keep
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rankscope-demo-"))
        path = _place(Path(folder))
        midnight = read_clock() // DAY * DAY
        story = make_story(SEED if options.seed is None else options.seed, end=midnight)
        clock = Clock(story.start)
        with _open(path, clock) as monitor:
            status = _tell(story, monitor, clock)
        if not options.once:
            _serve(path, options.port or 0)
    return status


def _place(folder: Path) -> Path:
    """Say where the store is to be; the folder is made, for its owner only."""
    make_folder(folder, mode=0o700)
    path = folder / FILE
    if path.exists():
        raise UsageError(
            f"expected a folder without {FILE}, found one in {folder}",
            hint="name another folder: the story begins with an empty store",
            code="usage",
        )
    return path


def _open(path: Path, clock: Clock) -> Monitor:
    try:
        from rankscope.monitor.monitor import Monitor  # noqa: PLC0415 - its libraries are an extra

        return Monitor.open(str(path), now=clock)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"expected {error.name} to be installed for the monitor",
            hint="pip install 'rankscope[monitor]'; rankscope demo --offline does without",
            code="missing_extra",
        ) from error


def _serve(path: Path, port: int) -> None:
    from rankscope.monitor.server.run.service import serve_store  # noqa: PLC0415 - not with --once
    from rankscope.monitor.store import open_store  # noqa: PLC0415 - likewise

    with closing(open_store(f"{SQLITE}{path}")) as store:
        # What it has to say besides is told in the story.
        serve_store(store, host=HOST, port=port, announce=_announce, write_log=lambda _line: None)


def _announce(address: str) -> None:
    _say("", f"The dashboard is at {address} until Ctrl-C.")


def _tell(story: Story, monitor: Monitor, clock: Clock) -> int:
    """Play the story, and tell it as it goes; 1 if a number is not that of the reference."""
    _tell_preparation(story, monitor)
    steps = list(_tell_production(story, monitor, clock))
    _tell_alerts(story, monitor, [each for step in steps for each in step.alerts])
    return _tell_cause(story, monitor)


def _tell_preparation(story: Story, monitor: Monitor) -> None:
    _say(
        f"The story of a release: {_day(story.start)} to {_day(story.end)}, seed {story.seed}",
        "",
        "1. Before production",
        f"A music app logs its searches. {_list_worth()}, for {_span(WINDOW)} after a search.",
    )
    logged = prepare(story, monitor)
    baseline = monitor.baseline()
    means = {} if baseline is None else baseline.means
    rule, *_ = monitor.rules()
    _say(
        f"{logged.accepted} searches with known grades are the baseline:",
        "",
        str(
            Table(
                {
                    "measure": list(means),
                    "baseline": [mean.value for mean in means.values()],
                    "from": [mean.lower for mean in means.values()],
                    "to": [mean.upper for mean in means.values()],
                }
            )
        ),
        "",
        f"A rule watches {rule.measure} of each version day by day, as a whole and by "
        f"{', '.join(rule.slices)}: it may be {rule.tolerance} below the baseline, and a false "
        f"alarm comes after {rule.run_length:g} days or more on average.",
    )


def _tell_production(story: Story, monitor: Monitor, clock: Clock) -> list[Step]:
    _say("", "2. Production", "time              searches  what listeners did")
    steps = []
    for step in play(story, monitor, clock):
        steps.append(step)
        if step.rankings.objects:
            counts = f"{step.rankings.accepted:>8}  {step.labels.accepted:>18}"
            _say(f"{_moment(step.time)}  {counts}")
        for alert in step.alerts:
            _say(f"{_moment(step.time)}  {alert.before} -> {alert.after}: {alert.reason}")
    events = dict(monitor.store.counters(monitor.project))
    kept = {name: events.pop(name) for name in ("accepted", "duplicate", "conflict")}
    wrong = ", ".join(f"{count} {code}" for code, count in sorted(events.items()))
    quality = monitor.quality()
    _say(
        "",
        f"{kept['accepted']} events were stored, each once: {kept['duplicate']} came again, and "
        f"{kept['conflict']} had an id that was taken.",
        f"Not stored, for something is wrong with them: {wrong}.",
        f"{quality.late} labels came after their window was closed, {quality.unshown} are of "
        f"tracks that were not shown, {quality.pending_labels} wait for their search.",
    )
    _say(
        "",
        f"Version 4 was released on {_moment(story.release)}:",
        "",
        str(_list_days(story, monitor)),
    )
    return steps


def _list_days(story: Story, monitor: Monitor) -> Table:
    since = (story.release // DAY - SHOWN_BEFORE) * DAY
    whole = {name: monitor.series(name, every="day", since=since) for name in monitor.measures}
    name = monitor.rules()[0].measure
    harmed = monitor.series(name, every="day", since=since, slice=(("device", DEVICE),))
    first = whole[name]
    return Table(
        {
            "day": [_day(start) for start in first.starts],
            "searches": first.rankings,
            **{name: each.values for name, each in whole.items()},
            f"{name} {DEVICE}": harmed.values,
            "labels": ["all" if is_final else "may come" for is_final in first.is_final],
        }
    )


def _tell_alerts(story: Story, monitor: Monitor, changes: list[Alert]) -> None:
    fired = [each for each in changes if each.after == "ALERT"]
    _say("", f"3. Alerts: {len(fired)}")
    for alert in fired:
        grace = monitor.configuration.grace
        _say(
            f"{_moment(alert.time)}: {alert.reason}",
            f"That is {_span(alert.time - story.release)} after the release: a day is looked at "
            f"when it is over, and its labels had {_span(WINDOW)} to come and {_span(grace)} to "
            "arrive.",
        )
    state, *_ = monitor.check()
    _say(f"Since {_moment(state.since)} the rule is in state {state.state}.")


def _tell_cause(story: Story, monitor: Monitor) -> int:
    measure = monitor.rules()[0].measure
    trace = monitor.trace(*list_spans(story), measure)
    _say("", "4. Why it fell", str(trace))
    for ranking_id in trace.fallen.column("ranking_id")[:1]:
        _say(
            "",
            "5. A search of the query that fell most",
            str(monitor.explain(str(ranking_id), measure)),
        )
    checked = check_monitor(story, monitor, trace)
    _say(
        "",
        f"{checked.numbers} numbers were computed again by the reference, one search at a time; "
        f"{len(checked.differing)} differ.",
        *checked.differing[:10],
    )
    return 1 if checked.differing else 0


def _list_worth() -> str:
    worth = ", ".join(f"a {deed} {grade}" for deed, grade in POSITIVE.items())
    return f"What listeners do adds to the grade of a track: {worth}"


def _say(*lines: str) -> None:
    for line in lines:
        print(line)
    sys.stdout.flush()


def _day(time: int) -> str:
    return format_time(time)[:10]


def _moment(time: int) -> str:
    return format_time(time)[:16].replace("T", " ")


def _span(length: int) -> str:
    """Write how long something takes.

    Examples:
        >>> _span(HOUR), _span(2 * DAY + 16 * HOUR), _span(90 * MINUTE)
        ('1 h', '2 days 16 h', '1 h 30 min')
    """
    days, rest = divmod(length, DAY)
    hours, rest = divmod(rest, HOUR)
    parts = ((days, "day" if days == 1 else "days"), (hours, "h"), (rest // MINUTE, "min"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 min"
