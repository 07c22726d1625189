"""Which store a command opens, and how."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError

from rankscope.cli.arguments import Once, OnceFlag
from rankscope.cli.monitor.moments import read_moment
from rankscope.errors import FileError, FormatError
from rankscope.monitor.events.fields import check_text, read_name
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.sqlite.files import SQLITE
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

PROJECT = "default"
ACTOR = "command line"
"""Who changes something, for the audit."""


def add_store_arguments(parser: ArgumentParser, *, is_timed: bool = False, more: str = "") -> None:
    """Say which store and project a command takes, and that it can print JSON.

    Args:
        parser: The parser of the command.
        is_timed: Whether the command depends on the time.
        more: What may stand in its place.
    """
    parser.add_argument(
        "store",
        metavar="STORE",
        help=f"its file, or sqlite:///FILE{', ' if more else ''}{more}",
    )
    parser.add_argument(
        "--project",
        action=Once,
        type=read_project,
        default=PROJECT,
        metavar="NAME",
        help=f"the project in it, {PROJECT!r} if left out",
    )
    parser.add_argument("--json", action=OnceFlag, help="print one JSON document")
    if is_timed:
        parser.add_argument(
            "--as-of",
            action=Once,
            type=read_moment,
            metavar="TIME",
            help="the time to take for now, for a log of the past",
        )


def read_project(text: str) -> str:
    """Read the name of a project.

    Raises:
        ArgumentTypeError: It is empty, too long or not one line of text.
    """
    try:
        return read_name(text, "", Limits().name_bytes)
    except FormatError as error:
        raise ArgumentTypeError(error.message) from error


def read_word(text: str) -> str:
    """Read a name or an id, which is text that a store can hold.

    Raises:
        ArgumentTypeError: It is not.
    """
    try:
        check_text(text, "", len(text) * 4)
    except FormatError as error:
        raise ArgumentTypeError(error.message) from error
    return text


def open_writer(options: Namespace, *, is_new: bool = False) -> Monitor:
    """Open a store to write to it.

    Args:
        options: What `add_store_arguments` takes.
        is_new: Whether it is made if it is not there.

    Raises:
        FileError: It is not there, or cannot be written.
    """
    path = options.store.removeprefix(SQLITE)
    found = "" if "://" in path else _miss_store(path)
    if found and not is_new:
        hint = "rankscope monitor configure makes a store"
        if found != "none":
            hint = f"if the store was there, restore a backup; otherwise, {hint}"
        raise FileError(f"expected a store, found {found}", hint=hint, code="io", file=path)
    opened = _open(options, writes=True)
    if found:
        print(f"note: {show(path)} is a new store", file=sys.stderr)
    return opened


def _miss_store(path: str) -> str:
    """Say what there is in the place of a store; an empty text where there may be one."""
    if not os.path.exists(path):  # noqa: PTH110 - pathlib loads slowly
        return "none"
    is_empty = os.path.isfile(path) and not os.path.getsize(path)  # noqa: PTH113, PTH202 - likewise
    return "an empty file" if is_empty else ""


def open_reader(options: Namespace) -> Monitor:
    """Open a store to read it, whoever writes to it.

    Raises:
        FileError: It cannot be read.
    """
    return _open(options, writes=False)


def open_any(options: Namespace) -> tuple[Monitor, bool]:
    """Open a store to write to it, or only to read where another process writes, and say which.

    Raises:
        FileError: It cannot be opened.
    """
    try:
        return open_writer(options), True
    except FileError as error:
        if error.code != "store_locked":
            raise
    return open_reader(options), False


def _open(options: Namespace, *, writes: bool) -> Monitor:
    moment = getattr(options, "as_of", None)
    now = read_clock if moment is None else lambda: moment
    return Monitor.open(options.store, options.project, writes=writes, now=now)


def tell_as_of(monitor: Monitor) -> int | None:
    """Tell as of when a project is up to date, in microseconds since 1970, `None` if it is not."""
    progress = monitor.store.progress(monitor.project, monitor.configuration.digest)
    return None if progress is None else progress.as_of
