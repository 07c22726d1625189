"""`rankscope monitor evaluate`: brings windows, baseline and alerts up to date."""

from __future__ import annotations

from rankscope.cli.monitor.stores import add_store_arguments, open_writer
from rankscope.cli.output import print_json
from rankscope.monitor.events.times import format_time
from rankscope.results.text import show

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
    said = {"as_of": format_time(done.as_of), "hours": done.hours, "rankings": done.rankings}
    if options.json:
        print_json({**said, "alerts": [alert.to_dict() for alert in done.alerts]})
        return 0
    for name, value in said.items():
        print(f"{name}\t{value}")
    for alert in done.alerts:
        words = (alert.rule, f"{alert.before} to {alert.after}", alert.reason)
        print("\t".join(map(show, words)))
    return 0
