"""Opens a file of SQLite as a store: makes its tables, or sees that nothing of it is lost."""

from __future__ import annotations

import secrets

from sqlalchemy import insert, inspect, select, update

from rankscope.errors import FileError
from rankscope.monitor.store import alert_tables, schema
from rankscope.monitor.store.high_water import Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection


def open_tables(connection: Connection, path: Path) -> Mark:
    """Make the tables of a new store, or check those of one that is there.

    Args:
        connection: A connection that writes, within a transaction.
        path: The file.

    Returns:
        Which store it is, and the number of its last event.

    Raises:
        FileError: It is damaged, of another version, or no store.
    """
    tables = set(inspect(connection).get_table_names())
    if not tables:
        alert_tables.rules.metadata.create_all(connection)
        made = Mark(secrets.token_bytes(16), 0)
        facts = {
            "schema_version": str(schema.VERSION),
            "store": made.store.hex(),
            "last_seq": str(made.seq),
            "lost_events": "0",
        }
        rows = [{"name": name, "value": value} for name, value in facts.items()]
        connection.execute(insert(schema.meta), rows)
        return made
    if schema.meta.name not in tables:
        raise _other_version(path, f"tables {', '.join(sorted(tables))[:100]}")
    found = list(connection.exec_driver_sql("PRAGMA quick_check(1)").scalars())
    if found != ["ok"]:
        raise FileError(
            f"expected a store, found one that is damaged ({found[0]:.120})",
            hint="restore a backup",
            code="store_damaged",
            file=str(path),
        )
    return read_facts(connection, path)


def read_facts(connection: Connection, path: Path) -> Mark:
    """Read which store it is, and the number of its last event.

    Raises:
        FileError: It is of another version.
    """
    facts = dict(map(tuple, connection.execute(select(schema.meta))))
    version = facts.get("schema_version")
    if version != str(schema.VERSION):
        raise _other_version(path, f"version {version}")
    return Mark(bytes.fromhex(facts["store"]), int(facts["last_seq"]))


def check_mark(stored: Mark, mark: Mark | None, path: Path) -> None:
    """Refuse a store that has less than it acknowledged.

    Args:
        stored: Which store it is, and the number of its last event.
        mark: How far it acknowledged; `None` where nothing is known.
        path: The file.

    Raises:
        FileError: It has less, or is not the store that the mark is of.
    """
    if mark == stored or (mark is None and stored.seq == 0):
        return
    hint = "restore a backup, or open it with accept_loss=True to go on without them"
    if mark is None:
        message = f"expected the mark of a store of {stored.seq} events, found none"
        hint = "put back its file .high-water, or open it with accept_loss=True"
    elif mark.store != stored.store and mark.seq > 0:
        message = f"expected the store that acknowledged {mark.seq} events, found another, or none"
    elif mark.seq > stored.seq:
        message = (
            f"expected events up to number {mark.seq}, which were acknowledged, found them up to "
            f"{stored.seq}: {mark.seq - stored.seq} are lost"
        )
    else:
        return
    raise FileError(message, hint=hint, code="store_lost", file=str(path))


def accept_loss(connection: Connection, stored: Mark, mark: Mark | None) -> Mark:
    """Go on after a loss: no number is given twice, and what is lost is written down."""
    seq = max(stored.seq, mark.seq if mark is not None else 0)
    lost = select(schema.meta.c.value).where(schema.meta.c.name == "lost_events")
    total = int(connection.execute(lost).scalar_one()) + seq - stored.seq
    for name, value in (("last_seq", seq), ("lost_events", total)):
        connection.execute(
            update(schema.meta).where(schema.meta.c.name == name).values(value=str(value))
        )
    return Mark(stored.store, seq)


def _other_version(path: Path, found: str) -> FileError:
    return FileError(
        f"expected a store of version {schema.VERSION}, found {found}",
        hint="open it with the version of rankscope that wrote it; nothing was changed",
        code="store_version",
        file=str(path),
    )
