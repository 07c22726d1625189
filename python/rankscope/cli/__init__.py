"""The command line: a module for each command."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from itertools import takewhile

from rankscope.cli.arguments import Parser
from rankscope.cli.output import drop_output, print_error, say_failure, set_up_streams
from rankscope.errors import OutOfMemoryError, RankscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator, Mapping, Sequence
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
    except MemoryError:
        drop_output()
        shortage = OutOfMemoryError(
            "not enough memory for this input",
            hint="evaluate it in parts, or raise the memory limit of the process",
            code="memory",
        )
        print_error(shortage, as_json=False)
        return shortage.exit_status
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
    children = _add_commands(parser, COMMANDS, words)
    options, unknown = parser.parse_known_args(words)
    name = options.command
    if name in GROUPS:
        name = f"{name}.{options.subcommand}"
    if unknown:
        children[name].error(f"unrecognized arguments: {' '.join(unknown)}")
    return _load(name).run(options)


def _add_commands(
    parser: ArgumentParser, commands: Mapping[str, str], words: list[str], group: str = ""
) -> dict[str, ArgumentParser]:
    """Add commands to a parser; the module of one loads when it is asked for.

    So each starts as fast as it can.

    Returns:
        By name, the parsers; those of a group have its name before them.
    """
    dest = "subcommand" if group else "command"
    added = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    children: dict[str, ArgumentParser] = {}
    for name, summary in commands.items():
        child = added.add_parser(name, help=summary, description=summary)
        children[group + name] = child
        if name not in words[at : at + 1]:
            continue
        if name in GROUPS:
            children |= _add_commands(child, GROUPS[name], words[at + 1 :], f"{name}.")
        else:
            _load(group + name).add_arguments(child)
    return children


COMMANDS = {
    "eval": "Evaluate one or many runs against judgments.",
    "diff": "Say where the difference between two runs comes from.",
    "explain": "Derive one value by hand, term by term.",
    "measures": "List the measures, or explain one.",
    "conventions": "List the conventions of libraries, or evaluate a measure under each.",
    "discounts": "Show every discount side by side, or evaluate runs under each.",
    "report": "Write a page that says what runs are worth, and why.",
    "monitor": "Watch rankings in production: take events, evaluate them, tell why they fell.",
    "serve": "Take events over HTTP, evaluate them, and show how good the rankings are.",
    "demo": "Play the story of a release in production, tell why quality fell, show the dashboard.",
}

GROUPS = {
    "monitor": {
        "configure": "Say what labels are worth, what is measured, and by what it is sliced.",
        "ingest": "Store the rankings of files.",
        "label": "Store the labels of files.",
        "evaluate": "Bring windows, baseline and alerts up to date.",
        "status": "Show the newest values beside the baseline.",
        "trace": "Tell why a measure fell.",
        "explain": "Derive the value of one ranking from what was logged.",
        "rule": "List, add, remove, silence or resolve the rules of alerts.",
        "webhook": "Say where notifications go, or try it.",
        "check": "Tell whether a rule is in alert; the exit status says so.",
        "key": "Make, list or revoke the keys of the service.",
        "export": "Write the events as Parquet.",
        "backup": "Copy a store while it goes on.",
        "retain": "Delete old events; the values of their windows stay.",
        "doctor": "Look for what is wrong with a store, its events or its evaluation.",
    },
}
"""By the name of a group, its commands."""


def _load(name: str) -> Command:
    from importlib import import_module  # noqa: PLC0415 - only the command asked for is loaded

    return import_module(f"rankscope.cli.{name}")


if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Protocol

    class Command(Protocol):
        """What the module of a command has."""

        def add_arguments(self, parser: ArgumentParser) -> None:
            """Say what the command takes."""

        def run(self, options: Namespace) -> int:
            """Do it, and give the exit status."""
