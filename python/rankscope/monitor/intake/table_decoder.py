"""Decodes rows of tables as events that are ready to be stored."""

from __future__ import annotations

from rankscope.monitor.intake.columns import (
    UnusualColumnError,
    find_list_roles,
    find_starts,
    list_rows,
    split_documents,
    split_lists,
)
from rankscope.monitor.intake.decoding import EventDecoder
from rankscope.monitor.intake.tables import list_objects, take_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.reader import EventReader
    from rankscope.monitor.events.rejection import Reading
    from rankscope.monitor.intake.tables import Rows
    from rankscope.monitor.store.tables.events import PreparedEvent


class TableDecoder:
    """Decodes rows of rankings.

    Args:
        reader: Reads what is not plain. Everything that is decoded is as it would read it.
        attributes: The columns of what belongs to a ranking, such as its country.
    """

    def __init__(self, reader: EventReader, attributes: Sequence[str] = ()) -> None:
        self._reader = reader
        self._attributes = attributes
        self._decoder = EventDecoder(reader)

    def decode_documents(
        self, rows: Rows, name: str, roles: Mapping[str, str], *, now: int
    ) -> tuple[Reading[PreparedEvent], list[int]] | None:
        """Decode rankings in rows of documents, those of a ranking together.

        Args:
            rows: The rows.
            name: The column of the ids of rankings.
            roles: The names of columns by role.
            now: The time, in microseconds since 1970 in UTC.

        Returns:
            The events, and the place of the first row of each ranking; `None` where the columns
            are not of the usual types.
        """
        # Cells of CSV were made Python's numbers and texts.
        is_text = any(isinstance(column, list) for column in rows.columns.values())
        if is_text or not len(rows.places):
            return None
        try:
            bounds = find_starts(rows.columns, name)
            found = split_documents(rows.columns, roles, self._attributes, bounds)
        except UnusualColumnError:
            return None

        def read_rest(places: Sequence[int]) -> Reading[Event]:
            some = take_rows(rows, list_rows(bounds, places)).columns
            return self._reader.read_ranking_rows(some, now=now, attributes=self._attributes)

        reading = self._decoder.decode_columns(found, read_rest, now=now)
        return reading, rows.places[bounds[:-1]].tolist()

    def decode_lists(
        self, rows: Rows, read: Callable[[Sequence[object]], Reading[Event]], *, now: int
    ) -> Reading[PreparedEvent] | None:
        """Decode rankings in rows with lists of documents.

        Args:
            rows: The rows.
            read: Reads rows as objects.
            now: The time, in microseconds since 1970 in UTC.

        Returns:
            The events; `None` where the columns are not of the usual types.
        """
        names = [name for name in rows.columns if name not in self._attributes]
        try:
            roles = find_list_roles(names, self._reader.names[1])
            found = split_lists(rows.columns, roles, self._attributes)
        except UnusualColumnError:
            return None
        return self._decoder.decode_columns(
            found, lambda places: read(list_objects(take_rows(rows, places))), now=now
        )
