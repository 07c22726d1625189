"""A store in one SQLite file, with a write-ahead log."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Unpack

from rankscope.errors import FileError
from rankscope.monitor.store.commits import GroupCommitter, Grouping
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.log.tally import check_tally
from rankscope.monitor.store.sqlite.checkpoints import Checkpointer
from rankscope.monitor.store.sqlite.connection import (
    STOPS,
    connect_sqlite,
    converted_errors,
    driver_of,
)
from rankscope.monitor.store.sqlite.files import (
    ENDINGS,
    SQLITE,
    beside,
    locate_store,
    make_private,
    refuse_network,
    size_of,
    sync_data,
)
from rankscope.monitor.store.sqlite.high_water import (
    MARK,
    HighWater,
    Mark,
    accept_loss,
    check_mark,
    sync_folder,
    write_facts,
)
from rankscope.monitor.store.sqlite.lock import InodeLock, WriterLock
from rankscope.monitor.store.sqlite.secrets import SecretFile
from rankscope.monitor.store.sqlite.startup import inspect_store, make_tables, read_facts
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.store.tables.outbox import list_secret_ids
from rankscope.monitor.store.tables.revisions import upgrade_tables
from rankscope.monitor.store.tables.version import damaged
from rankscope.monitor.store.tables.windows import check_windows
from rankscope.monitor.store.transaction import NumberCache, Transaction
from rankscope.monitor.store.writers import Ask, BorrowedWriter, GroupWriter

BUSY_SECONDS = 5.0
TRIES = 3
WRITE_NUMBER = "UPDATE meta SET value = ? WHERE name = ?"


def open_sqlite_reader(
    path: str | os.PathLike[str], *, is_for_upgrade: bool = False
) -> SQLiteReader:
    """Open a store to read it, also while another process writes to it."""
    file = locate_store(path)
    if not file.is_file():
        raise _no_store(file, "there is no store")
    if not file.stat().st_size:
        raise _no_store(file, "the file is empty, so it is not a store")
    reader = SQLiteReader(file)
    reader.is_for_upgrade = is_for_upgrade
    reader.read_mark()
    return reader


class SQLiteReader(StoreReader):
    """Reads a store in a SQLite file.

    Args:
        path: The file.
        busy_seconds: How long to wait for a lock that another process holds.

    Attributes:
        is_for_upgrade: Whether the store may be of an earlier revision.
    """

    is_for_upgrade = False

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        super().__init__(connect_sqlite(path, writes=False, busy_seconds=busy_seconds))
        self.path = path
        self._secrets = SecretFile(path)

    @property
    def url(self) -> str:
        """The URL by which other processes can open it, too."""
        return f"{SQLITE}{self.path.absolute()}"

    def find_secret(self, secret_id: str) -> Secret | None:
        """Find the secret of a webhook by its id, `None` where it is missing, as in a backup."""
        return self._secrets.find(secret_id)

    def read_mark(self) -> Mark:
        """Read the id of the store, and the numbers of its last event and transaction."""
        with self.engine.connect() as connection:
            return read_facts(connection, self.path, is_for_upgrade=self.is_for_upgrade)

    def copy(self, part: Path) -> Mark:
        """Copy the store as it is at one moment to an empty file, which is then on the disk."""
        with converted_errors(part), self.engine.connect() as connection:
            # From here on, all is of one moment.
            mark = read_facts(connection, self.path, is_for_upgrade=self.is_for_upgrade)
            if not self.is_for_upgrade:  # which may change what the tally is of
                check_tally(connection)
            with closing(sqlite3.connect(part)) as copy:
                driver_of(connection).backup(copy)
            opened = os.open(part, os.O_RDWR)
            try:
                sync_data(opened)
            finally:
                os.close(opened)
        return mark

    def verify(self) -> None:
        """Read the whole store."""
        with self.engine.connect() as connection:
            found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
        if found != "ok":
            raise damaged(f"{found:.120}", str(self.path))
        self.query(check_windows)
        self.verify_log()


class SQLiteStore(SQLiteReader, GroupWriter):
    """A store in a SQLite file; see `Store` for its guarantees.

    One thread of one process writes, and commits in groups: what is acknowledged is in the log, and
    the number of its transaction in the file `.high-water`, and both are synced. Reading needs no
    lock. Only the owner of the files may read them.

    Args:
        path: The file, which is made if it does not exist.
        accept_loss: Open a store although transactions that it acknowledged are lost; they are
            counted in `lost_commits`, and their events in `lost_events`.
        before_upgrade: Upgrade a store of an earlier revision, after calling this with it.
        busy_seconds: How long a transaction waits for a lock that another process holds.
        grouping: How transactions are committed together; see `GroupCommitter`.

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
        before_upgrade: Callable[[StoreReader], object] | None = None,
        busy_seconds: float = BUSY_SECONDS,
        **grouping: Unpack[Grouping],
    ) -> None:
        file = locate_store(path)
        self._cache = NumberCache()
        self._is_open = self._is_whole = self._has_deleted = False
        if not file.parent.is_dir():
            raise _no_store(file, "the folder of the store does not exist")
        refuse_network(file)
        super().__init__(file, busy_seconds)
        self.is_for_upgrade = before_upgrade is not None
        with ExitStack() as stack:
            stack.enter_context(closing(WriterLock(beside(file, ".lock"))))
            self._high_water = stack.enter_context(closing(HighWater(beside(file, MARK))))
            mark = self._read_mark(accept_loss=accept_loss)
            has_log = size_of(beside(file, "-wal")) > 0
            is_empty = not size_of(file)
            if is_empty and not accept_loss:
                # A new store is not made where another one has acknowledged events.
                check_mark(None, mark, file, has_log=has_log)
            make_private(file)
            for ending in ENDINGS:
                if beside(file, ending).exists():
                    make_private(beside(file, ending))
            lock = stack.enter_context(closing(InodeLock(file)))
            is_as_closed = not has_log and not is_empty and self._high_water.is_as_closed(file)
            found = inspect_store(
                file,
                busy_seconds,
                is_as_closed=is_as_closed,
                is_for_upgrade=self.is_for_upgrade,
            )
            if not accept_loss:
                check_mark(found, mark, file, has_log=has_log)
            if before_upgrade is not None:
                before_upgrade(self)
            engine = connect_sqlite(file, writes=True, busy_seconds=busy_seconds)
            stack.callback(self._finish)  # after the connection, whose end empties the log
            self._connection = stack.enter_context(engine.connect())
            self._mark = self._prepare(found, mark, accepts=accept_loss)
            if before_upgrade is not None:
                self._mark = self._upgrade(self._mark)
            self._high_water.start(self._mark)
            if is_empty:
                sync_folder(file.parent)
            # Secrets are left over where their file could not be written before. If it is damaged,
            # only webhooks are affected, and events can still be stored.
            used = self.query(list_secret_ids)
            with suppress(FileError):
                self._secrets.keep(used)
            self._checkpointer = stack.enter_context(
                closing(Checkpointer(file, self._connection, lock))
            )
            self._committer = GroupCommitter(self._commit, self._tidy, **grouping)
            self._resources = stack.pop_all()
        self._is_open = True

    def _read_mark(self, *, accept_loss: bool) -> Mark | None:
        try:
            return self._high_water.read()
        except FileError:
            if not accept_loss:
                raise
            return None

    def _prepare(self, found: Mark | None, mark: Mark | None, *, accepts: bool) -> Mark:
        """Make the tables of a new store, and record a loss."""
        with self._connection.begin():
            stored = make_tables(self._connection) if found is None else found
            if accepts:
                stored = accept_loss(self._connection, stored, mark)
        return stored

    def _upgrade(self, mark: Mark) -> Mark:
        """Upgrade the tables in one transaction, which has a number like any other."""
        with self._connection.begin():
            if not upgrade_tables(self._connection):
                return mark
            write_facts(self._connection, last_commit=mark.commit + 1)
        return Mark(mark.store, mark.seq, mark.commit + 1)

    @property
    def last_seq(self) -> int:
        """The number of the last event that is acknowledged."""
        return self._mark.seq

    @property
    def log_bytes(self) -> int:
        """The size of the log."""
        return self._checkpointer.log_bytes

    def close(self) -> None:
        """Commit what was submitted, and close the files."""
        if self._is_open:
            self._is_open = False
            self._committer.close()
            self._is_whole = self.failure is None
            self._resources.close()

    def _finish(self) -> None:
        """Note how the store is closed, unless it failed, or a log is left for the next opening."""
        if self._is_whole and not size_of(beside(self.path, "-wal")):
            self._high_water.finish(self._mark, self.path)

    def forget_deleted(self) -> None:
        """Wait until the log has nothing of what was deleted; a reader may keep it for longer."""
        for _ in range(TRIES):
            # What follows a transaction is done before the next one begins.
            self.probe().result()
            if not self._has_deleted:
                return

    def _tidy(self) -> None:
        """Keep the log short, and without what was deleted."""
        if self._has_deleted:
            self._has_deleted = not self._checkpointer.clear()
        else:
            self._checkpointer.advance()

    def _commit(self, works: list[Callable[[Transaction], Any]]) -> list[Any]:
        """Do the work of a group in one transaction, which is on the disk when this returns."""
        with self._connection.begin():
            before = driver_of(self._connection).total_changes
            transaction = Transaction(self._connection, self._mark.seq, self._cache)
            results = [work(transaction) for work in works]
            transaction.flush()
            mark = self._number(transaction, before)
            for secret_id, secret in transaction.secrets.items():
                self._secrets.add(secret_id, secret)
            used = list_secret_ids(self._connection) if transaction.changes_secrets else None
        if mark is not self._mark:
            try:
                self._high_water.write(mark)
            except OSError as error:
                raise FileError(
                    f"the disk may not have stored the high-water mark ({error})",
                    hint=f"check the disk; {STOPS}",
                    code="store_failed",
                    file=str(self.path),
                ) from error
        self._mark = mark
        self._cache.update(transaction.new_numbers)
        self._has_deleted |= transaction.deletes
        if used is not None:
            # Secrets that cannot be removed now are removed when the store is opened next.
            with suppress(FileError):
                self._secrets.keep(used)
        return results

    def _number(self, transaction: Transaction, changes: int) -> Mark:
        """Write the numbers of a transaction and of its last event.

        A transaction that changes nothing has no number: nothing of it can be lost.
        """
        before = self._mark
        if driver_of(self._connection).total_changes == changes:
            return before
        mark = Mark(before.store, transaction.seq, before.commit + 1)
        numbers = [(str(mark.commit), "last_commit")]
        if mark.seq != before.seq:
            numbers.append((str(mark.seq), "last_seq"))
        self._connection.exec_driver_sql(WRITE_NUMBER, numbers)
        return mark


class BorrowedStore(SQLiteReader, BorrowedWriter):
    """A store that another process writes: this one reads the file, and asks that one to write."""

    def __init__(self, path: Path, ask: Ask) -> None:
        super().__init__(path)
        self._ask = ask


def _no_store(path: Path, message: str) -> FileError:
    hint = "check the path"
    if path.exists():
        hint += "; if the store was there, restore a backup"
    return FileError(message, hint=hint, code="io", file=str(path))
