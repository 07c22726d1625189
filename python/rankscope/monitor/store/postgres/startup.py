"""Opens the database of a store: makes its tables, or checks the tables that it has."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from secrets import token_hex
from typing import TYPE_CHECKING

from sqlalchemy import delete, inspect, select, true
from sqlalchemy.dialects.postgresql import insert

from rankscope.errors import FileError
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.postgres.address import Address
from rankscope.monitor.store.tables.revisions import upgrade_tables
from rankscope.monitor.store.tables.schema import (
    alembic_version,
    create_tables,
    meta,
    secrets,
)
from rankscope.monitor.store.tables.version import GENERATION, OLDEST, insert_facts, read_facts

if TYPE_CHECKING:
    from sqlalchemy import Connection


_generation = meta.alias("generation")
# All rows are locked, so that they are read again once others release them.
LOCK = (
    select(meta.c.value, alembic_version.c.version_num, _generation.c.value)
    .select_from(meta.join(alembic_version, true()).join(_generation, true()))
    .where(meta.c.name == "last_seq", _generation.c.name == GENERATION)
    .with_for_update()
)
WAIT = "1s"
"""How long an upgrade waits for a table that others read, before it gives way."""


def lock_number(name: str) -> int:
    """Return the number of an advisory lock, which has to be one of 64 bits.

    Examples:
        >>> lock_number("rankscope evaluates") == lock_number("rankscope opens")
        False
    """
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def prepare_store(connection: Connection, address: Address, *, is_upgrade: bool = False) -> str:
    """Make the tables of a new store, or check those that are there, within a transaction.

    Processes that open the store at the same time do so one after the other. For an upgrade, an
    earlier revision is brought to that of this release, while others wait to write.
    """
    opening = lock_number(f"rankscope opens {address.schema}")
    # Of the transaction: it ends with it, however it ends.
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (opening,))
    _check_encoding(connection, address)
    tables = list_tables(connection, address)
    if tables is None:
        connection.exec_driver_sql(f'CREATE SCHEMA "{address.schema}"')
    if not tables:
        return _make_tables(connection)
    store = _read_store(connection, address, tables, is_for_upgrade=is_upgrade)
    if is_upgrade:
        lock_writers(connection)
        # A table that is read for long is waited for: meanwhile, others can neither read nor write.
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT}'")
        upgrade_tables(connection)
    return store


def lock_writers(connection: Connection) -> tuple[int, str, str]:
    """Keep other transactions from writing until this one ends.

    Transactions that write therefore follow each other, and the numbers of events become visible
    in their order and without gaps.

    Returns:
        The number of the last event, the revision of the tables, and the generation of numbers.
    """
    seq, revision, generation = connection.execute(LOCK).one()
    return int(seq), str(revision), str(generation)


def read_oldest(connection: Connection) -> str:
    """Read the oldest revision whose releases work with the store."""
    return str(connection.execute(select(meta.c.value).where(meta.c.name == OLDEST)).scalar_one())


def check_store(connection: Connection, address: Address, *, is_for_upgrade: bool = False) -> str:
    """Return the id of a store that is there, and of a revision with which this release works."""
    tables = list_tables(connection, address)
    if not tables:
        raise FileError(
            "there is no store" if tables is None else "the schema is empty, so it is not a store",
            hint="create a store with rankscope monitor configure or rankscope serve",
            code="io",
            file=str(address),
        )
    return _read_store(connection, address, tables, is_for_upgrade=is_for_upgrade)


def _check_encoding(connection: Connection, address: Address) -> None:
    found = str(connection.exec_driver_sql("SHOW server_encoding").scalar_one())
    if found != "UTF8":
        raise FileError(
            f"the encoding of the database is {found}; a store needs UTF8",
            hint="make another database with createdb --encoding=UTF8 --template=template0",
            code="io",
            file=str(address),
        )


def list_tables(connection: Connection, address: Address) -> set[str] | None:
    """List the tables in the schema of the store, `None` where there is no schema."""
    found = inspect(connection)
    if not found.has_schema(address.schema):
        return None
    return set(found.get_table_names(address.schema))


def _make_tables(connection: Connection) -> str:
    create_tables(connection)
    store = token_hex(16)
    insert_facts(connection, store)
    return store


def _read_store(
    connection: Connection, address: Address, tables: set[str], *, is_for_upgrade: bool = False
) -> str:
    facts = read_facts(
        connection,
        tables,
        str(address),
        what=f"the schema {address.schema}",
        hint="use another schema, such as ?schema=rankscope_events",
        is_for_upgrade=is_for_upgrade,
    )
    return facts.store.hex()


class SecretTable:
    """The table of the secrets of a store.

    Args:
        connection: A connection, within a transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, secret_id: str) -> Secret | None:
        """Find a secret by its id, `None` where the table does not have it, as in a backup."""
        wanted = select(secrets.c.secret).where(secrets.c.secret_id == secret_id)
        text = self._connection.execute(wanted).scalar_one_or_none()
        return None if text is None else Secret(text)

    def add(self, secret_id: str, secret: Secret) -> None:
        """Add a secret."""
        row = {"secret_id": secret_id, "secret": secret.reveal()}
        self._connection.execute(insert(secrets).values(row).on_conflict_do_nothing())

    def keep(self, secret_ids: Collection[str]) -> None:
        """Remove all secrets but those with these ids."""
        others = secrets.c.secret_id.not_in(list(secret_ids))
        self._connection.execute(delete(secrets).where(others))
