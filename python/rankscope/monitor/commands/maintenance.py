"""The commands that maintain a store, such as `rankscope monitor delete` and `export`."""

from __future__ import annotations

from argparse import Namespace

from rankscope._cli.parser import OnceFlag, Parser, print_json
from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    TIME_HELP,
    add_store_arguments,
    ask_service,
    is_service,
    name_path,
    open_reader,
    open_writer,
    print_fields,
    read_moment,
    read_word,
)
from rankscope.monitor.events.times import format_time
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.postgres.address import POSTGRES
from rankscope.monitor.store.sqlite.files import SQLITE, locate_store

PROBLEM = 1
SPAN = ("since", "until")


def add_export(parser: Parser) -> None:
    """Add the arguments of `export`."""
    add_store_arguments(parser, run_export)
    parser.add_argument(
        "folder", metavar="FOLDER", help="folder for rankings.parquet and labels.parquet"
    )
    _add_span(parser, "export only events")


def _add_span(parser: Parser, what: str) -> None:
    for name, when in zip(SPAN, ("from this time on", "before this time"), strict=True):
        text = f"{what} {when}: {TIME_HELP}"
        parser.add_argument(f"--{name}", type=read_moment, metavar="TIME", help=text)


def run_export(options: Namespace) -> int:
    """Write the events as Parquet, and print how many there are."""
    with open_reader(options) as monitor:
        done = monitor.export(options.folder, since=options.since, until=options.until)
    print_fields(options, write_record(done, ("rankings", "labels")))
    return 0


def add_delete(parser: Parser) -> None:
    """Add the arguments of `delete`."""
    parser.description = (
        "Delete rankings with all their labels: those that have everything that is given. The next "
        "evaluation computes the values of their hours without them. Backups and exports that were "
        "made before still have them."
    )
    add_store_arguments(parser, run_delete, more=SERVICE)
    parser.add_argument("--user", type=read_word, metavar="ID", help="delete rankings of this user")
    parser.add_argument(
        "--ranking",
        dest="rankings",
        action="append",
        type=read_word,
        metavar="ID",
        help="delete the ranking with this ID",
    )
    _add_span(parser, "delete only rankings")


def run_delete(options: Namespace) -> int:
    """Delete rankings, and print how many there were."""
    if all(one is None for one in (options.user, options.rankings, options.since, options.until)):
        raise UsageError(
            "nothing says which rankings to delete",
            hint="add --user, --ranking, --since or --until",
            code="usage",
        )
    chosen = {
        name: given
        for name in ("user", "rankings", "since", "until")
        if (given := getattr(options, name)) is not None
    }
    if is_service(options.store):
        body = {name: format_time(one) if name in SPAN else one for name, one in chosen.items()}
        print_fields(options, ask_service(options, "POST", name_path("deletions"), body))
        return 0
    with open_writer(options) as monitor:
        done = monitor.delete(**chosen, actor=ACTOR)
    print_fields(options, write_record(done, ("rankings", "labels")))
    return 0


def add_retain(parser: Parser) -> None:
    """Add the arguments of `retain`."""
    add_store_arguments(parser, run_retain, more=SERVICE)
    parser.add_argument(
        "--before",
        type=read_moment,
        required=True,
        metavar="TIME",
        help=f"delete events before this time: {TIME_HELP}",
    )


def run_retain(options: Namespace) -> int:
    """Delete old events, and print how many there were."""
    if is_service(options.store):
        body = {"before": format_time(options.before)}
        print_fields(options, ask_service(options, "POST", name_path("retention"), body))
        return 0
    with open_writer(options) as monitor:
        done = monitor.delete_before(options.before, actor=ACTOR)
    print_fields(options, write_record(done, ("rankings", "labels")))
    return 0


def add_doctor(parser: Parser) -> None:
    """Add the arguments of `doctor`."""
    parser.description = (
        "Check a store, its events and its values for problems. The exit status is 1 if there is "
        "one."
    )
    add_store_arguments(parser, run_doctor, is_timed=True)
    parser.add_argument(
        "--all",
        action=OnceFlag,
        help="recompute all values from the events (default: those of 24 random hours)",
    )


def run_doctor(options: Namespace) -> int:
    """Examine the store, and print a line for each check."""
    from rankscope.monitor.doctor import examine

    with open_reader(options) as monitor:
        is_file = not options.store.startswith(POSTGRES)
        path = locate_store(options.store.removeprefix(SQLITE)) if is_file else None
        findings = examine(monitor, path, is_complete=options.all)
    if options.json:
        print_json({"findings": [finding.to_dict() for finding in findings]})
    else:
        for finding in findings:
            word = "ok" if finding.is_good else "problem"
            print(f"{word}\t{finding.name}\t{show(finding.told)}")
            if finding.hint:
                print(f"\t\tHint: {show(finding.hint)}")
    return 0 if all(finding.is_good for finding in findings) else PROBLEM
