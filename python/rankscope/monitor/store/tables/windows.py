"""Windows: cells and hours, whose values are bytes that the store does not read.

Each row has a checksum of all its values. A row that does not match it is never returned: SQLite
itself does not notice a changed byte within a value.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from zlib import crc32

from sqlalchemy import Boolean, delete, func, insert, select

from rankscope._names import as_dict
from rankscope.errors import FileError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time
from rankscope.monitor.store.records import CellRow, HourRow, OpenHour, Progress
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.projects import count_replaced
from rankscope.monitor.store.tables.statements import (
    FIRST,
    LAST,
    StoredFlag,
    columns_of,
    fetch_rows,
    in_project,
    put_row,
    read_records,
)
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select, Table


AT_ONCE = 500
"""How many windows a statement deletes."""
OWNER_COLUMNS = ("project_id", "digest")
KEY_COLUMNS = CellRow._fields[: CellRow._fields.index("counts")]
IS_MATURE = CellRow._fields.index("is_mature")


def checksum_of(values: Iterable[object]) -> int:
    """Compute the checksum of the values of a row.

    Examples:
        >>> checksum_of([1, b"ab", "c"]) == checksum_of([1, b"a", "bc"])
        False
    """
    packed = [value if type(value) is bytes else str(value).encode() for value in values]
    # With their lengths, so that no byte can move from one value to the next.
    sizes = struct.pack(f"<{len(packed)}I", *map(len, packed))
    return crc32(b"".join(packed), crc32(sizes))


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """A table whose rows have a checksum.

    Args:
        table: The table.
        what: What a row is, for messages.
        names: The columns of its records; the owner of a row is not among them.
    """

    table: Table
    what: str
    names: tuple[str, ...]

    @property
    def checked(self) -> tuple[str, ...]:
        """The columns in the checksum."""
        return (*OWNER_COLUMNS, *self.names)

    def to_row(self, owner: Mapping[str, object], values: object) -> dict[str, object]:
        """Return the row of a record, with its checksum."""
        row = {**owner, **{name: getattr(values, name) for name in self.names}}
        # As they are stored: booleans are integers.
        stored = (row[name] for name in self.checked)
        sums = checksum_of(int(value) if isinstance(value, bool) else value for value in stored)
        return {**row, "checksum": sums}

    def select(self) -> Select[Any]:
        """Select the columns that `check` needs."""
        columns = (self.table.c[name] for name in (*self.checked, "checksum"))
        # As they are stored: a boolean of 257 would be read as true, too.
        return select(
            *(
                StoredFlag(column).label(column.name)
                if isinstance(column.type, Boolean)
                else column
                for column in columns
            )
        )

    def check(self, row: Sequence[Any]) -> list[Any]:
        """Return the values of a row, in the order of `names`."""
        *values, stored = row
        if checksum_of(values) == stored:
            return values[len(OWNER_COLUMNS) :]
        found = dict(zip(self.checked, values, strict=True))
        names = ("start", "length", "slice", "environment", "model", "version")
        of = [f"{name} {_show(name, found[name])}" for name in names if name in found]
        raise FileError(
            f"{self.what} is damaged ({', '.join(of)})",
            hint="restore a backup",
            code="store_damaged",
        )


def _show(name: str, value: object) -> str:
    if name == "start" and isinstance(value, int):
        try:
            return format_time(value)
        except (OverflowError, ValueError):  # a damaged one
            pass
    return repr(value)[:80]


CELLS = CheckedTable(schema.cells, "a stored cell", CellRow._fields)
HOURS = CheckedTable(schema.hours, "a stored hour", tuple(field.name for field in fields(HourRow)))


def read_progress(connection: Connection, project: str, digest: bytes) -> Progress | None:
    """Return how far the windows of a configuration are up to date, `None` if there are none."""
    wanted = select(*columns_of(schema.progress, Progress))
    rows = read_records(connection, Progress, wanted.where(*_of(schema.progress, project, digest)))
    return next(iter(rows), None)


def read_cells(
    connection: Connection,
    project: str,
    digest: bytes,
    since: int | None = None,
    until: int | None = None,
    *,
    length: int = HOUR,
    slice: str | None = None,  # noqa: A002 - the field's word
    slices: Collection[str] | None = None,
) -> list[CellRow]:
    """Read the cells of windows from one time to before another, in the order of their keys.

    Args:
        connection: A connection.
        project: The name of the project.
        digest: The digest of the configuration.
        since: The earliest start of a window, in microseconds since 1970.
        until: The first start that is not read.
        length: The length of the windows, in microseconds.
        slice: Only this slice, as JSON (default: all).
        slices: Only these slices, likewise.

    Raises:
        FileError: A cell is damaged.
    """
    table = schema.cells
    wanted = CELLS.select().where(
        *_of(table, project, digest), table.c.length == length, *_between(table, since, until)
    )
    if slice is not None:
        wanted = wanted.where(table.c.slice == slice)
    if slices is not None:
        wanted = wanted.where(table.c.slice.in_(slices))
    ordered = wanted.order_by(*(table.c[name] for name in KEY_COLUMNS))
    return [cell for _, cell in fetch_cells(connection, ordered)]


def read_newest_cells(
    connection: Connection,
    project: str,
    digest: bytes,
    since: int,
    *,
    length: int,
    slice: str,  # noqa: A002 - as above
) -> list[CellRow]:
    """Read the newest final window of each model and version in production, in one statement.

    A window is final if none of its rankings may still get labels. See `read_cells` for the
    parameters.
    """
    table = schema.cells
    who = (table.c.model, table.c.version)
    theirs = [
        *_of(table, project, digest),
        table.c.length == length,
        table.c.slice == slice,
        table.c.environment == "production",
    ]
    final = (
        select(*who, table.c.start)
        # Every cell has counts. Without a column that the primary key lacks, SQLite would read that
        # index alone, with the cells of all slices in it.
        .where(*theirs, table.c.start >= since, table.c.counts != b"")
        .group_by(*who, table.c.start)
        .having(func.min(StoredFlag(table.c.is_mature)) == 1)
        .subquery()
    )
    newest = (
        select(final.c.model, final.c.version, func.max(final.c.start).label("start"))
        .group_by(final.c.model, final.c.version)
        .subquery()
    )
    wanted = (
        CELLS.select()
        .select_from(newest)
        .join(
            table,
            (table.c.start == newest.c.start)
            & (table.c.model == newest.c.model)
            & (table.c.version == newest.c.version),
        )
        .where(*theirs, table.c.is_mature)
        .order_by(*who)
    )
    return [cell for _, cell in fetch_cells(connection, wanted)]


def fetch_cells(
    connection: Connection, wanted: Select[Any]
) -> Iterator[tuple[Sequence[Any], CellRow]]:
    """Yield the cells that a statement selects, each after the row that it was read from."""
    for row in fetch_rows(connection.execute(wanted)):
        values = CELLS.check(row)
        values[IS_MATURE] = bool(values[IS_MATURE])
        yield row, CellRow._make(values)


def read_hours(
    connection: Connection,
    project: str,
    digest: bytes,
    since: int | None = None,
    until: int | None = None,
) -> list[HourRow]:
    """Read the counts of the hours from one time to before another, in order."""
    table = schema.hours
    wanted = HOURS.select().where(*_of(table, project, digest), *_between(table, since, until))
    rows = connection.execute(wanted.order_by(table.c.start))
    return [HourRow(*HOURS.check(row)) for row in rows]


def read_open_hours(connection: Connection, project: str, digest: bytes) -> list[OpenHour]:
    """Read the hours that were not final when they were last summed, in order."""
    table = schema.open_hours
    columns = (table.c[name] for name in OpenHour._fields)
    wanted = select(*columns).where(*_of(table, project, digest)).order_by(table.c.start)
    return [OpenHour(*row) for row in connection.execute(wanted)]


def check_windows(connection: Connection) -> None:
    """Check every cell and every hour of all projects."""
    for checked in (CELLS, HOURS):
        for row in connection.execute(checked.select()):
            checked.check(row)


def replace_windows(
    transaction: Transaction,
    project: str,
    digest: bytes,
    *,
    replaced: Mapping[int, Sequence[int]],
    cells: Sequence[CellRow],
    hours: Sequence[HourRow],
    open_hours: Sequence[OpenHour],
    progress: Progress,
    replaced_rankings: int | None = None,
) -> bool:
    """Replace windows, and record how far they are up to date.

    Args:
        transaction: The transaction.
        project: The name of the project.
        digest: The digest of the configuration.
        replaced: The starts of the windows whose cells are all deleted, by length.
        cells: The new cells.
        hours: The new hours. They are final unless they are in `open_hours`.
        open_hours: The hours that are not final.
        progress: How far the windows are now up to date.
        replaced_rankings: What `count_replaced` returned before the rankings were read (default:
            they can't have changed).

    Returns:
        Whether they were written. They are not if a set was replaced in the meantime.

    Raises:
        FileError: Another process evaluates the store.
    """
    transaction.require_evaluator()
    connection = transaction.connection
    if replaced_rankings not in {None, count_replaced(connection, project)}:
        return False
    owner = {"project_id": transaction.project(project), "digest": digest}
    starts = [hour.start for hour in hours]
    for table, key, old in (
        (schema.hours, {}, starts),
        (schema.open_hours, {}, [*starts, *(hour.start for hour in open_hours)]),
        *((schema.cells, {"length": length}, of_cells) for length, of_cells in replaced.items()),
    ):
        for at in range(0, len(old), AT_ONCE):
            some = table.c.start.in_(old[at : at + AT_ONCE])
            connection.execute(delete(table).where(*_where(table, owner | key), some))
    for checked, rows in ((CELLS, cells), (HOURS, hours)):
        if rows:
            connection.execute(insert(checked.table), [checked.to_row(owner, row) for row in rows])
    if open_hours:
        new = [owner | hour._asdict() for hour in open_hours]
        connection.execute(insert(schema.open_hours), new)
    put_row(connection, schema.progress, owner, as_dict(progress))
    return True


def drop_windows(transaction: Transaction, project: str, keep: Collection[bytes]) -> None:
    """Delete the windows of a project with other digests than these.

    Raises:
        FileError: Another process evaluates the store.
    """
    transaction.require_evaluator()
    project_id = transaction.project(project)
    for table in (schema.cells, schema.hours, schema.open_hours, schema.progress):
        others = (table.c.project_id == project_id) & (table.c.digest.not_in(keep))
        transaction.connection.execute(delete(table).where(others))


def _of(table: Table, project: str, digest: bytes) -> list[ColumnElement[bool]]:
    return [in_project(table.c.project_id, project), table.c.digest == digest]


def _between(table: Table, since: int | None, until: int | None) -> list[ColumnElement[bool]]:
    first, end = FIRST if since is None else since, LAST if until is None else until
    return [table.c.start >= first, table.c.start < end]


def _where(table: Table, key: Mapping[str, object]) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in key.items()]


def mark_hours(connection: Connection, project_id: int, starts: Sequence[int]) -> None:
    """Record that hours have to be summed again, for all windows there are."""
    # Those of which no event counts yet are summed anyway; signals, which count none, never again.
    digests = connection.execute(
        select(schema.progress.c.digest).where(
            schema.progress.c.project_id == project_id, schema.progress.c.seq > 0
        )
    ).scalars()
    open_hours = schema.open_hours
    for digest in digests.all() if starts else ():
        owner = {"project_id": project_id, "digest": digest}
        known = _where(open_hours, owner)
        behind = {"as_of": 0, "rankings": 0, "is_behind": True}
        for at in range(0, len(starts), AT_ONCE):
            some = starts[at : at + AT_ONCE]
            connection.execute(delete(open_hours).where(*known, open_hours.c.start.in_(some)))
            connection.execute(
                insert(open_hours), [owner | behind | {"start": start} for start in some]
            )
