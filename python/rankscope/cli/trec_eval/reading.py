"""Reads judgments and runs as trec_eval does, and tells what it would do in silence."""

from __future__ import annotations

import os
import re
import sys

import rankscope as rs
from rankscope.adapters.files.opening import TextSource, open_binary
from rankscope.errors import DuplicateError, FormatError, InputError
from rankscope.file import COMPRESSIONS, File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from rankscope.data.qrels import Qrels
    from rankscope.errors import RankscopeError

    Read = TypeVar("Read")

IN_MEMORY = "<bytes>"
"""What errors call a file whose text was read or changed first."""

FIELDS = 6
PIECE = 1 << 20
TAIL = 1 << 16
"""How much of the end of a run is read for the name of the run."""

WHOLE = re.compile(rb"[+-]?\d+")
GRADED = re.compile(rb"[ \t]*[^ \t]+[ \t]+[^ \t]+[ \t]+[^ \t]+[ \t]+([^ \t\r]+)[ \t\r]*")


class Source:
    """A run as the command line names it, which is read again if its text needs changes.

    Args:
        path: The path, or `-` for standard input.
        keeps_text: Whether all of standard input is held in memory, to be read twice.
    """

    def __init__(self, path: str, *, keeps_text: bool) -> None:
        self.path = path
        self.text = sys.stdin.buffer.read() if path == "-" and keeps_text else None

    def file(self) -> File:
        """Return what to evaluate."""
        return File(self.path if self.text is None else self.text, "trec")

    def read(self, evaluate: Callable[[], Read], note: Callable[[str], None]) -> Read:
        """Return what a function makes of the run, without the fields after the sixth.

        Args:
            evaluate: Evaluates `file()`.
            note: Takes a sentence if there are such fields.

        Raises:
            InputError: The run is not of the format.
            FileError: The run can't be read.
        """
        try:
            try:
                return evaluate()
            except InputError as error:
                if not self._mend(error):
                    raise
            note(f"{self.path}: fields after the sixth are ignored, as in trec_eval")
            return evaluate()
        except InputError as error:
            if error.file == IN_MEMORY:
                error.file = "<stdin>" if self.path == "-" else self.path
            raise

    def _mend(self, error: RankscopeError) -> bool:
        """Remove fields after the sixth, if these are the mistake, and return whether they are."""
        if error.code != "field_count" or self.path == "-" == self.text:
            return False
        text = self.text or read_text(self.path)
        lines = text.split(b"\n")
        cleaned = [_cut(line) for line in lines]
        if cleaned == lines or self.text == (joined := b"\n".join(cleaned)):
            return False
        self.text = joined
        return True

    def find_run_id(self) -> str:
        """Return the name of the run in its last line.

        Raises:
            FormatError: No line has six fields.
        """
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


def read_judgments(path: str, note: Callable[[str], None]) -> Qrels:
    """Read judgments; grades that aren't whole numbers are cut, as trec_eval reads them.

    Args:
        path: The path.
        note: Takes a sentence about what is unusual in them.

    Raises:
        DuplicateError: A document is judged twice.
        InputError: The judgments are not of the format.
        FileError: The file can't be read.
    """
    qrels = rs.read_qrels(File(path, "trec"))
    twice = [line for code, _, line in qrels.notes if code == "duplicate_identical"]
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
    lines = read_text(path).split(b"\n")
    return rs.read_qrels(File(b"\n".join(map(_cut_grade, lines)), "trec"))


def read_text(path: str) -> bytes:
    """Return the text of a file, unpacked."""
    with open_binary(path, path) as file:
        source = TextSource(file, path, encoding="utf-8")
        return b"".join(iter(lambda: source.read(PIECE), b""))


def _read_tail(path: str) -> bytes:
    with open_binary(path, path) as file:
        start = file.read(4)
        if any(start.startswith(magic) for _, magic, _ in COMPRESSIONS):
            return read_text(path)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        return file.read()


def _cut(line: bytes) -> bytes:
    fields = line.split()
    return line if len(fields) <= FIELDS else b" ".join(fields[:FIELDS])


def _cut_grade(line: bytes) -> bytes:
    found = GRADED.fullmatch(line)
    if found is None:
        return line
    grade = WHOLE.match(found[1])
    return line[: found.start(1)] + (grade[0] if grade else b"0")
