"""The mark of what was acknowledged, and the check that a store still has all of it.

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

from sqlalchemy import select, update

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.files import beside, make_private
from rankscope.monitor.store.tables import schema
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

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


MARK = ".high-water"
LAST_RESORT = "restore a backup, or open the store with accept_loss=True to go on without them"


def check_mark(stored: Mark | None, mark: Mark | None, path: Path, *, has_log: bool) -> None:
    """Refuse a store that has less than it acknowledged.

    Args:
        stored: Which store it is, and its last event and transaction; `None` where there is no
            store, or an empty file.
        mark: How far it acknowledged; `None` where there is no mark.
        path: The file.
        has_log: Whether there was a log before the store was opened.

    Raises:
        FileError: It has less, or the mark is of another store. The hint offers `accept_loss=True`
            only where no file beside the store explains the difference.
    """
    if stored is None:
        if mark is not None and not mark.is_new:
            message = f"expected the store that acknowledged {_count(mark)}, found an empty one"
            is_there = path.exists() and path.stat().st_size > 0
            raise _lost(path, message, _miss_log(path) if is_there and not has_log else "")
        return
    if mark == stored or (mark is None and stored.is_new):
        return
    if mark is None:
        message = f"expected the high-water mark of a store of {_count(stored)}, found none"
        hint = f"put back its file {path.name}{MARK}; if it is gone, open with accept_loss=True"
        raise _lost(path, message, _explain(stored, path) or hint)
    if mark.store != stored.store:
        if mark.is_new:
            return
        message = f"expected the store that acknowledged {_count(mark)}, found another one"
        hint = f"put the store and the {MARK} of the same backup together: they are of two stores"
        raise _lost(path, message, _explain(stored, path) or hint)
    if not mark.is_ahead_of(stored):
        return
    what, said, found = (
        ("events", mark.seq, stored.seq)
        if mark.seq > stored.seq
        else ("transactions", mark.commit, stored.commit)
    )
    lost = said - found
    message = (
        f"expected {what} up to number {said}, which were acknowledged, found them up to "
        f"{found}: {lost} {'is' if lost == 1 else 'are'} lost"
    )
    hint = _explain(stored, path)
    if not hint and not has_log:
        hint = _miss_log(path)
    raise _lost(path, message, hint)


def accept_loss(connection: Connection, stored: Mark, mark: Mark | None) -> Mark:
    """Go on after a loss: no number is used twice, and what is lost is recorded."""
    seq, commit = stored.seq, stored.commit
    if mark is not None:
        seq, commit = max(seq, mark.seq), max(commit, mark.commit)
    rows = dict(map(tuple, connection.execute(select(schema.meta))))
    values = {
        "last_seq": seq,
        "last_commit": commit + 1,  # this is a transaction, too
        "lost_events": int(rows["lost_events"]) + seq - stored.seq,
        "lost_commits": int(rows["lost_commits"]) + commit - stored.commit,
    }
    for name, value in values.items():
        changed = update(schema.meta).where(schema.meta.c.name == name)
        connection.execute(changed.values(value=str(value)))
    return Mark(stored.store, seq, commit + 1)


def _miss_log(path: Path) -> str:
    return (
        f"put back its log {path.name}-wal, which has what is missing: it was deleted, or left "
        "behind when the store was moved. If it is gone, restore a backup"
    )


def _explain(stored: Mark, path: Path) -> str:
    """Find the mark that belongs to a store among the files beside it, and say how to use it."""
    for file in sorted(path.parent.glob(f"*{MARK}")):
        if file == beside(path, MARK):
            continue
        try:
            mark = HighWater(file).read()
        except (FileError, OSError):
            continue
        if mark == stored:
            return (
                f"this is the store, or the backup, whose mark is {file.name}, beside it: copy "
                f"that to {path.name}{MARK}"
            )
    return ""


def _count(mark: Mark) -> str:
    return f"{mark.seq} events" if mark.seq else f"{mark.commit} transactions"


def _lost(path: Path, message: str, hint: str = "") -> FileError:
    return FileError(message, hint=hint or LAST_RESORT, code="store_lost", file=str(path))
