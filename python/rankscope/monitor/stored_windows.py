"""Windows as pieces of bytes that a store keeps, and back."""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from typing import NamedTuple

from rankscope.monitor.spread import Spread
from rankscope.monitor.store.window_table import CellRow, HourRow
from rankscope.monitor.windows import Cell, Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rankscope.monitor.maturity import MaturityCurve
    from rankscope.monitor.slicing import Slice

MOMENTS = 4


# There are many, as of keys and cells.
class StoredCell(NamedTuple):
    """A cell as it is stored.

    Args:
        key: Whose sums it has.
        cell: Counts and exact sums.
        spread: How much clusters differ, or `None` where that was not kept.
    """

    key: Key
    cell: Cell
    spread: Spread | None


def pack_cell(length: int, stored: StoredCell) -> CellRow:
    """Pack a cell of a window of some length."""
    key, cell, spread = stored.key, stored.cell, stored.spread
    moments = () if spread is None else [one for each in spread.moments for one in each]
    return CellRow(
        length,
        key.start,
        name_place(key.slice),
        key.environment,
        key.model,
        key.version,
        key.is_mature,
        _pack("q", cell.counts),
        _pack("q", cell.defined),
        cell.sums,
        _pack("d", moments),
    )


def unpack_cell(row: CellRow) -> StoredCell:
    """Unpack a cell."""
    place = _read_place(row.slice)
    # What was stored is what `Key` has.
    environment: Any = row.environment
    key = Key(row.start, environment, row.model, row.version, place, row.is_mature)
    moments = _unpack("d", row.spread)
    return StoredCell(
        key,
        Cell(_unpack("q", row.counts), _unpack("q", row.defined), row.sums),
        Spread(tuple(zip(*[iter(moments)] * MOMENTS, strict=True))) if moments else None,
    )


def pack_hour(start: int, curve: MaturityCurve, late: int, unshown: int) -> HourRow:
    """Pack what is known of an hour besides its cells."""
    return HourRow(start, _pack("q", curve.counts), late, unshown)


def unpack_ages(row: HourRow) -> tuple[int, ...]:
    """Unpack how many labels came by which age."""
    return _unpack("q", row.ages)


@lru_cache(10_000)
def name_place(place: Slice) -> str:
    """Write a slice in the one way in which equal slices are equal texts.

    Examples:
        >>> name_place((("device", "tv"),))
        '[["device", "tv"]]'
    """
    return json.dumps(place)


def add_cells(cells: list[StoredCell]) -> tuple[Cell, Spread | None]:
    """Add up cells, and how much their clusters differ where that was kept of all."""
    total, spread = cells[0].cell, cells[0].spread
    for one in cells[1:]:
        total = total.merge(one.cell)
        spread = None if spread is None or one.spread is None else spread.merge(one.spread)
    return total, spread


@lru_cache(10_000)
def _read_place(text: str) -> Slice:
    return tuple((name, value) for name, value in json.loads(text))


def _pack(kind: str, numbers: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}{kind}", *numbers)


def _unpack(kind: str, packed: bytes) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(packed) // 8}{kind}", packed)
