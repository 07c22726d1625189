"""Opens a file of SQLite as a store: makes its tables, or checks those that are there."""

from __future__ import annotations

import secrets
import time

from sqlalchemy import insert, inspect, select

from rankscope.errors import FileError
from rankscope.monitor.store import alert_tables, schema
from rankscope.monitor.store.connecting import connect_sqlite, driver_of
from rankscope.monitor.store.high_water import Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection

OPENING_SECONDS = 10.0
SLOWEST_DISK = 10 << 20
"""Bytes a second at which the slowest disk is read that a store is checked on."""
STEPS = 10_000
"""How many steps of SQLite pass until it is asked whether to go on: a few milliseconds."""


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


def inspect_store(
    path: Path,
    busy_seconds: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    seconds: float = OPENING_SECONDS,
) -> tuple[Mark, int] | None:
    """Check a store before anything is written to it: a store that is refused stays as it was.

    Args:
        path: The file.
        busy_seconds: How long to wait for a lock that another process holds.
        clock: A clock that only grows, in seconds.
        seconds: How long this may take, besides the time to read the file once from a slow disk.
            Damage can make SQLite read the same pages again and again.

    Returns:
        Which store it is, with its last event and transaction, and the version of its tables;
        `None` for an empty file, or a database without tables: all of a new store may be in a log
        that is missing.

    Raises:
        FileError: It is damaged, of another version, no store, or was not checked in time.
    """
    if not path.stat().st_size:
        return None  # SQLite would delete its log
    end = clock() + seconds + path.stat().st_size / SLOWEST_DISK
    engine = connect_sqlite(path, writes=False, busy_seconds=busy_seconds)
    with engine.connect() as connection:
        driver_of(connection).set_progress_handler(lambda: clock() > end, STEPS)
        if not inspect(connection).get_table_names():
            return None
        mark, version = _read_facts(connection, path)
        _check_pages(connection, path)
    return mark, version


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
