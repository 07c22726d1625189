"""What a store does, whatever database is behind it."""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from os import PathLike
    from typing import TypeVar

    from sqlalchemy import Connection

    from rankscope.errors import FileError
    from rankscope.monitor.events.event import Event, Label, Ranking
    from rankscope.monitor.events.outcome import Outcome
    from rankscope.monitor.store.keys import ApiKey, AuditEntry, Secret
    from rankscope.monitor.store.records import Deleted, Touched, Version
    from rankscope.monitor.store.tables.chunks import Chunk, Context
    from rankscope.monitor.store.tables.transaction import Transaction
    from rankscope.monitor.store.tables.windows import CellRow, HourRow, OpenHour, Progress

    T = TypeVar("T")


class Store(Protocol):
    """Events, durable and each one once, by project.

    - What `append` has returned, and every future of `submit` that has a result, is on the disk.
    - An event that is sent again changes nothing. The first of two with one id stays, and so does
      the first of two rankings with one `ranking_id`.
    - A batch is stored whole or not at all, and its answers are in its order.
    - Everything that is not stored is counted, by reason.
    - No answer tells which of two stores it is from, nor in which order the events came.

    Methods raise `FileError` with a code: `store_overloaded` and `store_busy` (ask again),
    `store_full` (the disk is), `store_failed` (nothing more is written), `store_closed`.
    """

    def append(
        self,
        project: str,
        events: Sequence[Event],
        rejected: Mapping[str, int] | None = None,
    ) -> list[Outcome]:
        """Store events, and count those that were rejected before, by code."""

    def submit(
        self,
        project: str,
        events: Sequence[Event],
        rejected: Mapping[str, int] | None = None,
    ) -> Future[list[Outcome]]:
        """Do as `append` does, without waiting."""

    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Do other work in a transaction of the writer, together with whatever it writes then."""

    def query(self, read: Callable[[Connection], T]) -> T:
        """Read something else, all of it of one moment."""

    @property
    def url(self) -> str:
        """Where it is, for other processes, too."""

    @property
    def last_seq(self) -> int:
        """The number of the last event that is acknowledged."""

    @property
    def failure(self) -> FileError | None:
        """Why nothing more is written, if that is so."""

    def projects(self) -> list[str]:
        """Give the projects that have something stored, by name."""

    def counters(self, project: str) -> dict[str, int]:
        """Give how often what was taken or discarded, by reason."""

    def lost_events(self) -> int:
        """Give how many events were acknowledged and are lost, as was accepted."""

    def lost_commits(self) -> int:
        """Return how many acknowledged transactions are lost, as was accepted."""

    def find_secret(self, secret_id: str) -> Secret | None:
        """Find the secret of a webhook by its id, `None` where it is missing, as in a backup."""

    def contexts(self, project: str) -> dict[int, Context]:
        """Give what rankings have in common, by its number."""

    def versions(self, project: str) -> list[Version]:
        """List the versions that have rankings, by model, and those of one in the order of time.

        What was deleted does not count. No ranking is read for it.
        """

    def read(
        self,
        project: str,
        since: int | None = None,
        until: int | None = None,
        size: int = ...,
        *,
        event_ids: bool = False,
    ) -> Iterator[Chunk]:
        """Read the rankings from one time to before another, with their labels, as columns.

        They come in the order of time, then of `ranking_id`; labels in the order in which they
        count: time, then `event_id`. All is of one moment.
        """

    def find_ranking(self, project: str, ranking_id: str) -> Ranking | None:
        """Find a ranking."""

    def find_labels(self, project: str, ranking_id: str) -> list[Label]:
        """Find the labels of a ranking, in the order in which they count."""

    def count_pending(self, project: str) -> int:
        """Count the labels of rankings that are not there."""

    def add_key(self, key: ApiKey, actor: str) -> None:
        """Store a key, and who made it."""

    def revoke_key(self, project: str, key_id: str, now: int, actor: str) -> bool:
        """Let a key of a project open nothing any more, and say whether it opened something."""

    def find_key(self, key_id: str) -> ApiKey | None:
        """Find a key by its id, whichever project it opens."""

    def all_keys(self) -> list[ApiKey]:
        """List the keys of all projects, those that were revoked among them."""

    @property
    def keys_version(self) -> int:
        """How often keys have been made or revoked since the store was opened."""

    def keys(self, project: str) -> list[ApiKey]:
        """List the keys of a project, those that were revoked among them, the oldest first."""

    def audit(self, project: str) -> list[AuditEntry]:
        """List what was changed in a project, the oldest first."""

    def configuration(self, project: str) -> str | None:
        """Give how a project is measured, as it was said last."""

    def configure(self, project: str, text: str, now: int, actor: str) -> None:
        """Store how a project is measured from now on; what was said before stays."""

    def progress(self, project: str, digest: bytes) -> Progress | None:
        """Tell how far the windows of a configuration are up to date."""

    def cells(
        self,
        project: str,
        digest: bytes,
        since: int | None = None,
        until: int | None = None,
        *,
        length: int = ...,
        slice: str | None = None,  # noqa: A002 - the word for it
    ) -> list[CellRow]:
        """Give the cells of windows from one time to before another, of one slice or of all.

        They come in the order of their keys; windows are of hours where no length is given. One
        that is not what was stored raises `FileError` with the code `store_damaged`.
        """

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

    def hours(
        self, project: str, digest: bytes, since: int | None = None, until: int | None = None
    ) -> list[HourRow]:
        """Give what is known besides cells of the hours from one time to before another."""

    def open_hours(self, project: str, digest: bytes) -> list[OpenHour]:
        """Give the hours that were not final when they were summed, in order."""

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

        All cells of the windows that are `replaced`, by length the starts, are gone. Of the hours,
        those are open that are among `open_hours`. All of it is done or nothing.
        """

    def drop_windows(self, project: str, keep: bytes) -> None:
        """Delete the windows of all configurations but one."""

    def touched(self, project: str, after: int, length: int = 1) -> Touched:
        """Tell whose windows are to be computed again: what changed after a number.

        Windows have a length in microseconds, and begin at multiples of it since 1970.
        """

    def delete_before(self, project: str, time: int) -> Deleted:
        """Delete the rankings before a time, their labels, and labels before it without ranking."""

    def deleted_before(self, project: str) -> int | None:
        """Give the latest time before which events were deleted, `None` if none ever were."""

    def backup(self, path: str | PathLike[str]) -> int:
        """Copy the store to a new file while it goes on, and give the last number in the copy."""

    def verify(self) -> None:
        """Read all of the store, and raise `FileError` where it is damaged."""

    def close(self) -> None:
        """Store what was submitted, and let go."""
