"""`rankscope monitor evaluate` and `status`: compute the values of a project, and show them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from rankscope._cli.parser import Parser, print_json
from rankscope._show.table import Table, show
from rankscope.errors import FileError, UsageError
from rankscope.monitor.ask.series import Series
from rankscope.monitor.commands.incidents import describe_incident, join_reason
from rankscope.monitor.commands.store import (
    EVALUATION_SECONDS,
    SERVICE,
    add_store_arguments,
    ask_service,
    find_as_of,
    is_service,
    name_path,
    open_any,
    open_reader,
    open_writer,
    read_duration,
    read_word,
    refuse_at_service,
    write_moment,
)
from rankscope.monitor.evaluate.baseline import Baseline
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time, read_time, to_datetime
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import make_plain, write_record
from rankscope.monitor.rules.state import RuleState

HEADS = {"is_final": "final"}
TIMES = ("since", "first", "last")
COLUMNS = ("measure", "since", "value", "lower", "upper", "rankings", "is_final", "baseline")


def add_evaluate(parser: Parser) -> None:
    """Add the arguments of `evaluate`."""
    add_store_arguments(parser, run_evaluate, is_timed=True, more=SERVICE)
    parser.description = (
        "Compute windows and baselines, check the alert rules, and open, change and close "
        "incidents. Every moment since the last evaluation at which something is due is passed in "
        "order. With --as-of, a rule that has looked at nothing begins with the first ranking."
    )


def run_evaluate(options: Namespace) -> int:
    """Evaluate new events, and print how much was computed and what happened to incidents."""
    if is_service(options.store):
        if options.as_of is not None:
            raise refuse_at_service("--as-of", "remove --as-of: the service has a clock of its own")
        path = name_path("evaluation")
        said = ask_service(options, "POST", path, {}, seconds=EVALUATION_SECONDS)
    else:
        with open_writer(options) as monitor:
            said = monitor.evaluate(is_replay=options.as_of is not None).to_dict()
    if options.json:
        print_json(said)
        return 0
    print(f"as of\t{said['as_of'].partition('.')[0]}Z")
    for name in ("hours", "rankings"):
        print(f"{name}\t{said[name]}")
    for incident in said["incidents"]:
        print(f"{incident['event']}\t{describe_incident(incident)}")
    return 0


def add_status(parser: Parser) -> None:
    """Add the arguments of `status`."""
    add_store_arguments(parser, run_status)
    parser.add_argument(
        "--every",
        choices=("hour", "day"),
        default="day",
        metavar="PERIOD",
        help="length of the windows",
    )
    parser.add_argument("--version", type=read_word, metavar="NAME", help="show only this version")


def run_status(options: Namespace) -> int:
    """Print the newest values as of the last evaluation."""
    with open_reader(options) as monitor:
        as_of = find_as_of(monitor)
        [series] = monitor.all_series([(None, options.version)], every=options.every)
        baseline = monitor.baseline()
        rows = [_find_newest(series[measure], baseline) for measure in monitor.measures]
        versions = [write_record(version) for version in monitor.versions()]
        mismatches = monitor.mismatches()
    if options.json:
        moment = None if as_of is None else format_time(as_of)
        said = {"as_of": moment, "values": rows, "versions": versions}
        print_json(said | {"mismatches": [mismatch.to_dict() for mismatch in mismatches]})
        return 0
    if not any(row["folded"] for row in versions):
        versions = [{name: row[name] for name in row if name != "folded"} for row in versions]
    print(f"as of\t{'never evaluated' if as_of is None else write_moment(as_of)}")
    for table in (rows, versions):
        if table:
            print()
            columns = {name: [_show(name, row[name]) for row in table] for name in table[0]}
            print(Table({HEADS.get(name, name): column for name, column in columns.items()}))
    for one in mismatches:
        print(f"note: {one}", file=sys.stderr)
    return 0


def _find_newest(series: Series, baseline: Baseline | None) -> dict[str, object]:
    """Return the values of the newest final window, or of the newest if none is final."""
    measure = series.measure
    final = [at for at, is_final in enumerate(series.is_final) if is_final]
    held = None if baseline is None else baseline.means[measure].value
    if not len(series):
        return dict(zip(COLUMNS, [measure, *[None] * 6, held], strict=True))
    at = final[-1] if final else len(series) - 1
    found = (
        measure,
        format_time(series.times[at]),
        *(make_plain(column[at]) for column in (series.values, series.lower, series.upper)),
        series.rankings[at],
        series.is_final[at],
        held,
    )
    return dict(zip(COLUMNS, found, strict=True))


def _show(name: str, value: object) -> str | float | int | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return write_moment(read_time(value, name)[0]) if name in TIMES else value
    return value if isinstance(value, float | int) else None


STATES = ("ALERT", "NO_DATA", "STALE", "INSUFFICIENT")
FAILING = ("ALERT", "NO_DATA", "STALE")
FAILED = 1


def add_check(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_store_arguments(parser, run_check, is_timed=True)
    parser.description = (
        "Evaluate new events and check the alert rules. If a service holds the store, check what "
        "it found last. The exit status is 1 if a rule is in a state of --fail-on and is not "
        "silenced, unless its severity is info; a rule is in ALERT while one of its incidents "
        "lasts. With --as-of, nothing is written: the log is replayed up to that time, and the "
        "incidents are printed that would have been opened and closed."
    )
    parser.add_argument(
        "--rule", type=read_word, nargs="+", metavar="NAME", help="rules to check (default: all)"
    )
    parser.add_argument(
        "--fail-on",
        nargs="+",
        choices=STATES,
        default=list(FAILING),
        metavar="STATE",
        help="states that fail the check",
    )
    parser.add_argument(
        "--max-age",
        type=read_duration,
        default="1h",
        metavar="DURATION",
        help="fail if the last evaluation of the service is older than this",
    )


def run_check(options: Namespace) -> int:
    """Check the rules, and print the state of each, and the incidents."""
    if options.as_of is not None:
        with open_reader(options) as monitor:
            _check_names(monitor, options.rule)
            replayed = monitor.replay()
            now = monitor.clock()
        states = _choose(replayed.rules, options.rule)
        changed = {one.incident_id: one for one in (*replayed.active, *replayed.incidents)}
        # Nobody is notified of what would have been.
        incidents: Iterable[Incident] = [replace(one, notified=()) for one in changed.values()]
        age: int | None = 0
    else:
        monitor, writes = open_any(options)
        with monitor:
            _check_names(monitor, options.rule)
            if writes:
                _evaluate(monitor)
            states = _choose(monitor.check(), options.rule)
            incidents = monitor.incidents()
            age = _find_age(monitor)
            now = monitor.clock()
    names = {state.rule.name for state in states}
    found = [one.to_dict() for one in incidents if one.rule in names]
    found.sort(key=lambda one: (one["opened"], one["id"]))
    is_stale = age is None or age > options.max_age
    if is_stale:
        when = "never evaluated" if age is None else f"last evaluated {age / HOUR:,.1f} hours ago"
        print(f"The rules were {when}. Check that the service is running.", file=sys.stderr)
    rows = [_describe(state, now, options.fail_on) for state in states]
    if options.json:
        as_of = None if age is None else format_time(now - age)
        print_json({"as_of": as_of, "rules": rows, "incidents": found})
    else:
        for row in rows:
            silenced = " (silenced)" if row["is_silenced"] else ""
            line = f"{row['state']}{silenced}\t{show(row['name'])}"
            # The reasons of a rule in ALERT are those of its incidents, which follow.
            print(line if row["state"] == "ALERT" else join_reason(line, row["reason"]))
        for incident in found:
            print(describe_incident(incident))
    return FAILED if is_stale or any(row["fails"] for row in rows) else 0


def _evaluate(monitor: Monitor) -> None:
    """Evaluate, unless the service does."""
    try:
        monitor.evaluate()
    except FileError as error:
        if error.code != "store_evaluated":
            raise


def _check_names(monitor: Monitor, names: list[str] | None) -> None:
    """Refuse names of rules that there aren't, before anything is evaluated."""
    if names and monitor.is_configured:
        from rankscope.monitor.rules.kinds import DEFAULTS

        known = [rule.name for rule in monitor.rules()]
        _refuse_unknown(names, known, {*known, *DEFAULTS})


