"""`rankscope demo`: shows what the program does, on data that it makes itself."""

from __future__ import annotations

from argparse import ArgumentTypeError

from rankscope.cli.arguments import Once, OnceFlag
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

PORTS = range(2**16)


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "--once", action=OnceFlag, help="print the story, and end without serving the dashboard"
    )
    parser.add_argument(
        "--offline",
        action=OnceFlag,
        help="evaluate two rankers on a small search log instead, and write a report",
    )
    parser.add_argument(
        "--seed", action=Once, type=_read_number, metavar="N", help="where chance begins"
    )
    parser.add_argument(
        "--keep",
        action=Once,
        metavar="FOLDER",
        help="where to leave the files; nowhere if left out",
    )
    parser.add_argument(
        "--port",
        action=Once,
        type=_read_port,
        metavar="N",
        help="where the dashboard is served; a free one if left out",
    )
    parser.add_argument(
        "-o",
        dest="page",
        action=Once,
        metavar="FILE",
        help="with --offline, where to write the report: rankscope-demo.html, in the folder of "
        "--keep if there is one, if left out",
    )


def run(options: Namespace) -> int:
    """Play the story of a release, or evaluate a small search log."""
    if options.offline:
        if options.port is not None:
            raise _useless("--port", "leave out --offline to see the dashboard")
        from rankscope.cli import demo_offline  # noqa: PLC0415 - only what is asked for is loaded

        return demo_offline.run(options)
    if options.page is not None:
        raise _useless("-o", "write --offline, too, for the report")
    if options.once and options.port is not None:
        raise _useless("--port", "leave out --once to see the dashboard")
    from rankscope.cli import demo_story  # noqa: PLC0415 - likewise

    return demo_story.run(options)


def _useless(option: str, hint: str) -> UsageError:
    return UsageError(f"expected no {option} here", hint=hint, code="usage")


def _read_number(text: str) -> int:
    # The generator would take a negative number for its absolute value.
    if not text.isdecimal():
        raise ArgumentTypeError(f"expected 0 or a positive integer, found {text!r}")
    return int(text)


def _read_port(text: str) -> int:
    number = _read_number(text)
    if number not in PORTS:
        raise ArgumentTypeError(f"expected a port up to {PORTS[-1]}, found {text!r}")
    return number
