"""Connections to SQLite, and the errors of a store that SQLite's errors stand for."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import URL, create_engine, event
from sqlalchemy.pool import NullPool

from rankscope.errors import FileError, RankscopeError
from rankscope.monitor.store.deadline import check_deadline, explain_stop, find_deadline
from rankscope.monitor.store.sqlite.lock import DESCRIPTORS, Inode
from rankscope.monitor.store.tables.statements import CONVERT, refuse_text
from rankscope.monitor.store.tables.version import damaged

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, ExceptionContext


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
EXPLAINED = (
    (
        {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL},
        "store_busy",
        "the store is locked by another process",
        "try again later",
    ),
    (
        {sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC},
        "store_failed",
        "the disk may not have stored what was written",
        f"check the disk; {STOPS}",
    ),
    (
        {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR},
        "store_full",
        "the disk is full, or cannot be written",
        "free some space on the disk, then try again",
    ),
    (
        {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB},
        "store_damaged",
        "the store is damaged",
        f"restore a backup; {STOPS}",
    ),
    (
        {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM},
        "io",
        "the store cannot be opened",
        "check the path and its permissions",
    ),
)
"""Errors of a store by codes of SQLite, the first that fits: their code, message and hint."""


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
        return explain_stop()
    reason = f"{getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')}: {error}"
    if NO_SUCH.search(reason):
        code = sqlite3.SQLITE_CORRUPT
    for codes, store_code, message, hint in EXPLAINED:
        if code in codes or code & 0xFF in codes:
            return FileError(f"{message} ({reason})", hint=hint, code=store_code, file=str(path))
    return None


def _convert_text_error(error: BaseException | None, path: Path) -> RankscopeError | None:
    """Return the error for text that is not Unicode, `None` for any other."""
    if isinstance(error, UnicodeEncodeError):
        return refuse_text(error)
    is_stored = isinstance(error, sqlite3.OperationalError) and "decode" in str(error)
    if is_stored or isinstance(error, UnicodeDecodeError):
        return damaged("text that is not UTF-8", str(path), f"restore a backup; {STOPS}")
    return None
