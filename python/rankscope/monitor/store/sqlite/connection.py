"""Connections to SQLite, and the errors of a store that SQLite's errors stand for."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from functools import partial
from typing import cast

from sqlalchemy import URL, create_engine, event
from sqlalchemy.pool import NullPool

from rankscope.errors import DeadlineError, FileError
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.store.deadline import check_deadline, find_deadline
from rankscope.monitor.store.sqlite.lock import DESCRIPTORS
from rankscope.monitor.store.tables.statements import CONVERT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from sqlalchemy import Connection, Engine, ExceptionContext

    from rankscope.errors import RankscopeError
    from rankscope.monitor.store.sqlite.lock import Inode

STEPS = 10_000
"""SQLite checks the deadline of a read after this many instructions, which take about 1 ms."""
CACHE = 64 << 10  # KiB
WRITER_PRAGMAS = {
    # Every commit syncs the log. The checkpointer alone copies it into the database.
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "wal_autocheckpoint": "0",
    "cache_size": f"-{CACHE}",
    "temp_store": "MEMORY",
    # What is deleted is overwritten, also what was written to larger blocks before.
    "secure_delete": "ON",
}
READER_PRAGMAS = {"query_only": "ON", "temp_store": "MEMORY"}

STOPS = "nothing more is written until the store is opened again"
NO_SUCH = re.compile("no such (table|column|index|collation)|malformed|unsupported file format")
"""Messages of SQLite about statements that are valid in an undamaged store."""


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
    """Return an engine for an existing file; transactions that write lock it as they begin."""
    # The file is never created here, because others could then read it. A connection that reads
    # does not empty the log when it is closed, which would delete the evidence of damage.
    address = f"{path.absolute().as_uri()}?mode={'rw' if writes else 'ro'}"

    def connect() -> sqlite3.Connection:
        # SQLite does not check the deadline in short queries, but many may follow each other.
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

    # A new connection for each use: none is shared by threads, or with a child process.
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        creator=connect,
        poolclass=NullPool,
        hide_parameters=True,  # stored data does not belong in logs
        execution_options={CONVERT: partial(convert_error, path=path)},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - of the driver
        deadline = None if writes else find_deadline()
        if deadline is not None:
            connection.set_progress_handler(lambda: deadline.is_over, STEPS)
        connection.isolation_level = None  # transactions begin where we say
        for name, value in (WRITER_PRAGMAS if writes else READER_PRAGMAS).items():
            connection.execute(f"PRAGMA {name}={value}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    @event.listens_for(engine, "handle_error", retval=True)
    def convert(context: ExceptionContext) -> BaseException | None:
        return convert_error(context.original_exception, path)

    return engine


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Return the connection of the driver, for what SQLAlchemy cannot do."""
    return cast("sqlite3.Connection", connection.connection.driver_connection)


@contextmanager
def converted_errors(path: Path) -> Iterator[None]:
    """Convert the driver's errors in a block into errors of the store."""
    try:
        yield
    except sqlite3.Error as error:
        converted = convert_error(error, path)
        if converted is None:
            raise
        raise converted from error


def convert_error(error: BaseException | None, path: Path) -> RankscopeError | None:
    """Return the error of a store for one of SQLite, `None` where it is a mistake of ours."""
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return _convert_text_error(error, path)
    if code == sqlite3.SQLITE_INTERRUPT:
        deadline = find_deadline()
        if deadline is None:
            return DeadlineError("the read was interrupted", code="read_stopped")
        return deadline.make_error()
    reason = f"{getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')}: {error}"
    primary = code & 0xFF
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}:
        return FileError(
            f"the store is locked by another process ({reason})",
            hint="try again later",
            code="store_busy",
            file=str(path),
        )
    if code in {sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC}:
        return FileError(
            f"the disk may not have stored what was written ({reason})",
            hint=f"check the disk; {STOPS}",
            code="store_failed",
            file=str(path),
        )
    if primary in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return FileError(
            f"the disk is full, or cannot be written ({reason})",
            hint="free some space on the disk, then try again",
            code="store_full",
            file=str(path),
        )
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or NO_SUCH.search(reason):
        return _damaged(reason, path)
    if primary in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return FileError(
            f"the store cannot be opened ({reason})",
            hint="check the path and its permissions",
            code="io",
            file=str(path),
        )
    return None


def _convert_text_error(error: BaseException | None, path: Path) -> RankscopeError | None:
    """Return the error for text that is not Unicode, `None` for any other."""
    if isinstance(error, UnicodeEncodeError):
        # Half a character, in what a program asks for; events are checked before they come here.
        return RefusedError("", "text", show(error.object), code="surrogate")
    is_stored = isinstance(error, sqlite3.OperationalError) and "decode" in str(error)
    if is_stored or isinstance(error, UnicodeDecodeError):
        return _damaged("text that is not UTF-8", path)
    return None


def _damaged(reason: str, path: Path) -> FileError:
    return FileError(
        f"the store is damaged ({reason})",
        hint=f"restore a backup; {STOPS}",
        code="store_damaged",
        file=str(path),
    )
