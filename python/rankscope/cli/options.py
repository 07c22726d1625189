"""Options that several commands share, so that each has one name and one help."""

from __future__ import annotations

from rankscope import Interval
from rankscope.cli.parser import OnceFlag, read_integer, read_number
from rankscope.errors import UsageError
from rankscope.settings.policy import CHOICES, FIELDS
from rankscope.settings.reading import ENCODINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

LEVEL = 0.95
"""The usual confidence level."""


def add_measures_option(parser: argparse.ArgumentParser, default: Sequence[str]) -> None:
    """Add the option `-m` to a command that computes several measures."""
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help="measure, or several separated by commas; `rankscope measures` lists them (default: "
        f"{', '.join(default)})",
    )


def add_measure_option(
    parser: argparse.ArgumentParser,
    help: str,  # noqa: A002 - argparse's name
    default: str | None = None,
    *,
    is_required: bool = False,
) -> None:
    """Add the option `-m` to a command that computes one measure."""
    parser.add_argument(
        "-m",
        "--measure",
        default=default,
        required=is_required,
        metavar="MEASURE",
        help=help,
    )


def add_format_options(parser: argparse.ArgumentParser, *, papers: bool = False) -> None:
    """Add `--json` and `--csv`, and for papers `--latex`; a command takes one."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    form.add_argument("--csv", action=OnceFlag, help="print the result as CSV")
    if papers:
        form.add_argument(
            "--latex", action=OnceFlag, help="print the means as a LaTeX table (booktabs)"
        )


def add_small_print_option(parser: argparse.ArgumentParser) -> None:
    """Add `--small-print`."""
    parser.add_argument(
        "--small-print",
        action=OnceFlag,
        help="print all of the small print: methods, assumptions, policy and notes (default: at "
        "most two lines)",
    )


def add_policy_option(parser: argparse.ArgumentParser) -> None:
    """Add `--policy`."""
    parser.add_argument(
        "--policy",
        default="",
        metavar="FIELD=VALUE,...",
        help=f"how to handle cases in which tools differ; fields: {', '.join(FIELDS)}",
    )


def add_convention_option(parser: argparse.ArgumentParser) -> None:
    """Add `--convention`."""
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help="compute measures as this library does, such as lightgbm; `rankscope conventions` "
        "lists them",
    )


def add_interval_options(parser: argparse.ArgumentParser, default: float | None = None) -> None:
    """Add `--interval` and `--seed`."""
    parser.add_argument(
        "--interval",
        type=read_number,
        nargs="?",
        const=LEVEL,
        default=default,
        metavar="LEVEL",
        help="print a confidence interval around each mean, with this confidence level (default "
        f"level: {LEVEL})",
    )
    parser.add_argument(
        "--seed",
        type=read_integer,
        metavar="N",
        help="random seed for the bootstrap (default: 0)",
    )


def add_limit_option(
    parser: argparse.ArgumentParser,
    help: str,  # noqa: A002 - argparse's name
    default: int | None = None,
) -> None:
    """Add `--limit`."""
    parser.add_argument("--limit", type=read_integer, default=default, metavar="N", help=help)


def add_duplicates_option(parser: argparse.ArgumentParser) -> None:
    """Add `--duplicates`."""
    parser.add_argument(
        "--duplicates",
        default="error",
        choices=CHOICES["duplicates"],
        metavar="RULE",
        help="what to do if a document appears twice in a query",
    )


def add_ignore_same_option(parser: argparse.ArgumentParser) -> None:
    """Add `--ignore-same`."""
    parser.add_argument(
        "--ignore-same",
        action=OnceFlag,
        help="leave the document that has the ID of its query out of each list",
    )


def add_encoding_option(parser: argparse.ArgumentParser) -> None:
    """Add `--encoding`."""
    parser.add_argument(
        "--encoding",
        default="utf-8",
        choices=ENCODINGS,
        metavar="NAME",
        help="encoding of text files",
    )


def add_score_type_option(parser: argparse.ArgumentParser) -> None:
    """Add `--score-type`."""
    parser.add_argument(
        "--score-type",
        choices=CHOICES["score_type"],
        metavar="TYPE",
        help="precision in which scores are compared; trec_eval 9 uses float32 (default: float64)",
    )


def add_threads_option(parser: argparse.ArgumentParser) -> None:
    """Add `--threads`."""
    parser.add_argument(
        "--threads",
        type=read_integer,
        metavar="N",
        help="number of threads (default: all cores)",
    )


def add_memory_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--memory` and `--spill-folder`."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help=f"memory that {what} may use, such as 1GiB (default: half of what is free); what "
        "exceeds it is written to temporary files",
    )
    parser.add_argument(
        "--spill-folder",
        metavar="FOLDER",
        help="folder for these files (default: the system's, which TMPDIR sets)",
    )


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options about how files are read."""
    add_duplicates_option(parser)
    add_ignore_same_option(parser)
    add_score_type_option(parser)
    add_encoding_option(parser)
    add_threads_option(parser)
    parser.add_argument(
        "--strict", action=OnceFlag, help="fail on suspicious input instead of printing a note"
    )


def read_interval(options: argparse.Namespace) -> Interval | None:
    """Return the interval that the options ask for."""
    if options.interval is None:
        if options.seed is not None:
            raise UsageError(
                "--seed has no effect without --interval",
                hint="add --interval 0.95, or remove --seed",
                code="usage",
            )
        return None
    return Interval(options.interval, seed=options.seed or 0)
