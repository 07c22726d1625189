"""Connections to SQLite, and what its errors mean for a store."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import URL, create_engine, event
from sqlalchemy.pool import NullPool

from rankscope.errors import DeadlineError, FileError
from rankscope.monitor.store.deadline import check_deadline, find_deadline
from rankscope.monitor.store.sqlite.lock import DESCRIPTORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlalchemy import Connection, CursorResult, Engine, ExceptionContext

    from rankscope.errors import RankscopeError
    from rankscope.monitor.store.sqlite.lock import Inode

STEPS = 10_000
"""After so many instructions SQLite looks whether the deadline of a read is over: about 1 ms."""

CACHE = 64 << 10  # KiB
PRAGMAS = {
    # The log is synced by every commit, and kept apart from the tables until it is copied there.
    True: {
        "journal_mode": "WAL",
        "synchronous": "FULL",
        "wal_autocheckpoint": "0",
        "cache_size": f"-{CACHE}",
        "temp_store": "MEMORY",
    },
    False: {"query_only": "ON", "temp_store": "MEMORY"},
}


class CountedConnection(sqlite3.Connection):
    """A connection that is counted, so that no descriptor is closed that would unlock its file.

    Attributes:
        inode: The file that it has open.
    """

    inode: Inode | None = None

    def close(self) -> None:
        """Close it."""
        super().close()
        inode, self.inode = self.inode, None
        DESCRIPTORS.disconnect(inode)


def connect_sqlite(path: Path, *, writes: bool, busy_seconds: float) -> Engine:
    """Make what connects to a store.

    Args:
        path: The file, which has to be there.
        writes: Whether its transactions write; then each takes the lock when it begins.
        busy_seconds: How long one waits for a lock.
    """
    # None makes a file, which others could read; and one that reads does not empty the log when it
    # is closed, which would delete what shows that a store was damaged.
    address = f"{path.absolute().as_uri()}?mode={'rw' if writes else 'ro'}"

    def connect() -> sqlite3.Connection:
        # Queries that are too short for SQLite to look at the deadline: many may follow each other.
        if not writes:
            check_deadline()
        inode = DESCRIPTORS.connect(path)
        try:
            opened = sqlite3.connect(
                address,
                busy_seconds,
                uri=True,
                check_same_thread=False,
                factory=CountedConnection,
            )
        except BaseException:
            DESCRIPTORS.disconnect(inode)
            raise
        opened.inode = inode
        return opened

    # A new connection for each use: none is shared by threads, or with a child of the process.
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        creator=connect,
        poolclass=NullPool,
        hide_parameters=True,  # what is stored is not for logs
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - of the driver
        deadline = None if writes else find_deadline()
        if deadline is not None:
            connection.set_progress_handler(lambda: deadline.is_over, STEPS)
        connection.isolation_level = None  # transactions begin where we say
        for name, value in PRAGMAS[writes].items():
            connection.execute(f"PRAGMA {name}={value}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    @event.listens_for(engine, "handle_error", retval=True)
    def tell(context: ExceptionContext) -> BaseException | None:
        return _as_error(context.original_exception, path)

    return engine


@contextmanager
def telling_faults(path: Path) -> Iterator[None]:
    """Raise the errors of the driver as those of a store.

    Raises:
        FileError: What is done within fails.
        DeadlineError: It is a read whose deadline is over.
    """
    try:
        yield
    except sqlite3.Error as error:
        fault = _as_error(error, path)
        if fault is None:
            raise
        raise fault from error


def fetch_rows(result: CursorResult[Any], size: int = -1) -> list[tuple[Any, ...]]:
    """Fetch rows as the driver has them; those of SQLAlchemy take half as long again.

    Args:
        result: What a statement gives.
        size: How many rows; all if left out.

    Raises:
        FileError: The file cannot be read, or is damaged.
    """
    engine = result.connection.engine
    with telling_faults(Path(engine.url.database or "")):
        cursor = result.cursor
        return list(cursor.fetchall() if size < 0 else cursor.fetchmany(size))


def _as_error(error: BaseException | None, path: Path) -> RankscopeError | None:
    """Return the error that one of SQLite stands for; `None` where it is a mistake of ours."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        deadline = find_deadline()
        if deadline is None:
            return DeadlineError("the read was interrupted", code="read_stopped")
        return deadline.make_error()
    return as_fault(error, str(path))


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Give the connection of the driver, for what SQL does not say."""
    return cast("sqlite3.Connection", connection.connection.driver_connection)


STOPS = "nothing more is written until the store is opened again"


NO_SUCH = re.compile("no such (table|column|index|collation)|malformed|unsupported file format")
"""What SQLite says of statements that a whole store understands."""


def as_fault(error: BaseException | None, path: str) -> FileError | None:
    """Give the error of a store that an error of its database is, `None` if it is another.

    Args:
        error: What SQLite raised.
        path: The store.
    """
    extended = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, UnicodeDecodeError) or (
        isinstance(error, sqlite3.OperationalError) and "decode" in str(error) and not extended
    ):
        return _damaged("text that is not UTF-8", path)
    if not isinstance(extended, int):
        return None
    said = f"{getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')}: {error}"
    primary = extended & 0xFF
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}:
        return FileError(
            f"expected to write, found the store locked by another process ({said})",
            hint="send the events again later",
            code="store_busy",
            file=path,
        )
    if extended in {sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC}:
        return FileError(
            f"expected the disk to keep what was written, found that it may not ({said})",
            hint=f"look at the disk; {STOPS}",
            code="store_failed",
            file=path,
        )
    if primary in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return FileError(
            f"expected room to write, found none ({said})",
            hint="make room on the disk, then send the events again",
            code="store_full",
            file=path,
        )
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or NO_SUCH.search(said):
        return _damaged(said, path)
    if primary in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return FileError(
            f"expected a store that can be opened, found none ({said})",
            hint="look at the path, and at its permissions",
            code="io",
            file=path,
        )
    return None


def _damaged(said: str, path: str) -> FileError:
    return FileError(
        f"expected a store, found one that is damaged ({said})",
        hint=f"restore a backup; {STOPS}",
        code="store_damaged",
        file=path,
    )
