"""`rankscope monitor doctor`: looks for what is wrong with a store, or what is in it."""

from __future__ import annotations

from rankscope.cli.arguments import OnceFlag
from rankscope.cli.monitor.stores import add_store_arguments, open_reader
from rankscope.cli.output import print_json
from rankscope.monitor.doctor import examine
from rankscope.monitor.store.sqlite.files import SQLITE, locate_store
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

CARE = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser, is_timed=True)
    parser.add_argument(
        "--all",
        action=OnceFlag,
        help="recompute all values from the events (default: those of 24 hours, at random)",
    )


def run(options: Namespace) -> int:
    """Look, and say what was seen."""
    with open_reader(options) as monitor:
        path = locate_store(options.store.removeprefix(SQLITE))
        findings = examine(monitor, path, is_complete=options.all)
    if options.json:
        print_json({"findings": [finding.to_dict() for finding in findings]})
    else:
        for finding in findings:
            print(f"{'ok' if finding.is_good else 'care'}\t{finding.name}\t{show(finding.told)}")
            if finding.hint:
                print(f"\t\tHint: {show(finding.hint)}")
    return 0 if all(finding.is_good for finding in findings) else CARE
