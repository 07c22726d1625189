"""The command line: a module for each command."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from itertools import takewhile

from rankscope.cli.arguments import Parser
from rankscope.cli.output import drop_output, print_error, say_failure, set_up_streams
from rankscope.errors import RankscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The words after the program's name; those of the process where left out.

    Returns:
        The exit status: 0 ok, 1 a check failed, 2 usage, 3 bad input, 4 I/O.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    set_up_streams()
    try:
        with _ended_by_sigterm():
            status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough.
        drop_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except RankscopeError as error:
        print_error(error, as_json="--json" in takewhile("--".__ne__, words))
        return error.exit_status
    except OSError as error:
        drop_output()
        failure = say_failure(error)
        print_error(failure, as_json=False)
        return failure.exit_status
    return status


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the program by an exception, so that temporary files are removed."""
    try:
        former = signal.signal(signal.SIGTERM, _end)
    except ValueError:  # only the main thread may
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def _end(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def _run(words: list[str]) -> int:
    parser = Parser(
        prog="rankscope",
        description="How good are ranked lists, and why: evaluation built around nDCG.",
    )
    parser.add_version()
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # A command's module loads when it is asked for, so that each starts as fast as it can.
    wanted = next((word for word in words if not word.startswith("-")), None)
    children = {}
    for name, summary in COMMANDS.items():
        child = children[name] = commands.add_parser(name, help=summary, description=summary)
        if name == wanted:
            _load(name).add_arguments(child)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        children[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return _load(options.command).run(options)


COMMANDS = {
    "eval": "Evaluate one or many runs against judgments.",
    "diff": "Say where the difference between two runs comes from.",
    "explain": "Derive one value by hand, term by term.",
    "measures": "List the measures, or explain one.",
    "conventions": "List the conventions of libraries, or evaluate a measure under each.",
    "discounts": "Show every discount side by side, or evaluate runs under each.",
    "report": "Write a page that says what runs are worth, and why.",
    "demo": "Make a small search log with known facts, and evaluate it.",
}


def _load(name: str) -> Command:
    from importlib import import_module  # noqa: PLC0415 - only the command asked for is loaded

    return import_module(f"rankscope.cli.{name}")


if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Protocol

    class Command(Protocol):
        """What the module of a command has."""

        def add_arguments(self, parser: ArgumentParser) -> None:
            """Say what the command takes."""

        def run(self, options: Namespace) -> int:
            """Do it, and give the exit status."""
