"""Windows as a store keeps them: by hour and cell, in pieces of bytes that it does not read.

Each row has a checksum of all its values. A row that does not have the one it was stored with is
never returned: SQLite itself does not notice a changed byte within a value.
"""

from __future__ import annotations

import struct
from typing import NamedTuple
from zlib import crc32

from sqlalchemy import Boolean, Integer, delete, func, insert, select, type_coerce, update

from rankscope.errors import FileError
from rankscope.monitor.events.times import format_time
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.sqlite.connection import fetch_rows
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.keys import write_audit
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection, Select, Table

    from rankscope.monitor.store.tables.transaction import Transaction

AT_ONCE = 500


# There are many: these tuples are made five times as fast as records.
class CellRow(NamedTuple):
    """A cell of a window.

    Args:
        length: How long the window is, in microseconds.
        start: When it begins, in microseconds since 1970 in UTC.
        slice: Attributes and values, as JSON.
        environment: Where rankings were made.
        model: What ranked.
        version: Its version.
        is_mature: Whether attribution windows are closed.
        counts: What is counted.
        defined: How many values are in each sum.
        sums: The exact sums.
        spread: How much clusters differ; empty where that is not kept.
    """

    length: int
    start: int
    slice: str
    environment: str
    model: str
    version: str
    is_mature: bool
    counts: bytes
    defined: bytes
    sums: bytes
    spread: bytes


@record(frozen=True, slots=True)
class HourRow:
    """What is known of an hour besides its cells.

    Args:
        start: When it begins, in microseconds since 1970 in UTC.
        ages: How many labels came by which age.
        late: How many labels came after the window of their ranking was closed.
        unshown: How many labels are of documents that were not shown.
    """

    start: int
    ages: bytes
    late: int
    unshown: int


class OpenHour(NamedTuple):
    """An hour that was not final when it was summed.

    Args:
        start: When it begins, in microseconds since 1970 in UTC.
        as_of: When it was summed, likewise.
        rankings: How many it had then.
        is_behind: Whether events have come since that are to be summed later.
    """

    start: int
    as_of: int
    rankings: int
    is_behind: bool


@record(frozen=True, slots=True)
class Progress:
    """How far windows are up to date.

    Args:
        seq: All events up to this number are in them, but for hours that are behind.
        as_of: The moment as of which they are, in microseconds since 1970 in UTC.
        slicing: Which values have slices of their own, as JSON.
        baseline: What values are held against, as JSON; empty where there is nothing.
    """

    seq: int
    as_of: int
    slicing: str
    baseline: str


def read_configuration(connection: Connection, project: str) -> str | None:
    """Read how a project is measured, as it was said last."""
    table, of = schema.configurations, schema.projects
    wanted = (
        select(table.c.text)
        .join(of, of.c.project_id == table.c.project_id)
        .where(of.c.name == project)
        .order_by(table.c.configuration_id.desc())
        .limit(1)
    )
    return connection.execute(wanted).scalar_one_or_none()


def insert_configuration(
    transaction: Transaction, project: str, text: str, now: int, actor: str
) -> None:
    """Store how a project is measured from now on; what was said before stays."""
    project_id = transaction.project(project)
    row = {"project_id": project_id, "time": now, "actor": actor, "text": text}
    transaction.connection.execute(insert(schema.configurations), row)
    entry = AuditEntry(now, actor, "configuration.set", project)
    write_audit(transaction.connection, project_id, entry)


def read_progress(connection: Connection, project: str, digest: bytes) -> Progress | None:
    """Read how far windows are up to date; nothing where there are none."""
    table = schema.progress
    row = connection.execute(
        select(table.c.seq, table.c.as_of, table.c.slicing, table.c.baseline).where(
            *_of(table, project, digest)
        )
    ).one_or_none()
    return None if row is None else Progress(*row)


def read_cells(
    connection: Connection,
    project: str,
    digest: bytes,
    *,
    length: int,
    since: int,
    until: int,
    slice: str | None,  # noqa: A002 - the word for it
) -> list[CellRow]:
    """Read the cells of windows from one time to before another, of one slice or of all."""
    table = schema.cells
    wanted = CELLS.select().where(
        *_of(table, project, digest),
        table.c.length == length,
        table.c.start >= since,
        table.c.start < until,
    )
    if slice is not None:
        wanted = wanted.where(table.c.slice == slice)
    order = [table.c[name] for name in KEY_COLUMNS]
    return _fetch_cells(connection, wanted.order_by(*order))


