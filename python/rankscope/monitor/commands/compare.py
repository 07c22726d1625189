"""`rankscope monitor compare`: compares two versions that serve at the same time."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from rankscope._cli.options import add_measure_option
from rankscope._cli.parser import Parser, print_json
from rankscope._show.table import Table, show
from rankscope.monitor.commands.store import (
    TIME_HELP,
    add_store_arguments,
    ask_service,
    is_service,
    open_reader,
    read_moment,
    read_pair,
    read_word,
)
from rankscope.monitor.events.times import format_time

COLUMNS = ("difference", "lower", "upper")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of `compare`."""
    add_store_arguments(parser, run, is_timed=True, more="or the URL of a service")
    parser.description = (
        "Compare two versions of a model over the time in which both serve. Each day has the "
        "difference of all rankings until then, with an interval that holds however often you "
        "look: with a probability of 95%, the intervals of all days contain the true difference."
    )
    add_measure_option(parser, "a measure of the project (default: the last one)")
    for name, text in (
        ("--model", "model (default: the one with the newest version that serves beside another)"),
        ("--old", "older version (default: the newest before the new one)"),
        ("--new", "newer version (default: the newest that serves beside another)"),
    ):
        parser.add_argument(name, type=read_word, metavar="NAME", help=text)
    parser.add_argument(
        "--slice",
        action="append",
        type=read_pair,
        default=[],
        metavar="NAME=VALUE",
        help="compare only rankings with this value of an attribute",
    )
    parser.add_argument(
        "--since",
        type=read_moment,
        metavar="TIME",
        help=f"compare from this time on (default: when both serve): {TIME_HELP}",
    )
    parser.add_examples(
        "rankscope monitor compare music.db",
        "rankscope monitor compare music.db --old 3 --new 4 --slice device=tv --since 7d",
    )


def run(options: Namespace) -> int:
    """Print the difference between two versions, as of each day."""
    said = _ask(options) if is_service(options.store) else _read(options)
    if options.json:
        print_json(said)
        return 0
    for name in ("sentence", "lists_sentence"):
        if said[name]:
            print(show(str(said[name])))
    print()
    print(_tabulate(said["days"]))
    return 0


def _read(options: Namespace) -> Mapping[str, Any]:
    with open_reader(options) as monitor:
        return monitor.compare(
            options.measure,
            model=options.model,
            old=options.old,
            new=options.new,
            slice=tuple(options.slice),
            since=options.since,
        ).to_dict()


def _ask(options: Namespace) -> Mapping[str, Any]:
    since = None if options.since is None else format_time(options.since)
    named = {"measure": options.measure, "model": options.model, "since": since}
    named |= {"old": options.old, "new": options.new}
    query = [(name, value) for name, value in named.items() if value is not None]
    query += [("slice", "=".join(pair)) for pair in options.slice]
    return ask_service(options, "GET", f"/v1/comparison?{urlencode(query)}")


def _tabulate(days: list[dict[str, Any]]) -> Table:
    return Table(
        {
            "day": [day["day"][:10] for day in days],
            **{name: [day[name] for day in days] for name in COLUMNS},
            **{
                f"{name} {side}": [day[name][at] for day in days]
                for name in ("users", "rankings")
                for at, side in enumerate(("old", "new"))
            },
            "final": ["yes" if day["is_final"] else "no" for day in days],
        }
    )
