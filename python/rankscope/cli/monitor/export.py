"""`rankscope monitor export`: writes the events of a project as Parquet."""

from __future__ import annotations

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.moments import read_moment
from rankscope.cli.monitor.stores import add_store_arguments, open_reader
from rankscope.cli.output import print_json
from rankscope.monitor.store.export import export_parquet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser)
    parser.add_argument(
        "folder", metavar="FOLDER", help="where rankings.parquet and labels.parquet are to be"
    )
    for name, what in (("--since", "from which time on"), ("--until", "up to before which time")):
        parser.add_argument(name, action=Once, type=read_moment, metavar="TIME", help=what)


def run(options: Namespace) -> int:
    """Write them, and say how many there are."""
    with open_reader(options) as monitor:
        done = export_parquet(
            monitor.store,
            options.project,
            options.folder,
            since=options.since,
            until=options.until,
        )
    if options.json:
        print_json({"rankings": done.rankings, "labels": done.labels})
    else:
        print(f"rankings\t{done.rankings}\nlabels\t{done.labels}")
    return 0
