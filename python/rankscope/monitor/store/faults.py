"""What the errors of SQLite mean for a store."""

from __future__ import annotations

import re
import sqlite3

from rankscope.errors import FileError

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
