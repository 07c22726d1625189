"""`rankscope demo`: runs a demo on generated data."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace

from rankscope._cli.parser import OnceFlag, Parser
from rankscope._names import quote
from rankscope.errors import UsageError, hint_extra

PORTS = range(2**16)


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--once", action=OnceFlag, help="print the demo, and exit without serving the dashboard"
    )
    parser.add_argument(
        "--offline",
        action=OnceFlag,
        help="compare two rankers on a small search log instead, and write a report; needs no "
        "extra packages except Jinja for the report",
    )
    parser.add_argument("--seed", type=_read_number, metavar="N", help="random seed of the data")
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="keep the generated files in this folder (default: delete them at the end)",
    )
    parser.add_argument(
        "--port", type=_read_port, metavar="N", help="port of the dashboard (default: a free one)"
    )
    parser.add_argument(
        "-o",
        "--output",
        dest="page",
        metavar="FILE",
        help="file to write the report of --offline to (default: rankscope-demo.html, in the "
        "folder of --keep if there is one)",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Run the demo of a bad release, or with `--offline` that of a search log."""
    if options.port is not None and (options.offline or options.once):
        other = "--offline" if options.offline else "--once"
        raise UsageError(
            f"--port cannot be combined with {other}, which serves no dashboard",
            hint=f"remove --port or {other}",
            code="usage",
        )
    if options.offline:
        from rankscope._demo import offline

        return offline.run(options)
    if options.page is not None:
        raise UsageError(
            "-o works only with --offline", hint="add --offline, or remove -o", code="usage"
        )
    try:
        from rankscope._demo import monitor
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the monitor needs {error.name}, which is not installed",
            hint=f"{hint_extra('monitor')}, or run rankscope demo --offline",
            code="missing_extra",
        ) from error
    return monitor.run(options)


def _read_number(text: str) -> int:
    # The generator would take a negative number for its absolute value.
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be 0 or a positive whole number, found {quote(text)}")
    return int(text)


def _read_port(text: str) -> int:
    number = _read_number(text)
    if number not in PORTS:
        raise ArgumentTypeError(f"must be from 0 to {PORTS[-1]}, found {quote(text)}")
    return number
