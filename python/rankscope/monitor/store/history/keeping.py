"""The part of a store that knows where its history files are."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rankscope.errors import UsageError
from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.hour_file import HourFile
from rankscope.monitor.store.history.location import open_place, read_location
from rankscope.monitor.store.history.tally import check_tally
from rankscope.monitor.store.history.values import list_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, TypeVar

    from sqlalchemy import Connection

    from rankscope.monitor.store.history.files import (
        ArchivedHour,
        ArchivedValues,
        HistoryPlace,
    )

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
            listed: Sequence[ArchivedHour | ArchivedValues] = (
                manifest.list_archived(connection, project)
                if kind == "rankings"
                else list_values(connection, project)
            )
            place = self.require_history(connection) if listed else None
            return [] if place is None else [place.locate(each.path) for each in listed]

        return self.query(read)

    def verify_history(self) -> None:
        """Read the files of all archived hours, and compare the manifest with its tally.

        Raises:
            FileError: A file is missing or damaged, or an hour is not listed any more.
        """
        self.query(check_tally)
        for hour in self.query(manifest.list_all_archived):
            HourFile(self.require_history(), hour, is_forced=True).verify()
        for values in self.query(list_values):
            self.require_history().check(values, is_forced=True)
