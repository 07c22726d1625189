"""Writes to a store: each change is a piece of work that is done in a transaction of its writer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial

from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.sqlite.reader import StoreReader
from rankscope.monitor.store.tables.events import prepare, store_events
from rankscope.monitor.store.tables.keys import insert_key, revoke_key
from rankscope.monitor.store.tables.retention import (
    AT_ONCE,
    delete_pending,
    delete_rankings,
    find_pending,
    mark_deleted,
)
from rankscope.monitor.store.tables.windows import drop_windows, insert_configuration, put_windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future
    from typing import TypeVar

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.outcome import Outcome
    from rankscope.monitor.store.keys import ApiKey
    from rankscope.monitor.store.tables.transaction import Transaction
    from rankscope.monitor.store.tables.windows import CellRow, HourRow, OpenHour, Progress

    T = TypeVar("T")


class StoreWriter(StoreReader, ABC):
    """Writes to what it reads.

    Every piece of work is a function of this package and what it is given, so that it can be sent
    to another process, too.
    """

    _keys_version = 0

    @property
    def keys_version(self) -> int:
        """How often keys have been made or revoked since the store was opened."""
        return self._keys_version

    @abstractmethod
    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Do other work in a transaction of the writer, together with whatever it writes then.

        Args:
            work: What it does. It may be called twice, the first time without effect, if other
                work of the same transaction fails.
            size: How many events it stores.

        Raises:
            FileError: It cannot be taken now.
        """

    def append(
        self,
        project: str,
        events: Sequence[Event],
        rejected: Mapping[str, int] | None = None,
    ) -> list[Outcome]:
        """Store events, and count those that were rejected before, by code.

        Args:
            project: The name of the project.
            events: The events; they are stored together, or not at all.
            rejected: By code, how many were rejected before.

        Returns:
            What became of each, once that is on the disk.

        Raises:
            FileError: They are not stored, or not surely.
        """
        return self.submit(project, events, rejected).result()

    def submit(
        self,
        project: str,
        events: Sequence[Event],
        rejected: Mapping[str, int] | None = None,
    ) -> Future[list[Outcome]]:
        """Do as `append` does, without waiting.

        Raises:
            FileError: They cannot be taken now.
        """
        batch = prepare(events)
        work = partial(store_events, project=project, batch=batch, rejected=dict(rejected or {}))
        return self.transact(work, max(1, len(batch)))

    def add_key(self, key: ApiKey, actor: str) -> None:
        """Store a key, and who made it.

        Raises:
            FileError: It is not stored, or not surely.
        """
        self._change_keys(partial(insert_key, key=key, actor=actor))

    def revoke_key(self, project: str, key_id: str, now: int, actor: str) -> bool:
        """Let a key of a project open nothing any more, and say whether it opened something.

        Raises:
            FileError: That is not stored, or not surely.
        """
        return self._change_keys(
            partial(revoke_key, project=project, key_id=key_id, now=now, actor=actor)
        )

    def _change_keys(self, work: Callable[[Transaction], T]) -> T:
        try:
            return self.transact(work).result()
        finally:
            # Also where it fails: it may be on the disk all the same.
            self._keys_version += 1

    def configure(self, project: str, text: str, now: int, actor: str) -> None:
        """Store how a project is measured from now on; what was said before stays.

        Raises:
            FileError: It is not stored, or not surely.
        """
        self.transact(
            partial(insert_configuration, project=project, text=text, now=now, actor=actor)
        ).result()

    def put_windows(
        self,
        project: str,
        digest: bytes,
        *,
        replaced: Mapping[int, Sequence[int]],
        cells: Sequence[CellRow],
        hours: Sequence[HourRow],
        open_hours: Sequence[OpenHour],
        progress: Progress,
    ) -> None:
        """Put windows in the place of those that there were, and say how far that is.

        Raises:
            FileError: They are not stored, or not surely.
        """
        work = partial(
            put_windows,
            project=project,
            digest=digest,
            replaced=replaced,
            cells=cells,
            hours=hours,
            open_hours=open_hours,
            progress=progress,
        )
        self.transact(work).result()

    def drop_windows(self, project: str, keep: bytes) -> None:
        """Delete the windows of all configurations but one.

        Raises:
            FileError: That is not done, or not surely.
        """
        self.transact(partial(drop_windows, project=project, keep=keep)).result()

    def delete_before(self, project: str, time: int) -> Deleted:
        """Delete the rankings before a time, their labels, and labels before it without ranking.

        Raises:
            FileError: It cannot be done, or not all of it.
        """
        if project not in self.projects():
            return Deleted(0, 0)
        self.transact(partial(mark_deleted, project=project, time=time)).result()
        with self._engine.connect() as connection:
            pending = find_pending(connection, project, time)
        rankings = labels = 0
        for start in range(0, len(pending), AT_ONCE):
            some = pending[start : start + AT_ONCE]
            work = partial(delete_pending, project=project, seqs=some)
            labels += self.transact(work, AT_ONCE).result().labels
        while True:
            work = partial(delete_rankings, project=project, time=time)
            gone = self.transact(work, AT_ONCE).result()
            if not gone.rankings:
                return Deleted(rankings, labels)
            rankings += gone.rankings
            labels += gone.labels
