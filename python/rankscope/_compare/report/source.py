"""The inputs of a report: their files, with sizes and hashes."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress

from rankscope._compare.report.report import InputFile
from rankscope._inputs.files import is_address, list_files, open_binary, tell_format
from rankscope._inputs.recognition import name_path
from rankscope.errors import FileError
from rankscope.file import File
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Stamp = tuple[int, int, int]

ROLES = {"qrels": "judgments", "run": "run", "table": "table"}


@record(frozen=True, slots=True, kw_only=True)
class HashedInput:
    """An input, with the sizes and hashes of its files.

    Args:
        value: What is to be read: the input, or the bytes of what can be read only once.
        name: What the report calls it.
        files: Its files.
        path: The path, as it was given; empty where there is none that can be read again.
        stamps: By path, size, time and number of each file when it was hashed.
    """

    value: Any
    name: str
    files: tuple[InputFile, ...]
    path: str
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
        location = _read(path)
        file = name
        form, columns = (value.format, value.columns) if isinstance(value, File) else (None, {})
        value = File(location, form or tell_format(path), columns)
    files: list[InputFile] = []
    stamps: dict[str, Stamp] = {}
    if isinstance(location, bytes):
        from hashlib import sha256  # noqa: PLC0415 - only reports need it

        path, digest = "", sha256(location).hexdigest()
        files = [InputFile(role=ROLES[role], name=file, size=len(location), sha256=digest)]
    elif not path or is_address(path) or _is_lake(path):
        # Of what isn't here as plain files, nobody knows the bytes that are read.
        files = [InputFile(role=ROLES[role], name=file if path else f"{file} (in memory)")]
        path = ""
    else:
        with suppress(OSError, ValueError):  # reading it will say why
            stamps = {each: _stamp(each) for each in list_files(path) or [path]}
            files = [
                InputFile(
                    role=ROLES[role],
                    name=name_path(each, role),
                    size=stamp[0],
                    sha256=_hash(each),
                )
                for each, stamp in stamps.items()
            ]
    return HashedInput(value=value, name=name, files=tuple(files), path=path, stamps=stamps)


def _is_lake(path: str) -> bool:
    from rankscope._inputs.lakes import find_table  # noqa: PLC0415 - few paths are folders

    return os.path.isdir(path) and find_table(path) is not None  # noqa: PTH112 - pathlib loads slowly


def _is_read_once(path: str) -> bool:
    with suppress(OSError, ValueError):  # reading it will say why
        return path == "-" or stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 - pathlib loads slowly
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
    from hashlib import file_digest  # noqa: PLC0415 - only reports need it

    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file_digest(file, "sha256").hexdigest()
