"""`rankscope monitor rule`: lists, adds, removes, silences and resolves the rules of alerts."""

from __future__ import annotations

from argparse import ArgumentTypeError

from rankscope.cli.arguments import Once, OnceFlag
from rankscope.cli.monitor.moments import read_duration, read_moment
from rankscope.cli.monitor.stores import (
    ACTOR,
    add_store_arguments,
    open_reader,
    open_writer,
    read_word,
)
from rankscope.cli.output import print_json
from rankscope.monitor.alerts.rule import Rule
from rankscope.monitor.events.times import format_time
from rankscope.results.table import Table
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from typing import Any

TOLERANCE = (0.02, False)


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(name: str, help: str, act: Callable[[Namespace], None]) -> ArgumentParser:  # noqa: A002 - argparse's name
        made: ArgumentParser = actions.add_parser(name, help=help, description=help)
        add_store_arguments(made)
        if name != "list":
            made.add_argument(
                "name", type=read_word, metavar="NAME", help="what the rule is known by"
            )
        made.set_defaults(act=act)
        return made

    add("list", "List the rules.", _list)
    _add_parts(add("add", "Add a rule, or change the one of its name.", _add))
    add("remove", "Remove a rule; the alerts that there were stay.", _remove)
    silenced = add("silence", "Tell nobody of a rule for a while; its state goes on.", _silence)
    silenced.add_argument(
        "--for",
        dest="duration",
        action=Once,
        type=read_duration,
        metavar="TIME",
        help="for how long, such as 8h; told again from now on if left out",
    )
    add("resolve", "Say that a drop is dealt with: its evidence is forgotten.", _resolve)


def _add_parts(parser: ArgumentParser) -> None:
    """Say what a rule is made of."""
    parser.add_argument(
        "--measure", action=Once, required=True, metavar="MEASURE", help="one that is measured"
    )
    parser.add_argument(
        "--kind",
        action=Once,
        choices=("drop", "threshold"),
        default="drop",
        help="drop collects evidence over periods, with few false alarms however often it is "
        "looked at; threshold judges each period alone; drop if left out",
    )
    parser.add_argument(
        "--model", action=Once, type=read_word, metavar="NAME", help="this model only"
    )
    parser.add_argument(
        "--slice",
        action=Once,
        nargs="+",
        default=[],
        metavar="NAME",
        help="attributes whose values are watched one by one, besides all rankings together",
    )
    parser.add_argument(
        "--period", action=Once, choices=("day", "hour"), default="day", help="a day if left out"
    )
    parser.add_argument(
        "--tolerance",
        action=Once,
        type=_read_tolerance,
        default=TOLERANCE,
        metavar="N",
        help="how far below the baseline nobody minds: 0.02, or 5%% of it; 0.02 if left out",
    )
    parser.add_argument(
        "--run-length",
        action=Once,
        type=float,
        default=1800.0,
        metavar="N",
        help="of a drop: how many periods pass on average before a false alarm, 1800 if left out",
    )
    parser.add_argument(
        "--fewest",
        action=Once,
        type=int,
        default=30,
        metavar="N",
        help="how many users or queries are enough to judge, 30 if left out",
    )
    parser.add_argument(
        "--needs",
        action=Once,
        choices=("interval", "value"),
        default="interval",
        help="of a threshold: what has to lie below it, the whole interval if left out",
    )
    parser.add_argument(
        "--since",
        action=Once,
        type=read_moment,
        metavar="TIME",
        help="when the first period begins; the newest one if left out",
    )
    parser.add_argument("--no-webhook", action=OnceFlag, help="tell the log only")


def run(options: Namespace) -> int:
    """Do what is asked for."""
    options.act(options)
    return 0


def _add(options: Namespace) -> None:
    tolerance, is_relative = options.tolerance
    rule = Rule(
        name=options.name,
        measure=options.measure,
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
        webhook=not options.no_webhook,
    )
    with open_writer(options) as monitor:
        monitor.set_rule(rule, actor=ACTOR)
        (stored,) = (each for each in monitor.rules() if each.name == rule.name)
    _tell(options, stored.to_dict())


def _list(options: Namespace) -> None:
    with open_reader(options) as monitor:
        rules = [rule.to_dict() for rule in monitor.rules()]
    if options.json:
        print_json({"rules": rules})
    elif rules:
        names = ("name", "measure", "kind", "period", "slices", "tolerance")
        print(Table({name: [_show(rule, name) for rule in rules] for name in names}))


def _remove(options: Namespace) -> None:
    with open_writer(options) as monitor:
        monitor.remove_rule(options.name, actor=ACTOR)
    _tell(options, {"removed": options.name})


def _silence(options: Namespace) -> None:
    with open_writer(options) as monitor:
        until = None if options.duration is None else monitor.now() + options.duration
        monitor.silence(options.name, until, actor=ACTOR)
    moment = None if until is None else format_time(until)
    _tell(options, {"name": options.name, "silenced_until": moment})


def _resolve(options: Namespace) -> None:
    with open_writer(options) as monitor:
        monitor.resolve(options.name, actor=ACTOR)
    _tell(options, {"resolved": options.name})


def _tell(options: Namespace, said: dict[str, Any]) -> None:
    if options.json:
        print_json(said)
        return
    for name in said:
        print(f"{name}\t{show(_show(said, name))}")


def _show(said: dict[str, Any], name: str) -> str:
    value = said[name]
    if name == "tolerance" and said.get("is_relative"):
        return f"{100 * value:g}%"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) or "-" if isinstance(value, list) else str(value or "-")


def _read_tolerance(text: str) -> tuple[float, bool]:
    is_relative = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise ArgumentTypeError(f"expected a number such as 0.02 or 5%, found {text!r}") from None
    return (number / 100 if is_relative else number), is_relative