def read_newest_cells(
    connection: Connection,
    project: str,
    digest: bytes,
    *,
    length: int,
    since: int,
    slice: str,  # noqa: A002 - as above
) -> list[CellRow]:
    """Read the newest final window of each model and version in production, by one statement.

    A window is final if none of its rankings may still get labels.

    Args:
        connection: A connection.
        project: The name of the project.
        digest: How it is measured.
        length: How long windows are.
        since: The windows that begin from then on.
        slice: Attributes and values, as JSON.
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
        .having(func.min(table.c.is_mature) == 1)
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
    return _fetch_cells(connection, wanted)


def _fetch_cells(connection: Connection, wanted: Select[Any]) -> list[CellRow]:
    return [_cell_of(row) for row in fetch_rows(connection.execute(wanted))]


def read_hours(
    connection: Connection, project: str, digest: bytes, since: int, until: int
) -> list[HourRow]:
    """Read what is known of the hours from one time to before another."""
    table = schema.hours
    wanted = (
        HOURS.select()
        .where(*_of(table, project, digest), table.c.start >= since, table.c.start < until)
        .order_by(table.c.start)
    )
    return [HourRow(*HOURS.check(row)) for row in connection.execute(wanted)]


def read_open_hours(connection: Connection, project: str, digest: bytes) -> list[OpenHour]:
    """Read which hours were not final when they were summed, in order."""
    table = schema.open_hours
    columns = [table.c[name] for name in OpenHour._fields]
    wanted = select(*columns).where(*_of(table, project, digest)).order_by(table.c.start)
    return [OpenHour(*row) for row in connection.execute(wanted)]


def check_windows(connection: Connection) -> None:
    """Check every row of all windows that are stored.

    Raises:
        FileError: One is not what was stored.
    """
    for checked in (CELLS, HOURS):
        for row in connection.execute(checked.select()):
            checked.check(row)


def put_windows(
    transaction: Transaction,
    project: str,
    digest: bytes,
    *,
    replaced: Mapping[int, Sequence[int]],
    cells: Sequence[CellRow],
    hours: Sequence[HourRow],
    open_hours: Sequence[OpenHour],
    progress: Progress,
) -> None:
    """Put windows in the place of those that there were, and say how far that is."""
    connection = transaction.connection
    key = {"project_id": transaction.project(project), "digest": digest}
    summed = [hour.start for hour in hours]
    for table, field, old in (
        (schema.hours, {}, summed),
        (schema.open_hours, {}, [*summed, *(hour.start for hour in open_hours)]),
        *((schema.cells, {"length": length}, starts) for length, starts in replaced.items()),
    ):
        for at in range(0, len(old), AT_ONCE):
            gone = table.c.start.in_(old[at : at + AT_ONCE])
            connection.execute(delete(table).where(*_where(table, key | field), gone))
    for checked, found in ((CELLS, cells), (HOURS, hours)):
        if found:
            connection.execute(insert(checked.table), [checked.write(key, row) for row in found])
    if open_hours:
        rows = [key | hour._asdict() for hour in open_hours]
        connection.execute(insert(schema.open_hours), rows)
    table = schema.progress
    values = {name: getattr(progress, name) for name in PROGRESS_COLUMNS}
    changed = update(table).where(*_where(table, key)).values(values)
    if connection.execute(changed).rowcount == 0:
        connection.execute(insert(table), key | values)


def drop_windows(transaction: Transaction, project: str, keep: bytes) -> None:
    """Delete the windows of all definitions but one."""
    project_id = transaction.project(project)
    for table in (schema.cells, schema.hours, schema.open_hours, schema.progress):
        others = (table.c.project_id == project_id) & (table.c.digest != keep)
        transaction.connection.execute(delete(table).where(others))


def _cell_of(row: Sequence[Any]) -> CellRow:
    values = CELLS.check(row)
    values[IS_MATURE] = bool(values[IS_MATURE])
    return CellRow._make(values)


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


@record(frozen=True, slots=True)
class CheckedTable:
    """A table whose rows have a checksum.

    Args:
        table: The table.
        what: What a row is, for messages.
        names: The columns that are read and written, besides whose they are.
    """

    table: Table
    what: str
    names: tuple[str, ...]

    @property
    def checked(self) -> tuple[str, ...]:
        """The columns that the checksum is of."""
        return (*OWNER_COLUMNS, *self.names)

    def write(self, owner: Mapping[str, object], row: object) -> dict[str, object]:
        """Make the values of a row that is stored."""
        values = {**owner, **{name: getattr(row, name) for name in self.names}}
        sums = checksum_of(_plain(values[name]) for name in self.checked)
        return {**values, "checksum": sums}

    def select(self) -> Select[Any]:
        """Select what `check` needs of rows."""
        columns = (self.table.c[name] for name in (*self.checked, "checksum"))
        # As it is stored: 257 would be read as true, too.
        return select(
            *(
                type_coerce(column, Integer).label(column.name)
                if isinstance(column.type, Boolean)
                else column
                for column in columns
            )
        )

    def check(self, row: Sequence[Any]) -> list[Any]:
        """Return the values of a row, as `names` has them.

        Raises:
            FileError: They are not what was stored.
        """
        *values, stored = row
        if checksum_of(values) == stored:
            return values[len(OWNER_COLUMNS) :]
        said = dict(zip(self.checked, values, strict=True))
        names = ("start", "length", "slice", "environment", "model", "version")
        of = [f"{name} {_show(name, said[name])}" for name in names if name in said]
        raise FileError(
            f"expected {self.what} as it was stored, found a damaged one ({', '.join(of)})",
            hint="restore a backup",
            code="store_damaged",
        )


def _plain(value: object) -> object:
    """Represent a value as it is stored."""
    return int(value) if isinstance(value, bool) else value


def _show(name: str, value: object) -> str:
    if name == "start" and isinstance(value, int):
        try:
            return format_time(value)
        except (OverflowError, ValueError):  # a damaged one
            pass
    return repr(value)[:80]


OWNER_COLUMNS = ("project_id", "digest")
KEY_COLUMNS = ("length", "start", "slice", "environment", "model", "version", "is_mature")
CELL_COLUMNS = (*KEY_COLUMNS, "counts", "defined", "sums", "spread")
IS_MATURE = CELL_COLUMNS.index("is_mature")
HOUR_COLUMNS = ("start", "ages", "late", "unshown")
PROGRESS_COLUMNS = ("seq", "as_of", "slicing", "baseline")
CELLS = CheckedTable(schema.cells, "a cell of a window", CELL_COLUMNS)
HOURS = CheckedTable(schema.hours, "the counts of an hour", HOUR_COLUMNS)


def _of(table: Table, project: str, digest: bytes) -> list[ColumnElement[bool]]:
    of = schema.projects
    number = select(of.c.project_id).where(of.c.name == project).scalar_subquery()
    return [table.c.project_id == number, table.c.digest == digest]


def _where(table: Table, key: dict[str, object]) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in key.items()]
