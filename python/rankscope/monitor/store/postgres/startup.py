"""Opens the database of a store: makes its tables, or checks the tables that it has."""

from __future__ import annotations

import secrets
from hashlib import blake2b

from sqlalchemy import Column, MetaData, Table, Text, delete, inspect, select
from sqlalchemy.dialects.postgresql import insert

from rankscope.errors import FileError
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.version import NAME, insert_facts, read_facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from rankscope.monitor.store.postgres.address import Address


# Rows are locked in one order by all, and read again once others release them.
LOCK = (
    select(schema.meta)
    .where(schema.meta.c.name.in_(["last_seq", NAME]))
    .order_by(schema.meta.c.name)
    .with_for_update()
)


def lock_number(name: str) -> int:
    """Return the number of an advisory lock, which has to be one of 64 bits.

    Examples:
        >>> lock_number("rankscope evaluates") == lock_number("rankscope opens")
        False
    """
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def prepare_store(connection: Connection, address: Address) -> str:
    """Make the tables of a new store, or check those that are there, within a transaction.

    Processes that open the store at the same time do so one after the other.
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
    return _read_store(connection, address, tables)


def lock_writers(connection: Connection) -> tuple[int, int]:
    """Keep other transactions from writing until this one ends.

    Transactions that write therefore follow each other, and the numbers of events become visible
    in their order and without gaps.
    """
    facts = dict(map(tuple, connection.execute(LOCK)))
    return int(facts["last_seq"]), int(facts[NAME])


def check_store(connection: Connection, address: Address) -> str:
    """Return the id of a store that is there and of this version."""
    tables = list_tables(connection, address)
    if not tables:
        raise FileError(
            "there is no store" if tables is None else "the schema is empty, so it is not a store",
            hint="create a store with rankscope monitor configure or rankscope serve",
            code="io",
            file=str(address),
        )
    return _read_store(connection, address, tables)


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
    # None of the tables is there: looking for each of them would take most of the time.
    schema.TABLES.create_all(connection, checkfirst=False)
    SECRETS.create(connection, checkfirst=False)
    store = secrets.token_hex(16)
    insert_facts(connection, store)
    return store


def _read_store(connection: Connection, address: Address, tables: set[str]) -> str:
    facts = read_facts(
        connection,
        tables,
        str(address),
        what=f"the schema {address.schema}",
        hint="use another schema, such as ?schema=rankscope_events",
    )
    return facts.store.hex()


SECRETS = Table(
    "secrets",
    MetaData(),
    Column("secret_id", Text, primary_key=True),
    Column("secret", Text, nullable=False),
)
"""Secrets by their ids, which are in `webhooks`."""


class SecretTable:
    """The table of the secrets of a store.

    Args:
        connection: A connection, within a transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, secret_id: str) -> Secret | None:
        """Find a secret by its id, `None` where the table does not have it, as in a backup."""
        wanted = select(SECRETS.c.secret).where(SECRETS.c.secret_id == secret_id)
        text = self._connection.execute(wanted).scalar_one_or_none()
        return None if text is None else Secret(text)

    def add(self, secret_id: str, secret: Secret) -> None:
        """Add a secret."""
        row = {"secret_id": secret_id, "secret": secret.reveal()}
        self._connection.execute(insert(SECRETS).values(row).on_conflict_do_nothing())

    def keep(self, secret_ids: Collection[str]) -> None:
        """Remove all secrets but those with these ids."""
        others = SECRETS.c.secret_id.not_in(list(secret_ids))
        self._connection.execute(delete(SECRETS).where(others))
