"""`rankscope monitor rule`: manages alert rules."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta

from rankscope.cli.options import add_measure_option
from rankscope.cli.output import print_json
from rankscope.cli.parser import Once, OnceFlag, OnceList, listed, read_integer, read_number
from rankscope.errors import UsageError
from rankscope.monitor.alerts.rule import FEWEST, KINDS, SEVERITIES, USED_BY, WATCHES, Rule
from rankscope.monitor.commands.store import (
    ACTOR,
    add_store_arguments,
    open_reader,
    open_writer,
    read_word,
)
from rankscope.monitor.commands.times import TIME_HELP, read_duration, read_moment, write_moment
from rankscope.monitor.events.times import format_time, read_time, to_datetime
from rankscope.names import quote
from rankscope.output.table import Table
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from rankscope.cli.parser import Parser

TIMES = ("since", "silenced_until")
DEFAULTS = {
    "model": "all",
    "since": "the newest period",
    "channels": "all",
    "lanes": "default",
    "watches": "everything",
}
"""What a field means that isn't set."""


def add_list(parser: Parser) -> None:
    """Add the arguments of `rule list`."""
    add_store_arguments(parser)
    parser.set_defaults(run=run_list)


def add_remove(parser: Parser) -> None:
    """Add the arguments of `rule remove`."""
    _add_rule(parser)
    parser.set_defaults(run=run_remove)


def add_silence(parser: Parser) -> None:
    """Add the arguments of `rule silence`."""
    _add_rule(parser)
    parser.add_argument(
        "--for",
        dest="duration",
        action=Once,
        type=read_duration,
        metavar="DURATION",
        help="how long to pause notifications, such as 8h; without it, notifications resume now",
    )
    parser.set_defaults(run=run_silence)


def add_resolve(parser: Parser) -> None:
    """Add the arguments of `rule resolve`."""
    parser.description = (
        "Mark the incident of a rule as resolved and start fresh: the evidence collected so far "
        "is discarded."
    )
    _add_rule(parser)
    parser.set_defaults(run=run_resolve)


def _add_rule(parser: Parser) -> None:
    add_store_arguments(parser)
    parser.add_argument("name", type=read_word, metavar="NAME", help="name of the rule")


def add_add(parser: Parser) -> None:
    """Add the arguments of `rule add`."""
    _add_rule(parser)
    add_measure_option(
        parser,
        "a measure of the project, or empty for the share of rankings without a relevant document "
        "(required, except for kind data)",
        is_required=False,
    )
    parser.add_argument(
        "--kind",
        action=Once,
        choices=KINDS,
        default="drop",
        metavar="KIND",
        help="drop collects evidence over several periods and has a stated false-alarm rate; "
        "threshold checks each period on its own; data checks that rankings and labels arrive as "
        "usual; trace searches all slices every night for one that fell more than everything did",
    )
    parser.add_argument(
        "--severity",
        action=Once,
        choices=SEVERITIES,
        default="warning",
        metavar="SEVERITY",
        help="severity of the incidents of this rule",
    )
    parser.add_argument(
        "--model", action=Once, type=read_word, metavar="NAME", help="check only this model"
    )
    parser.add_argument(
        "--slice",
        action=OnceList,
        nargs="+",
        type=listed(),
        default=[],
        metavar="NAME",
        help="attributes whose values are also checked one by one, such as device, and pairs of "
        "attributes whose values are checked together, such as device:country",
    )
    parser.add_argument(
        "--period",
        action=Once,
        choices=("day", "hour"),
        default="day",
        metavar="PERIOD",
        help="length of a period",
    )
    parser.add_argument(
        "--tolerance",
        action=Once,
        type=_read_tolerance,
        default="0.02",
        metavar="N",
        help="tolerated drop below the baseline: a value such as 0.02, or a share of the baseline "
        "such as 5%",
    )
    parser.add_argument(
        "--run-length",
        action=Once,
        type=read_number,
        default=1800.0,
        metavar="N",
        help="kinds drop and trace: average number of periods, or nights, between false alarms",
    )
    parser.add_argument(
        "--fewest",
        action=Once,
        type=read_integer,
        default=FEWEST,
        metavar="N",
        help="kind threshold: smallest number of users or queries of a period and its baseline",
    )
    parser.add_argument(
        "--needs",
        action=Once,
        choices=("interval", "value"),
        default="interval",
        metavar="WHAT",
        help="kind threshold: what must be below the threshold, the whole confidence interval or "
        "the value",
    )
    parser.add_argument(
        "--since",
        action=Once,
        type=read_moment,
        metavar="TIME",
        help=f"start of the first period: {TIME_HELP} (default: the newest period)",
    )
    parser.add_argument(
        "--early",
        action=Once,
        nargs="*",
        type=_read_lane,
        metavar="AGE",
        help="kind drop: check early values at these ages, too, such as 15m; without an age, check "
        "only final values (default: the last two of 15m, 1h and 4h that are at most a quarter of "
        "the attribution window)",
    )
    parser.add_argument(
        "--no-anchor",
        action=OnceFlag,
        help="kind drop: don't compare with the long-term baseline, which releases don't renew",
    )
    parser.add_argument(
        "--watch",
        action=Once,
        nargs="+",
        choices=WATCHES,
        default=[],
        metavar="WHAT",
        help="kind data: what to watch (default: everything)",
    )
    parser.add_argument(
        "--channels",
        action=Once,
        nargs="*",
        metavar="NAME",
        help="channels that are notified, such as log or webhook (default: all)",
    )
    parser.add_argument(
        "--remind",
        action=Once,
        type=read_number,
        default=24.0,
        metavar="HOURS",
        help="hours after which an incident that nobody acknowledged is notified again; 0 for "
        "never",
    )
    parser.add_examples(
        "rankscope monitor rule add music.db quality -m nDCG@5 --slice device device:country",
        "rankscope monitor rule add music.db quality -m nDCG@5 --tolerance 5% --severity critical",
        "rankscope monitor rule add music.db night -m nDCG@5 --kind trace",
    )
    parser.set_defaults(run=run_add)


