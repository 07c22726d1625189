"""Decodes rows of tables as events that are ready to be stored."""

from __future__ import annotations

from rankscope.monitor.events.columns import (
    UnusualColumnError,
    find_starts,
    list_rows,
    split_documents,
    split_lists,
)
from rankscope.monitor.events.decoding import EventDecoder
from rankscope.monitor.events.label_columns import split_labels
from rankscope.monitor.events.tables import list_objects, read_cells, take_rows, type_cells

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.events.reader import EventReader
    from rankscope.monitor.events.rejection import Decoded, Reading
    from rankscope.monitor.events.tables import Rows


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
    ) -> tuple[Decoded, list[int]] | None:
        """Decode rankings in rows of documents, those of a ranking together."""
        typed = type_cells(rows, roles) if self._is_text else rows
        if typed is None or not len(rows.places):
            return None
        try:
            bounds = find_starts(rows.columns, name)
            split = split_documents(typed.columns, roles, self._attributes, bounds)
        except UnusualColumnError:
            return None

        def read_rest(places: Sequence[int]) -> Reading:
            columns = self._take(rows, list_rows(bounds, places), roles)
            return self._reader.read_ranking_rows(columns, now=now, attributes=self._attributes)

        reading = self._decoder.decode_columns(split, read_rest, now=now)
        return reading, rows.places[bounds[:-1]].tolist()

    def decode_lists(
        self, rows: Rows, read: Callable[[Sequence[object]], Reading], *, now: int
    ) -> Decoded | None:
        """Decode rankings in rows with lists of documents."""
        try:
            split = split_lists(rows.columns, self._reader.names, self._attributes)
        except UnusualColumnError:
            return None
        return self._decoder.decode_columns(
            split, lambda places: read(list_objects(take_rows(rows, places))), now=now
        )

    def decode_labels(self, rows: Rows, roles: Mapping[str, str], *, now: int) -> Decoded | None:
        """Decode labels, one a row."""
        typed = type_cells(rows, roles) if self._is_text else rows
        if typed is None or not len(rows.places):
            return None
        try:
            split = split_labels(typed.columns, self._reader.names[3])
        except UnusualColumnError:
            return None

        def read_rest(places: Sequence[int]) -> Reading:
            return self._reader.read_label_rows(self._take(rows, places, roles), now=now)

        return self._decoder.decode_label_columns(split, read_rest, now=now)

    def _take(
        self, rows: Rows, places: Sequence[int] | NDArray[np.int64], roles: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the columns of some rows, as the reader takes them."""
        taken = take_rows(rows, places)
        return (read_cells(taken, roles) if self._is_text else taken).columns
