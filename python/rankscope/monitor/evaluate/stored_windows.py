"""Windows as the store keeps them, and how soon labels arrive."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.clusters import Spread, add_spreads
from rankscope.monitor.evaluate.windows import COUNTS, Cell, Key
from rankscope.monitor.events.limits import MINUTE
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.records import CellRow, HourRow

MOMENTS = 4
CHECK_EVERY = 1000
"""After so many cells it is checked whether the time for a read is up: some 10 ms."""


# There are many, as of keys and cells.
class StoredCell(NamedTuple):
    """A cell as it is stored.

    Args:
        key: Whose sums it has.
        cell: Counts and exact sums.
        spread: How much clusters differ; empty where that was not kept.
    """

    key: Key
    cell: Cell
    spread: Spread


def pack_cell(length: int, stored: StoredCell) -> CellRow:
    """Pack a cell of a window of some length."""
    key, cell, spread = stored.key, stored.cell, stored.spread
    moments = [one for each in spread for one in each]
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
        tuple(zip(*[iter(moments)] * MOMENTS, strict=True)),
    )


def unpack_cells(rows: Iterable[CellRow]) -> Iterator[StoredCell]:
    """Unpack cells one after the other."""
    for number, row in enumerate(rows):
        if not number % CHECK_EVERY:
            check_deadline()
        yield unpack_cell(row)


def read_rankings(row: CellRow) -> int:
    """Return how many rankings a cell has, without unpacking the rest of it.

    Examples:
        >>> cell = Cell((7, 0, 0, 0, 0, 0, 0, 0, 0, 0), (), b"")
        >>> key = Key(0, "production", "search", "4", (), is_mature=True)
        >>> read_rankings(pack_cell(3600, StoredCell(key, cell, ())))
        7
    """
    count: int = struct.unpack_from("<q", row.counts, 8 * COUNTS.index("rankings"))[0]
    return count


class LabelKind(NamedTuple):
    """A kind of labels of the rankings of a model.

    Args:
        model: The model.
        labels: What happened, such as `("click",)`; empty for a grade.
        is_grade: Whether they are grades.
    """

    model: str
    labels: tuple[str, ...]
    is_grade: bool


class Folded(NamedTuple):
    """The versions that have no windows of their own in an hour of production.

    Args:
        versions: How many versions.
        rankings: How many rankings they have.
    """

    versions: int = 0
    rankings: int = 0


def pack_hour(
    start: int,
    ages: Sequence[int],
    late: int,
    unshown: int,
    *,
    labels: Mapping[LabelKind, int],
    folded: Folded | None = None,
) -> HourRow:
    """Pack what is known of an hour besides its cells."""
    # Most hours fold nothing, and do not say it.
    packed = _pack("q", (*ages, *(folded or ())))
    counts = [[*kind, count] for kind, count in sorted(labels.items())]
    return HourRow(start, packed, late, unshown, json.dumps(counts))


def unpack_ages(row: HourRow) -> tuple[int, ...]:
    """Unpack how many labels came by which age."""
    return _unpack("q", row.ages)[: len(AGES) + 1]


def count_labels(rows: Iterable[HourRow]) -> Counter[LabelKind]:
    """Count the labels of some hours by kind."""
    counts: Counter[LabelKind] = Counter()
    for row in rows:
        for model, names, is_grade, count in json.loads(row.labels):
            counts[LabelKind(model, tuple(names), is_grade)] += count
    return counts


def unpack_folded(row: HourRow) -> Folded:
    """Unpack what has no windows of its own in an hour."""
    return Folded(*_unpack("q", row.ages)[len(AGES) + 1 :])


@lru_cache(10_000)
def name_place(place: Slice) -> str:
    """Write a slice in the one way in which equal slices are equal texts.

    Examples:
        >>> name_place((("device", "tv"),))
        '[["device", "tv"]]'
    """
    return json.dumps(place)


def add_cells(cells: Sequence[StoredCell]) -> tuple[Cell, Spread]:
    """Add up cells, at least one, and how much their clusters differ where all of them say so."""
    if len(cells) == 1:
        return cells[0].cell, cells[0].spread
    total = cells[0].cell.merge(*(one.cell for one in cells[1:]))
    spreads = [one.spread for one in cells]
    return total, add_spreads(spreads) if all(spreads) else ()


@lru_cache(10_000)
def _read_place(text: str) -> Slice:
    return tuple((name, value) for name, value in json.loads(text))


def _pack(kind: str, numbers: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(numbers)}{kind}", *numbers)


def _unpack(kind: str, packed: bytes) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(packed) // 8}{kind}", packed)


MINUTES = (1, 5, 15, 30, 60, 120, 240, 480, 720, 1440, 2880, 4320, 7200, 10080, 20160, 43200)
AGES = tuple(minutes * MINUTE for minutes in MINUTES)
"""The ages that labels are counted by."""


@dataclass(frozen=True, slots=True)
class MaturityCurve:
    """The number of labels of mature rankings by age.

    Ages are by the times of the events: how long an event took to arrive is not in them.

    Args:
        ages: Ages of labels, ascending.
        counts: How many labels came up to each age and after the one before it; the last number is
            that of those that came after all of them.
    """

    ages: tuple[timedelta, ...]
    counts: tuple[int, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of labels that had happened by each age; empty where there are no labels.

        Examples:
            >>> from datetime import timedelta
            >>> MaturityCurve((timedelta(minutes=1), timedelta(hours=1)), (6, 3, 1)).shares
            (0.6, 0.9)
        """
        total = sum(self.counts)
        so_far = list(accumulate(self.counts))[:-1]
        return tuple(count / total for count in so_far) if total else ()