def run_add(options: Namespace) -> int:
    """Create or replace a rule, and print it."""
    if options.measure is None and options.kind != "data":
        raise UsageError(
            f"a rule of the kind {options.kind} needs a measure",
            hint="name one of the project, such as --measure nDCG@5, or --measure empty",
            code="usage",
        )
    tolerance, is_relative = options.tolerance
    rule = Rule(
        name=options.name,
        measure=options.measure or "",
        kind=options.kind,
        model=options.model,
        slices=tuple(options.slice),
        period=options.period,
        tolerance=tolerance,
        is_relative=is_relative,
        run_length=options.run_length,
        fewest=options.fewest,
        needs=options.needs,
        since=options.since,
        severity=options.severity,
        channels=None if options.channels is None else tuple(options.channels),
        remind=options.remind,
        lanes=None if options.early is None else tuple(options.early),
        anchor=not options.no_anchor,
        watches=tuple(options.watch),
    )
    with open_writer(options) as monitor:
        monitor.set_rule(rule, actor=ACTOR)
        (stored,) = (each for each in monitor.rules() if each.name == rule.name)
    _print_fields(options, stored.to_dict())
    return 0


def run_list(options: Namespace) -> int:
    """Print the rules."""
    with open_reader(options) as monitor:
        rules = [rule.to_dict() for rule in monitor.rules()]
    if options.json:
        print_json({"rules": rules})
    elif rules:
        names = ("name", "measure", "kind", "period", "slices", "tolerance")
        shown = [
            {
                name: _show(rule, name) if rule["kind"] in USED_BY.get(name, KINDS) else "-"
                for name in names
            }
            for rule in rules
        ]
        print(Table({name: [row[name] for row in shown] for name in names}))
    return 0


def run_remove(options: Namespace) -> int:
    """Delete a rule."""
    with open_writer(options) as monitor:
        monitor.remove_rule(options.name, actor=ACTOR)
    _print_fields(options, {"removed": options.name})
    return 0


def run_silence(options: Namespace) -> int:
    """Pause the notifications of a rule, and print until when."""
    with open_writer(options) as monitor:
        until = (
            None if options.duration is None else to_datetime(monitor.clock() + options.duration)
        )
        monitor.silence(options.name, until, actor=ACTOR)
    moment = None if until is None else format_time(until)
    _print_fields(options, {"name": options.name, "silenced_until": moment})
    return 0


def run_resolve(options: Namespace) -> int:
    """Resolve the incident of a rule."""
    with open_writer(options) as monitor:
        monitor.resolve_rule(options.name, actor=ACTOR)
    _print_fields(options, {"resolved": options.name})
    return 0


def _print_fields(options: Namespace, fields: dict[str, Any]) -> None:
    if options.json:
        print_json(fields)
        return
    for name in fields:
        if "kind" not in fields or fields["kind"] in USED_BY.get(name, KINDS):
            print(f"{name}\t{show(_show(fields, name))}")


def _show(fields: dict[str, Any], name: str) -> str:
    value = fields[name]
    if name == "tolerance" and fields.get("is_relative"):
        return f"{100 * value:g}%"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if name in TIMES and value is not None:
        return write_moment(read_time(value, name)[0])
    shown = ", ".join(value) if isinstance(value, list) else value
    # Without lanes there are no early values, and without channels only the log.
    return str(shown or (DEFAULTS.get(name, "-") if value is None or name == "watches" else "-"))


def _read_lane(text: str) -> timedelta:
    return timedelta(microseconds=read_duration(text))


def _read_tolerance(text: str) -> tuple[float, bool]:
    is_relative = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise ArgumentTypeError(
            f"expected a number such as 0.02 or 5%, found {quote(text)}"
        ) from None
    return (number / 100 if is_relative else number), is_relative
