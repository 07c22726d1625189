"""What a store knows of a lake: its address, the files that were read, and the hours they have."""

from __future__ import annotations

import json
from collections import Counter

from sqlalchemy import delete, func, insert, select, update

from rankscope.errors import UsageError
from rankscope.inputs.buckets import DataFile
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.lake.address import Lake
from rankscope.monitor.store.records import Coverage, LeftOut
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.statements import in_project, insert_rows
from rankscope.records import as_dict, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from rankscope.monitor.events.bins import Content
    from rankscope.monitor.store.lake.address import Kind
    from rankscope.monitor.store.records import Context
    from rankscope.monitor.store.transaction import Transaction


FAULT = "fault"
"""Under this name, what is wrong with a file is beside the counts of its rows."""
EARLIER = "earlier"
"""Under this name, the earlier hours are beside the contexts in the spans of an hour."""


@record(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A file that was read, or is left out.

    Args:
        kind: Whether it has rankings or labels.
        file: The file, as it was then.
        seen: When it was first read, in microseconds since 1970; its times are checked by that.
        rows: The number of rows whose time is good.
        first: The earliest time of them; `None` if there are none, as with `last`.
        last: The latest one.
        counts: By code, how many rows were accepted and rejected without looking at an hour.
        fault: Why it is left out; `None` if it is not.
    """

    kind: Kind
    file: DataFile
    seen: int
    rows: int
    first: int | None
    last: int | None
    counts: Mapping[str, int]
    fault: LeftOut | None = None

    def overlaps(self, since: int, until: int) -> bool:
        """Return whether it may have rows in a span."""
        return (
            self.first is not None
            and self.last is not None
            and self.first < until
            and self.last >= since
        )


@record(frozen=True, slots=True, kw_only=True)
class KnownHour:
    """An hour of rankings.

    Args:
        start: Its start, in microseconds since 1970 in UTC.
        seq: The number under which it changed last.
        spans: By context, the number of rankings, and the times of the first and the last.
        counts: By code, how many rankings were accepted and rejected.
        matched: How many rows of labels are of its rankings.
        arrived: The number of a change, a context, and how many rankings of it were added.
        earlier: The starts of earlier hours that have rankings of this one, which don't count here.
    """

    start: int
    seq: int
    spans: Mapping[int, tuple[int, int, int]]
    counts: Mapping[str, int]
    matched: int
    arrived: Sequence[tuple[int, int, int]]
    earlier: Sequence[int] = ()

    @property
    def rankings(self) -> int:
        """How many rankings it has."""
        return sum(span[0] for span in self.spans.values())

    @property
    def is_plain(self) -> bool:
        """Whether all of its rows count: none was rejected or repeated."""
        return self.counts == {"accepted": self.rankings}


@record(frozen=True, slots=True, kw_only=True)
class SeenHour:
    """An hour as it was just read.

    Args:
        start: Its start, in microseconds since 1970 in UTC.
        spans: By the content of contexts, as in `KnownHour`.
        counts: As in `KnownHour`.
        matched: As in `KnownHour`.
        earlier: As in `KnownHour`.
    """

    start: int
    spans: Mapping[Content, tuple[int, int, int]]
    counts: Mapping[str, int]
    matched: int
    earlier: Sequence[int] = ()


def read_lake(connection: Connection, project: str) -> Lake | None:
    """Return the lake of a project, `None` if it has none."""
    wanted = select(schema.lakes.c.text).where(in_project(schema.lakes.c.project_id, project))
    text = connection.execute(wanted).scalar_one_or_none()
    return None if text is None else Lake.from_json(text)


def list_lakes(connection: Connection) -> list[str]:
    """List the projects that have a lake."""
    wanted = select(schema.projects.c.name).join(
        schema.lakes, schema.lakes.c.project_id == schema.projects.c.project_id
    )
    return list(connection.execute(wanted).scalars())


def read_files(connection: Connection, project: str) -> list[KnownFile]:
    """Return the files that were read, by path."""
    table = schema.lake_files
    wanted = select(table).where(in_project(table.c.project_id, project))
    return list(map(_to_file, connection.execute(wanted.order_by(table.c.kind, table.c.path))))


def _to_file(row: Any) -> KnownFile:  # noqa: ANN401 - a row of any statement with its columns
    counts = json.loads(row.counts)
    fault = counts.pop(FAULT, None)
    return KnownFile(
        kind=row.kind,
        file=DataFile(row.path, row.size, row.stamp),
        seen=row.seen,
        rows=row.rows,
        first=row.first,
        last=row.last,
        counts=counts,
        fault=None if fault is None else LeftOut(**fault),
    )


def read_coverage(connection: Connection, project: str) -> Coverage | None:
    """Return which files of a lake are left out; `None` if the project has no lake."""
    if read_lake(connection, project) is None:
        return None
    table = schema.lake_files
    of_project = in_project(table.c.project_id, project)
    files = connection.execute(
        select(func.count()).select_from(table).where(of_project)
    ).scalar_one()
    wanted = select(table).where(of_project, table.c.counts.contains(f'"{FAULT}": {{'))
    faulty = map(_to_file, connection.execute(wanted.order_by(table.c.kind, table.c.path)))
    left_out = tuple(file.fault for file in faulty if file.fault is not None)
    return Coverage(files=files, left_out=left_out)


def read_hours(
    connection: Connection, project: str, since: int | None = None, until: int | None = None
) -> list[KnownHour]:
    """Return the hours of a span, in order."""
    table = schema.lake_hours
    wanted = select(table).where(in_project(table.c.project_id, project))
    if since is not None:
        wanted = wanted.where(table.c.start >= since)
    if until is not None:
        wanted = wanted.where(table.c.start < until)
    return [_to_hour(row) for row in connection.execute(wanted.order_by(table.c.start))]


def _to_hour(row: Any) -> KnownHour:  # noqa: ANN401 - a row of any statement with its columns
    spans = json.loads(row.spans)
    earlier = tuple(spans.pop(EARLIER, ()))
    return KnownHour(
        start=row.start,
        seq=row.seq,
        spans={int(number): tuple(span) for number, span in spans.items()},
        earlier=earlier,
        counts=json.loads(row.counts),
        matched=row.matched,
        arrived=[tuple(arrival) for arrival in json.loads(row.arrived)],
    )


def set_lake(transaction: Transaction, project: str, lake: Lake, now: int, actor: str) -> bool:
    """Connect a project with a lake, or change its lake; return whether anything changed.

    Files are read again if their columns have other meanings than before.
    """
    connection = transaction.connection
    project_id = transaction.project(project)
    text = lake.to_json()
    before = read_lake(connection, project)
    if before is not None and before.to_json() == text:
        return False
    if before is None and _has_events(connection, project_id):
        raise UsageError(
            f"events were ingested into the project {project!r}, so it cannot read a lake, too",
            hint="use another project: --project NAME",
            code="lake_ingested",
        )
    connection.execute(delete(schema.lakes).where(schema.lakes.c.project_id == project_id))
    connection.execute(insert(schema.lakes), {"project_id": project_id, "text": text})
    if before is not None:
        # With another stamp, each file is one that has changed.
        files = schema.lake_files
        for kind in ("rankings", "labels"):
            if before.sources.get(kind) != lake.sources.get(kind) or (
                (before.reach, before.within, before.timezone)
                != (lake.reach, lake.within, lake.timezone)
            ):
                connection.execute(
                    update(files)
                    .where(files.c.project_id == project_id, files.c.kind == kind)
                    .values(stamp="")
                )
    entry = AuditEntry(now, actor, "lake.set", project)
    insert_audit(connection, project_id, entry)
    return True


def _has_events(connection: Connection, project_id: int) -> bool:
    wanted = (
        select(schema.counters.c.count)
        .where(
            schema.counters.c.project_id == project_id,
            schema.counters.c.reason == "accepted",
        )
        .limit(1)
    )
    return connection.execute(wanted).first() is not None


def store_scan(
    transaction: Transaction,
    project: str,
    *,
    files: Sequence[KnownFile],
    removed: Collection[tuple[str, str]],
    hours: Sequence[SeenHour],
) -> int:
    """Store what was found in the files of a lake that are new or have changed.

    Args:
        transaction: The transaction.
        project: The name of the project.
        files: The files that were read.
        removed: The kinds and paths of files that are gone.
        hours: The hours that these files have or had, as they are now.

    Returns:
        The number under which the hours changed.
    """
    connection = transaction.connection
    project_id = transaction.project(project)
    before = _totals(connection, project)
    seq = transaction.next_seq()
    table = schema.lake_files
    for kind, path in {*removed, *((file.kind, file.file.path) for file in files)}:
        connection.execute(
            delete(table).where(
                table.c.project_id == project_id, table.c.kind == kind, table.c.path == path
            )
        )
    insert_rows(connection, table, [(project_id, *_write_file(file)) for file in files])
    _store_hours(transaction, project, project_id, seq, hours)
    after = _totals(connection, project)
    for code in {*before, *after}:
        change = after[code] - before[code]
        if code == "pending":
            transaction.pending[project_id] += change
        elif change:
            transaction.counts[project_id, code] += change
    _count_versions(connection, project, project_id)
    return seq


def _write_file(known: KnownFile) -> tuple[Any, ...]:
    """Return the row of a file, without its project."""
    counts = {**known.counts, **({FAULT: as_dict(known.fault)} if known.fault else {})}
    file, times = known.file, (known.first, known.last)
    stored = (known.kind, file.path, file.size, file.stamp, known.seen, known.rows)
    return (*stored, *times, json.dumps(counts))


def _store_hours(
    transaction: Transaction,
    project: str,
    project_id: int,
    seq: int,
    hours: Sequence[SeenHour],
) -> None:
    connection, table = transaction.connection, schema.lake_hours
    hour_of = {hour.start: hour for hour in read_hours(connection, project)} if hours else {}
    for hour in hours:
        spans = {
            transaction.context(project_id, content): list(span)
            for content, span in hour.spans.items()
        }
        old = hour_of.get(hour.start)
        arrived = [] if old is None else list(old.arrived)
        for number, (count, *_) in spans.items():
            added = count - (0 if old is None else old.spans.get(number, (0,))[0])
            if added > 0:
                arrived.append((seq, number, added))
        connection.execute(
            delete(table).where(table.c.project_id == project_id, table.c.start == hour.start)
        )
        written = json.dumps(spans | ({EARLIER: hour.earlier} if hour.earlier else {}))
        counts = json.dumps(dict(hour.counts))
        row = (hour.start, seq, written, counts, hour.matched, json.dumps(arrived))
        insert_rows(connection, table, [(project_id, *row)])


def _totals(connection: Connection, project: str) -> Counter[str]:
    """Add up the counts of all files and hours."""
    totals: Counter[str] = Counter()
    rows = matched = 0
    for file in read_files(connection, project):
        totals.update(file.counts)
        rows += file.counts.get("accepted", 0) if file.kind == "labels" else 0
    for hour in read_hours(connection, project):
        totals.update(hour.counts)
        matched += hour.matched
    totals["pending"] = rows - matched
    return totals


def _count_versions(connection: Connection, project: str, project_id: int) -> None:
    """Set the numbers of rankings of all contexts, and the times of the first and the last."""
    spans = _add_spans(read_hours(connection, project))
    table = schema.contexts
    columns = (table.c.context_id, table.c.rankings, table.c.first, table.c.last)
    stored = connection.execute(select(*columns).where(table.c.project_id == project_id)).all()
    for number, *before in stored:
        count, first, last = spans.get(number, (0, None, None))
        if before != [count, first, last]:
            connection.execute(
                update(table)
                .where(table.c.context_id == number)
                .values(rankings=count, first=first, last=last)
            )


def _add_spans(hours: Iterable[KnownHour]) -> dict[int, tuple[int, int, int]]:
    """Add up the rankings of hours by context, with the times of the first and the last."""
    spans: dict[int, tuple[int, int, int]] = {}
    for hour in hours:
        for number, (count, first, last) in hour.spans.items():
            so_far = spans.get(number, (0, first, last))
            spans[number] = (so_far[0] + count, min(so_far[1], first), max(so_far[2], last))
    return spans


def find_wrong_count(connection: Connection) -> str | None:
    """Compare the counts of lakes with those of their hours; return what differs, if anything."""
    for project in list_lakes(connection):
        table = schema.contexts
        columns = (table.c.context_id, table.c.rankings, table.c.first, table.c.last)
        wanted = select(*columns).where(
            in_project(table.c.project_id, project), table.c.rankings != 0
        )
        stored = {number: tuple(span) for number, *span in connection.execute(wanted)}
        if stored != _add_spans(read_hours(connection, project)):
            return "the number of rankings of a lake is wrong"
    return None


def list_contents(contexts: Mapping[int, Context]) -> Iterator[tuple[int, Content]]:
    """List the numbers of contexts with their contents."""
    for number, context in contexts.items():
        yield number, (context.model, context.version, context.environment, context.attributes)


def find_contents(contexts: Mapping[int, Context]) -> dict[Content, int]:
    """Return the numbers of contexts by their contents."""
    return {content: number for number, content in list_contents(contexts)}
