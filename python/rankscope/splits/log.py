"""The log of a split: its users, items and times, and its rows as the same kind of table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.columns import as_arrow, is_null, to_arrow
from rankscope._inputs.items import QUERIES
from rankscope._inputs.open_columns import open_columns
from rankscope._inputs.tables import open_table
from rankscope.deferred import pa
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn

    Rows: TypeAlias = NDArray[np.int64]
    Foreign: TypeAlias = Any  # a table or a column of a library

NEEDED = ("query", "doc", "time")
HALF_ZONES = "both times with a zone and times without"


@dataclass(frozen=True, slots=True)
class Log:
    """A log of interactions, one per row.

    Args:
        table: The log as a mapping, a data frame of pandas or Polars, or an Arrow table.
        users: The user of each row, as a code from 0.
        items: The item of each row, as a code from 0.
        times: The time of each row: numbers, or `datetime64`, of UTC if the times have a zone.
        has_zone: Whether the times have a zone.
        grades: The grade of each row, or zeros.
        time: The name of the column of times.
        others: The names of columns without a role.
    """

    table: Foreign
    users: Rows
    items: Rows
    times: NDArray[Any]
    has_zone: bool
    grades: NDArray[np.float64]
    time: str
    others: tuple[str, ...]

    @property
    def pairs(self) -> Rows:
        """One number for each pair of user and item."""
        return self.users * (int(self.items.max()) + 1) + self.items

    @property
    def are_numbers(self) -> bool:
        """Whether the times are numbers, whose unit is unknown."""
        return self.times.dtype.kind != "M"

    def take(self, rows: Rows, *, without: str = "") -> Foreign:
        """Return rows as the same kind of table, with all columns but one."""
        table = self.table
        if isinstance(table, Mapping):
            names = [name for name in table if str(name) != without]
            return {name: _take_cells(table[name], rows) for name in names}
        if hasattr(table, "iloc"):  # of pandas
            return table.iloc[rows, [str(name) != without for name in table.columns]]
        names = [name for name in open_table(table).names if name != without]
        taken = table[rows] if hasattr(table, "get_column") else table.take(rows)
        return taken.select(names)

    def spell(self, rows: Rows) -> list[str]:
        """Return the columns without a role as one text for each row."""
        columns = open_table(self.take(rows)).columns
        cells = zip(*(_list_cells(columns[name]) for name in self.others), strict=True)
        return list(map(repr, cells)) if self.others else [""] * len(rows)


def _take_cells(column: Foreign, rows: Rows) -> Foreign:
    if isinstance(column, list | tuple):
        return type(column)([column[row] for row in rows.tolist()])
    if hasattr(column, "iloc"):  # of pandas
        return column.iloc[rows]
    # Columns of Arrow have no index of several places.
    return column.take(rows) if hasattr(column, "to_pylist") else column[rows]


def _list_cells(column: Foreign) -> list[object]:
    ways = (getattr(column, way, None) for way in ("to_pylist", "to_list", "tolist"))
    return list(next(filter(None, ways), lambda: column)())


def read_log(log: Foreign, roles: Mapping[str, str | None]) -> Log:
    """Read a log, given the columns by role."""
    polars = sys.modules.get("polars")
    log = log.to_native() if hasattr(log, "to_native") else log  # of Narwhals
    log = log.collect() if polars is not None and isinstance(log, polars.LazyFrame) else log
    with open_columns(
        log, Reading.read(), roles, None, required=NEEDED, besides=QUERIES
    ) as columns:
        users, items = _encode(columns.ids("query")), _encode(columns.ids("doc"))
        moment, names = columns.columns["time"], columns.names
        grades = np.zeros(len(users))
        if "relevance" in columns.columns:
            grades = np.asarray(columns.numbers("relevance", allows_null=True), dtype=np.float64)
        is_kept = isinstance(log, Mapping) or hasattr(log, "iloc") or hasattr(log, "get_column")
        table = log if is_kept else pa.table({name: columns.typed(name) for name in names})
        others = tuple(name for name in names if name not in map(columns.columns.get, roles))
        times, has_zone = _read_times(columns.typed(moment), moment)
        return Log(table, users, items, times, has_zone, grades, moment, others)


def _encode(ids: IdColumn) -> Rows:
    """Return ids as codes from 0."""
    return np.asarray(to_arrow(ids).dictionary_encode().indices, dtype=np.int64)


def _read_times(column: Foreign, name: str) -> tuple[NDArray[Any], bool]:
    """Read dates, timestamps, ISO text or numbers, and say whether they have a zone."""
    if not len(column):
        return np.zeros(0), False
    cells = column.tolist() if str(getattr(column, "dtype", "")) == "object" else column
    moments = cells if isinstance(cells, list | tuple) else ()
    zones = {each.tzinfo is None for each in moments if isinstance(each, datetime)}
    if len(zones) > 1 and not any(map(is_null, moments)):
        raise _no_times(name, HALF_ZONES, code="time_zone")
    values = as_arrow(column, name)
    if values.null_count:
        raise _no_times(name, "none", values.is_null().index(True).as_py(), code="missing_time")
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = _parse(values, name)
    times = values.to_numpy(zero_copy_only=False)
    if times.dtype.kind not in "Miuf":
        raise _no_times(name, str(values.type))
    for at in np.flatnonzero(~np.isfinite(times))[:1].tolist():
        raise _no_times(name, f"{times[at]}", at)
    return times, getattr(values.type, "tz", None) is not None


def _parse(texts: Foreign, name: str) -> Foreign:
    """Read text such as 2026-11-21, or 2026-11-21T18:00:00Z, as timestamps."""
    for kind in (pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")):
        with suppress(pa.ArrowInvalid):
            return texts.cast(kind)
    for at, text in enumerate(texts.to_pylist()):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise _no_times(name, quote(text), at) from None
    raise _no_times(name, HALF_ZONES, code="time_zone")


def _no_times(
    name: str, found: str, at: int | None = None, *, code: str = "time_format"
) -> FormatError:
    return FormatError(
        f"expected a time in every row of {name}, found {found}",
        hint="times are dates, timestamps, numbers, or text such as 2026-11-21T18:00:00Z",
        code=code,
        line=None if at is None else at + 1,
    )
