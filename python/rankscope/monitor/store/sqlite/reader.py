"""Reads a store, in snapshots of its own."""

from __future__ import annotations

import json

from sqlalchemy import exists, select, union

from rankscope.monitor.events.event import LABEL_KINDS, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.records import Touched
from rankscope.monitor.store.tables import keys as keyring
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables import windows as window_table
from rankscope.monitor.store.tables.chunks import CHUNK, Context, read_ahead, read_chunks
from rankscope.monitor.store.tables.documents import unpack
from rankscope.monitor.store.tables.versions import list_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from sqlalchemy import ColumnElement, Connection, Engine, Executable

    from rankscope.monitor.store.keys import ApiKey, AuditEntry
    from rankscope.monitor.store.records import Version
    from rankscope.monitor.store.tables.chunks import Chunk
    from rankscope.monitor.store.tables.windows import CellRow, HourRow, OpenHour, Progress

    T = TypeVar("T")

FIRST, LAST = -(2**63), 2**63 - 1


class StoreReader:
    """Reads what is stored.

    Args:
        engine: Makes connections that do not write.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def connect(self) -> Connection:
        """Begin to read, as of one moment."""
        return self._engine.connect()

    def close(self) -> None:
        """Let go."""
        self._engine.dispose()

    @property
    def last_seq(self) -> int:
        """The number of the last event that was stored."""
        with self._engine.connect() as connection:
            return read_last_seq(connection)

    def query(self, read: Callable[[Connection], T]) -> T:
        """Read something else, all of it of one moment."""
        with self._engine.connect() as connection:
            return read(connection)

    def projects(self) -> list[str]:
        """Give the projects that have something stored, by name."""
        table = schema.projects
        with self._engine.connect() as connection:
            return list(connection.execute(select(table.c.name).order_by(table.c.name)).scalars())

    def counters(self, project: str) -> dict[str, int]:
        """Give how often what was taken or discarded, by reason."""
        table = schema.counters
        wanted = select(table.c.reason, table.c.count).where(is_of(table.c.project_id, project))
        with self._engine.connect() as connection:
            return dict(map(tuple, connection.execute(wanted.order_by(table.c.reason))))

    def lost_events(self) -> int:
        """Give how many events were acknowledged and are lost, as was accepted."""
        with self._engine.connect() as connection:
            return _read_count(connection, "lost_events")

    def lost_commits(self) -> int:
        """Return how many acknowledged transactions are lost, as was accepted when it was opened.

        They are counted whatever they wrote: events, keys, rules, configurations or windows.
        """
        with self._engine.connect() as connection:
            return _read_count(connection, "lost_commits")

    def contexts(self, project: str) -> dict[int, Context]:
        """Give what rankings have in common, by its number."""
        table = schema.contexts
        with self._engine.connect() as connection:
            rows = connection.execute(select(table).where(is_of(table.c.project_id, project)))
            return {row.context_id: _context_of(row) for row in rows}

    def versions(self, project: str) -> list[Version]:
        """List the versions that have rankings, by model, and those of one in the order of time."""
        with self._engine.connect() as connection:
            return list_versions(connection, project)

    def read(
        self,
        project: str,
        since: int | None = None,
        until: int | None = None,
        size: int = CHUNK,
        *,
        event_ids: bool = False,
    ) -> Iterator[Chunk]:
        """Read the rankings from one time to before another, with their labels, as columns.

        Args:
            project: The name of the project.
            since: From which time on, in microseconds since 1970.
            until: Up to before which time.
            size: How many rankings a chunk has.
            event_ids: Whether chunks have the ids of events.

        Returns:
            Rankings in the order of time, then of `ranking_id`; all of one moment.
        """
        ends = FIRST if since is None else since, LAST if until is None else until - 1
        shown = schema.rankings
        wanted = is_of(shown.c.project_id, project), shown.c.time.between(*ends)
        return read_ahead(read_chunks(self._engine, *wanted, size, event_ids=event_ids))

    def find_ranking(self, project: str, ranking_id: str) -> Ranking | None:
        """Find a ranking."""
        shown, said, common = schema.rankings, schema.events, schema.contexts
        wanted = (
            select(shown, said.c.event_id, common)
            .join(said, said.c.seq == shown.c.seq)
            .join(common, common.c.context_id == shown.c.context_id)
            .where(is_of(shown.c.project_id, project), shown.c.ranking_id == ranking_id)
        )
        with self._engine.connect() as connection:
            row = connection.execute(wanted).one_or_none()
        if row is None:
            return None
        context = _context_of(row)
        return Ranking(
            row.event_id,
            row.ranking_id,
            row.time,
            unpack(row.packed),
            row.query_key,
            row.user_id,
            context.model,
            context.version,
            context.environment,
            context.attributes,
        )

    def find_labels(self, project: str, ranking_id: str) -> list[Label]:
        """Find the labels of a ranking, in the order in which they count."""
        told = schema.labels
        wanted = (
            select(told)
            .where(is_of(told.c.project_id, project), told.c.ranking_id == ranking_id)
            .order_by(told.c.time, told.c.event_id)
        )
        with self._engine.connect() as connection:
            return [
                Label(
                    row.event_id,
                    row.ranking_id,
                    row.doc_id,
                    row.time,
                    tuple(json.loads(row.labels)),
                    row.value,
                    LABEL_KINDS[row.kind],
                )
                for row in connection.execute(wanted)
            ]

    def count_pending(self, project: str) -> int:
        """Count the labels of rankings that are not there."""
        table = schema.projects
        wanted = select(table.c.pending).where(table.c.name == project)
        with self._engine.connect() as connection:
            return connection.execute(wanted).scalar_one_or_none() or 0

    def deleted_before(self, project: str) -> int | None:
        """Give the latest time before which events were deleted."""
        table = schema.projects
        wanted = select(table.c.deleted_before).where(table.c.name == project)
        with self._engine.connect() as connection:
            return connection.execute(wanted).scalar_one_or_none()

    def find_key(self, key_id: str) -> ApiKey | None:
        """Find a key by its id, whichever project it opens."""
        with self._engine.connect() as connection:
            return keyring.find_key(connection, key_id)

    def all_keys(self) -> list[ApiKey]:
        """List the keys of all projects, those that were revoked among them."""
        with self._engine.connect() as connection:
            return keyring.list_all_keys(connection)

    def keys(self, project: str) -> list[ApiKey]:
        """List the keys of a project, those that were revoked among them, the oldest first."""
        with self._engine.connect() as connection:
            return keyring.list_keys(connection, project)

    def audit(self, project: str) -> list[AuditEntry]:
        """List what was changed in a project, the oldest first."""
        with self._engine.connect() as connection:
            return keyring.list_audit(connection, project)

    def touched(self, project: str, after: int, length: int = 1) -> Touched:
        """Tell whose windows are to be computed again: what changed after a number."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        shown, told = schema.rankings, schema.labels
        time = shown.c.time
        # What is left over is never negative, although times may be.
        start = time - (time % length + length) % length
        if after <= 0:
            # All rankings, and so all that have labels: the index by time has them.
            wanted: Executable = select(start).where(is_of(shown.c.project_id, project)).distinct()
        else:
            # Not the column itself, so that no index of all events of the project is read for it.
            came = select(start).where(is_of(shown.c.project_id + 0, project), shown.c.seq > after)
            labelled = (
                select(start)
                .join(
                    told,
                    (told.c.project_id == shown.c.project_id)
                    & (told.c.ranking_id == shown.c.ranking_id),
                )
                .where(is_of(told.c.project_id + 0, project), told.c.seq > after)
            )
            wanted = union(came, labelled)
        with self._engine.connect() as connection:
            seq = read_last_seq(connection)
            times = connection.execute(wanted).scalars().all()
        return Touched(seq, np.unique(np.array(times, dtype=np.int64)))

    def configuration(self, project: str) -> str | None:
        """Give how a project is measured, as it was said last."""
        with self._engine.connect() as connection:
            return window_table.read_configuration(connection, project)

    def progress(self, project: str, digest: bytes) -> Progress | None:
        """Tell how far the windows of a configuration are up to date."""
        with self._engine.connect() as connection:
            return window_table.read_progress(connection, project, digest)

    def cells(
        self,
        project: str,
        digest: bytes,
        since: int | None = None,
        until: int | None = None,
        *,
        length: int = HOUR,
        slice: str | None = None,  # noqa: A002 - the word for it
    ) -> list[CellRow]:
        """Give the cells of windows from one time to before another, of one slice or of all."""
        with self._engine.connect() as connection:
            return window_table.read_cells(
                connection,
                project,
                digest,
                length=length,
                since=FIRST if since is None else since,
                until=LAST if until is None else until,
                slice=slice,
            )

    def newest_cells(
        self,
        project: str,
        digest: bytes,
        since: int,
        *,
        length: int,
        slice: str,  # noqa: A002 - the word for it
    ) -> list[CellRow]:
        """Return the newest final window of each version in production, from a time on."""
        with self._engine.connect() as connection:
            return window_table.read_newest_cells(
                connection, project, digest, length=length, since=since, slice=slice
            )

    def hours(
        self, project: str, digest: bytes, since: int | None = None, until: int | None = None
    ) -> list[HourRow]:
        """Give what is known besides cells of the hours from one time to before another."""
        ends = FIRST if since is None else since, LAST if until is None else until
        with self._engine.connect() as connection:
            return window_table.read_hours(connection, project, digest, *ends)

    def open_hours(self, project: str, digest: bytes) -> list[OpenHour]:
        """Give the hours that were not final when they were summed, in order."""
        with self._engine.connect() as connection:
            return window_table.read_open_hours(connection, project, digest)


def _context_of(row: Any) -> Context:  # noqa: ANN401 - a row of any statement that has them
    attributes = tuple(sorted(json.loads(row.attributes).items()))
    return Context(row.model, row.version, row.environment, attributes)


def is_of(column: ColumnElement[int], project: str) -> ColumnElement[bool]:
    """Whether a number of a project is that of the name."""
    table = schema.projects
    return column == select(table.c.project_id).where(table.c.name == project).scalar_subquery()


def is_pending() -> ColumnElement[bool]:
    """Whether a label is of a ranking that is not there."""
    shown, told = schema.rankings, schema.labels
    return ~exists().where(
        shown.c.project_id == told.c.project_id, shown.c.ranking_id == told.c.ranking_id
    )


def read_last_seq(connection: Connection) -> int:
    """Read the number of the last event that was ever stored."""
    return _read_count(connection, "last_seq")


def read_last_commit(connection: Connection) -> int:
    """Read the number of the last transaction."""
    return _read_count(connection, "last_commit")


def _read_count(connection: Connection, name: str) -> int:
    table = schema.meta
    wanted = select(table.c.value).where(table.c.name == name)
    return int(connection.execute(wanted).scalar_one())
