"""`rankscope monitor check`: checks the alert rules; the exit status is 1 if one fails."""

from __future__ import annotations

import sys

from rankscope.cli.output import print_json
from rankscope.errors import FileError, UsageError
from rankscope.monitor.commands.incidents import describe_incident, join_reason
from rankscope.monitor.commands.store import (
    add_store_arguments,
    find_as_of,
    open_any,
    open_reader,
    read_word,
)
from rankscope.monitor.commands.times import read_duration
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.rules.data.rule import default_rule
from rankscope.output.text import show
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Iterable
    from typing import Any

    from rankscope.cli.parser import Parser
    from rankscope.monitor.incidents.incident import Incident
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.rules.state import RuleState

STATES = ("ALERT", "NO_DATA", "STALE", "INSUFFICIENT")
FAILING = ("ALERT", "NO_DATA", "STALE")
FAILED = 1


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_store_arguments(parser, is_timed=True)
    parser.description = (
        "Evaluate new events and check the alert rules. If a service writes to the store, check "
        "what the service found last. The exit status is 1 if a rule is in a state of --fail-on "
        "and is not silenced; a rule is in ALERT while one of its incidents lasts. With --as-of, "
        "nothing is written: the log is replayed up to that time, and the incidents are printed "
        "that would have been opened and closed."
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
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
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
        known = [rule.name for rule in monitor.rules()]
        _refuse_unknown(names, known, {*known, default_rule().name})


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
        "fails": state.state in failing and not is_silenced,
        "named": [stream.name for stream in state.streams if stream.state == "ALERT"],
    }
