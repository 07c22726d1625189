"""Options that several commands share, so that each has one name and one help."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rankscope as rs
from rankscope import Interval
from rankscope._cli.parser import OnceFlag, Parser, read_integer, read_number
from rankscope._file import TABLE_FORMATS, File
from rankscope._inputs.files import tell_format
from rankscope._names import quote
from rankscope._settings import CHOICES, ENCODINGS, FIELDS
from rankscope._settings import ROLES as RUN_ROLES
from rankscope.errors import UsageError

if TYPE_CHECKING:
    from rankscope._inputs.items import Items


LEVEL = 0.95
"""The usual confidence level."""


def add_measures_option(parser: ArgumentParser, default: Sequence[str]) -> None:
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
    parser: ArgumentParser,
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


def add_format_options(parser: ArgumentParser, *, papers: bool = False) -> None:
    """Add `--json` and `--csv`, and for papers `--latex`; a command takes one."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    form.add_argument("--csv", action=OnceFlag, help="print the result as CSV")
    if papers:
        form.add_argument(
            "--latex", action=OnceFlag, help="print the means as a LaTeX table (booktabs)"
        )


def add_small_print_option(parser: ArgumentParser) -> None:
    """Add `--small-print`."""
    parser.add_argument(
        "--small-print",
        action=OnceFlag,
        help="print all of the small print: methods, assumptions, policy and notes (default: at "
        "most two lines)",
    )


def add_policy_option(parser: ArgumentParser) -> None:
    """Add `--policy`."""
    parser.add_argument(
        "--policy",
        default="",
        metavar="FIELD=VALUE,...",
        help=f"how to handle cases in which tools differ; fields: {', '.join(FIELDS)}",
    )


def add_convention_option(parser: ArgumentParser) -> None:
    """Add `--convention`."""
    parser.add_argument(
        "--convention",
        metavar="NAME",
        help="compute measures as this library does, such as lightgbm; `rankscope conventions` "
        "lists them",
    )


def add_interval_options(parser: ArgumentParser, default: float | None = None) -> None:
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
    parser: ArgumentParser,
    help: str,  # noqa: A002 - argparse's name
    default: int | None = None,
) -> None:
    """Add `--limit`."""
    parser.add_argument("--limit", type=read_integer, default=default, metavar="N", help=help)


def add_duplicates_option(parser: ArgumentParser) -> None:
    """Add `--duplicates`."""
    parser.add_argument(
        "--duplicates",
        default="error",
        choices=CHOICES["duplicates"],
        metavar="RULE",
        help="what to do if a document appears twice in a query",
    )


def add_ignore_same_option(parser: ArgumentParser) -> None:
    """Add `--ignore-same`."""
    parser.add_argument(
        "--ignore-same",
        action=OnceFlag,
        help="leave the document that has the ID of its query out of each list",
    )


def add_encoding_option(parser: ArgumentParser) -> None:
    """Add `--encoding`."""
    parser.add_argument(
        "--encoding",
        default="utf-8",
        choices=ENCODINGS,
        metavar="NAME",
        help="encoding of text files",
    )


def add_score_type_option(parser: ArgumentParser) -> None:
    """Add `--score-type`."""
    parser.add_argument(
        "--score-type",
        choices=CHOICES["score_type"],
        metavar="TYPE",
        help="precision in which scores are compared; trec_eval 9 uses float32 (default: float64)",
    )


def add_threads_option(parser: ArgumentParser) -> None:
    """Add `--threads`."""
    parser.add_argument(
        "--threads",
        type=read_integer,
        metavar="N",
        help="number of threads (default: all cores)",
    )


def add_memory_options(parser: ArgumentParser, what: str) -> None:
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


def add_reading_options(parser: ArgumentParser) -> None:
    """Add the options about how files are read."""
    add_duplicates_option(parser)
    add_ignore_same_option(parser)
    add_score_type_option(parser)
    add_encoding_option(parser)
    add_threads_option(parser)
    parser.add_argument(
        "--strict", action=OnceFlag, help="fail on suspicious input instead of printing a note"
    )


def read_interval(options: Namespace) -> Interval | None:
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


ROLES = (*RUN_ROLES, "label", "weight")
"""What columns may be; the last two only in a table of rankings."""
PARTS = ("qrels", "run")


