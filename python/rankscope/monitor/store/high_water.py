"""The last transaction that a store has acknowledged, in a file of its own.

SQLite opens a database whose log is damaged without complaint, and drops the transactions after the
damage. Every transaction therefore has a number, and the last one that was acknowledged is kept in
this file, synced before the caller gets its answer. A store that has fewer transactions is refused
when it is opened, whatever they wrote: events, a revoked key, a rule, a configuration.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from zlib import crc32

from rankscope.errors import FileError
from rankscope.monitor.store.filesystem import make_private
from rankscope.records import record

MAGIC = b"rankhwm2"
BODY = struct.Struct("<8s16sQQ")
# Earlier versions numbered events only.
OLD_MAGIC = b"rankhwm1"
OLD_BODY = struct.Struct("<8s16sQ")
CHECKSUM = struct.Struct("<I")
APART = 512  # a sector: a write that is torn damages one of the two only
SIZE = 2 * APART


@record(frozen=True, slots=True)
class Mark:
    """How far a store has acknowledged.

    Args:
        store: The random id of the store, 16 bytes.
        seq: The number of the last event.
        commit: The number of the last transaction, 0 where transactions had no numbers yet.
    """

    store: bytes
    seq: int
    commit: int = 0

    @property
    def is_new(self) -> bool:
        """Whether nothing has been acknowledged yet."""
        return self.seq == 0 and self.commit == 0

    def is_ahead_of(self, other: Mark) -> bool:
        """Whether this mark has events or transactions that another one of the store lacks."""
        return self.seq > other.seq or self.commit > other.commit


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
            with self._path.open("rb") as file:
                content = file.read(SIZE)
        except FileNotFoundError:
            return None
        marks = [_read(content[place : place + APART]) for place in (0, APART)]
        known = [mark for mark in marks if mark is not None]
        if not known:
            raise FileError(
                "expected the high-water mark of a store, found damaged bytes",
                hint="restore a backup with its .high-water, or check the store with "
                "rankscope monitor doctor and open it with accept_loss=True",
                code="high_water",
                file=str(self._path),
            )
        return max(known, key=lambda mark: (mark.commit, mark.seq))

    def start(self, mark: Mark) -> None:
        """Write both copies anew, on the disk when this returns."""
        self.close()
        make_private(self._path)
        self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
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
        body = BODY.pack(MAGIC, mark.store, mark.seq, mark.commit)
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
    for magic, body in ((MAGIC, BODY), (OLD_MAGIC, OLD_BODY)):
        end = body.size + CHECKSUM.size
        if len(copy) < end or copy[: len(magic)] != magic:
            continue
        _, *numbers = body.unpack_from(copy)
        if CHECKSUM.unpack_from(copy, body.size)[0] == crc32(copy[: body.size]):
            return Mark(*numbers)
    return None
