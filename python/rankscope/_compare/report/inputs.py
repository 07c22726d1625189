"""The inputs of a report: their files, with sizes and hashes, and the commands that read them."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from operator import itemgetter
from typing import Any

from rankscope._evaluate.query_values import read_slicing
from rankscope._file import File
from rankscope._inputs.attribution import read_positive
from rankscope._inputs.files import is_address, list_files, open_binary, tell_format
from rankscope._inputs.recognition import name_path
from rankscope._settings import ROLES, Interval
from rankscope.errors import FileError

Stamp = tuple[int, int, int]
PARTS = {"qrels": "judgments", "run": "run", "table": "table"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that was read.

    Args:
        role: One of: `judgments`, `run`, `table`.
        name: Its path, or what data in memory is called.
        size: The number of its bytes; 0 for data that isn't a file.
        sha256: The SHA-256 of its bytes in hexadecimal; empty for data that isn't a file.
    """

    role: str
    name: str
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedInput:
    """An input, with the sizes and hashes of its files."""

    value: Any  # the input, or the bytes of what can be read only once
    name: str
    files: tuple[InputFile, ...]
    path: str  # empty for what can't be read again
    stamps: Mapping[str, Stamp]

    def check(self) -> None:
        """Raise an error for files that have changed since they were hashed."""
        for path, stamp in self.stamps.items():
            if _stamp(path) != stamp:
                raise FileError(
                    "expected one file throughout, but it changed while the report was made",
                    hint="make the report again when nobody writes to it",
                    code="changed_while_reading",
                    file=path,
                )


def hash_input(value: Any, role: str, name: str = "") -> HashedInput:  # noqa: ANN401 - any input
    """Hash an input, and read it into memory if it can be read only once."""
    location = value.path if isinstance(value, File) else value
    path = os.fsdecode(location) if isinstance(location, str | os.PathLike) else ""
    file = "<stdin>" if path == "-" else name_path(path, role) if path else name or role
    name = file if name in {"", "-"} else name
    if _is_read_once(path):
        location, file = _read(path), name
        form, columns = (value.format, value.columns) if isinstance(value, File) else (None, {})
        value = File(location, form or tell_format(path), columns)
    describe = partial(InputFile, role=PARTS[role])
    files: list[InputFile] = []
    stamps: dict[str, Stamp] = {}
    if isinstance(location, bytes):
        path, digest = "", sha256(location).hexdigest()
        files = [describe(name=file, size=len(location), sha256=digest)]
    elif not path or is_address(path) or _is_lake(path):
        # Of what isn't here as plain files, nobody knows the bytes that are read.
        files = [describe(name=file if path else f"{file} (in memory)")]
        path = ""
    else:
        with suppress(OSError, ValueError):  # reading it will say why
            stamps = {part: _stamp(part) for part in list_files(path) or [path]}
            files = [
                describe(name=name_path(part, role), size=stamp[0], sha256=_hash(part))
                for part, stamp in stamps.items()
            ]
    return HashedInput(value=value, name=name, files=tuple(files), path=path, stamps=stamps)


def _is_lake(path: str) -> bool:
    from rankscope._inputs.remote import find_table

    return os.path.isdir(path) and find_table(path) is not None  # noqa: PTH112 - pathlib loads slowly


def _is_read_once(path: str) -> bool:
    with suppress(OSError, ValueError):  # reading it will say why
        return path == "-" or stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 - as above
    return False


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    with open_binary(path, path) as file:
        return file.read()


def _stamp(path: str) -> Stamp:
    status = os.stat(path)  # noqa: PTH116 - as above
    return status.st_size, status.st_mtime_ns, status.st_ino


