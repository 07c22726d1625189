"""Finds events that are archived, when they are sent again."""

from __future__ import annotations

from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.hour_file import HourFile
from rankscope.monitor.store.tables.rankings import read_contexts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import Connection

    from rankscope.monitor.events.event import Event, Ranking
    from rankscope.monitor.store.history.files import HistoryPlace


class ArchivedEvents:
    """The events in the files of archived hours, by their ids.

    The manifest has a short hash of each id, which leads to a file; only the file says whether the
    event is there, and what it was.

    Args:
        find_history: Finds the place of the files.
    """

    def __init__(self, find_history: Callable[[Connection], HistoryPlace | None]) -> None:
        self._find_history = find_history

    def find_events(
        self, connection: Connection, project_id: int, event_ids: Iterable[str]
    ) -> dict[str, tuple[int, Event]]:
        """Find events by their ids, with their numbers."""
        found: dict[str, tuple[int, Event]] = {}
        for file, _, ids in self._find_files(connection, project_id, "event", event_ids):
            contexts = read_contexts_of(connection, project_id)
            found |= file.find_events(set(ids), contexts)
        return found

    def find_rankings(
        self, connection: Connection, project_id: int, ranking_ids: Iterable[str]
    ) -> dict[str, tuple[int, Ranking, int]]:
        """Find rankings by their ids, with the numbers of their events and of their hours."""
        found: dict[str, tuple[int, Ranking, int]] = {}
        for file, hour_id, ids in self._find_files(connection, project_id, "ranking", ranking_ids):
            contexts = read_contexts_of(connection, project_id)
            for name, (seq, ranking, _) in file.find_rankings(set(ids), contexts).items():
                found[name] = seq, ranking, hour_id
        return found

    def _find_files(
        self,
        connection: Connection,
        project_id: int,
        kind: manifest.Kind,
        ids: Iterable[str],
    ) -> Iterator[tuple[HourFile, int, list[str]]]:
        """Iterate over the files that may have some ids, with the numbers of their hours."""
        wanted = list(ids)
        if not wanted or not manifest.has_archived(connection, project_id):
            return
        folder = self._find_history(connection)
        places = manifest.find_places(connection, project_id, kind, wanted)
        for hour, names in places.values():
            if folder is not None:
                yield HourFile(folder, hour), hour.hour_id, names
