"""How far a store has acknowledged, in a file of its own.

A database whose log is damaged opens without complaint and has lost what was committed last. The
number of the last event that was acknowledged is therefore kept beside it, on the disk before the
sender hears of it; a store that has less says so when it is opened.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from zlib import crc32

from rankscope.errors import FileError
from rankscope.records import record

MAGIC = b"rankhwm1"
BODY = struct.Struct("<8s16sQ")
CHECKSUM = struct.Struct("<I")
APART = 512  # a sector: a write that is torn damages one of the two only
SIZE = 2 * APART


@record(frozen=True, slots=True)
class Mark:
    """How far a store has acknowledged.

    Args:
        store: The store it is of, 16 bytes.
        seq: The number of the last event.
    """

    store: bytes
    seq: int


class HighWater:
    """The file of a mark; two copies are written in turn.

    Args:
        path: Where it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._file: int | None = None
        self._turn = 0

    def read(self) -> Mark | None:
        """Read the mark, `None` where there is no file.

        Raises:
            FileError: Both copies are damaged.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        marks = [_read(content[place : place + APART]) for place in (0, APART)]
        known = [mark for mark in marks if mark is not None]
        if not known:
            raise FileError(
                "expected the mark of a store, found bytes that are damaged",
                hint="check the store, then open it with accept_loss=True",
                code="high_water",
                file=str(self._path),
            )
        return max(known, key=lambda mark: mark.seq)

    def start(self, mark: Mark) -> None:
        """Write both copies anew, on the disk when this returns."""
        self.close()
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._file, SIZE)
        for _ in range(2):
            self.write(mark)
        os.fsync(self._file)
        sync_folder(self._path.parent)

    def write(self, mark: Mark) -> None:
        """Write a mark over the older copy, on the disk when this returns.

        Raises:
            OSError: It could not be written; it is not tried again.
        """
        if self._file is None:
            raise ValueError("the mark was not started")
        body = BODY.pack(MAGIC, mark.store, mark.seq)
        os.pwrite(self._file, body + CHECKSUM.pack(crc32(body)), self._turn * APART)
        sync_data(self._file)
        self._turn = 1 - self._turn

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def sync_data(file: int) -> None:
    """Put what was written to a file on the disk."""
    getattr(os, "fdatasync", os.fsync)(file)


def sync_folder(folder: Path) -> None:
    """Put the names of a folder on the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _read(copy: bytes) -> Mark | None:
    size = BODY.size + CHECKSUM.size
    if len(copy) < size:
        return None
    magic, store, seq = BODY.unpack_from(copy)
    is_whole = CHECKSUM.unpack_from(copy, BODY.size)[0] == crc32(copy[: BODY.size])
    return Mark(store, seq) if is_whole and magic == MAGIC else None
