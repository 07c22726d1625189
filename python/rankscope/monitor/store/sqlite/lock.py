"""Locks that let one process write; the operating system releases them when the process ends.

There are two. The one on the file `.lock` names the process that writes. The one on the database
itself belongs to its device and inode, so that a second writer is refused also where it uses
another name: after the file was moved, or through a second mount.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections import Counter
from pathlib import Path
from typing import TypeAlias

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.files import make_private, sync_data

Inode: TypeAlias = tuple[int, int]


# On other systems flock() and the locks of SQLite, which are those of fcntl(), exclude each other.
LOCKS_ARE_APART = sys.platform == "linux"


class Descriptors:
    """Closes descriptors of databases only when SQLite has none of the same file in this process.

    POSIX drops every lock that a process has on a file as soon as it closes any descriptor of that
    file: closing ours would take away the locks of SQLite, and another process could then delete
    the log under a reader (https://sqlite.org/howtocorrupt.html, section 2.2).
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget everything in a child process, which has no locks to lose."""
        self._guard = threading.Lock()
        self._connections: Counter[Inode] = Counter()
        self._waiting: dict[Inode, list[int]] = {}

    def connect(self, path: Path) -> Inode | None:
        """Count a connection of SQLite to a file, if the file exists."""
        try:
            inode = inode_of(path)
        except OSError:
            return None
        with self._guard:
            self._connections[inode] += 1
        return inode

    def disconnect(self, inode: Inode | None) -> None:
        """Count a connection as closed, and close the descriptors that waited for the last one."""
        if inode is None:
            return
        with self._guard:
            self._connections[inode] -= 1
            if self._connections[inode] <= 0:
                del self._connections[inode]
                for file in self._waiting.pop(inode, []):
                    os.close(file)

    def close(self, inode: Inode, file: int) -> None:
        """Close a descriptor now, or once the last connection is closed."""
        with self._guard:
            if self._connections[inode]:
                self._waiting.setdefault(inode, []).append(file)
            else:
                os.close(file)


DESCRIPTORS = Descriptors()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DESCRIPTORS.forget)


class FileLock:
    """A lock on an open file, held until it is closed or the process ends."""

    _file: int | None = None

    def _hold(self, opened: int) -> None:
        """Lock a file; raise `OSError` if another process holds the lock."""
        import fcntl

        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._file = opened
        this = weakref.ref(self)

        # In child processes, so that none holds it after its parent has died.
        def drop() -> None:
            inherited = this()
            if inherited is not None:
                inherited.drop()

        os.register_at_fork(after_in_child=drop)

    def drop(self) -> None:
        """Close the descriptor; where a child inherited it, its parent keeps the lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class WriterLock(FileLock):
    """The lock on the file `.lock`.

    Args:
        path: The file; it is kept when the lock is released.

    Raises:
        FileError: Another process holds it.
    """

    def __init__(self, path: Path) -> None:
        make_private(path)
        opened = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._hold(opened)
        except OSError as error:
            os.close(opened)
            holder = path.read_text(encoding="ascii", errors="replace").strip()
            raise _locked(path, f"process {holder or 'unknown'}") from error
        os.ftruncate(opened, 0)
        os.pwrite(opened, f"{os.getpid()}\n".encode(), 0)

    close = FileLock.drop


class InodeLock(FileLock):
    """The lock on a database itself, under whatever name it was opened.

    Args:
        path: The database. It stays open until no connection of SQLite in this process has it open.

    Raises:
        FileError: It is being written under another name.
    """

    def __init__(self, path: Path) -> None:
        self._inode = inode_of(path)
        if not LOCKS_ARE_APART:
            return
        opened = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._hold(opened)
        except OSError as error:
            DESCRIPTORS.close(self._inode, opened)
            raise _locked(path, "it opened the store under another name") from error

    def sync(self) -> None:
        """Wait until the disk has what was written to the database, where it is open here.

        SQLite opens the file itself, so that its own syncs report errors that this one reports.
        """
        if self._file is not None:
            sync_data(self._file)

    def close(self) -> None:
        """Release it."""
        if self._file is not None:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)
            DESCRIPTORS.close(self._inode, self._file)
            self._file = None


def inode_of(path: Path) -> Inode:
    """Return what identifies a file under all its names."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _locked(path: Path, found: str) -> FileError:
    return FileError(
        f"another process writes to the store: {found}",
        hint="if it is rankscope serve, pass its URL in place of the store, such as "
        "http://127.0.0.1:8000, and a key in RANKSCOPE_KEY; any process can read the store",
        code="store_locked",
        file=str(path),
    )