def _refuse_unknown(names: Iterable[str], listed: list[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no rule {show(name)!r}",
                hint=f"the rules are: {', '.join(map(show, listed))}"
                if listed
                else "create one with rankscope monitor rule add STORE NAME --measure nDCG@5",
                code="no_rule",
            )


def _choose(states: tuple[RuleState, ...], names: list[str] | None) -> list[RuleState]:
    known = {state.rule.name: state for state in states}
    _refuse_unknown(names or (), list(known), known)
    if not known:
        raise UsageError(
            "there are no rules to check",
            hint="create one with rankscope monitor rule add STORE NAME --measure nDCG@5",
            code="no_rule",
        )
    return [known[name] for name in names or known]


def _find_age(monitor: Monitor) -> int | None:
    """Return the time since the last evaluation, in microseconds; `None` before the first."""
    as_of = find_as_of(monitor)
    return None if as_of is None else max(monitor.clock() - as_of, 0)


def _describe(state: RuleState, now: int, failing: list[str]) -> dict[str, Any]:
    is_silenced = state.silenced_until is not None and state.silenced_until > to_datetime(now)
    return {
        "name": state.rule.name,
        "state": state.state,
        "since": format_time(state.since),
        "reason": state.reason,
        "is_silenced": is_silenced,
        "fails": state.state in failing and not is_silenced and state.rule.severity != "info",
        "named": [stream.name for stream in state.streams if stream.state == "ALERT"],
    }
