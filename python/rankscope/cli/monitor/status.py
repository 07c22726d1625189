"""`rankscope monitor status`: shows the newest values beside the baseline."""

from __future__ import annotations

import math

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.stores import add_store_arguments, open_reader, read_word, tell_as_of
from rankscope.cli.output import print_json
from rankscope.monitor.events.times import format_time
from rankscope.results.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rankscope.monitor.ask.series import Series
    from rankscope.monitor.evaluate.baseline import Baseline

COLUMNS = ("measure", "since", "value", "lower", "upper", "rankings", "is_final", "baseline")


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser)
    parser.add_argument(
        "--every",
        action=Once,
        choices=("hour", "day"),
        default="day",
        help="how long windows are, a day if left out",
    )
    parser.add_argument(
        "--version", action=Once, type=read_word, metavar="NAME", help="of this version only"
    )


def run(options: Namespace) -> int:
    """Show them as they were evaluated last."""
    with open_reader(options) as monitor:
        as_of = tell_as_of(monitor)
        [series] = monitor.all_series([(None, options.version)], every=options.every)
        baseline = monitor.baseline()
        rows = [_find_newest(series[measure], baseline) for measure in monitor.measures]
        versions = [
            {
                "model": one.model,
                "version": one.version,
                "first": format_time(one.first),
                "last": format_time(one.last),
                "rankings": one.rankings,
                "folded": one.folded,
            }
            for one in monitor.versions()
        ]
    moment = None if as_of is None else format_time(as_of)
    if options.json:
        print_json({"as_of": moment, "values": rows, "versions": versions})
        return 0
    if not any(row["folded"] for row in versions):
        versions = [{name: row[name] for name in row if name != "folded"} for row in versions]
    print(f"as of\t{moment or 'never evaluated'}")
    for told in (rows, versions):
        if told:
            print()
            print(Table({name: [_show(row[name]) for row in told] for name in told[0]}))
    return 0


def _find_newest(series: Series, baseline: Baseline | None) -> dict[str, object]:
    """Find the newest window whose attribution windows are closed, or else the newest."""
    measure = series.measure
    final = [at for at, is_final in enumerate(series.is_final) if is_final]
    held = None if baseline is None else baseline.means[measure].value
    if not len(series):
        return dict(zip(COLUMNS, [measure, *[None] * 6, held], strict=True))
    at = final[-1] if final else len(series) - 1
    found = (
        measure,
        format_time(series.starts[at]),
        *(_or_none(column[at]) for column in (series.values, series.lower, series.upper)),
        series.rankings[at],
        series.is_final[at],
        held,
    )
    return dict(zip(COLUMNS, found, strict=True))


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number


def _show(value: object) -> str | float | int | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str | float | int) else None
