"""The pieces of a Parquet file that are read at once: row groups, and the times of their rows."""

from __future__ import annotations

import json
from typing import NamedTuple

from rankscope.monitor.events.limits import DAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope.monitor.store.lake.events import Foreign

ROWS = 65_536
"""Row groups are read together until they have so many rows."""
PER_MICROSECOND = {"milliseconds": (1000, 1), "microseconds": (1, 1), "nanoseconds": (1, 1000)}
"""What multiplies and what divides times of a unit, to get microseconds."""


class Piece(NamedTuple):
    """Rows of a file that are read at once.

    Args:
        groups: The row groups; `None` for the whole file.
        first: The number of the first row in the file.
        since: No row is earlier, in microseconds since 1970; `None` if that isn't known.
        until: No row is later than this, likewise.
    """

    groups: tuple[int, ...] | None = None
    first: int = 0
    since: int | None = None
    until: int | None = None

    def overlaps(self, since: int, until: int) -> bool:
        """Return whether it may have rows in a span."""
        return (self.since is None or self.since < until) and (
            self.until is None or self.until >= since
        )


WHOLE = (Piece(),)


def list_pieces(metadata: Foreign, name: str) -> tuple[Piece, ...]:
    """List the pieces of a file by what its footer says of a column of times."""
    if metadata.num_row_groups < 2:
        return WHOLE
    spans = list(_list_spans(metadata, name))
    if not any(spans):
        return WHOLE
    pieces: list[Piece] = []
    first = start = 0
    rows = 0
    for group in range(metadata.num_row_groups):
        rows += metadata.row_group(group).num_rows
        if rows - first < ROWS and group < metadata.num_row_groups - 1:
            continue
        pieces.append(_join(range(start, group + 1), first, spans[start : group + 1]))
        first, start = rows, group + 1
    return tuple(pieces)


def _join(groups: Sequence[int], first: int, spans: Sequence[tuple[int, int] | None]) -> Piece:
    limits = [span for span in spans if span is not None]
    if len(limits) < len(spans):
        return Piece(tuple(groups), first)
    return Piece(
        tuple(groups), first, min(span[0] for span in limits), max(span[1] for span in limits)
    )


def _list_spans(metadata: Foreign, name: str) -> Iterator[tuple[int, int] | None]:
    """Yield the times of the first and the last row of each row group, where they are known."""
    places = [at for at in range(metadata.num_columns) if metadata.schema.column(at).path == name]
    unit = _find_unit(metadata.schema.column(places[0])) if places else None
    for group in range(metadata.num_row_groups):
        span = None
        if unit is not None:
            statistics = metadata.row_group(group).column(places[0]).statistics
            if statistics is not None and statistics.has_min_max:
                times, per, around = unit
                span = (
                    statistics.min_raw * times // per - around,
                    statistics.max_raw * times // per + around,
                )
        yield span


def _find_unit(column: Foreign) -> tuple[int, int, int] | None:
    """Return what makes microseconds of the numbers of a column; `None` if it isn't known.

    The last number is how many microseconds a time may be beside the one of the numbers: it may be
    rounded when it is read, or be a local time of any zone.
    """
    if column.physical_type != "INT64":
        return None
    kind = json.loads(column.logical_type.to_json())
    if kind["Type"] == "Timestamp":
        unit = PER_MICROSECOND.get(kind["timeUnit"])
        return unit and (*unit, 1 if kind["isAdjustedToUTC"] else DAY)
    # Integers are milliseconds.
    is_signed = kind["Type"] == "None" or (kind["Type"] == "Int" and kind["isSigned"])
    return (*PER_MICROSECOND["milliseconds"], 1) if is_signed else None
