"""The log of a split: its users, items and times, and its rows as the same kind of table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.columns import as_arrow, is_null, list_cells, to_arrow
from rankscope._inputs.documents import is_of
from rankscope._inputs.items import QUERIES
from rankscope._inputs.rows import open_columns
from rankscope._inputs.tables import open_table
from rankscope.deferred import pa
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn

    Rows: TypeAlias = NDArray[np.int64]
    Foreign: TypeAlias = Any  # a table or a column of a library

NEEDED = ("query", "doc", "time")


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
    """

    table: Foreign
    users: Rows
    items: Rows
    times: NDArray[Any]
    has_zone: bool
    grades: NDArray[np.float64]
    time: str

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
            columns = {name: column for name, column in table.items() if str(name) != without}
            return {name: _take_cells(column, rows) for name, column in columns.items()}
        if hasattr(table, "iloc"):  # of pandas
            return table.iloc[rows, [str(name) != without for name in table.columns]]
        table = table.select([name for name in open_table(table) if name != without])
        return table[rows] if hasattr(table, "get_column") else table.take(rows)

    def spell(self, rows: Rows) -> list[str]:
        """Return rows as texts."""
        columns = open_table(self.take(rows)).items()
        cells = [
            list_cells(column) or as_arrow(column, name).to_pylist() for name, column in columns
        ]
        return list(map(repr, zip(*cells, strict=True)))


def _take_cells(column: Foreign, rows: Rows) -> Foreign:
    if isinstance(column, list | tuple):
        return type(column)([column[row] for row in rows.tolist()])
    if hasattr(column, "iloc"):  # of pandas
        return column.iloc[rows]
    # Columns of Arrow have no index of several places.
    return column.take(rows) if hasattr(column, "to_pylist") else column[rows]


def read_log(log: Foreign, roles: Mapping[str, str | None]) -> Log:
    """Read a log, given the columns by role."""
    log = log.to_native() if hasattr(log, "to_native") else log  # of Narwhals
    log = log.collect() if is_of(log, "polars", "LazyFrame") else log
    with open_columns(
        log, Reading.read(), roles, None, required=NEEDED, besides=QUERIES
    ) as columns:
        users, items = _encode(columns.ids("query")), _encode(columns.ids("doc"))
        moment = columns.columns["time"]
        grades = np.zeros(len(users))
        if "relevance" in columns.columns:
            grades = np.asarray(columns.numbers("relevance", allows_null=True), dtype=np.float64)
        is_kept = isinstance(log, Mapping) or hasattr(log, "iloc") or hasattr(log, "get_column")
        table = log if is_kept else pa.table({name: columns.typed(name) for name in columns.names})
        times, has_zone = read_times(columns.typed(moment), moment)
        return Log(table, users, items, times, has_zone, grades, moment)


def _encode(ids: IdColumn) -> Rows:
    """Return ids as codes from 0."""
    return np.asarray(to_arrow(ids).dictionary_encode().indices, dtype=np.int64)


def read_times(column: Foreign, name: str) -> tuple[NDArray[Any], bool]:
    """Read dates, timestamps, ISO text or numbers, and say whether they have a zone."""
    if not len(column):
        return np.zeros(0), False
    _refuse_half_zones(list_cells(column) or (), name)
    values = as_arrow(column, name)
    if values.null_count:
        raise _no_times(name, "none", values.is_null().index(True).as_py(), code="missing_time")
    if values.type == pa.large_string():
        values = _parse(values, name)
    times = values.to_numpy(zero_copy_only=False)
    if times.dtype.kind not in "Miuf":
        raise _no_times(name, str(values.type))
    for at in np.flatnonzero(~np.isfinite(times))[:1].tolist():
        raise _no_times(name, f"{times[at]}", at)
    return times, getattr(values.type, "tz", None) is not None


def _refuse_half_zones(moments: Iterable[object], name: str) -> None:
    """Raise an error for times of Python of which some have a zone."""
    times = [time for time in moments if isinstance(time, datetime) and not is_null(time)]
    if len({time.tzinfo is None for time in times}) > 1:
        found = "both times with a zone and times without"
        raise _no_times(name, found, code="time_zone")


def _parse(texts: Foreign, name: str) -> Foreign:
    """Read text such as 2026-11-21, or 2026-11-21T18:00:00Z, as timestamps."""
    for kind in (pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")):
        with suppress(pa.ArrowInvalid):
            return texts.cast(kind)
    moments = []
    for at, text in enumerate(texts.to_pylist()):
        try:
            moments.append(datetime.fromisoformat(text))
        except ValueError:
            raise _no_times(name, quote(text), at) from None
    _refuse_half_zones(moments, name)
    return as_arrow(moments, name)


def _no_times(
    name: str, found: str, at: int | None = None, *, code: str = "time_format"
) -> FormatError:
    line = None if at is None else at + 1
    hint = "times are dates, timestamps, numbers, or text such as 2026-11-21T18:00:00Z"
    message = f"expected a time in every row of {name}, found {found}"
    return FormatError(message, hint=hint, code=code, line=line)
