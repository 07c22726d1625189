"""Finds events that are archived, when they are sent again."""

from __future__ import annotations

from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.hour_file import HourFile
from rankscope.monitor.store.tables.rankings import read_contexts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from rankscope.monitor.events.event import Event, Ranking
    from rankscope.monitor.store.history.files import ArchivedHour, HistoryFolder


class ArchivedEvents:
    """The events in the files of archived hours, by their ids.

    The manifest has a short hash of each id, which leads to a file; only the file says whether the
    event is there, and what it was.

    Args:
        folder: The folder of the files.
    """

    def __init__(self, folder: HistoryFolder) -> None:
        self._folder = folder

    def find_events(
        self, connection: Connection, project_id: int, event_ids: Iterable[str]
    ) -> dict[str, tuple[int, Event]]:
        """Find events by their ids, with their numbers.

        Raises:
            FileError: A file is missing or damaged.
        """
        found: dict[str, tuple[int, Event]] = {}
        for hour, ids in self._find_places(connection, project_id, "event", event_ids):
            contexts = read_contexts_of(connection, project_id)
            found |= HourFile(self._folder, hour).find_events(set(ids), contexts)
        return found

    def find_rankings(
        self, connection: Connection, project_id: int, ranking_ids: Iterable[str]
    ) -> dict[str, tuple[int, Ranking, int]]:
        """Find rankings by their ids, with the numbers of their events and of their hours.

        Raises:
            FileError: A file is missing or damaged.
        """
        found: dict[str, tuple[int, Ranking, int]] = {}
        for hour, ids in self._find_places(connection, project_id, "ranking", ranking_ids):
            contexts = read_contexts_of(connection, project_id)
            file = HourFile(self._folder, hour)
            for name, (seq, ranking, _) in file.find_rankings(set(ids), contexts).items():
                found[name] = seq, ranking, hour.hour_id
        return found

    def _find_places(
        self,
        connection: Connection,
        project_id: int,
        kind: manifest.Kind,
        ids: Iterable[str],
    ) -> list[tuple[ArchivedHour, list[str]]]:
        wanted = list(ids)
        if not wanted or not manifest.has_archived(connection, project_id):
            return []
        return list(manifest.find_places(connection, project_id, kind, wanted).values())
