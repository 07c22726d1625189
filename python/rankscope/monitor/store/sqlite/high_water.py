"""The high-water mark: the number of the last acknowledged transaction, in a file of its own.

SQLite opens a database whose log is damaged without complaint, and drops the transactions after the
damage. Every transaction therefore has a number, and the last acknowledged one is kept in this
file, which is synced before the caller gets its answer. A store that has fewer transactions is
refused when it is opened, whatever they wrote: events, a revoked key, a rule, a configuration.

When a store is closed, the file also says how long the database is and when it was last changed. If
both are still so when it is opened next, it isn't read as a whole to find damage.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from sqlalchemy import select, update

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.files import beside, make_private, size_of, sync_data
from rankscope.monitor.store.tables import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection


MARK = ".high-water"
MAGIC = b"rankhwm3"
BODY = struct.Struct("<8s16sQQQQ")
OPEN = (0, 0)
"""In place of the length and the time of a database that is open, or was not closed."""
CHECKSUM = struct.Struct("<I")
APART = 512  # a sector: a torn write damages only one of the two copies
SIZE = 2 * APART


@dataclass(frozen=True, slots=True)
class Mark:
    """The last event and the last transaction of a store.

    Args:
        store: The random id of the store, 16 bytes.
        seq: The number of the last event.
        commit: The number of the last transaction.
    """

    store: bytes
    seq: int
    commit: int = 0

    @property
    def is_new(self) -> bool:
        """Whether nothing has been acknowledged yet."""
        return self.seq == 0 and self.commit == 0

    def is_ahead_of(self, other: Mark) -> bool:
        """Return whether it has events or transactions that another mark of the store lacks."""
        return self.seq > other.seq or self.commit > other.commit

    def __str__(self) -> str:
        count, noun = (self.seq, "event") if self.seq else (self.commit, "transaction")
        return f"{count} {noun}{'s' if count != 1 else ''}"


class HighWater:
    """The file of a mark, with two copies that are written in turn.

    Args:
        path: The path of the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._file: int | None = None
        self._turn = 0
        self._closed = OPEN

    def read(self) -> Mark | None:
        """Read the mark, `None` where there is no file."""
        try:
            with self._path.open("rb") as file:
                content = file.read(SIZE)
        except FileNotFoundError:
            return None
        copies = (_read_copy(content[start : start + APART]) for start in (0, APART))
        found = [copy for copy in copies if copy is not None]
        if not found:
            raise FileError(
                "the high-water mark of the store is damaged",
                hint="restore a backup with its .high-water, or check the store with "
                "rankscope monitor doctor and open it with accept_loss=True",
                code="high_water",
                file=str(self._path),
            )
        mark, closed = max(found, key=lambda copy: (copy[0].commit, copy[0].seq, copy[1] != OPEN))
        # The copies are written in turn: while the store is open, one may say that it was closed.
        self._closed = closed if all(one == (mark, closed) for one in found) else OPEN
        return mark

    def is_as_closed(self, database: Path) -> bool:
        """Return whether a database is as it was closed, after `read`."""
        return self._closed != OPEN and self._closed == _measure(database)

    def start(self, mark: Mark) -> None:
        """Write both copies and the file's name to the disk, and keep the file open."""
        self.close()
        make_private(self._path)
        self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        os.ftruncate(self._file, SIZE)
        for _ in range(2):
            self.write(mark)
        os.fsync(self._file)
        sync_folder(self._path.parent)

    def finish(self, mark: Mark, database: Path) -> None:
        """Write that a database is closed, whose log is copied."""
        for _ in range(2):
            self.write(mark, _measure(database))

    def write(self, mark: Mark, closed: tuple[int, int] = OPEN) -> None:
        """Write a mark over the older copy; it is on the disk when this returns."""
        if self._file is None:
            raise ValueError("the mark was not started")
        body = BODY.pack(MAGIC, mark.store, mark.seq, mark.commit, *closed)
        os.pwrite(self._file, body + CHECKSUM.pack(crc32(body)), self._turn * APART)
        sync_data(self._file)
        self._turn = 1 - self._turn

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _measure(database: Path) -> tuple[int, int]:
    """Return the length of a file, and when it was last changed."""
    facts = database.stat()
    return facts.st_size, facts.st_mtime_ns


