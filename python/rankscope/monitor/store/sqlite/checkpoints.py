"""Checkpoints: a thread keeps the log short beside the thread that writes."""

from __future__ import annotations

import threading

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.connection import converted_errors, driver_of
from rankscope.monitor.store.sqlite.files import beside, size_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

AFTER_BYTES = 64 << 20
"""The size of the log at which it is copied into the database."""


class Checkpointer:
    """Keeps the log short: a thread copies most of it, and the writer the rest.

    Args:
        path: The store.
        connection: The connection that writes.
    """

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path = path
        self._connection = connection
        self._next = AFTER_BYTES
        self._copying: threading.Thread | None = None
        self._error: FileError | None = None

    @property
    def log_bytes(self) -> int:
        """The size of the log."""
        return size_of(beside(self._path, "-wal"))

    def advance(self) -> None:
        """Do the next step if it is due, between two transactions of the writer.

        Raises:
            FileError: The disk fails.
        """
        if self._copying is None:
            if self.log_bytes >= self._next:
                self._copying = threading.Thread(target=self._copy, name="rankscope-checkpoint")
                self._copying.start()
        elif not self._copying.is_alive():
            self.close()
            if self._error is not None:
                raise self._error
            self._truncate()
            # If a reader keeps the log from being truncated, that is not tried again at once.
            self._next = self.log_bytes + AFTER_BYTES

    def close(self) -> None:
        """Wait for the thread."""
        if self._copying is not None:
            self._copying.join()
            self._copying = None

    def _copy(self) -> None:
        """Copy what no reader needs any more, while new transactions are added."""
        try:
            with converted_errors(self._path), self._connection.engine.connect() as connection:
                driver_of(connection).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except FileError as error:
            self._error = error

    def _truncate(self) -> None:
        """Copy the rest and truncate the log, without waiting for readers of an older state."""
        driver = driver_of(self._connection)
        with converted_errors(self._path):
            wait = driver.execute("PRAGMA busy_timeout").fetchone()[0]
            driver.execute("PRAGMA busy_timeout=0")
            try:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                driver.execute(f"PRAGMA busy_timeout={wait}")
