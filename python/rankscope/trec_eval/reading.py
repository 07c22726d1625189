"""Reads judgments and runs as trec_eval does, and tells what it would do in silence."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager

import rankscope as rs
from rankscope._inputs.files import open_binary, read_whole
from rankscope.errors import DuplicateError, FormatError, InputError
from rankscope.file import COMPRESSIONS, File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from rankscope._inputs.qrels import Qrels

    Read = TypeVar("Read")

IN_MEMORY = "<bytes>"
"""What errors call a file whose text was read or changed first."""

FIELDS = 6
TAIL = 1 << 16
"""How much of the end of a run is read for the name of the run."""

COMMENT = re.compile(rb"^[ \t]*#.*", re.MULTILINE)
FIELD = rb"[^ \t\n]+[ \t]+"
GRADED = re.compile(rb"^([ \t]*%b)([+-]?\d+)?[^ \t\r\n]*(?=[ \t\r]*$)" % (3 * FIELD), re.MULTILINE)
"""A line of judgments, with what trec_eval reads of its grade."""


class Source:
    """A run as the command line names it, which is read again if its text needs changes.

    Args:
        path: The path, or `-` for standard input.
        notes: What is left out of the text is added.
        keeps_text: Whether all of standard input is held in memory, to be read twice.
        has_comments: Whether lines that start with # are comments, as in version 10.
    """

    def __init__(
        self, path: str, notes: list[str], *, keeps_text: bool, has_comments: bool
    ) -> None:
        self._path, self._notes, self._has_comments = path, notes, has_comments
        self._text = sys.stdin.buffer.read() if path == "-" and keeps_text else None

    def read(self, evaluate: Callable[[File], Read]) -> Read:
        """Return what a function makes of the run, without what trec_eval ignores."""
        with _naming("<stdin>" if self._path == "-" else self._path):
            try:
                return evaluate(self._file())
            except InputError as error:
                if not self._clean(error):
                    raise
            return evaluate(self._file())

    def _file(self) -> File:
        return File(self._path if self._text is None else self._text, "trec")

    def _clean(self, error: InputError) -> bool:
        """Remove comments and fields after the sixth, and return whether there were any."""
        is_unread = self._path == "-" and self._text is None
        if is_unread or (error.code != "field_count" and not self._has_comments):
            return False
        text = read_whole(self._path, self._path) if self._text is None else self._text
        lines = _blank_comments(text, self._has_comments).split(b"\n")
        cut = [
            b" ".join(fields[:FIELDS]) if len(fields := line.split()) > FIELDS else line
            for line in lines
        ]
        if cut != lines:
            self._notes.append(f"{self._path}: fields after the sixth are ignored, as in trec_eval")
        self._text = b"\n".join(cut)
        return self._text != text

    def find_run_id(self) -> str:
        """Return the name of the run in its last line."""
        tail = self._text if self._text is not None else _read_tail(self._path)
        for line in reversed(tail.splitlines()):
            fields = line.split()
            if len(fields) >= FIELDS and not line.startswith(b"#"):
                return fields[FIELDS - 1].decode("utf-8", "backslashreplace")
        raise FormatError(
            "expected the name of the run in the last line, found none",
            hint="lines have the fields query, Q0, document, rank, score and name",
            code="field_count",
            file=self._path,
        )


def read_judgments(path: str, notes: list[str], *, has_comments: bool) -> Qrels:
    """Read judgments; grades that aren't whole numbers are cut, as trec_eval reads them."""
    is_read = path == "-" or has_comments
    given = _blank_comments(read_whole(path, path), has_comments) if is_read else path
    with _naming(path):
        qrels = rs.read_qrels(File(given, "trec"))
    found = [note for note in qrels.queries.notes if isinstance(note, tuple)]
    if twice := [line for code, _, line in found if code == "duplicate_identical"]:
        raise DuplicateError(
            "expected each document once per query, found one twice with the same grade",
            hint="remove the second line, or use rankscope eval, which counts it once",
            code="duplicate_judgment",
            file=path,
            line=twice[0] or None,
        )
    fractions = [grade for grade in qrels.judgments.grades() if grade != int(grade)]
    if not fractions:
        return qrels
    notes.append(
        f"{path}: grades are cut to whole numbers, as trec_eval reads them: {fractions[0]:g} is "
        f"{int(fractions[0])}"
    )
    text = given if isinstance(given, bytes) else read_whole(path, path)
    with _naming(path):
        whole = GRADED.sub(lambda line: line[1] + (line[2] or b"0"), text)
        return rs.read_qrels(File(whole, "trec"))


def read_lines(
    path: str, names: Sequence[str], *, has_comments: bool
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of each line, without blank lines."""
    text = _blank_comments(read_whole(path, path), has_comments)
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = line.split()
        if fields and len(fields) != len(names):
            raise FormatError(
                f"expected {len(names)} fields ({', '.join(names)}), found {len(fields)}",
                hint="columns are separated by blanks or tabs",
                code="field_count",
                file=path,
                line=number,
            )
        if fields:
            yield number, fields


def _read_tail(path: str) -> bytes:
    with open_binary(path, path) as file:
        start = file.read(4)
        if any(start.startswith(magic) for _, magic, _ in COMPRESSIONS):
            return read_whole(path, path)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        return file.read()


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Name the file in errors about its text, which was read or changed first."""
    try:
        yield
    except InputError as error:
        if error.file == IN_MEMORY:
            error.file = path
        raise


def _blank_comments(text: bytes, has_comments: bool) -> bytes:
    """Empty the lines that are comments, so that others keep their numbers."""
    return COMMENT.sub(b"", text) if has_comments else text
