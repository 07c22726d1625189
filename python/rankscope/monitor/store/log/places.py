"""The part of a store that knows where the files of archived hours are, and checks the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial

from rankscope.errors import UsageError
from rankscope.monitor.store.log.blocks import FILE, list_blocks
from rankscope.monitor.store.log.location import open_place, read_location
from rankscope.monitor.store.log.tally import check_tally
from rankscope.monitor.store.log.values import list_values
from rankscope.monitor.store.log.verification import check_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, TypeVar

    from sqlalchemy import Connection

    from rankscope.monitor.store.log.blocks import Block
    from rankscope.monitor.store.log.files import ArchivedValues, HistoryPlace

    T = TypeVar("T")


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
        found = self.history if connection is None else self.find_history(connection)
        if found is None:
            raise UsageError(
                "this store has no place for history files yet",
                hint="name a folder or a bucket that every process of the store reaches, such as "
                "--history s3://bucket/folder",
                code="no_history",
            )
        return found

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
