"""`rankscope monitor run`: monitors the events of a data lake in place."""

from __future__ import annotations

import sys
from datetime import timedelta

from rankscope.cli.output import print_json
from rankscope.cli.parser import OnceFlag
from rankscope.errors import UsageError
from rankscope.monitor.commands.incidents import describe_incident
from rankscope.monitor.commands.store import (
    ACTOR,
    STORE_HELP,
    add_project_arguments,
    open_writer,
    read_duration,
    read_roles,
    read_word,
    take_several,
    write_moment,
)
from rankscope.monitor.events.names import ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events.times import format_time
from rankscope.monitor.incidents.incident import write_part
from rankscope.monitor.store.lake.address import LAYOUTS
from rankscope.names import quote
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Mapping

    from rankscope.cli.parser import Parser
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.round import Round

STORE = "rankscope.db"
REFUSED = 3
MOST_NAMED = 5
"""Files that are left out are named, up to so many."""
OUTCOMES = ("accepted", "duplicate", "conflict")
CONNECTING = (
    "rankings",
    "labels",
    "format",
    "attributes",
    "duplicates_within",
    "timezone",
    "col",
    "label_col",
)
"""The options that say where a lake is, and how to read it."""
COUNTS = ("files", "new", "changed", "removed")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Evaluate the events of a data lake in place, without storing them: Parquet files, and "
        "tables of Delta Lake and Iceberg, here or in a bucket. Each run reads the files that are "
        "new or have changed, recomputes the hours that they touch, and checks the alert rules. "
        "The store keeps the configuration, values and incidents. Set it up with `rankscope "
        "monitor configure`. The store remembers the addresses and how to read them; an option "
        "replaces what it says of them, once the command has found the files."
    )
    parser.add_argument(
        "place",
        nargs="?",
        metavar="STORE",
        help=f"{STORE_HELP} (default: {STORE})",
    )
    parser.add_argument(
        "--store", metavar="STORE", help="the store, if it isn't the first argument"
    )
    add_project_arguments(parser, run, is_timed=True)
    for name, what in (("--rankings", "rankings"), ("--labels", "labels")):
        parser.add_argument(
            name,
            type=read_word,
            metavar="URL",
            help=f"{what}: a folder, a quoted pattern such as 's3://bucket/{what}/**.parquet', or "
            "the folder of a table",
        )
    parser.add_argument(
        "--no-labels",
        action=OnceFlag,
        help="read no labels any more, because grades are logged with the rankings",
    )
    parser.add_argument(
        "--format",
        choices=LAYOUTS,
        metavar="FORMAT",
        help="how the tables are stored (default: what their folders have)",
    )
    for name, what, roles in (
        ("--col", "rankings", RANKING_NAMES | ITEM_NAMES),
        ("--label-col", "labels", LABEL_NAMES),
    ):
        parser.add_argument(
            name,
            action="extend",
            nargs="+",
            default=[],
            metavar="ROLE=COLUMN",
            help=f"the columns of {what} to use for roles, if they do not have usual names; "
            f"roles: {', '.join(dict.fromkeys(roles))}",
        )
    parser.add_argument(
        "--attributes",
        **take_several(read_word),
        metavar="NAME",
        help="columns that describe a ranking, such as device country (default: those read so "
        "far, and the attributes that the project slices by)",
    )
    parser.add_argument(
        "--duplicates-within",
        type=read_duration,
        metavar="DURATION",
        help="a ranking that comes again counts once if no more than so many hours are between the "
        "two (default: as before, at first 24h)",
    )
    parser.add_argument(
        "--timezone",
        type=read_word,
        metavar="ZONE",
        help="the time zone of times without one, such as Europe/Berlin (default: as before; at "
        "first, files with such times are left out)",
    )
    parser.add_examples(
        "rankscope monitor run --rankings 'impressions/**.parquet' --labels 'clicks/**.parquet'",
        "rankscope monitor run music.db --rankings s3://log/impressions --labels s3://log/clicks",
        "rankscope monitor run music.db --json",
    )


