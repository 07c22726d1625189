"""`rankscope monitor label`: stores the labels of files."""

from __future__ import annotations

from rankscope.cli.monitor.files import add_event_arguments, take_files
from rankscope.monitor.events.names import LABEL_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_event_arguments(parser, LABEL_NAMES)


def run(options: Namespace) -> int:
    """Store them, and say what became of them."""
    options.attributes = ()
    return take_files(options, "labels")
