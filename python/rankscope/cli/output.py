"""Writes to standard output and standard error, the same bytes in every locale."""

from __future__ import annotations

import os
import sys

from rankscope.errors import FileError
from rankscope.output.documents import write_json, write_rows
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from rankscope.errors import RankscopeError
    from rankscope.output.diagnostics import Diagnostic


HALF_MESSAGE = 400
"""The number of characters printed from each end of a long message."""


def set_up_streams() -> None:
    """Use UTF-8 and plain line ends everywhere, and escape what cannot be encoded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed the descriptor
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def drop_output(stream: TextIO | None = None) -> None:
    """Discard what a stream still buffers, so that the exit of the program does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def describe_failure(error: OSError) -> FileError:
    """Return the error for output that the operating system refused."""
    reason = error.strerror or str(error)
    message = reason if error.filename is None else f"{error.filename}: {reason}"
    return FileError(
        message,
        hint="check that there is space on the disk, and that you may write there",
        code="io",
    )


def print_notes(notes: Iterable[Diagnostic | str]) -> None:
    """Print notes to standard error, one per line."""
    for note in notes:
        print(f"note: {show(str(note))}", file=sys.stderr)


def print_error(error: RankscopeError, *, as_json: bool) -> None:
    """Print an error and its hint to standard error, and with `as_json` also a JSON document.

    If neither can be written, the exit status alone reports the error.
    """
    try:
        print(f"rankscope: error: {_show_briefly(error.summary)} [{error.code}]", file=sys.stderr)
        if error.hint:
            print(f"Hint: {_show_briefly(error.hint)}", file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        drop_output(sys.stderr)
    if as_json:
        fields = {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "file": error.file,
            "line": error.line,
            "column": error.column,
            "value": error.value,
        }
        try:
            print_json({"error": fields})
            sys.stdout.flush()
        except OSError:
            drop_output()


def _show_briefly(text: str) -> str:
    """Return a text on one line; of a long one, such as a path, the middle is left out."""
    if len(text) > 2 * HALF_MESSAGE:
        text = f"{text[:HALF_MESSAGE]}…{text[-HALF_MESSAGE:]}"
    return show(text)


def print_json(document: Mapping[str, object] | Sequence[object]) -> None:
    """Print one JSON document, with null for NaN and text for UUIDs, which JSON does not have."""
    sys.stdout.write(write_json(document))
    sys.stdout.write("\n")


def print_csv(rows: Iterable[Iterable[str | float | None]]) -> None:
    """Print rows as CSV, with a ' before text that a spreadsheet would run as a formula."""
    write_rows(rows, sys.stdout)
