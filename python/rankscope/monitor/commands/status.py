"""`rankscope monitor evaluate` and `status`: compute the values of a project, and show them."""

from __future__ import annotations

import sys

from rankscope.cli.output import print_json
from rankscope.monitor.commands.incidents import describe_incident
from rankscope.monitor.commands.store import (
    add_store_arguments,
    find_as_of,
    open_reader,
    open_writer,
    read_word,
)
from rankscope.monitor.commands.times import write_moment
from rankscope.monitor.events.times import format_time, read_time
from rankscope.monitor.incidents.notice import write_part
from rankscope.monitor.plain import make_plain, write_record
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser
    from rankscope.monitor.ask.series import Series
    from rankscope.monitor.evaluate.baseline import Baseline

HEADS = {"is_final": "final"}
TIMES = ("since", "first", "last")
COLUMNS = ("measure", "since", "value", "lower", "upper", "rankings", "is_final", "baseline")


def add_evaluate(parser: Parser) -> None:
    """Add the arguments of `evaluate`."""
    add_store_arguments(parser, is_timed=True)
    parser.description = (
        "Compute windows and baselines, check the alert rules, and open, change and close "
        "incidents. Every moment since the last evaluation at which something is due is passed in "
        "order. With --as-of, a rule that names no first period begins with the first ranking."
    )
    parser.set_defaults(run=run_evaluate)


def run_evaluate(options: Namespace) -> int:
    """Evaluate new events, and print how much was computed and what happened to incidents."""
    with open_writer(options) as monitor:
        done = monitor.evaluate(is_replay=options.as_of is not None)
    counts = {"hours": done.hours, "rankings": done.rankings}
    if options.json:
        events = [write_part(event, incident) for event, incident in done.events]
        print_json({"as_of": format_time(done.as_of), **counts, "incidents": events})
        return 0
    for name, value in {"as of": write_moment(done.as_of), **counts}.items():
        print(f"{name}\t{value}")
    for event, incident in done.events:
        print(f"{event}\t{describe_incident(incident.to_dict())}")
    return 0


def add_status(parser: Parser) -> None:
    """Add the arguments of `status`."""
    add_store_arguments(parser)
    parser.add_argument(
        "--every",
        choices=("hour", "day"),
        default="day",
        metavar="PERIOD",
        help="length of the windows",
    )
    parser.add_argument("--version", type=read_word, metavar="NAME", help="show only this version")
    parser.set_defaults(run=run_status)


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
            print(Table({HEADS.get(name, name): _show_column(table, name) for name in table[0]}))
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


def _show_column(rows: list[dict[str, object]], name: str) -> list[str | float | int | None]:
    return [_show(name, row[name]) for row in rows]


def _show(name: str, value: object) -> str | float | int | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return write_moment(read_time(value, name)[0]) if name in TIMES else value
    return value if isinstance(value, float | int) else None
