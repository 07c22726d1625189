"""`rankscope monitor explain`: derives the value of one ranking from what was logged."""

from __future__ import annotations

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.stores import add_store_arguments, open_reader, read_word
from rankscope.cli.output import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser, is_timed=True)
    parser.add_argument(
        "ranking_id", type=read_word, metavar="RANKING", help="its ranking_id, as it was logged"
    )
    parser.add_argument(
        "--measure",
        action=Once,
        metavar="MEASURE",
        help="one that is measured; that of the largest cutoff if left out",
    )


def run(options: Namespace) -> int:
    """Derive it, rank by rank."""
    with open_reader(options) as monitor:
        found = monitor.explain(options.ranking_id, options.measure)
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
    return 0
