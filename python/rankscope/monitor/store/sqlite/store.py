"""A store in one file of SQLite, with a log that is written ahead."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from sqlalchemy import select

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.commits import Checkpointer, GroupCommitter
from rankscope.monitor.store.sqlite.connection import (
    STOPS,
    connect_sqlite,
    driver_of,
    telling_faults,
)
from rankscope.monitor.store.sqlite.files import (
    ENDINGS,
    PRIVATE,
    SQLITE,
    beside,
    locate_store,
    make_private,
    refuse_network,
)
from rankscope.monitor.store.sqlite.high_water import (
    HighWater,
    Mark,
    accept_loss,
    check_mark,
    sync_data,
    sync_folder,
)
from rankscope.monitor.store.sqlite.lock import InodeLock, WriterLock
from rankscope.monitor.store.sqlite.reader import StoreReader
from rankscope.monitor.store.sqlite.secrets import SecretFile
from rankscope.monitor.store.sqlite.startup import (
    find_wrong_count,
    inspect_store,
    make_tables,
    read_facts,
)
from rankscope.monitor.store.sqlite.upgrade import clean, upgrade
from rankscope.monitor.store.sqlite.writer import StoreWriter
from rankscope.monitor.store.tables.schema import VERSION, webhooks
from rankscope.monitor.store.tables.transaction import Known, Transaction
from rankscope.monitor.store.tables.windows import check_windows
from rankscope.writing import replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from types import TracebackType
    from typing import Any, Self, TypeVar

    from rankscope.monitor.store.keys import Secret

    T = TypeVar("T")

BUSY_SECONDS = 5.0


def open_sqlite_reader(path: str | os.PathLike[str]) -> SQLiteReader:
    """Open a store to read it, also while another process writes to it.

    Raises:
        FileError: There is none, it has a second hard link, or it is of another version.
    """
    file = locate_store(path)
    if not file.is_file():
        raise _no_store(file)
    if not file.stat().st_size:
        raise _no_store(file, "an empty file")
    reader = SQLiteReader(file, BUSY_SECONDS)
    with reader.connect() as connection:
        read_facts(connection, file)
    return reader


class SQLiteReader(StoreReader):
    """Reads a store in a file of SQLite.

    Args:
        path: The file.
        busy_seconds: How long reading waits for a lock that another process holds.
    """

    def __init__(self, path: Path, busy_seconds: float) -> None:
        super().__init__(connect_sqlite(path, writes=False, busy_seconds=busy_seconds))
        self._path = path
        self._secrets = SecretFile(path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def url(self) -> str:
        """Where it is, for other processes, too."""
        return f"{SQLITE}{self._path.absolute()}"

    def find_secret(self, secret_id: str) -> Secret | None:
        """Find the secret of a webhook by its id, `None` where it is missing, as in a backup.

        Raises:
            FileError: The file of secrets cannot be read.
        """
        return self._secrets.find(secret_id)

    def backup(self, path: str | os.PathLike[str]) -> int:
        """Copy the store to a new file while it goes on.

        The copy has its own `.high-water`, and all that was acknowledged up to one moment. It has
        no secrets of webhooks, and only its owner may read it.

        Returns:
            The number of the last event in the copy.

        Raises:
            FileError: There is a file already, or the copy cannot be written; nothing is left of it
                then.
        """
        target = Path(path).absolute()
        marked = beside(target, ".high-water")
        there = [each.name for each in (target, marked) if os.path.lexists(each)]
        if there or not target.parent.is_dir():
            raise FileError(
                f"expected a new file in a folder, found {there[0] if there else 'no folder'}",
                hint="name another file",
                code="io",
                file=str(target),
            )
        is_marked = False
        try:
            with telling_faults(target), replacing(target, mode=PRIVATE) as part:
                mark = self._copy(part)
                is_marked = True
                with closing(HighWater(marked)) as high_water:
                    high_water.start(mark)
        except BaseException:
            if is_marked:
                marked.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)
        return mark.seq

    def _copy(self, part: Path) -> Mark:
        """Copy the store to an empty file as it is at one moment, and put that on the disk."""
        with self._engine.connect() as connection:
            mark = read_facts(connection, self._path)  # from here on, all is of one moment
            with closing(sqlite3.connect(part)) as copy:
                driver_of(connection).backup(copy)
        _sync_file(part)
        return mark

    def verify(self) -> None:
        """Read all of the store.

        Raises:
            FileError: It is damaged.
        """
        with self._engine.connect() as connection:
            found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
            fault = find_wrong_count(connection) if found == "ok" else found
        if fault is not None:
            raise FileError(
                f"expected a store, found one that is damaged ({fault:.120})",
                hint="restore a backup",
                code="store_damaged",
                file=str(self._path),
            )
        self.query(check_windows)
        for project in self.projects():
            for _ in self.read(project):
                pass


class SQLiteStore(SQLiteReader, StoreWriter):
    """A store in a file of SQLite; see `Store` for what it promises.

    One process writes, by one thread, which commits in groups: what is acknowledged is in the log,
    and the number of its transaction in the file `.high-water`, and both are synced. Reading needs
    no lock. Only the owner of the files may read them.

    Args:
        path: The file; it is made if it is not there.
        accept_loss: Open a store although transactions that it acknowledged are lost; they are
            counted in `lost_commits`, and their events in `lost_events`.
        group_seconds: How long the first event of a group waits for others.
        group_events: How many events make a group that does not wait.
        queue_events: How many events may wait to be committed.
        busy_seconds: How long a transaction waits for a lock that another process holds.

    Raises:
        FileError: Another process writes, or the store is damaged, of another version, on a network
            file system, or has lost what it acknowledged.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from rankscope.monitor.events.event import Items, Label, Ranking
        >>> shown = Ranking("e1", "r1", 0, Items(("a", "b"), (1, 2)))
        >>> with TemporaryDirectory() as folder, SQLiteStore(f"{folder}/events.db") as store:
        ...     store.append("music", [shown, Label("e2", "r1", "b", 5, ("click",))])
        ...     store.append("music", [shown])
        ...     [label.labels for label in store.find_labels("music", "r1")]
        [Outcome(status='accepted', seq=1), Outcome(status='accepted', seq=2)]
        [Outcome(status='duplicate', seq=1)]
        [('click',)]
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        accept_loss: bool = False,
        group_seconds: float = 0.005,
        group_events: int = 500,
        queue_events: int = 20_000,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._path = locate_store(path)
        self._known = Known()
        self._is_open = False
        if not self._path.parent.is_dir():
            raise _no_store(self._path)
        refuse_network(self._path)
        super().__init__(self._path, busy_seconds)
        with ExitStack() as stack:
            stack.enter_context(closing(WriterLock(beside(self._path, ".lock"))))
            self._high_water = stack.enter_context(
                closing(HighWater(beside(self._path, ".high-water")))
            )
            mark = self._read_mark(accepts=accept_loss)
            has_log = _size_of(beside(self._path, "-wal")) > 0
            is_empty = not _size_of(self._path)
            if is_empty and not accept_loss:
                # A new store is not made where another has acknowledged events.
                check_mark(None, mark, self._path, has_log=has_log)
            make_private(self._path)
            for ending in ENDINGS:
                if beside(self._path, ending).exists():
                    make_private(beside(self._path, ending))
            stack.enter_context(closing(InodeLock(self._path)))
            found = inspect_store(self._path, busy_seconds)
            if not accept_loss:
                stored = None if found is None else found[0]
                check_mark(stored, mark, self._path, has_log=has_log)
            engine = connect_sqlite(self._path, writes=True, busy_seconds=busy_seconds)
            self._connection = stack.enter_context(engine.connect())
            self._mark = self._prepare(found, mark, accepts=accept_loss)
            self._high_water.start(self._mark)
            if is_empty:
                sync_folder(self._path.parent)
            clean(self._connection, self._path)
            self._drop_unused_secrets()
            self._checkpointer = stack.enter_context(
                closing(Checkpointer(self._path, self._connection))
            )
            self._committer = GroupCommitter(
                self._commit,
                self._checkpointer.advance,
                seconds=group_seconds,
                events=group_events,
                queue=queue_events,
            )
            self._resources = stack.pop_all()
        self._is_open = True

    def _read_mark(self, *, accepts: bool) -> Mark | None:
        try:
            return self._high_water.read()
        except FileError:
            if not accepts:
                raise
            return None

    def _prepare(self, found: tuple[Mark, int] | None, mark: Mark | None, *, accepts: bool) -> Mark:
        """Make the tables of a new store, upgrade those of an older one, and record a loss."""
        with self._connection.begin():
            if found is None:
                stored = make_tables(self._connection)
            else:
                stored, version = found
                if version < VERSION:
                    stored = upgrade(self._connection, stored, version, self._secrets)
            if accepts:
                stored = accept_loss(self._connection, stored, mark)
        return stored

    def _drop_unused_secrets(self) -> None:
        """Remove the secrets of webhooks that were removed when the file could not be written."""
        with self._connection.begin():
            used = list(self._connection.execute(select(webhooks.c.secret_id)).scalars())
        # A file that is damaged is a matter of the webhooks, and keeps no event out.
        with suppress(FileError):
            self._secrets.keep(used)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def last_seq(self) -> int:
        """The number of the last event that is acknowledged."""
        return self._mark.seq

    @property
    def failure(self) -> FileError | None:
        """Why nothing more is written, if that is so."""
        return self._committer.failure

    @property
    def waiting(self) -> int:
        """How many events wait to be committed."""
        return self._committer.waiting

    @property
    def log_bytes(self) -> int:
        """The size of the log."""
        return self._checkpointer.log_bytes

    def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
        """Do other work in a transaction of the writer, together with whatever it writes then."""
        return self._committer.submit(work, size)

    def close(self) -> None:
        """Store what was submitted, and let go."""
        if self._is_open:
            self._is_open = False
            self._committer.close()
            self._resources.close()

    def _commit(self, works: list[Callable[[Transaction], Any]]) -> list[Any]:
        """Do the works of a group in one transaction; this returns once it is on the disk."""
        with self._connection.begin():
            transaction = Transaction(self._connection, self._mark, self._known, self._secrets)
            answers = [work(transaction) for work in works]
            mark = transaction.finish()
        if mark != self._mark:
            try:
                self._high_water.write(mark)
            except OSError as error:
                raise FileError(
                    f"expected the disk to keep the mark, found that it may not ({error})",
                    hint=f"look at the disk; {STOPS}",
                    code="store_failed",
                    file=str(self._path),
                ) from error
        self._mark = mark
        transaction.keep()
        return answers


def _sync_file(path: Path) -> None:
    opened = os.open(path, os.O_RDWR)
    try:
        sync_data(opened)
    finally:
        os.close(opened)


def _size_of(path: Path) -> int:
    """Return the size of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def _no_store(path: Path, found: str = "none") -> FileError:
    return FileError(
        f"expected a store, found {found}",
        hint="check the path; if the store was there, restore a backup"
        if path.exists()
        else "check the path",
        code="io",
        file=str(path),
    )
