"""The operations of a store, each one declared once, whatever database is behind it.

Most of them are functions in `tables/`, which `reads` and `writes` make methods of the classes
here. A backend adds the connections, and a transaction that is durable once it has returned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from rankscope import _core
from rankscope.errors import FileError
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Event
from rankscope.monitor.events.outcome import Outcome, Outcomes
from rankscope.monitor.store.ahead import read_ahead
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.log.append import store_events
from rankscope.monitor.store.log.deletion import delete_before, erase_rankings
from rankscope.monitor.store.log.reading import CHUNK, LogReader
from rankscope.monitor.store.log.removal import replace_set
from rankscope.monitor.store.log.tally import check_tally
from rankscope.monitor.store.log.verification import check_log
from rankscope.monitor.store.methods import asks, reads, writes
from rankscope.monitor.store.records import Changes, Chosen, Chunk, Deleted
from rankscope.monitor.store.tables import (
    incidents,
    outbox,
    rules,
    setup,
    windows,
)
from rankscope.monitor.store.tables import keys as key_table
from rankscope.monitor.store.tables import people as people_table
from rankscope.monitor.store.tables import projects as project_table
from rankscope.monitor.store.tables import versions as version_table
from rankscope.monitor.store.tables.statements import LAST
from rankscope.monitor.store.transaction import Transaction

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


KEY_WRITES = {
    key_table.insert_key,
    key_table.revoke_key,
    key_table.rotate_key,
    people_table.add_person,
    setup.empty_project,
}
"""After which the keys that are kept in memory are read again."""


class StoreReader(ABC):
    """Reads the events of projects, and everything that was computed from them.

    Each method reads the store as of one moment, while another process may write to it.

    Args:
        engine: Makes connections that read.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL by which other processes can open it, too."""

    @abstractmethod
    def find_secret(self, secret_id: str) -> Secret | None:
        """Find the secret of a webhook by its id, `None` where it is missing, as in a backup."""

    @abstractmethod
    def copy(self, part: Path) -> Any:  # noqa: ANN401 - of a backend
        """Copy the store to an empty file."""

    @abstractmethod
    def verify(self) -> None:
        """Read the whole store, and raise `FileError` if it is damaged."""

    def verify_log(self) -> None:
        """Read all blocks, and compare them with what the store says of them.

        Raises:
            FileError: Something is missing or damaged.
        """
        self.query(check_tally)
        self.query(check_log)

    def query(self, read: Callable[[Connection], T]) -> T:
        """Call a function that reads with a connection."""
        with self.engine.connect() as connection:
            return read(connection)

    @property
    def last_seq(self) -> int:
        """The number of the last event that was stored."""
        return self.query(project_table.read_last_seq)

    def read(
        self,
        project: str,
        since: int | None = None,
        until: int | None = None,
        size: int = CHUNK,
        *,
        event_ids: bool = False,
    ) -> Iterator[Chunk]:
        """Read rankings from one time to before another, with their labels, as columns.

        Args:
            project: The name of the project.
            since: The earliest time, in microseconds since 1970.
            until: The first time that is not read.
            size: The number of rankings in a chunk.
            event_ids: Whether chunks have the ids of events.

        Returns:
            Rankings by time, then by `ranking_id`; labels in the order in which they count: by
            time, then by `event_id`.
        """

        def read() -> Generator[Chunk]:
            with self.engine.connect() as connection:
                yield from self.open_log(connection, project).read(
                    since, until, size, event_ids=event_ids
                )

        return read_ahead(read())

    def open_log(self, connection: Connection, project: str) -> LogReader:
        """Return the reader of the rankings of a project, as of the moment of a connection."""
        return LogReader(connection, project)

    find_ranking = asks(LogReader.find_ranking)
    find_labels = asks(LogReader.find_labels)
    has_labels = asks(LogReader.has_labels)
    count_late = asks(LogReader.count_late)

    def list_documents(
        self, project: str, ranking_ids: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the documents of those of some rankings that are quickly found."""
        with self.engine.connect() as connection:
            return self.open_log(connection, project).list_documents(ranking_ids)

    def touched(self, project: str, after: int, length: int = 1) -> Changes:
        """Find the starts of the windows of a length that have rankings or labels after an event.

        Args:
            project: The name of the project.
            after: The number of the event; 0 finds all windows that have rankings.
            length: The length of a window, in microseconds.
        """
        with self.engine.connect() as connection:
            seq = project_table.read_last_seq(connection)
            return Changes(seq, self.open_log(connection, project).find_changes(after, length))

    def count_by_hour(self, project: str, since: int, until: int) -> list[tuple[int, int, int]]:
        """Count the rankings from one time to before another by hour and context.

        Returns:
            The start of the hour, the number of the context, and the number of rankings.
        """
        with self.engine.connect() as connection:
            return sorted(self.open_log(connection, project).count_by_hour(since, until))

    projects = reads(project_table.list_projects)
    counters = reads(project_table.read_counters)
    count_replaced = reads(project_table.count_replaced)
    count_pending = reads(project_table.count_pending)
    deleted_before = reads(project_table.read_deleted_before)
    configuration = reads(project_table.read_configuration)
    configurations = reads(project_table.list_configurations)
    bins = reads(project_table.read_bins)
    lost_events = reads(project_table.read_lost_events)
    lost_commits = reads(project_table.read_lost_commits)

    contexts = reads(version_table.read_contexts)
    versions = reads(version_table.list_versions)
    find_newest_time = reads(version_table.find_newest_time)

    progress = reads(windows.read_progress)
    cells = reads(windows.read_cells)
    newest_cells = reads(windows.read_newest_cells)
    hours = reads(windows.read_hours)
    open_hours = reads(windows.read_open_hours)

    list_rules = reads(rules.list_rules)
    find_rule = reads(rules.find_rule)

    list_incidents = reads(incidents.list_incidents)
    find_incident = reads(incidents.find_incident)
    list_changes = reads(incidents.list_changes)
    count_incidents = reads(incidents.count_incidents)

    list_notifications = reads(outbox.list_notifications)
    list_due = reads(outbox.list_due)
    count_notifications = reads(outbox.count_notifications)
    count_dead = reads(outbox.count_dead)
    list_recipients = reads(outbox.list_recipients)
    list_channel_deliveries = reads(outbox.list_channel_deliveries)
    find_webhook = reads(outbox.find_webhook)

    find_key = reads(key_table.find_key)
    keys = reads(key_table.list_keys)
    all_keys = reads(key_table.list_all_keys)
    audit = reads(key_table.list_audit)
    read_audit = reads(key_table.read_audit)
    has_audit = reads(key_table.has_audit)

    people = reads(people_table.list_people)
    find_person = reads(people_table.find_person)
    has_people = reads(people_table.has_people)
    find_session = reads(people_table.find_session)
    list_sessions = reads(people_table.list_sessions)
    find_access = reads(people_table.find_access)
    roles = reads(people_table.list_roles)


