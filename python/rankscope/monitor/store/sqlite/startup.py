"""Opens a store: its schema, its consistency, and its counters."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import suppress

from sqlalchemy import func, insert, inspect, select

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.connection import connect_sqlite, driver_of
from rankscope.monitor.store.sqlite.high_water import Mark
from rankscope.monitor.store.sqlite.reader import is_pending
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables import schema as alert_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeVar

    from sqlalchemy import Connection

    T = TypeVar("T")

OPENING_SECONDS = 10.0
SLOWEST_DISK = 10 << 20
"""Bytes a second at which the slowest disk is read that a store is checked on."""


def make_tables(connection: Connection) -> Mark:
    """Make the tables of a new store, within a transaction."""
    alert_tables.rules.metadata.create_all(connection)
    made = Mark(secrets.token_bytes(16), 0, 1)
    facts = {
        "schema_version": str(schema.VERSION),
        "store": made.store.hex(),
        "last_seq": str(made.seq),
        "last_commit": str(made.commit),
        "lost_events": "0",
        "lost_commits": "0",
    }
    rows = [{"name": name, "value": value} for name, value in facts.items()]
    connection.execute(insert(schema.meta), rows)
    return made


def inspect_store(path: Path, busy_seconds: float) -> tuple[Mark, int] | None:
    """Check a store before anything is written to it: a store that is refused stays as it was.

    This ends in time: after `OPENING_SECONDS`, and the time to read the file once from a slow disk.
    Damage can make SQLite read the same pages again and again.

    Args:
        path: The file.
        busy_seconds: How long to wait for a lock that another process holds.

    Returns:
        Which store it is, with its last event and transaction, and the version of its tables;
        `None` for an empty file, or a database without tables: all of a new store may be in a log
        that is missing.

    Raises:
        FileError: It is damaged, of another version, no store, or was not checked in time.
    """
    size = path.stat().st_size
    if not size:
        return None  # SQLite would delete its log
    engine = connect_sqlite(path, writes=False, busy_seconds=busy_seconds)
    opened: list[sqlite3.Connection] = []

    def inspect_file() -> tuple[Mark, int] | None:
        with engine.connect() as connection:
            opened.append(driver_of(connection))
            return _inspect(connection, path)

    limit = OPENING_SECONDS + size / SLOWEST_DISK
    try:
        return _run_with_deadline(inspect_file, limit)
    except TimeoutError as error:
        for connection in opened:
            with suppress(sqlite3.ProgrammingError):  # it has just been closed
                connection.interrupt()
        raise FileError(
            f"expected to check the store within {limit:.0f} seconds, found that it takes longer",
            hint="the file may be damaged: check the disk, or restore a backup",
            code="store_slow",
            file=str(path),
        ) from error


def _run_with_deadline(work: Callable[[], T], seconds: float) -> T:
    """Run something in a thread of its own, as not all of SQLite can be interrupted.

    Raises:
        TimeoutError: It has not ended in time. The thread keeps no process from ending.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
            future.set_exception(error)

    threading.Thread(target=run, name="rankscope-opening", daemon=True).start()
    return future.result(seconds)


def _inspect(connection: Connection, path: Path) -> tuple[Mark, int] | None:
    if not inspect(connection).get_table_names():
        return None
    found = _read_facts(connection, path)
    _check_pages(connection, path)
    return found


def _check_pages(connection: Connection, path: Path) -> None:
    found = list(connection.exec_driver_sql("PRAGMA quick_check(1)").scalars())
    if found != ["ok"]:
        raise FileError(
            f"expected a store, found one that is damaged ({found[0]:.120})",
            hint="restore a backup",
            code="store_damaged",
            file=str(path),
        )


def read_facts(connection: Connection, path: Path) -> Mark:
    """Read which store it is, and its last event and transaction.

    Raises:
        FileError: It is no store, or of another version.
    """
    mark, version = _read_facts(connection, path)
    if version != schema.VERSION:
        raise _other_version(path, version)
    return mark


def _read_facts(connection: Connection, path: Path) -> tuple[Mark, int]:
    tables = set(inspect(connection).get_table_names())
    if schema.meta.name not in tables:
        found = f"tables {', '.join(sorted(tables))[:100]}" if tables else "a database without any"
        raise FileError(
            f"expected the tables of a store, found {found}",
            hint="check the path; nothing was changed",
            code="store_version",
            file=str(path),
        )
    facts = dict(map(tuple, connection.execute(select(schema.meta))))
    try:
        version = int(facts["schema_version"])
        # Version 1 numbered events only.
        commit = int(facts["last_commit"]) if version > 1 else 0
        mark = Mark(bytes.fromhex(facts["store"]), int(facts["last_seq"]), commit)
    except (KeyError, ValueError, TypeError) as error:
        raise FileError(
            f"expected a store, found one that is damaged (its facts: {error!r:.80})",
            hint="restore a backup",
            code="store_damaged",
            file=str(path),
        ) from error
    if not schema.OLDEST <= version <= schema.VERSION:
        raise _other_version(path, version)
    return mark, version


def _other_version(path: Path, found: int) -> FileError:
    is_older = schema.OLDEST <= found < schema.VERSION
    return FileError(
        f"expected a store of version {schema.VERSION}, found version {found}",
        hint="open it once to write, as rankscope serve and rankscope monitor evaluate do: that "
        "upgrades it"
        if is_older
        else "open it with the version of rankscope that wrote it; nothing was changed",
        code="store_version",
        file=str(path),
    )


def find_wrong_count(connection: Connection) -> str | None:
    """Find a number that is not what it says.

    Args:
        connection: A connection, which sees one moment.

    Returns:
        What is wrong, if anything is.
    """
    common, shown = schema.contexts, schema.rankings
    projects, told = schema.projects, schema.labels
    times = shown.c.time
    counted = select(shown.c.context_id, func.count(), func.min(times), func.max(times))
    kept = select(common.c.context_id, common.c.rankings, common.c.first, common.c.last)
    pending = select(told.c.project_id, func.count()).where(is_pending())
    for what, said, found in (
        ("rankings", kept.where(common.c.rankings != 0), counted.group_by(shown.c.context_id)),
        (
            "labels that wait",
            select(projects.c.project_id, projects.c.pending).where(projects.c.pending != 0),
            pending.group_by(told.c.project_id),
        ),
    ):
        if set(map(tuple, connection.execute(said))) != set(map(tuple, connection.execute(found))):
            return f"the number of {what} is wrong"
    return None
