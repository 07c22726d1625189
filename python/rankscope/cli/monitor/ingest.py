"""`rankscope monitor ingest`: stores the rankings of files."""

from __future__ import annotations

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.files import add_event_arguments, take_files
from rankscope.monitor.events.names import ITEM_NAMES, RANKING_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_event_arguments(parser, RANKING_NAMES | ITEM_NAMES)
    parser.add_argument(
        "--attributes",
        action=Once,
        nargs="+",
        metavar="NAME",
        help="the columns or fields of what belongs to the ranking, such as device and country; "
        "those of the configuration if left out",
    )


def run(options: Namespace) -> int:
    """Store them, and say what became of them."""
    return take_files(options, "rankings")
