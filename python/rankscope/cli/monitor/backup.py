"""`rankscope monitor backup`: copies a store while it goes on."""

from __future__ import annotations

from rankscope.cli.monitor.stores import add_store_arguments, open_reader
from rankscope.cli.output import print_json
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser)
    parser.add_argument("copy", metavar="FILE", help="a new file; beside it comes its .high-water")


def run(options: Namespace) -> int:
    """Copy it, and say how far the copy goes."""
    with open_reader(options) as monitor:
        seq = monitor.store.backup(options.copy)
    if options.json:
        print_json({"file": options.copy, "last_seq": seq})
    else:
        print(f"{show(options.copy)}\tevents up to number {seq}")
    return 0
