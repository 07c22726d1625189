"""Checkpoints: a thread keeps the log short beside the thread that writes."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.connection import STOPS, converted_errors, driver_of
from rankscope.monitor.store.sqlite.files import beside, size_of
from rankscope.monitor.store.sqlite.lock import InodeLock

if TYPE_CHECKING:
    from sqlalchemy import Connection


AFTER_BYTES = 64 << 20
"""The size of the log at which it is copied into the database. The file keeps twice that size."""
AGAIN_BYTES = AFTER_BYTES // 4
"""If a reader needs the log, that is tried again after so many bytes, then after twice as many."""
LARGEST_BYTES = 1 << 30
"""The size of the log at which the writer copies all of it: the disk is slower than the writer."""
FEW_PAGES = 250
"""Pages that the writer copies itself, which takes some hundredths of a second."""
PASSES = 8


class Checkpointer:
    """Keeps the log short: a thread copies most of it, and the writer the rest.

    While the thread copies, new transactions add to the log. It therefore copies several times,
    each time less, until the writer has little left to do between two transactions: nothing is
    written meanwhile. Each time, the thread also waits until the disk has what was copied.
    SQLite leaves that to the last copy, so that the writer would wait for all of it.

    Args:
        path: The store.
        connection: The connection that writes.
        lock: The lock of the store, which has its file open.
    """

    def __init__(self, path: Path, connection: Connection, lock: InodeLock) -> None:
        self._path = path
        self._lock = lock
        self._log = beside(path, "-wal")
        self._connection = connection
        self._used = 0
        self._next = AFTER_BYTES
        self._again = AGAIN_BYTES
        self._copying: threading.Thread | None = None
        self._left = 0
        self._error: FileError | None = None

    @property
    def log_bytes(self) -> int:
        """The size of the file of the log."""
        return size_of(self._log)

    def advance(self) -> None:
        """Do the next step if it is due, between two transactions of the writer."""
        if self._copying is None:
            before, self._used = self._used, measure_log(self._log)
            if self._used < before:
                self._next, self._again = AFTER_BYTES, AGAIN_BYTES
            if self._used >= self._next:
                self._copying = threading.Thread(target=self._copy, name="rankscope-checkpoint")
                self._copying.start()
        elif not self._copying.is_alive():
            self.close()
            if self._error is not None:
                raise self._error
            if self._left <= FEW_PAGES or self._used >= LARGEST_BYTES:
                self._finish()
            # Unless the log now begins anew, because a reader needs it.
            self._next = self._used + self._again
            self._again = min(2 * self._again, AFTER_BYTES)

    def clear(self) -> bool:
        """Copy the log and empty its file, and return whether no reader kept it from that."""
        self.close()
        return not self._copy_all("TRUNCATE")

    def close(self) -> None:
        """Wait for the thread."""
        if self._copying is not None:
            self._copying.join()
            self._copying = None

    def _copy(self) -> None:
        """Copy what no reader needs any more, while new transactions are added."""
        try:
            with converted_errors(self._path), self._connection.engine.connect() as connection:
                driver = driver_of(connection)
                self._left, copied = sys.maxsize, 0
                for _ in range(PASSES):
                    copy = driver.execute("PRAGMA wal_checkpoint(PASSIVE)")
                    copied_before, left_before = copied, self._left
                    _, pages, copied = copy.fetchone()
                    self._left = pages - copied
                    # If not less is left, a reader needs the rest, or the writer is faster.
                    if self._left >= left_before or (
                        max(self._left, copied - copied_before) <= FEW_PAGES
                    ):
                        break
                    if measure_log(self._log) >= LARGEST_BYTES:
                        break  # The writer copies the rest, so that the log ends.
                    self._lock.sync()
        except FileError as error:
            self._error = error
        except OSError as error:
            self._error = FileError(
                f"the disk may not have stored what was written ({error})",
                hint=f"check the disk; {STOPS}",
                code="store_failed",
                file=str(self._path),
            )

    def _finish(self) -> None:
        """Copy the rest, so that the log begins anew."""
        # To overwrite the file is faster than to make it longer.
        self._copy_all("RESTART" if self.log_bytes <= 2 * AFTER_BYTES else "TRUNCATE")

    def _copy_all(self, mode: str) -> bool:
        """Copy the log without waiting for readers, and return whether one kept it from that."""
        driver = driver_of(self._connection)
        with converted_errors(self._path):
            wait = driver.execute("PRAGMA busy_timeout").fetchone()[0]
            driver.execute("PRAGMA busy_timeout=0")
            try:
                is_busy, *_ = driver.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            finally:
                driver.execute(f"PRAGMA busy_timeout={wait}")
        return bool(is_busy)


HEAD = 32
FRAME_HEAD = 24
SALTS = 8
"""The bytes of two random numbers that a new start of the log changes, in its head and in the head
of each page."""


def measure_log(path: Path) -> int:
    """Return how many bytes at the start of a log are in use, 0 where there is none."""
    try:
        log = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        head = os.pread(log, HEAD, 0)
        size = FRAME_HEAD + int.from_bytes(head[8:12], "big")
        salts = head[16 : 16 + SALTS]
        # The pages since the last start come first.
        least, most = 0, max(os.fstat(log).st_size - HEAD, 0) // size
        while least < most:
            middle = (least + most) // 2
            if os.pread(log, SALTS, HEAD + middle * size + 8) == salts:
                least = middle + 1
            else:
                most = middle
    finally:
        os.close(log)
    return HEAD + least * size if least else 0
