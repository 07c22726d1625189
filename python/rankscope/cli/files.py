"""What options say about files: their formats, and which column holds what."""

from __future__ import annotations

import os

from rankscope.adapters.files.formats import FORMATS, tell_format
from rankscope.errors import UsageError
from rankscope.file import File
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

ROLES = ("query", "doc", "relevance", "score", "rank", "label", "weight")
BESIDES = ("label", "weight")
"""Roles that only a table of rankings has."""
PARTS = ("qrels", "run")


def add_file_arguments(parser: ArgumentParser) -> None:
    """Say what a command takes about its files."""
    parser.add_argument(
        "--col",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help=f"the column that holds something, where it has no usual name: {', '.join(ROLES)}; "
        "may be given again",
    )
    parser.add_argument(
        "--format",
        action="append",
        default=[],
        metavar="[qrels=|run=]FORMAT",
        help=f"the format of all files, or of those named, where their names do not tell it: "
        f"{', '.join(FORMATS)}",
    )


def read_columns(options: Namespace) -> dict[str, str]:
    """Read which columns are named, by role.

    Raises:
        UsageError: A role is none, or named twice.
    """
    return _read_pairs(options.col, "--col", ROLES)


def name_file(path: str, part: str, options: Namespace) -> str | File:
    """Say of a path what its name does not.

    Args:
        path: The path.
        part: `qrels` or `run`, or `table` for one that holds both.
        options: What the options say.

    Raises:
        UsageError: There is no such format, or one is named twice.
    """
    form = _format_of(part, options)
    columns = {role: name for role, name in read_columns(options).items() if role not in BESIDES}
    return path if form is None and not columns else File(path, form, columns)  # type: ignore[arg-type]  # it is checked


def refuse_stdin_twice(paths: Sequence[str]) -> None:
    """Refuse to read two inputs from the one standard input.

    Raises:
        UsageError: More than one is `-`.
    """
    count = paths.count("-")
    if count > 1:
        raise UsageError(
            f"expected '-' for one input, found it for {count}",
            hint="name files",
            code="stdin_twice",
        )


def refuse_overwriting(output: str, inputs: Sequence[str]) -> None:
    """Refuse to write over a file that is read.

    Raises:
        UsageError: The output is one of the inputs, by whatever path.
    """
    for path in inputs:
        try:
            is_same = os.path.samefile(path, output)  # noqa: PTH121 - pathlib loads slowly
        except (OSError, ValueError):  # one of the two is not there, or standard input
            continue
        # A device, such as /dev/null, may be read and written.
        if is_same and os.path.isfile(path):  # noqa: PTH113 - as above
            raise UsageError(
                f"expected another file to write to, found {quote(output)}, which is an input",
                hint="name another file after -o",
                code="usage",
            )


def is_letor(path: str, options: Namespace) -> bool:
    """Whether judgments are SVMlight text."""
    return (_format_of("qrels", options) or tell_format(path)) == "letor"


def _format_of(part: str, options: Namespace) -> str | None:
    of_all = [text for text in options.format if "=" not in text]
    if len(of_all) > 1:
        raise UsageError(
            f"expected one format, found {' and '.join(of_all)}",
            hint="name the files: --format qrels=csv --format run=jsonl",
            code="usage",
        )
    named = _read_pairs([text for text in options.format if "=" in text], "--format", PARTS)
    form = named.get(part, *of_all) if of_all else named.get(part)
    if form is not None and form not in FORMATS:
        raise UsageError(
            f"expected one of {', '.join(FORMATS)} as the format, found {quote(form)}",
            hint="leave it out, to tell it by the name of the file",
            code="bad_format",
        )
    return form


def _read_pairs(texts: Sequence[str], option: str, known: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not (sign and name) or role not in known:
            raise UsageError(
                f"expected {option} as {known[0]}=NAME, with one of {', '.join(known)}; "
                f"found {quote(text)}",
                hint=f"write it as {option} {known[0]}=NAME",
                code="usage",
            )
        if role in pairs:
            raise UsageError(
                f"expected {option} {role} once, found it twice", hint="leave one out", code="usage"
            )
        pairs[role] = name
    return pairs