def _hash(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file_digest(file, "sha256").hexdigest()


LONGEST_VALUE = 80
USUAL = {"duplicates": "error", "score_type": "float64", "encoding": "utf-8", "ignore_same": False}
"""The values of arguments that need not be written."""
IRRELEVANT = {"threads", "progress"}
"""Arguments that change no number."""


def write_commands(
    inputs: Sequence[HashedInput],
    measures: Sequence[str],
    arguments: dict[str, object],
    of_report: Sequence[str],
) -> dict[str, str]:
    """Return the commands that give the values and the report, by purpose; or else the call."""
    files = [source.value for source in inputs if isinstance(source.value, File)]
    columns = {pair for file in files for pair in file.columns.items()}
    written = {
        name: value
        for name, value in sorted((arguments | dict(columns)).items(), key=itemgetter(0))
        if value is not None and name not in IRRELEVANT and not _is_usual(name, value)
    }
    is_table = len(inputs) == 1
    options = [_write_option(*item, is_table=is_table) for item in written.items()]
    has_roles_once = len(dict(columns)) == len(columns)
    if None in options or not has_roles_once or not all(source.path for source in inputs):
        call = ["table"] if is_table else ["qrels", "run"]
        call += [repr([*measures]), *(f"{name}={_write(name, written[name])}" for name in written)]
        return {"Compute these values": f"rs.evaluate({', '.join(call)})"}
    words = [
        *(source.path for source in inputs),
        *(word for name in measures for word in ("-m", name)),
        *_write_formats(inputs),
        *(word for option in options for word in option or ()),
    ]
    commands = {"Compute these values": ["rankscope", "eval", *words]}
    if "interval" in written:  # there is no option for a report without intervals
        commands["Create this report"] = ["rankscope", "report", *words, *of_report]
    return {purpose: " ".join(map(_quote, command)) for purpose, command in commands.items()}


def _is_usual(name: str, value: object) -> bool:
    return isinstance(value, str | bool) and value in {"", USUAL.get(name)}


def _write_option(name: str, value: object, *, is_table: bool) -> list[str] | None:
    """Return an argument as an option of the commands, or `None` if they have none for it."""
    match name, value:
        case "policy" | "convention" | "duplicates" | "score_type" | "encoding", str():
            return [f"--{name.replace('_', '-')}", value]
        case "ignore_same", True:
            return ["--ignore-same"]
        case "interval", Interval(level=level, seed=seed) if value == Interval(level, seed=seed):
            return ["--interval", f"{level:g}", *(["--seed", f"{seed}"] if seed else [])]
        case "history" | "items" | "catalogue", str() | os.PathLike():
            return [f"--{name}", os.fsdecode(value)]
        case "by", str() | list() | tuple() if is_table:
            return [word for column in read_slicing(value) for word in ("--by", column)]
        case "labels" | "weights", str() if is_table:
            return ["--col", f"{name.removesuffix('s')}={value}"]
        case "positive", str() | dict() | list() if is_table:
            grades = read_positive(value).items()
            labels = [label if grade == 1 else f"{label}={grade:g}" for label, grade in grades]
            return [word for label in labels for word in ("--positive", label)]
        case _, str() if name in ROLES:
            return ["--col", f"{name}={value}"]
    return None


def _write(name: str, value: object) -> str:
    """Return the value of an argument, or the name of what is longer."""
    if isinstance(value, Interval):
        return f"rs.{value!r}"
    is_short = isinstance(value, str | list | bool) and len(repr(value)) <= LONGEST_VALUE
    return repr(value) if is_short else name


def _write_formats(inputs: Sequence[HashedInput]) -> Iterator[str]:
    formats = {
        "run" if at else "qrels": source.value.format
        for at, source in enumerate(inputs)
        if isinstance(source.value, File) and source.value.format
    }
    for part, form in formats.items():
        yield from ("--format", form if len(inputs) == 1 else f"{part}={form}")


def _quote(word: str) -> str:
    r"""Quote a word for a shell, with the bytes of invisible characters escaped as in Bash.

    Examples:
        >>> print(_quote("a run"), _quote("a\trun"))
        'a run' $'a\x09run'
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        character
        if character.isprintable()
        else "".join(f"\\x{octet:02x}" for octet in os.fsencode(character))
        for character in word.replace("\\", "\\\\").replace("'", "\\'")
    )
    return f"$'{escaped}'"
