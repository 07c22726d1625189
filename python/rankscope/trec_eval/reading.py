"""Reads judgments and runs as trec_eval does, and tells what it would do in silence."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, suppress

import rankscope as rs
from rankscope._inputs.files import open_binary, read_whole
from rankscope.errors import DuplicateError, FormatError, InputError
from rankscope.file import COMPRESSIONS, File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from rankscope._inputs.qrels import Qrels
    from rankscope.errors import RankscopeError

    Read = TypeVar("Read")

IN_MEMORY = "<bytes>"
"""What errors call a file whose text was read or changed first."""

FIELDS = 6
TAIL = 1 << 16
"""How much of the end of a run is read for the name of the run."""

COMMENT = re.compile(rb"^[ \t]*#.*", re.MULTILINE)
WHOLE = re.compile(rb"[+-]?\d+")
GRADED = re.compile(rb"[ \t]*[^ \t]+[ \t]+[^ \t]+[ \t]+[^ \t]+[ \t]+([^ \t\r]+)[ \t\r]*")


class Source:
    """A run as the command line names it, which is read again if its text needs changes.

    Args:
        path: The path, or `-` for standard input.
        keeps_text: Whether all of standard input is held in memory, to be read twice.
        has_comments: Whether lines that start with # are comments, as in version 10.
    """

    def __init__(self, path: str, *, keeps_text: bool, has_comments: bool) -> None:
        self.path = path
        self.has_comments = has_comments
        self.text = sys.stdin.buffer.read() if path == "-" and keeps_text else None

    def file(self) -> File:
        """Return what to evaluate."""
        return File(self.path if self.text is None else self.text, "trec")

    def read(self, evaluate: Callable[[], Read], note: Callable[[str], None]) -> Read:
        """Return what a function makes of the run, without what trec_eval ignores."""
        with _naming("<stdin>" if self.path == "-" else self.path):
            try:
                return evaluate()
            except InputError as error:
                if not self._clean(error, note):
                    raise
            return evaluate()

    def _clean(self, error: RankscopeError, note: Callable[[str], None]) -> bool:
        """Remove comments and fields after the sixth, and return whether there were any."""
        is_unread = self.path == "-" and self.text is None
        if is_unread or (error.code != "field_count" and not self.has_comments):
            return False
        text = read_whole(self.path, self.path) if self.text is None else self.text
        cleaned_text = _blank_comments(text) if self.has_comments else text
        lines = cleaned_text.split(b"\n")
        cleaned = [_cut(line) for line in lines]
        if cleaned != lines:
            note(f"{self.path}: fields after the sixth are ignored, as in trec_eval")
            cleaned_text = b"\n".join(cleaned)
        self.text = cleaned_text
        return cleaned_text != text

    def find_run_id(self) -> str:
        """Return the name of the run in its last line."""
        tail = self.text if self.text is not None else _read_tail(self.path)
        for line in reversed(tail.splitlines()):
            fields = line.split()
            if len(fields) >= FIELDS and not line.startswith(b"#"):
                return fields[FIELDS - 1].decode("utf-8", "backslashreplace")
        raise FormatError(
            "expected the name of the run in the last line, found none",
            hint="lines have the fields query, Q0, document, rank, score and name",
            code="field_count",
            file=self.path,
        )


def read_judgments(path: str, note: Callable[[str], None], *, has_comments: bool) -> Qrels:
    """Read judgments; grades that aren't whole numbers are cut, as trec_eval reads them."""
    qrels = _read_qrels(path, has_comments=has_comments)
    notes = [note for note in qrels.queries.notes if isinstance(note, tuple)]
    twice = [line for code, _, line in notes if code == "duplicate_identical"]
    if twice:
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
    note(
        f"{path}: grades are cut to whole numbers, as trec_eval reads them: {fractions[0]:g} is "
        f"{int(fractions[0])}"
    )
    text = read_whole(path, path)
    lines = (_blank_comments(text) if has_comments else text).split(b"\n")
    with _naming(path):
        return rs.read_qrels(File(b"\n".join(map(_cut_grade, lines)), "trec"))


def _read_qrels(path: str, *, has_comments: bool) -> Qrels:
    if not has_comments:
        return rs.read_qrels(File(path, "trec"))
    with suppress(InputError):
        qrels = rs.read_qrels(File(path, "trec"))
        if not any(query.startswith("#") for query in qrels.query_texts):
            return qrels
    with _naming(path):
        return rs.read_qrels(File(_blank_comments(read_whole(path, path)), "trec"))


def read_lines(
    path: str, names: Sequence[str], *, has_comments: bool
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of each line, without blank lines."""
    text = read_whole(path, path)
    lines = (_blank_comments(text) if has_comments else text).split(b"\n")
    for number, line in enumerate(lines, start=1):
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


def _blank_comments(text: bytes) -> bytes:
    """Empty the lines that are comments, so that others keep their numbers."""
    return COMMENT.sub(b"", text)


def _cut(line: bytes) -> bytes:
    fields = line.split()
    return line if len(fields) <= FIELDS else b" ".join(fields[:FIELDS])


def _cut_grade(line: bytes) -> bytes:
    found = GRADED.fullmatch(line)
    if found is None:
        return line
    grade = WHOLE.match(found[1])
    return line[: found.start(1)] + (grade[0] if grade else b"0")
