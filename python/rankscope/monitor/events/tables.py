"""Reads events from tables and data frames, batch by batch."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._inputs.columns import (
    as_arrow,
    decode,
    is_list,
    is_null,
    list_cells,
    spell_ids,
    to_array,
)
from rankscope._inputs.tables import open_table
from rankscope._inputs.text import Lines, name_mistake, refuse_break
from rankscope.errors import FormatError, LimitError
from rankscope.monitor.arrays import see_value, to_micros, to_python
from rankscope.monitor.events.names import ITEM_NAMES, RANKING_NAMES
from rankscope.monitor.events.table_reader import no_column

ROWS_AT_ONCE = 1 << 14
MOST_SORTED = 512 << 20
PLACE = "\0place"  # no column that was read has this name
NUMBERS = ("relevance", "score", "rank", "weight", "time", "value")
DIGITS = r"^[0-9]{1,15}$"
USUAL_NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$"
IDS = ("event_id", "ranking_id", "doc_id", "user_id")
ODD_IDS = (
    *(pa.types.is_decimal, pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_fixed_size_binary, pa.types.is_date),
)
USUAL_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]"
"""The texts of most numbers and times. Others are converted one by one."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of rows of a table.

    Args:
        columns: Arrays of Arrow, by name.
        places: The line or row of each, from 1.
    """

    columns: dict[str, Any]
    places: NDArray[np.int64]


def cut_rows(batches: Iterable[tuple[Any, Lines]]) -> Iterator[Rows]:
    """Yield the rows of batches in pieces, decoded and with their positions."""
    for batch, lines in batches:
        whole = {
            name: _decode(column)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        places = lines.of_rows(batch.num_rows)
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            yield Rows(
                {name: column.slice(start, ROWS_AT_ONCE) for name, column in whole.items()},
                places[start : start + ROWS_AT_ONCE],
            )


def check_ids(rows: Rows, name: str) -> None:
    """Raise an error for a column of lists or objects, by which no rows can be grouped."""
    kind = rows.columns[name].type
    if pa.types.is_nested(kind):
        raise no_column(name, str(kind))


def holds_rankings(rows: Rows) -> bool:
    """Check whether each row is a whole ranking, with lists of documents."""
    names = {*RANKING_NAMES["items"], *ITEM_NAMES["doc_id"]}
    return any(name in names and is_list(column.type) for name, column in rows.columns.items())


def list_objects(rows: Rows) -> list[dict[str, Any]]:
    """Return each row as an object without nulls. Maps become objects."""
    columns = {}
    for name, column in rows.columns.items():
        values = to_python(column)
        is_map = pa.types.is_map(column.type)
        columns[name] = (
            [None if value is None else dict(value) for value in values] if is_map else values
        )
    return [
        {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        for row in zip(*columns.values(), strict=True)
    ]


def settle_cells(rows: Rows, roles: Mapping[str, str], zone: str | None, *, is_text: bool) -> Rows:
    """Convert IDs that a comparison of rankings reads, too, and times without a zone to one."""
    columns = dict(rows.columns)
    for role, name in roles.items():
        column = columns[name]
        kind = column.type
        if role in IDS and is_text:
            refuse_break(column, name, Lines(0, lambda count: rows.places[:count]))
        elif role in IDS and any(is_odd(kind) for is_odd in ODD_IDS):
            with suppress(FormatError):  # each that isn't UTF-8 is rejected alone
                columns[name] = spell_ids(column, name)
        elif role in IDS and kind == pa.uint64():
            columns[name] = column.cast(pa.large_string())
        elif role == "time" and zone is not None:
            with suppress(pa.ArrowInvalid):  # which have a zone, or are no times
                naive = column if pa.types.is_timestamp(kind) else column.cast(pa.timestamp("us"))
                moments = pc.assume_timezone(
                    naive, zone, ambiguous="earliest", nonexistent="earliest"
                ).cast(pa.timestamp("us", "UTC"))
                columns[name] = moments if naive is column else moments.cast(kind)
    return Rows(columns, rows.places)


def take_rows(rows: Rows, places: Sequence[int] | NDArray[np.int64]) -> Rows:
    """Return the rows at some places, from 0."""
    at = np.asarray(places, dtype=np.int64)
    taken = pa.array(at)
    columns = {name: column.take(taken) for name, column in rows.columns.items()}
    return Rows(columns, rows.places[at])


def read_cells(rows: Rows, roles: Mapping[str, str]) -> Rows:
    """Convert CSV text to numbers for numeric roles. Invalid numbers stay text."""
    columns = dict(rows.columns)
    for role, name in roles.items():
        if role in NUMBERS:
            columns[name] = [_read_cell(text, role) for text in columns[name].to_pylist()]
    return Rows(columns, rows.places)


def type_cells(rows: Rows, roles: Mapping[str, str]) -> Rows | None:
    """Convert CSV text as `read_cells` does, whole columns at once."""
    columns = dict(rows.columns)

    def are_all(texts: Any, pattern: str) -> bool:  # noqa: ANN401 - an array of Arrow
        return pc.all(pc.match_substring_regex(texts, pattern)).as_py() is not False

    for role, name in roles.items():
        texts = columns[name]
        if role not in NUMBERS or (role == "time" and are_all(texts, USUAL_TIME)):
            continue
        if are_all(texts, DIGITS):
            columns[name] = texts.cast(pa.int64())
        elif are_all(texts, USUAL_NUMBER):
            columns[name] = texts.cast(pa.float64())
        else:
            return None
    return Rows(columns, rows.places)


def _read_cell(text: str | None, role: str) -> str | float | None:
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 16:  # most ranks, and all milliseconds
        return int(text)
    # A time is text more often than a number, and says what is wrong with it itself.
    return text if name_mistake(text, role) is not None else float(text)


def are_together(runs: Iterable[Any]) -> bool:
    """Check whether equal ids are contiguous."""
    seen = array("q")
    last: object = None
    for ids in runs:
        if not len(ids):
            continue
        starts = np.flatnonzero(differs_from_next(ids)) + 1
        begun = [see_value(ids[0]), *to_python(ids.take(pa.array(starts)))]
        seen.extend(map(hash, begun[1:] if seen and begun[0] == last else begun))
        last = see_value(ids[-1])
    return len(np.unique(np.frombuffer(seen, dtype=np.int64))) == len(seen) if seen else True


def join_runs(parts: Iterable[Rows], name: str, most: int) -> Iterator[Rows]:
    """Split rows so that contiguous rows with one id stay together."""
    waiting: Rows | None = None
    for part in parts:
        rows = part if waiting is None else _join(waiting, part)
        differs = np.flatnonzero(differs_from_next(rows.columns[name]))
        cut = int(differs[-1]) + 1 if len(differs) else 0
        if cut:
            yield _slice(rows, 0, cut)
        waiting = _slice(rows, cut, cut + most + 1)
    if waiting is not None and len(waiting.places):
        yield waiting


def sort_rows(parts: Iterable[Rows], name: str, file: str) -> Iterator[Rows]:
    """Sort rows by id, stably."""
    tables, size = [], 0
    for rows in parts:
        table = pa.table(rows.columns | {PLACE: pa.array(rows.places)})
        size += table.nbytes
        if size > MOST_SORTED:
            raise LimitError(
                f"expected the rows of each ranking together, or at most {MOST_SORTED} bytes of "
                "rows to sort, found more",
                hint=f"sort the file by {name}",
                code="query_returns",
                file=file,
            )
        tables.append(table)
    # The place makes the order one, whatever the sort does with equal ids.
    whole = pa.concat_tables(tables).sort_by([(name, "ascending"), (PLACE, "ascending")])
    for batch in whole.to_batches(max_chunksize=ROWS_AT_ONCE):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        places = columns.pop(PLACE).to_numpy()
        yield Rows(columns, places)


def first_places(rows: Rows, name: str) -> list[int]:
    """Return the position of the first row of each id, in order."""
    first: dict[object, int] = {}
    for row_id, place in zip(to_python(rows.columns[name]), rows.places.tolist(), strict=True):
        first.setdefault(row_id, place)
    return list(first.values())


def differs_from_next(ids: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - an array of Arrow
    """Check for each id whether the next one differs."""
    before, after = ids.slice(0, len(ids) - 1), ids.slice(1)
    differs = pc.not_equal(before, after)
    is_one_missing = pc.xor(before.is_null(), after.is_null())
    return to_array(pc.if_else(differs.is_valid(), differs, is_one_missing))


def _join(rows: Rows, more: Rows) -> Rows:
    columns = {
        name: pa.concat_arrays([column, more.columns[name]])
        for name, column in rows.columns.items()
    }
    return Rows(columns, np.concatenate([rows.places, more.places]))


def _slice(rows: Rows, start: int, end: int) -> Rows:
    columns = {name: column.slice(start, end - start) for name, column in rows.columns.items()}
    return Rows(columns, rows.places[start:end])


def _decode(column: Any) -> Any:  # noqa: ANN401 - an array of Arrow
    decoded = decode(column)
    return to_micros(decoded) if pa.types.is_timestamp(decoded.type) else decoded


def cut_frame(table: object) -> Iterator[Rows] | None:
    """Return the rows of a data frame, `None` if a column has mixed types."""
    columns = {name: _to_arrow(column, name) for name, column in open_table(table).items()}
    if any(column is None for column in columns.values()):
        return None
    if len({len(column) for column in columns.values()}) > 1:
        return None  # reading it as a whole names the column
    try:
        return _cut(pa.table(columns))
    except UnicodeEncodeError:  # a name with half a character, which is no field of ours
        return None


def _cut(table: Any) -> Iterator[Rows]:  # noqa: ANN401 - PyArrow has no types
    rows = 0
    for batch in table.to_batches():
        yield from cut_rows([(batch, Lines(rows + 1))])
        rows += batch.num_rows


def _to_arrow(column: object, name: str) -> Any:  # noqa: ANN401 - as above
    values = list_cells(column)
    if values is None:
        return decode(as_arrow(column, name))
    values = [None if is_null(value) else value for value in values]
    if not _are_alike(values):
        return None
    try:
        return decode(pa.array(values))
    except (TypeError, ValueError, OverflowError):  # Arrow's errors are of these
        return None


def _are_alike(values: list[Any]) -> bool:
    """Check whether values have one type, and times consistently have a time zone."""
    present = [value for value in values if value is not None]
    is_zoned = {value.tzinfo is None for value in present if isinstance(value, datetime)}
    return len(set(map(type, present))) <= 1 and len(is_zoned) <= 1
