"""Where a store keeps its history files: beside itself, in another folder, or in a bucket."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path

from sqlalchemy import insert, select

from rankscope.errors import UsageError
from rankscope.inputs.buckets import check_url
from rankscope.monitor.store.log.blocks import FILE, has_files, list_blocks
from rankscope.monitor.store.log.bucket import HistoryBucket
from rankscope.monitor.store.log.files import HistoryFolder
from rankscope.monitor.store.log.tally import check_tally
from rankscope.monitor.store.log.values import list_values
from rankscope.monitor.store.log.verification import check_log
from rankscope.monitor.store.tables.schema import meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, TypeVar

    from sqlalchemy import Connection

    from rankscope.monitor.store.log.blocks import Block
    from rankscope.monitor.store.log.files import ArchivedValues, HistoryPlace
    from rankscope.monitor.store.log.rewriting import Writer
    from rankscope.monitor.store.transaction import Transaction

    T = TypeVar("T")

LOCATION = "history"
"""The name of the fact in `meta` that says where the files are, if not beside the store."""


class KeepsHistory(ABC):
    """Finds the place of the history files of a store."""

    _default_history: HistoryPlace | None = None

    def __init__(self) -> None:
        self._places: dict[str, HistoryPlace] = {}

    @abstractmethod
    def query(self, read: Callable[[Connection], T]) -> T:
        """Call a function that reads with a connection."""

    def require_history(self, connection: Connection | None = None) -> HistoryPlace:
        """Return the place of archived hours.

        Args:
            connection: Reads the database (default: a connection of its own).

        Raises:
            UsageError: There is none yet.
        """
        place = self.history if connection is None else self.find_history(connection)
        if place is None:
            raise UsageError(
                "this store has no place for history files yet",
                hint="name a folder or a bucket that every process of the store reaches, such as "
                "--history s3://bucket/folder",
                code="no_history",
            )
        return place

    @property
    def history(self) -> HistoryPlace | None:
        """The place of archived hours; `None` if there is none yet."""
        return self.query(self.find_history)

    def find_history(self, connection: Connection) -> HistoryPlace | None:
        """Find the place of archived hours; `None` if there is none yet."""
        location = read_location(connection)
        if location is None:
            return self._default_history
        place = self._places.get(location)
        if place is None:
            place = self._places[location] = open_place(location)
        return place

    def list_history(
        self, project: str, kind: Literal["rankings", "values"] = "rankings"
    ) -> list[str]:
        """List the files of a project that are current: their paths or URLs, by time.

        A folder may have others, which were replaced and stay for about an hour.
        """

        def read(connection: Connection) -> list[str]:
            listed: Sequence[Block | ArchivedValues] = (
                list_blocks(connection, project, kinds=(FILE,))
                if kind == "rankings"
                else list_values(connection, project)
            )
            place = self.require_history(connection) if listed else None
            return [] if place is None else [place.locate(each.path) for each in listed]

        return self.query(read)

    def verify_log(self) -> None:
        """Read all blocks and files, and compare them with what the store says of them.

        Raises:
            FileError: Something is missing or damaged.
        """
        self.query(check_tally)
        self.query(partial(check_log, find_place=self.require_history))
        for values in self.query(list_values):
            self.require_history().check(values, is_forced=True)


def read_location(connection: Connection) -> str | None:
    """Return the folder or the URL that was set for the history files of a store."""
    return _read_fact(connection, LOCATION)


def _read_fact(connection: Connection, name: str) -> str | None:
    value = connection.execute(select(meta.c.value).where(meta.c.name == name)).scalar_one_or_none()
    return None if value is None else str(value)


def open_place(location: str) -> HistoryPlace:
    """Return the place that a folder or a URL names, which `set_location` has stored."""
    return HistoryBucket(location) if "://" in location else HistoryFolder(Path(location))


def set_history(store: Writer, text: str) -> None:
    """Set where the history files of a store are kept; see `Store.set_history`."""
    location = check_url(text).rstrip("/")
    before = store.query(read_location)
    if before is None and not store.query(has_files):
        open_place(location).claim(store.query(partial(_read_fact, name="store")) or "")
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
