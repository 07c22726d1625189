"""`rankscope monitor retain`: deletes old events; the values of their windows stay."""

from __future__ import annotations

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.moments import read_moment
from rankscope.cli.monitor.stores import add_store_arguments, open_writer
from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.monitor.limits import SECOND
from rankscope.monitor.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rankscope.monitor.monitor import Monitor


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
        _refuse_open(monitor, options.before)
        done = monitor.delete_before(options.before)
    if options.json:
        print_json({"rankings": done.rankings, "labels": done.labels})
    else:
        print(f"rankings\t{done.rankings}\nlabels\t{done.labels}")
    return 0


def _refuse_open(monitor: Monitor, before: int) -> None:
    """Refuse to delete rankings whose labels may still come.

    Raises:
        UsageError: It would.
    """
    if not monitor.is_configured:
        return
    closed = monitor.now() - monitor.configuration.definition.window * SECOND
    if before > closed:
        raise UsageError(
            f"expected a time before {format_time(closed)}, found {format_time(before)}: labels "
            "of rankings after it still count, and would be lost",
            hint="keep events for longer than the attribution window, such as --before 90d",
            code="usage",
        )
