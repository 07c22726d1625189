"""Decodes rows of tables as events that are ready to be stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.columns import (
    UnusualColumnError,
    find_starts,
    list_rows,
    split_documents,
    split_labels,
    split_lists,
)
from rankscope.monitor.events.decoding import EventDecoder
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Decoded, Reading
from rankscope.monitor.events.tables import (
    Rows,
    first_places,
    list_objects,
    read_cells,
    take_rows,
    type_cells,
)


class TableDecoder:
    """Decodes rows of rankings or labels.

    Args:
        reader: Reads what is not plain. Everything that is decoded is as it would read it.
        attributes: The columns of what belongs to a ranking, such as its country.
        is_text: Whether all cells are texts, as in CSV.
    """

    def __init__(
        self, reader: EventReader, attributes: Sequence[str] = (), *, is_text: bool = False
    ) -> None:
        self._reader = reader
        self._attributes = attributes
        self._is_text = is_text
        self._decoder = EventDecoder(reader)

    def decode_documents(
        self, rows: Rows, name: str, roles: Mapping[str, str], *, now: int
    ) -> tuple[Decoded, list[int]]:
        """Decode rankings in rows of documents, and return the place of the first row of each.

        The rows of a ranking are together.
        """

        def read(rows: Rows) -> Reading:
            cells = self._read_cells(rows, roles)
            return self._reader.read_ranking_rows(cells, now=now, attributes=self._attributes)

        try:
            typed = self._type_cells(rows, roles)
            bounds = find_starts(rows.columns, name)
            columns = split_documents(typed.columns, roles, self._attributes, bounds)
        except UnusualColumnError:
            return pack_reading(read(rows)), first_places(rows, name)
        decoded = self._decoder.decode_columns(
            columns, lambda places: read(take_rows(rows, list_rows(bounds, places))), now=now
        )
        return decoded, rows.places[bounds[:-1]].tolist()

    def decode_lists(
        self, rows: Rows, read: Callable[[Sequence[object]], Reading], *, now: int
    ) -> Decoded:
        """Decode rankings in rows with lists of documents."""
        try:
            columns = split_lists(rows.columns, self._reader.names, self._attributes)
        except UnusualColumnError:
            return pack_reading(read(list_objects(rows)))
        return self._decoder.decode_columns(
            columns, lambda places: read(list_objects(take_rows(rows, places))), now=now
        )

    def decode_labels(self, rows: Rows, roles: Mapping[str, str], *, now: int) -> Decoded:
        """Decode labels, one a row."""

        def read(rows: Rows) -> Reading:
            return self._reader.read_label_rows(self._read_cells(rows, roles), now=now)

        try:
            typed = self._type_cells(rows, roles)
            columns = split_labels(typed.columns, self._reader.names[3])
        except UnusualColumnError:
            return pack_reading(read(rows))
        return self._decoder.decode_label_columns(
            columns, lambda places: read(take_rows(rows, places)), now=now
        )

    def _type_cells(self, rows: Rows, roles: Mapping[str, str]) -> Rows:
        typed = type_cells(rows, roles) if self._is_text else rows
        if typed is None or not len(rows.places):
            raise UnusualColumnError
        return typed

    def _read_cells(self, rows: Rows, roles: Mapping[str, str]) -> dict[str, Any]:
        return (read_cells(rows, roles) if self._is_text else rows).columns