class Store(StoreReader):
    """Stores events durably, each one once, by project.

    - Everything that a method has written when it returns, and that a future with a result has
      written, is on the disk.
    - Sending an event again changes nothing. Of two events with one id the first is kept, and so
      is the first of two rankings with one `ranking_id`.
    - A batch is stored as a whole or not at all, and its outcomes are in its order.
    - Everything that is not stored is counted, by reason.
    - No result depends on the backend, nor on the order in which events came.

    Methods that write raise `FileError` with a code: `store_overloaded` and `store_busy` (try
    again), `store_full` (the disk is full), `store_failed` (nothing more is written) and
    `store_closed`.
    """

    _keys_version = 0

    @abstractmethod
    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Do some work in a transaction of the writer, together with other work.

        Args:
            work: A function that takes the transaction. It may be called twice, the first time
                without effect, if other work of the same transaction fails. To write from another
                process, it has to be a function of a module with its arguments.
            size: The number of events it stores.

        Raises:
            FileError: The work cannot be accepted now.
        """

    @property
    @abstractmethod
    def failure(self) -> FileError | None:
        """The reason why nothing more is written, if that is so."""

    def probe(self) -> Future[None]:
        """Write something that changes nothing; the future has a result once it is durable.

        Raises:
            FileError: It cannot be accepted now.
        """
        return self.transact(project_table.rewrite_fact)

    def take_evaluation(self) -> bool:
        """Take the lease of the one process that evaluates, and return whether this one has it.

        A process keeps the lease until it closes the store or ends. Where only one process can
        write, that process has it.

        Raises:
            FileError: The store cannot be read now.
        """
        return True

    @property
    def is_evaluator(self) -> bool:
        """Whether this process has the lease, as far as it knows without asking."""
        return True

    def append(
        self,
        project: str,
        events: Sequence[Event] | _core.EventBatch,
        rejected: Mapping[str, int] | None = None,
    ) -> Sequence[Outcome]:
        """Store events, and return their outcomes once they are durable.

        Args:
            project: The name of the project.
            events: The events, as a batch or not; all of them are stored, or none.
            rejected: How many events were rejected before they came here, by code.

        Raises:
            FileError: They are not stored, or not certainly.
        """
        return self.submit(project, events, rejected).result()

    def submit(
        self,
        project: str,
        events: Sequence[Event] | _core.EventBatch,
        rejected: Mapping[str, int] | None = None,
    ) -> Future[Outcomes]:
        """Store events as `append` does, without waiting.

        Raises:
            FileError: They cannot be accepted now.
        """
        try:
            batch = events if isinstance(events, _core.EventBatch) else pack_events(events)
        except (OverflowError, ValueError) as error:  # no number of an event, or no text
            failed: Future[Outcomes] = Future()
            failed.set_exception(error)
            return failed
        work = partial(store_events, project=project, batch=batch, rejected=dict(rejected or {}))
        return self.transact(work, max(1, len(batch)))

    def replace_set(
        self,
        project: str,
        environment: str,
        events: Sequence[Event],
        rejected: Mapping[str, int] | None = None,
    ) -> Deleted:
        """Replace the rankings of a validation or training set, with all their labels, at once.

        Readers find the old set or the new one, and never parts of both.

        Args:
            project: The name of the project.
            environment: The set, `validation` or `training`.
            events: The rankings of the new set, and labels that were logged with them.
            rejected: As in `append`.

        Raises:
            UsageError: An id is that of another ranking or label, outside the set.
            FileError: The set stays as it was, or it isn't certain that it was replaced.
        """
        work = partial(
            replace_set,
            project=project,
            environment=environment,
            batch=pack_events(events),
            rejected=dict(rejected or {}),
        )
        return self.transact(work).result()

    def delete_before(self, project: str, time: int) -> Deleted:
        """Delete the rankings before a time with their labels, and earlier labels without ranking.

        Raises:
            FileError: Not everything was deleted.
        """
        done = delete_before(self, project, time)
        self.forget_deleted()
        return done

    def erase(self, project: str, chosen: Chosen) -> Deleted:
        """Delete rankings by what they are, with all their labels; see `erase_rankings`.

        Raises:
            FileError: Not all of them were deleted.
        """
        done = erase_rankings(self, project, chosen)
        self.forget_deleted()
        return done

    def delete_project(self, project: str, audit: AuditEntry) -> Deleted:
        """Delete a project with all that belongs to it; who changed what stays, and this with it.

        Raises:
            FileError: Not all of it was deleted. It isn't set up any more, and this can be called
                again.
        """
        done = Deleted(0, 0)
        try:
            self._empty_project(project, audit)
        finally:
            self._keys_version += 1
        while True:
            done = done.add(delete_before(self, project, LAST))
            if self._forget_project(project):
                break
        self.forget_deleted()
        return done

    def forget_deleted(self) -> None:
        """Wait until the backend has removed what is deleted from its own files, too."""

    def note_write(self, function: Callable[..., Any]) -> None:
        """Note that a function has written, here or for another process."""
        self._keys_version += function in KEY_WRITES

    @property
    def keys_version(self) -> int:
        """How often keys or accounts were made, or keys changed, since the store was opened."""
        return self._keys_version

    add_key = writes(key_table.insert_key)
    revoke_key = writes(key_table.revoke_key)
    rotate_key = writes(key_table.rotate_key)
    record_audit = writes(key_table.record_audit)

    add_person = writes(people_table.add_person)
    change_person = writes(people_table.change_person)
    renew_session = writes(people_table.renew_session)
    end_sessions = writes(people_table.end_sessions)
    set_roles = writes(people_table.set_roles)

    configure = writes(project_table.insert_configuration)
    put_windows = writes(windows.replace_windows)
    drop_windows = writes(windows.drop_windows)

    change_projects = writes(setup.change_projects)
    _empty_project = writes(setup.empty_project)
    _forget_project = writes(setup.forget_project)
    save_rules = writes(rules.save_rules)
    remove_rule = writes(rules.remove_rule)

    update_notification = writes(outbox.update_notification)
    expand_notification = writes(outbox.expand_notification)
    set_webhook = writes(outbox.set_webhook)
    remove_webhook = writes(outbox.remove_webhook)
    disable_webhook = writes(outbox.disable_webhook)