def run(options: Namespace) -> int:
    """Read what is new in a lake, evaluate it, and print a line about it."""
    more = "; the store comes before the options"
    names = read_roles(options.col, "--col", RANKING_NAMES | ITEM_NAMES, more)
    label_names = read_roles(options.label_col, "--label-col", LABEL_NAMES, more)
    options.store = _choose_store(options)
    with open_writer(options) as monitor:
        before = monitor.store.counters(monitor.project)
        _connect(monitor, options, names, label_names)
        done = monitor.evaluate(is_replay=options.as_of is not None)
        after = monitor.store.counters(monitor.project)
        pending = monitor.store.count_pending(monitor.project)
    rejected = {
        code: count - before.get(code, 0)
        for code, count in sorted(after.items())
        if code not in OUTCOMES and count > before.get(code, 0)
    }
    _print(options, done, rejected, pending)
    return REFUSED if rejected or (done.scan and done.scan.left_out) else 0


def _choose_store(options: Namespace) -> str:
    """Return the store, which is an argument or an option."""
    if options.place is not None and options.store is not None:
        raise UsageError(
            f"found two stores, {quote(options.place)} and {quote(options.store)}",
            hint="name the store once: rankscope monitor run STORE",
            code="usage",
        )
    return str(options.place or options.store or STORE)


def _print(options: Namespace, done: Round, rejected: Mapping[str, int], pending: int) -> None:
    scan = done.scan
    if scan is None:
        raise TypeError("a project with a lake is scanned in every thorough round")
    for kind, columns in scan.unused.items():
        print(f"note: columns of {kind} that are not used: {_join(columns)}", file=sys.stderr)
    for file in scan.left_out[:MOST_NAMED]:
        said = f"note: left out {show(file.path)}: {file.message} [{file.code}]"
        print(f"{said}\nhint: {file.hint}", file=sys.stderr)
    if len(scan.left_out) > MOST_NAMED:
        more = len(scan.left_out) - MOST_NAMED
        print(f"note: {more:,} more files are left out", file=sys.stderr)
    for code, count in rejected.items():
        example = f": {scan.examples[code]}" if code in scan.examples else ""
        print(f"note: {count:,} rejected [{code}]{example}", file=sys.stderr)
    if pending:
        print(f"note: labels without a ranking so far: {pending:,}", file=sys.stderr)
    if options.json:
        print_json(
            {
                "as_of": format_time(done.as_of),
                **scan.to_dict(),
                "hours": done.hours,
                "rankings": done.rankings,
                "rejected": dict(rejected),
                "pending_labels": pending,
                "incidents": [write_part(event, incident) for event, incident in done.events],
            }
        )
        return
    counts = [f"{getattr(scan, name)} {name}" for name in COUNTS]
    counts += [f"{done.hours} hours", f"{done.rankings} rankings"]
    print(f"as of {write_moment(done.as_of)}: {', '.join(counts)}")
    for event, incident in done.events:
        print(f"{event}\t{describe_incident(incident.to_dict())}")


def _join(names: Collection[str]) -> str:
    return ", ".join(map(show, names))


def _connect(
    monitor: Monitor, options: Namespace, names: Mapping[str, str], label_names: Mapping[str, str]
) -> None:
    """Connect the project with the lake of the options; what they don't say stays as it was."""
    if options.labels is not None and options.no_labels:
        raise UsageError(
            "--no-labels cannot be combined with --labels", hint="remove one of them", code="usage"
        )
    known = monitor.store.lake(monitor.project)
    if known is None and options.rankings is None:
        raise UsageError(
            "the project does not read a data lake yet",
            hint="name the files: --rankings 'impressions/**.parquet' --labels 'clicks/**.parquet'",
            code="no_lake",
        )
    if not options.no_labels and all(getattr(options, name) in (None, []) for name in CONNECTING):
        return
    attributes, within = options.attributes, options.duplicates_within
    timezone = options.timezone
    rankings, labels = options.rankings, options.labels
    if known is not None:
        rankings = known.rankings.url if rankings is None else rankings
        names = names or dict(known.rankings.names)
        within = known.within if within is None else within
        timezone = timezone or known.timezone
        if attributes is None:
            configured = monitor.configuration.attributes
            attributes = list(dict.fromkeys([*known.rankings.attributes, *configured]))
    if known is not None and known.labels is not None:
        labels = known.labels.url if labels is None else labels
        label_names = label_names or dict(known.labels.names)
    monitor.connect_lake(
        rankings,
        None if options.no_labels else labels,
        format=options.format,
        names=names,
        label_names=label_names,
        attributes=attributes,
        duplicates_within="24h" if within is None else timedelta(microseconds=within),
        timezone=timezone,
        actor=ACTOR,
    )
