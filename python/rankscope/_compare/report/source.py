"""The sources of a report: files, their sizes and hashes."""

from __future__ import annotations

import os
import stat
import sys

from rankscope._compare.report.report import InputFile
from rankscope._inputs.files import is_address, list_files, open_binary, tell_format
from rankscope._inputs.recognition import name_path
from rankscope.errors import FileError
from rankscope.file import File
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.typing import InputLike

    Stamp = tuple[int, int, int]

ROLES = {"qrels": "judgments", "run": "run", "table": "table"}


@record(frozen=True, slots=True, kw_only=True)
class HashedInput:
    """An input, with the sizes and hashes of its files.

    Args:
        value: What is to be read: what was given, or the bytes of what can be read only once.
        name: What the report calls it.
        path: The path, as it was given; empty where there is none that can be read again.
        files: Its files.
        stamps: By path, size, time and number of each file when it was hashed.
    """

    value: InputLike
    name: str
    path: str
    files: tuple[InputFile, ...]
    stamps: dict[str, Stamp]

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


def hold(given: InputLike, role: str, name: str = "") -> HashedInput:
    """Hash an input, and read it into memory if it can be read only once."""
    inner = given.path if isinstance(given, File) else given
    if isinstance(inner, bytes):
        return _hold_bytes(given, inner, role, name or role)
    if not isinstance(inner, str | os.PathLike):
        here = InputFile(role=ROLES[role], name=f"{name or role} (in memory)", size=0, sha256="")
        return HashedInput(value=given, name=name or role, path="", files=(here,), stamps={})
    path = os.fsdecode(inner)
    shown = "<stdin>" if path == "-" else name_path(path, role)
    if _is_read_once(path):
        held = _read(path)
        form = given.format if isinstance(given, File) else None
        columns = given.columns if isinstance(given, File) else {}
        again = File(held, form or tell_format(path), columns)
        return _hold_bytes(again, held, role, name or shown)
    if is_address(path) or _is_lake(path):
        # Of what isn't here as plain files, nobody knows the bytes that are read.
        there = InputFile(role=ROLES[role], name=shown, size=0, sha256="")
        return HashedInput(value=given, name=name or shown, path="", files=(there,), stamps={})
    paths = list_files(path) or [path]
    try:
        stamps = {one: _stamp(one) for one in paths}
        files = [
            InputFile(
                role=ROLES[role], name=name_path(one, role), size=stamps[one][0], sha256=_hash(one)
            )
            for one in paths
        ]
    except (OSError, ValueError):
        stamps, files = {}, []  # reading it will say why
    return HashedInput(
        value=given, name=name or shown, path=path, files=tuple(files), stamps=stamps
    )


def _is_lake(path: str) -> bool:
    from rankscope._inputs.lakes import find_table  # noqa: PLC0415 - few paths are folders

    return os.path.isdir(path) and find_table(path) is not None  # noqa: PTH112 - pathlib loads slowly


def _hold_bytes(given: InputLike, content: bytes, role: str, name: str) -> HashedInput:
    from hashlib import sha256  # noqa: PLC0415 - only reports need it

    file = InputFile(
        role=ROLES[role], name=name, size=len(content), sha256=sha256(content).hexdigest()
    )
    return HashedInput(value=given, name=name, path="", files=(file,), stamps={})


def _is_read_once(path: str) -> bool:
    if path == "-":
        return True
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - pathlib loads slowly
    except (OSError, ValueError):
        return False  # reading it will say why
    return stat.S_ISFIFO(mode)


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
