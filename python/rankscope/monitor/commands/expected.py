"""`rankscope monitor expected`: shows the values that are expected before labels arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.cli.options import add_measure_option
from rankscope.cli.output import print_json
from rankscope.monitor.commands.store import (
    TIME_HELP,
    add_store_arguments,
    open_reader,
    read_moment,
    read_pair,
    read_word,
    write_moment,
)
from rankscope.monitor.expect.kinds import DOUBTS, REFUSALS
from rankscope.monitor.plain import make_plain
from rankscope.output.table import Table

if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser


def add_arguments(parser: Parser) -> None:
    """Add the arguments of `expected`."""
    add_store_arguments(parser, run, is_timed=True)
    parser.description = (
        "Show the values of nDCG that were expected before labels arrived, with 90% intervals and "
        "the values that became final, and how good the forecasts were. A forecast is made once, "
        "and assumes that scores and ranks say as much about grades as they did in the 28 days "
        "before. What makes it doubtful or missing is listed in the column why."
    )
    add_measure_option(parser, "an nDCG measure of the project (default: the first one)")
    parser.add_argument(
        "--every",
        choices=("hour", "day"),
        default="day",
        metavar="PERIOD",
        help="length of the windows",
    )
    parser.add_argument("--model", type=read_word, metavar="NAME", help="show only this model")
    parser.add_argument("--version", type=read_word, metavar="NAME", help="show only this version")
    parser.add_argument(
        "--slice",
        type=read_pair,
        metavar="NAME=VALUE",
        help="show only rankings with this value of an attribute",
    )
    parser.add_argument(
        "--since",
        type=read_moment,
        metavar="TIME",
        help=f"first window (default: the oldest): {TIME_HELP}",
    )
    parser.add_examples(
        "rankscope monitor expected music.db",
        "rankscope monitor expected music.db --every hour --since 2d --slice device=tv",
    )


def run(options: Namespace) -> int:
    """Print what was expected, what became final, and how good the forecasts were."""
    with open_reader(options) as monitor:
        expected = monitor.expected(
            options.measure,
            every=options.every,
            since=options.since,
            model=options.model,
            version=options.version,
            slice=() if options.slice is None else (options.slice,),
        )
        forecasts = monitor.forecasts(options.measure, since=options.since)
    if options.json:
        print_json(expected.to_dict() | {"forecasts": make_plain(forecasts)})
        return 0
    columns = ("values", "lower", "upper", "finals")
    named = dict(zip(("expected", "lower", "upper", "final"), columns, strict=True))
    print(
        Table(
            {
                options.every: [write_moment(time) for time in expected.times],
                **{name: make_plain(getattr(expected, each)) for name, each in named.items()},
                "rankings": list(expected.rankings),
                "why": [" ".join(names) or None for names in expected.reasons],
            }
        )
    )
    reasons = {name for names in expected.reasons for name in names}
    for name, sentence in (DOUBTS | REFUSALS).items():
        if name in reasons:
            print(f"\n{name}: {sentence}")
    if expected.problem:
        print(f"\n{expected.problem}")
    if len(forecasts):
        print(f"\nHow good the forecasts of {expected.measure} by day were:\n")
        print(forecasts)
    return 0
