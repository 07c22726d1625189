"""`rankscope monitor evaluate`: brings windows, baseline and alerts up to date."""

from __future__ import annotations

from rankscope.cli.monitor.stores import add_store_arguments, open_writer
from rankscope.cli.output import print_json
from rankscope.monitor.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser, is_timed=True)


def run(options: Namespace) -> int:
    """Bring it up to date, and say how much of it was not."""
    with open_writer(options) as monitor:
        done = monitor.evaluate()
    said = {"hours": done.hours, "rankings": done.rankings, "as_of": format_time(done.as_of)}
    if options.json:
        print_json(said)
    else:
        for name, value in said.items():
            print(f"{name}\t{value}")
    return 0
