"""`rankscope monitor retain`: deletes old events; the values of their windows stay."""

from __future__ import annotations

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.moments import read_moment
from rankscope.cli.monitor.stores import add_store_arguments, open_writer
from rankscope.cli.output import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser)
    parser.add_argument(
        "--before",
        action=Once,
        type=read_moment,
        required=True,
        metavar="TIME",
        help="events before it are deleted, such as 90d for all that is older than ninety days",
    )


def run(options: Namespace) -> int:
    """Delete them, and say how many there were."""
    with open_writer(options) as monitor:
        done = monitor.delete_before(options.before)
    if options.json:
        print_json({"rankings": done.rankings, "labels": done.labels})
    else:
        print(f"rankings\t{done.rankings}\nlabels\t{done.labels}")
    return 0
