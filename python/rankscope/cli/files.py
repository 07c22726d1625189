"""Options about files: formats, columns, and the items that can be recommended."""

from __future__ import annotations

import os
import re

import rankscope as rs
from rankscope._inputs.files import tell_format
from rankscope.errors import UsageError
from rankscope.file import TABLE_FORMATS, File
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from rankscope._inputs.items import Items
    from rankscope.cli.parser import Parser


ROLES = ("query", "doc", "relevance", "score", "rank", "subtopic", "stratum", "label", "weight")
TABLE_ROLES = ("label", "weight")
"""Roles that only a table of rankings has."""
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
    columns = {
        role: name for role, name in read_columns(options).items() if role not in TABLE_ROLES
    }
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
    named = read_pairs([text for text in options.format if "=" in text], "--format", PARTS)
    form = named.get(part, *of_all) if of_all else named.get(part)
    if form is not None and form not in TABLE_FORMATS:
        raise UsageError(
            f"unknown format {quote(form)}",
            hint=f"use one of: {', '.join(TABLE_FORMATS)}; or remove --format to use the file name",
            code="bad_format",
        )
    return form


def read_pairs(
    texts: Sequence[str], option: str, known: Sequence[str], *, allows_nothing: bool = False
) -> dict[str, str]:
    """Return what an option that can be repeated sets, by role."""
    pairs: dict[str, str] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not sign or role not in known or not (name or allows_nothing):
            raise UsageError(
                f"cannot read {option} {quote(text)}",
                hint=f"write {option} {known[0]}=NAME, with one of: {', '.join(known)}",
                code="usage",
            )
        if role in pairs:
            raise UsageError(
                f"{option} sets {role} twice", hint=f"remove one {option} {role}=", code="usage"
            )
        pairs[role] = name
    return pairs


NAMES = ("history", "items", "catalogue")


def add_items_options(parser: Parser) -> None:
    """Add the options."""
    group = parser.add_argument_group("Options for measures of recommended items")
    group.add_argument(
        "--history",
        metavar="FILE",
        help="interactions before the recommendations: a table with columns of users and items, or "
        "a file like the judgments; for Novelty, AvgPopularity, Serendipity and Miscalibration",
    )
    group.add_argument(
        "--items",
        metavar="FILE",
        help="table with a column of items, and their attributes in the others; for ILD, "
        "Miscalibration and AWRF",
    )
    group.add_argument(
        "--catalogue",
        metavar="FILE",
        help="the items that can be recommended: a table with a column of items, or a text file "
        "with one item in each line (default: those of --items, or else of --history); for "
        "Coverage, Gini, Entropy and Serendipity",
    )


def name_items(options: Namespace) -> dict[str, str | None]:
    """Return the file of each option."""
    return {name: getattr(options, name, None) for name in NAMES}


def list_items_files(options: Namespace) -> list[str]:
    """Return the files that the options name."""
    return [path for path in name_items(options).values() if path]


def read_items(options: Namespace) -> Items | None:
    """Read the files of the options; `None` if there are none."""
    given: dict[str, Any] = name_items(options)
    if not any(given.values()):
        return None
    named: dict[str, Any] = {
        role: name for role, name in read_columns(options).items() if role in {"query", "doc"}
    }
    return rs.read_items(**given, **named, encoding=options.encoding)
