"""Where a store keeps its history files: beside itself, in another folder, or in a bucket."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sqlalchemy import insert, select

from rankscope.errors import UsageError
from rankscope.monitor.store.lake.address import check_url
from rankscope.monitor.store.log.blocks import has_files
from rankscope.monitor.store.log.bucket import HistoryBucket
from rankscope.monitor.store.log.files import HistoryFolder
from rankscope.monitor.store.tables.schema import meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.log.files import HistoryPlace
    from rankscope.monitor.store.log.rewriting import Writer
    from rankscope.monitor.store.transaction import Transaction

LOCATION = "history"
"""The name of the fact in `meta` that says where the files are, if not beside the store."""


def read_location(connection: Connection) -> str | None:
    """Return the folder or the URL that was set for the history files of a store."""
    return _read_fact(connection, LOCATION)


def read_store_id(connection: Connection) -> str:
    """Return the id of a store."""
    return _read_fact(connection, "store") or ""


def _read_fact(connection: Connection, name: str) -> str | None:
    found = connection.execute(select(meta.c.value).where(meta.c.name == name)).scalar_one_or_none()
    return None if found is None else str(found)


def open_place(location: str) -> HistoryPlace:
    """Return the place that a folder or a URL names, as `check_location` returns it."""
    return HistoryBucket(location) if "://" in location else HistoryFolder(Path(location))


def check_location(text: str) -> str:
    """Return the folder or the URL of a place for history files; a path becomes absolute."""
    return check_url(text).rstrip("/")


def set_history(store: Writer, text: str) -> None:
    """Set where the history files of a store are kept; see `Store.set_history`."""
    location = check_location(text)
    before = store.query(read_location)
    if before is None and not store.query(has_files):
        open_place(location).claim(store.query(read_store_id))
    store.transact(partial(set_location, location=location)).result()


def set_location(transaction: Transaction, location: str) -> None:
    """Record where the history files of a store are, once and for all."""
    connection = transaction.connection
    before = read_location(connection)
    if before is None and has_files(connection):
        before = "a folder beside it"
    if before is None:
        connection.execute(insert(meta), {"name": LOCATION, "value": location})
    elif before != location:
        raise UsageError(
            f"the history files of this store are in {before}",
            hint="remove --history, or name this place",
            code="history_place",
        )
