"""Copies the log of SQLite to the tables, beside the thread that writes.

SQLite would do so within a commit, would let all senders wait for it, and would not tell when the
disk fails.
"""

from __future__ import annotations

import threading

from rankscope.errors import FileError
from rankscope.monitor.store.connecting import driver_of, telling_faults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

AFTER_BYTES = 16 << 20


class Checkpointer:
    """Keeps the log short: most of it is copied by a thread, the rest by the one that writes.

    Args:
        path: The store.
        connection: The connection that writes.
    """

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path = path
        self._connection = connection
        self._next = AFTER_BYTES
        self._copying: threading.Thread | None = None
        self._fault: FileError | None = None

    @property
    def log_bytes(self) -> int:
        """The size of the log."""
        log = self._path.with_name(f"{self._path.name}-wal")
        return log.stat().st_size if log.exists() else 0

    def advance(self) -> None:
        """Do what is due, between two transactions of the connection that writes.

        Raises:
            FileError: The disk fails.
        """
        if self._copying is None:
            if self.log_bytes >= self._next:
                self._copying = threading.Thread(target=self._copy, name="rankscope-checkpoint")
                self._copying.start()
        elif not self._copying.is_alive():
            self.close()
            if self._fault is not None:
                raise self._fault
            self._cut()
            # Where a reader keeps the log from being cut, it is not tried again at once.
            self._next = self.log_bytes + AFTER_BYTES

    def close(self) -> None:
        """Wait for the thread."""
        if self._copying is not None:
            self._copying.join()
            self._copying = None

    def _copy(self) -> None:
        """Copy what no reader needs any more, while new transactions are added."""
        try:
            with telling_faults(self._path), self._connection.engine.connect() as connection:
                driver_of(connection).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except FileError as error:
            self._fault = error

    def _cut(self) -> None:
        """Copy the rest, and begin the log anew; readers of an older moment are not waited for."""
        driver = driver_of(self._connection)
        with telling_faults(self._path):
            wait = driver.execute("PRAGMA busy_timeout").fetchone()[0]
            driver.execute("PRAGMA busy_timeout=0")
            try:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                driver.execute(f"PRAGMA busy_timeout={wait}")