def add_file_options(parser: ArgumentParser, printed: Sequence[str] = ()) -> None:
    """Add `--col` and `--format`."""
    result = f"; or the format of the result: {', '.join(printed)}" if printed else ""
    parser.add_argument(
        "--col",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="the column to use for a role, if it does not have a usual name; roles: "
        f"{', '.join(ROLES)}",
    )
    parser.add_argument(
        "--format",
        action="append",
        default=[],
        metavar="[qrels=|run=]FORMAT",
        help="format of all files, or of the judgments or the runs only; one of: "
        f"{', '.join(TABLE_FORMATS)}{result} "
        f"(default: {'text, and ' * bool(printed)}from the file name)",
    )


def read_columns(options: Namespace) -> dict[str, str]:
    """Return the columns that `--col` names, by role."""
    return read_pairs(options.col, "--col", ROLES)


def name_file(path: str, part: str, options: Namespace) -> str | File:
    """Return a file with the format and the columns that the options name for it."""
    if re.fullmatch(r"\w+@\d+", path) and not os.path.exists(path):  # noqa: PTH110 - pathlib loads slowly
        hint = f"measures have an option: -m {path}"
        raise UsageError(f"there is no file {quote(path)}", hint=hint, code="usage")
    form = _read_format(part, options)
    columns = {role: name for role, name in read_columns(options).items() if role in RUN_ROLES}
    return path if form is None and not columns else File(path, form, columns)  # type: ignore[arg-type]  # it is checked


def refuse_stdin_twice(paths: Sequence[str]) -> None:
    """Refuse to read two inputs from standard input."""
    if paths.count("-") > 1:
        raise UsageError(
            "only one input can be read from standard input (-)",
            hint="write the other inputs to files",
            code="stdin_twice",
        )


def is_letor(path: str, options: Namespace) -> bool:
    """Return whether judgments are SVMlight text."""
    return (_read_format("qrels", options) or tell_format(path)) == "letor"


def _read_format(part: str, options: Namespace) -> str | None:
    of_all = [text for text in options.format if "=" not in text]
    if len(of_all) > 1:
        raise UsageError(
            f"--format names two formats for all files: {' and '.join(map(quote, of_all))}",
            hint="use --format qrels=csv --format run=jsonl to set them separately",
            code="usage",
        )
    of_parts = read_pairs([text for text in options.format if "=" in text], "--format", PARTS)
    form = of_parts.get(part, next(iter(of_all), None))
    if form is not None and form not in TABLE_FORMATS:
        raise UsageError(
            f"unknown format {quote(form)}",
            hint=f"use one of: {', '.join(TABLE_FORMATS)}; or remove --format to use the file name",
            code="bad_format",
        )
    return form


def read_pairs(
    texts: Sequence[str], option: str, roles: Sequence[str], *, allows_nothing: bool = False
) -> dict[str, str]:
    """Return what an option that can be repeated sets, by role."""
    pairs: dict[str, str] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not sign or role not in roles or not (name or allows_nothing):
            raise UsageError(
                f"cannot read {option} {quote(text)}",
                hint=f"write {option} {roles[0]}=NAME, with one of: {', '.join(roles)}",
                code="usage",
            )
        if role in pairs:
            raise UsageError(
                f"{option} sets {role} twice", hint=f"remove one {option} {role}=", code="usage"
            )
        pairs[role] = name
    return pairs


ITEMS = {
    "history": "interactions before the recommendations: a table with columns of users and items, "
    "or a file like the judgments; for Novelty, AvgPopularity, Serendipity and Miscalibration",
    "items": "table with a column of items, and their attributes in the others; for ILD, "
    "Miscalibration and AWRF",
    "catalogue": "the items that can be recommended: a table with a column of items, or a text "
    "file with one item in each line (default: those of --items, or else of --history); for "
    "Coverage, Gini, Entropy and Serendipity",
}
"""The help of each option about items."""


def add_items_options(parser: Parser) -> None:
    """Add the options about items."""
    group = parser.add_argument_group("Options for measures of recommended items")
    for name, text in ITEMS.items():
        group.add_argument(f"--{name}", metavar="FILE", help=text)


def name_items(options: Namespace) -> dict[str, str | None]:
    """Return the file of each option."""
    return {name: getattr(options, name, None) for name in ITEMS}


def list_items_files(options: Namespace) -> list[str]:
    """Return the files that the options name."""
    return [path for path in name_items(options).values() if path]


def read_items(options: Namespace) -> Items | None:
    """Read the files of the options; `None` if there are none."""
    files: dict[str, Any] = name_items(options)
    if not any(files.values()):
        return None
    columns = read_columns(options)
    return rs.read_items(
        **files, query=columns.get("query"), doc=columns.get("doc"), encoding=options.encoding
    )