def _read_copy(copy: bytes) -> tuple[Mark, tuple[int, int]] | None:
    if len(copy) < BODY.size + CHECKSUM.size:
        return None
    magic, store, seq, commit, *closed = BODY.unpack_from(copy)
    is_whole = CHECKSUM.unpack_from(copy, BODY.size)[0] == crc32(copy[: BODY.size])
    return (Mark(store, seq, commit), tuple(closed)) if magic == MAGIC and is_whole else None


def check_mark(stored: Mark | None, mark: Mark | None, path: Path, *, has_log: bool) -> None:
    """Refuse a store that has less than it acknowledged."""
    if mark is None:
        if stored is None or stored.is_new:
            return
        message = f"the store has {stored}, but its high-water mark is missing"
        hint = f"put back its file {path.name}{MARK}; if it is gone, open with accept_loss=True"
        raise _lost(path, message, _find_own_mark(stored, path) or hint)
    if stored is None:
        if mark.is_new:
            return
        message = f"the store is empty, but it acknowledged {mark}"
        raise _lost(path, message, _miss_log(path) if size_of(path) and not has_log else "")
    if mark.store != stored.store:
        if mark.is_new:
            return
        message = f"this is not the store that acknowledged {mark}"
        hint = f"put the store and the {MARK} of the same backup together; these are of two stores"
        raise _lost(path, message, _find_own_mark(stored, path) or hint)
    if not mark.is_ahead_of(stored):
        return
    what, acknowledged, found = (
        ("events", mark.seq, stored.seq)
        if mark.seq > stored.seq
        else ("transactions", mark.commit, stored.commit)
    )
    lost = acknowledged - found
    message = (
        f"{lost} acknowledged {what if lost != 1 else what[:-1]} {'is' if lost == 1 else 'are'} "
        f"lost: the store has them up to number {found}, and acknowledged them up to {acknowledged}"
    )
    missing = "" if has_log else _miss_log(path)
    raise _lost(path, message, _find_own_mark(stored, path) or missing)


def _find_own_mark(stored: Mark, path: Path) -> str:
    """Look for the mark of a store among the files beside it, and return how to use it."""
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


def _miss_log(path: Path) -> str:
    return (
        f"put back its log {path.name}-wal, which has what is missing: it was deleted, or left "
        "behind when the store was moved. If it is gone, restore a backup"
    )


def _lost(path: Path, message: str, hint: str) -> FileError:
    last = "restore a backup, or open the store with accept_loss=True to go on without them"
    return FileError(message, hint=hint or last, code="store_lost", file=str(path))


def accept_loss(connection: Connection, stored: Mark, mark: Mark | None) -> Mark:
    """Record what is lost, so that the store can go on; no number is used twice."""
    seq, commit = stored.seq, stored.commit
    if mark is not None:
        seq, commit = max(seq, mark.seq), max(commit, mark.commit)
    facts = dict(map(tuple, connection.execute(select(schema.meta))))
    made = Mark(stored.store, seq, commit + 1)  # this is a transaction, too
    write_facts(
        connection,
        last_seq=made.seq,
        last_commit=made.commit,
        lost_events=int(facts["lost_events"]) + seq - stored.seq,
        lost_commits=int(facts["lost_commits"]) + commit - stored.commit,
    )
    return made


def write_facts(connection: Connection, **facts: int) -> None:
    """Replace facts about the store by their names."""
    for name, value in facts.items():
        changed = update(schema.meta).where(schema.meta.c.name == name)
        connection.execute(changed.values(value=str(value)))
