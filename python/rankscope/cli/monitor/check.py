"""`rankscope monitor check`: tells whether a rule is in alert; the exit status says so."""

from __future__ import annotations

import sys

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.moments import read_duration
from rankscope.cli.monitor.stores import add_store_arguments, open_any, read_word, tell_as_of
from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.monitor import Monitor

STATES = ("ALERT", "NO_DATA", "INSUFFICIENT")
FAILING = ("ALERT", "NO_DATA")
FAILED = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser, is_timed=True)
    parser.description = (
        "Bring the project up to date, or read what the service that writes has found, and exit "
        "with 1 if a rule is in a state that fails."
    )
    parser.add_argument(
        "--rule",
        action=Once,
        type=read_word,
        nargs="+",
        metavar="NAME",
        help="names of rules to check (default: all)",
    )
    parser.add_argument(
        "--fail-on",
        action=Once,
        nargs="+",
        choices=STATES,
        default=list(FAILING),
        help=f"the states that fail, {' and '.join(FAILING)} if left out; a rule that is silenced "
        "fails in none",
    )
    parser.add_argument(
        "--max-age",
        action=Once,
        type=read_duration,
        default=HOUR,
        metavar="TIME",
        help="how old what the service has found may be, 1h if left out; older, the check fails",
    )


def run(options: Namespace) -> int:
    """Look at the rules, and say how each stands."""
    monitor, writes = open_any(options)
    with monitor:
        if writes:
            monitor.evaluate()
        states = _choose(monitor.check(), options.rule)
        age = _tell_age(monitor)
        now = monitor.now()
    is_stale = age is None or age > options.max_age
    if is_stale:
        told = "never" if age is None else f"{age / HOUR:,.1f} hours ago"
        print(f"the rules were looked at {told}: is the service well?", file=sys.stderr)
    rows = [_say(state, now, options.fail_on) for state in states]
    if options.json:
        print_json({"as_of": None if age is None else format_time(now - age), "rules": rows})
    else:
        for row in rows:
            silenced = " (silenced)" if row["is_silenced"] else ""
            print(f"{row['state']}{silenced}\t{show(row['name'])}\t{show(row['reason'])}")
    return FAILED if is_stale or any(row["fails"] for row in rows) else 0


def _choose(states: tuple[RuleState, ...], names: list[str] | None) -> list[RuleState]:
    known = {state.rule.name: state for state in states}
    unknown = [name for name in names or () if name not in known]
    if unknown or not known:
        raise UsageError(
            f"expected the name of a rule, found {show(unknown[0])!r}"
            if unknown
            else "expected a rule to check, found none",
            hint=f"there are {', '.join(map(show, known))}"
            if known
            else "rankscope monitor rule add STORE NAME --measure nDCG@5",
            code="no_rule",
        )
    return [known[name] for name in names or known]


def _tell_age(monitor: Monitor) -> int | None:
    """Tell how long ago the project was brought up to date."""
    as_of = tell_as_of(monitor)
    return None if as_of is None else max(monitor.now() - as_of, 0)


def _say(state: RuleState, now: int, failing: list[str]) -> dict[str, Any]:
    is_silenced = state.silenced_until is not None and state.silenced_until > now
    return {
        "name": state.rule.name,
        "state": state.state,
        "since": format_time(state.since),
        "reason": state.reason,
        "is_silenced": is_silenced,
        "fails": state.state in failing and not is_silenced,
        "named": [stream.name for stream in state.streams if stream.state == "ALERT"],
    }
