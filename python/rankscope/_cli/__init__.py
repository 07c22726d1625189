"""The command line of rankscope."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import NoReturn

DEFECT, INTERRUPTED = 70, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command."""
    if arguments is None:
        # Python looks for garbage after every 700 new objects, and through all objects before it
        # ends: a fifth of the time of a short command. What is frozen is left to the operating
        # system.
        gc.set_threshold(50_000)
        atexit.register(gc.freeze)
        # PyArrow's own pool takes huge pages, which the system clears: 2.9 s of processor time for
        # 10 million rows in place of 0.8 s, and a sixth more memory.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from rankscope._cli.parser import describe_failure, drop_output, print_error, set_up_streams
    from rankscope.errors import RankscopeError

    words = sys.argv[1:] if arguments is None else list(arguments)
    set_up_streams()
    try:
        with _ended_by_sigterm():
            options = read_options(words)
            status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe, such as `head`, has closed it.
        drop_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - 1 would say that a check failed
        if isinstance(error, RankscopeError):
            print_error(error, as_json="--json" in takewhile("--".__ne__, words))
            return error.exit_status
        failure = describe_failure(error)
        drop_output()
        print_error(failure, as_json=False)
        return DEFECT if failure.code == "defect" else failure.exit_status
    return status


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the program with an exception, so that temporary files are removed."""
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


def read_options(words: list[str]) -> Namespace:
    """Return what a command line says; its `run` is the command."""
    from rankscope._cli.commands import make_parser

    parser, command = make_parser(words)
    options, unknown = parser.parse_known_args(words)
    if "" in unknown:
        command.refuse_empty("an argument")
    if unknown:
        command.error(f"unrecognized arguments: {' '.join(unknown)}")
    return options
