"""`rankscope monitor signals`: shows what is known of rankings before labels arrive."""

from __future__ import annotations

from rankscope.cli.output import print_csv, print_json
from rankscope.cli.parser import OnceFlag
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    TIME_HELP,
    add_store_arguments,
    open_reader,
    read_moment,
    read_pair,
    read_word,
    take_several,
    write_moment,
)
from rankscope.monitor.events.times import format_time
from rankscope.monitor.plain import make_plain
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser
    from rankscope.monitor.ask.signals import SignalSeries

COLUMNS = ("signal", "since", "value", "lower", "upper", "usual", "rankings")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of `signals`."""
    add_store_arguments(parser, run)
    parser.description = (
        "Show what was shown and how it was ordered, which is known before labels arrive: the "
        "newest window of each signal that has a value, beside the mean of the 7 days before and "
        "that of the validation or training set, if the baseline of the project is one. "
        "--json and --csv have all windows."
    )
    parser.add_argument("--csv", action=OnceFlag, help="print all windows as CSV")
    parser.add_argument(
        "--signal", **take_several(), metavar="NAME", help="only these signals (default: all)"
    )
    parser.add_argument(
        "--every",
        choices=("hour", "day"),
        default="day",
        metavar="PERIOD",
        help="length of the windows",
    )
    parser.add_argument("--since", type=read_moment, metavar="TIME", help=f"from {TIME_HELP}")
    parser.add_argument("--model", type=read_word, metavar="NAME", help="only this model")
    parser.add_argument("--version", type=read_word, metavar="NAME", help="only this version")
    parser.add_argument(
        "--slice",
        action="append",
        type=read_pair,
        default=[],
        metavar="NAME=VALUE",
        help="only rankings with this value of an attribute",
    )
    parser.add_examples(
        "rankscope monitor signals music.db",
        "rankscope monitor signals music.db --signal length unseen --every hour --csv",
    )


def run(options: Namespace) -> int:
    """Print the newest values of the signals, or all of them."""
    from rankscope.monitor.ask.signals import find_signal, list_rows  # noqa: PLC0415 - help needs no NumPy

    if options.json and options.csv:
        raise UsageError("--json and --csv cannot be combined", hint="remove one", code="usage")
    names = [find_signal(name).name for name in options.signal or ()]
    with open_reader(options) as monitor:
        known = monitor.signals(
            every=options.every,
            since=options.since,
            model=options.model,
            version=options.version,
            slice=tuple(options.slice),
        )
        of_set = monitor.baseline_signals(model=options.model, slice=tuple(options.slice))
        choice = monitor.configuration.baseline
    series = [known[name] for name in names or known]
    if options.json:
        sets = {name: make_plain(mean) for name, mean in of_set.items()}
        print_json({"signals": [one.to_dict() | {"set": sets.get(one.signal)} for one in series]})
        return 0
    if options.csv:
        rows = [
            {name: make_plain(value) for name, value in row.items()}
            | {"start": format_time(row["start"])}
            for row in list_rows(series)
        ]
        print_csv([list(rows[0]), *(row.values() for row in rows)] if rows else [])
        return 0
    table = dict(zip(COLUMNS, zip(*map(_find_newest, series), strict=True), strict=True))
    if choice is not None and of_set:
        means = [of_set.get(one.signal) for one in series]
        table[f"{choice.environment} set"] = tuple(mean and mean.value for mean in means)
    print(Table(table))
    return 0


def _find_newest(series: SignalSeries) -> tuple[str | float | int | None, ...]:
    """Return the newest window with a value, or the name alone."""
    at = series.find_newest()
    if at is None:
        return (series.signal, *[None] * (len(COLUMNS) - 1))
    columns = (series.values, series.lower, series.upper, series.usual, series.rankings)
    return series.signal, write_moment(series.times[at]), *(make_plain(one[at]) for one in columns)
