"""Opens the database of a store: makes its tables, or checks the tables that it has."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import inspect

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.connection import connect_sqlite, driver_of
from rankscope.monitor.store.sqlite.files import size_of
from rankscope.monitor.store.sqlite.high_water import Mark
from rankscope.monitor.store.tables import version
from rankscope.monitor.store.tables.schema import create_tables
from rankscope.monitor.store.tables.version import damaged, insert_facts

T = TypeVar("T")

if TYPE_CHECKING:
    from sqlalchemy import Connection


OPENING_SECONDS = 10.0
SLOWEST_DISK = 10 << 20
"""The speed of the slowest disk that a store may be on, in bytes per second."""


def make_tables(connection: Connection) -> Mark:
    """Make the tables of a new store, within a transaction."""
    create_tables(connection)
    made = Mark(secrets.token_bytes(16), 0, 1)
    insert_facts(connection, made.store.hex(), commit=made.commit)
    return made


def inspect_store(
    path: Path, busy_seconds: float, *, is_as_closed: bool, is_for_upgrade: bool = False
) -> Mark | None:
    """Check a store before anything is written, so that a refused store stays as it was.

    All of its pages are read, unless it is as it was closed. This ends within `OPENING_SECONDS` and
    the time to read the file once from a slow disk: damage can make SQLite read the same pages
    again and again.
    """
    size = size_of(path)
    if not size:
        return None  # SQLite would delete its log
    engine = connect_sqlite(path, writes=False, busy_seconds=busy_seconds)
    opened: list[sqlite3.Connection] = []

    def check_store() -> Mark | None:
        with engine.connect() as connection:
            opened.append(driver_of(connection))
            if not inspect(connection).get_table_names():
                return None
            found = read_facts(connection, path, is_for_upgrade=is_for_upgrade)
            if not is_as_closed:
                _check_pages(connection, path)
            return found

    limit = OPENING_SECONDS + size / SLOWEST_DISK
    try:
        return _run_with_deadline(check_store, limit)
    except TimeoutError as error:
        for connection in opened:
            with suppress(sqlite3.ProgrammingError):  # it has just been closed
                connection.interrupt()
        raise FileError(
            f"the store could not be checked within {limit:.0f} seconds",
            hint="the file may be damaged: check the disk, or restore a backup",
            code="store_slow",
            file=str(path),
        ) from error


def _run_with_deadline(work: Callable[[], T], seconds: float) -> T:
    """Call a function in a thread of its own, because not all of SQLite can be interrupted."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
            future.set_exception(error)

    threading.Thread(target=run, name="rankscope-opening", daemon=True).start()
    return future.result(seconds)


def _check_pages(connection: Connection, path: Path) -> None:
    found = list(connection.exec_driver_sql("PRAGMA quick_check(1)").scalars())
    if found != ["ok"]:
        raise damaged(f"{found[0]:.120}", str(path))


def read_facts(connection: Connection, path: Path, *, is_for_upgrade: bool = False) -> Mark:
    """Read the last event and transaction of a store."""
    facts = version.read_facts(
        connection,
        inspect(connection).get_table_names(),
        str(path),
        what="the database",
        hint="check the path",
        is_for_upgrade=is_for_upgrade,
    )
    return Mark(facts.store, facts.last_seq, facts.last_commit)
