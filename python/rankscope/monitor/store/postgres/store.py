"""A store in a PostgreSQL database, which several processes write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from sqlalchemy import func, select, update

from rankscope.errors import FileError, RankscopeError, UsageError
from rankscope.monitor.store.commits import GroupCommitter, Grouping
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.postgres.address import Address, read_address
from rankscope.monitor.store.postgres.connection import (
    REPEATED,
    connect_postgres,
    convert_error,
    wait_until,
)
from rankscope.monitor.store.postgres.lease import Lease, PostgresTransaction
from rankscope.monitor.store.postgres.startup import (
    SecretTable,
    check_store,
    list_tables,
    lock_number,
    lock_writers,
    prepare_store,
    read_oldest,
)
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.outbox import list_secret_ids
from rankscope.monitor.store.tables.version import (
    GENERATION,
    check_revision,
    damaged,
    find_head,
)
from rankscope.monitor.store.tables.windows import check_windows
from rankscope.monitor.store.transaction import NumberCache, Transaction
from rankscope.monitor.store.writers import Ask, BorrowedWriter, GroupWriter

if TYPE_CHECKING:
    from sqlalchemy import Connection


BUSY_SECONDS = 5.0
PAUSE = 0.1
"""Seconds before a transaction is repeated, or a lost connection is made again."""
UPGRADE_SECONDS, UPGRADE_PAUSE = 60.0, 1.0
"""For so long an upgrade is tried while others read its tables, with pauses in which they go on."""
KEY_SECONDS = 1.0
"""Keys that another process has made or revoked are noticed within this time."""
FIRST_COUNT, GROWTH = 1_000, 4
"""Rows are counted after so many events, and again when there are so many times more."""
LAST_SEQ = schema.meta.c.name == "last_seq"


def open_postgres_reader(url: str, *, is_for_upgrade: bool = False) -> PostgresReader:
    """Open a store to read it, while other processes write to it."""
    address = read_address(url)
    reader = PostgresReader(address)
    try:
        reader.query(partial(check_store, address=address, is_for_upgrade=is_for_upgrade))
    except BaseException:
        reader.close()
        raise
    return reader


def has_postgres_store(url: str) -> bool:
    """Return whether a database has a store, of whatever version."""
    address = read_address(url)
    with closing(PostgresReader(address)) as reader:
        return bool(reader.query(partial(list_tables, address=address)))


class PostgresReader(StoreReader):
    """Reads a store in a PostgreSQL database.

    Args:
        address: The database.
    """

    def __init__(self, address: Address) -> None:
        super().__init__(connect_postgres(address, writes=False))
        self.address = address

    @property
    def url(self) -> str:
        """The URL by which other processes can open it, with its password: never print it."""
        plain = self.address.url.set(drivername="postgresql")
        url = plain.update_query_dict({"schema": self.address.schema})
        return url.render_as_string(hide_password=False)

    def find_secret(self, secret_id: str) -> Secret | None:
        """Find the secret of a webhook by its id, `None` where it is missing, as in a backup."""
        return self.query(lambda connection: SecretTable(connection).find(secret_id))

    def copy(self, part: Path) -> NoReturn:
        """Raise an error that names the command of PostgreSQL that makes a backup."""
        schema_name, tool = self.address.schema, self.address.for_tools
        raise UsageError(
            "a store in PostgreSQL is backed up with pg_dump",
            hint=f"run `pg_dump --format=custom --schema={schema_name} "
            f"--exclude-table-data={schema_name}.secrets --file={part} '{tool}'`",
            code="store_backup",
            file=str(self.address),
        )

    def verify(self) -> None:
        """Read the whole store, and compare the counts and checksums that it keeps."""
        problem = self.query(_find_wrong_number)
        if problem is not None:
            raise damaged(problem, str(self.address))
        self.query(check_windows)
        self.verify_log()


class PostgresStore(PostgresReader, GroupWriter):
    """A store in a PostgreSQL database; see `Store` for its guarantees.

    Any number of processes can write. One transaction writes at a time, and commits in groups: what
    is acknowledged was committed with `synchronous_commit`. A lost connection is made again, and
    what was not committed is repeated. One process at a time evaluates (`take_evaluation`).

    Args:
        url: The URL of the database; see `read_address`. The tables are made if they do not exist.
        before_upgrade: Upgrade a store of an earlier revision, after calling this with it.
        busy_seconds: How long a transaction waits for other processes, or for a connection.
        grouping: How transactions are committed together; see `GroupCommitter`.

    Raises:
        UsageError: It is not the URL of a store.
        FileError: It cannot be reached, or is of another version.
    """

    def __init__(
        self,
        url: str,
        *,
        before_upgrade: Callable[[StoreReader], object] | None = None,
        busy_seconds: float = BUSY_SECONDS,
        **grouping: Unpack[Grouping],
    ) -> None:
        self._is_open = False
        address = read_address(url)
        super().__init__(address)
        self._busy_seconds = busy_seconds
        self._writing = connect_postgres(address, writes=True, busy_seconds=busy_seconds)
        self._connection: Connection | None = None
        self._is_down = False
        self._seq = 0
        self._counted = 0
        self._cache = NumberCache()
        self._keys = KeyWatch(self)
        self._revision, self._generation = find_head(), ""
        try:
            store = self._prepare(before_upgrade)
            with self._writing.begin() as connection:
                # The server counts the rows of a store that it has counted once.
                is_counted = connection.exec_driver_sql(
                    "SELECT reltuples >= 0 FROM pg_class WHERE oid = 'ids'::regclass"
                ).scalar_one()
                self._counted = lock_writers(connection)[0] if is_counted else 0
        except BaseException:
            super().close()
            raise
        self._lease = Lease(lock_number(f"rankscope evaluates {store}"))
        self._committer = GroupCommitter(self._commit, self._count_rows, **grouping)
        self._is_open = True

    @property
    def keys_version(self) -> int:
        """How often keys have been made or revoked, also by other processes a second ago."""
        return self._keys_version + self._keys.version

    def take_evaluation(self) -> bool:
        """Take the lease of the one process that evaluates, and return whether this one has it."""
        return self.transact(_take_lease).result()

    @property
    def is_evaluator(self) -> bool:
        """Whether this process has the lease, as far as it knows without asking."""
        return self._lease.is_held

    def close(self) -> None:
        """Commit what was submitted, and close the connections."""
        if self._is_open:
            self._is_open = False
            self._keys.close()
            self._committer.close()
            self._disconnect()
        self._writing.dispose()
        super().close()

    def _commit(self, works: list[Callable[[Transaction], Any]]) -> list[Any]:
        """Do the work of a group in one transaction, which is durable when this returns."""
        # While the database is known to be down, those that wait get their answer at once.
        until = time.monotonic() + (0.0 if self._is_down else self._busy_seconds)
        while True:
            try:
                results = self._commit_once(works)
            except NotCommittedError as failed:
                error = failed.error
                self._is_down = error.code == "store_unreachable"
                if not wait_until(until, PAUSE):
                    raise error from failed
            else:
                self._is_down = False
                return results

    def _commit_once(self, works: list[Callable[[Transaction], Any]]) -> list[Any]:
        """Try to commit a group."""
        is_committing = False
        try:
            if self._connection is None:
                self._connection = self._writing.connect()
            connection = self._connection
            with connection.begin() as opened:
                seq = self._lock(connection)
                transaction = PostgresTransaction(connection, seq, self._cache, self._lease)
                results = [work(transaction) for work in works]
                transaction.flush()
                self._finish(transaction, seq)
                is_committing = True
                opened.commit()
        except Exception as raised:
            error = convert_error(raised, self.address) or raised
            is_lost = getattr(error, "code", "") == "store_unreachable"
            state = getattr(raised if error is not raised else raised.__cause__, "sqlstate", None)
            if is_lost or (self._connection is not None and self._connection.invalidated):
                self._disconnect()
            if is_committing and is_lost:
                raise FileError(
                    "the connection was lost during a commit: it is not certain that it was stored",
                    hint="send the events again; what is stored already is not stored twice",
                    code="store_unreachable",
                    file=str(self.address),
                ) from raised
            if isinstance(error, FileError) and (is_lost or state in REPEATED):
                raise NotCommittedError(error) from raised
            if error is raised:
                raise
            raise error from raised
        self._cache.update(transaction.new_numbers)
        self._seq = transaction.seq
        return results

    def _count_rows(self) -> None:
        """Count rows for the planner of the server, whose own process is late for a new store."""
        if self._seq < max(FIRST_COUNT, GROWTH * self._counted) or self._connection is None:
            return
        self._counted = self._seq
        try:
            with self._connection.begin():
                self._connection.exec_driver_sql("ANALYZE (SKIP_LOCKED) ids, blocks, contexts")
        except FileError as error:
            if error.code == "store_unreachable":
                self._disconnect()

    def _finish(self, transaction: PostgresTransaction, seq: int) -> None:
        """Write the number of the last event, and the secrets of webhooks."""
        connection = transaction.connection
        secrets = SecretTable(connection)
        for secret_id, secret in transaction.secrets.items():
            secrets.add(secret_id, secret)
        if transaction.changes_secrets:
            secrets.keep(list_secret_ids(connection))
        if transaction.seq != seq:
            changed = update(schema.meta).where(LAST_SEQ)
            connection.execute(changed.values(value=str(transaction.seq)))

    def _prepare(self, before_upgrade: Callable[[StoreReader], object] | None) -> str:
        """Make, upgrade or check the tables, and return the id of the store."""
        if before_upgrade is not None:
            before_upgrade(self)
        until = time.monotonic() + UPGRADE_SECONDS
        while True:
            try:
                with self._writing.begin() as connection:
                    return prepare_store(
                        connection, self.address, is_upgrade=before_upgrade is not None
                    )
            except FileError as error:
                # Others read a table that has to change: they finish, and don't wait for long.
                is_busy = before_upgrade is not None and error.code == "store_busy"
                if not is_busy or not wait_until(until, UPGRADE_PAUSE):
                    raise

    def _lock(self, connection: Connection) -> int:
        """Keep others from writing, and return the number of the last event."""
        seq, revision, generation = lock_writers(connection)
        if generation != self._generation:
            self._cache.clear()
            self._generation = generation
        if revision != self._revision:
            try:
                check_revision(revision, read_oldest(connection), str(self.address))
            except FileError as error:
                raise FileError(
                    f"another process has upgraded the store to revision {revision}",
                    hint="start this one with the same release of rankscope",
                    code="store_failed",
                    file=str(self.address),
                ) from error
            self._revision = revision
        return seq

    def _disconnect(self) -> None:
        """Close the connection that writes; with it, its locks are released."""
        connection, self._connection = self._connection, None
        self._lease.lose()
        if connection is not None:
            with suppress(Exception):  # it may be lost already
                connection.close()


class NotCommittedError(Exception):
    """A transaction that did nothing, and can be repeated.

    Args:
        error: The error for the sender, if it is not repeated.
    """

    def __init__(self, error: FileError) -> None:
        super().__init__(error.message)
        self.error = error


class BorrowedPostgres(PostgresReader, BorrowedWriter):
    """A store that another process writes: this one reads it, and asks that one to write."""

    def __init__(self, url: str, ask: Ask) -> None:
        super().__init__(read_address(url))
        self._ask = ask


class KeyWatch:
    """Notices keys that other processes make and revoke, in a thread of its own.

    Args:
        store: The store of the keys.
    """

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._version = 0
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def version(self) -> int:
        """A number that changes with the keys; it is at most a second old."""
        if self._thread is None and not self._ending.is_set():
            self._look()
            self._thread = threading.Thread(target=self._run, name="rankscope-keys", daemon=True)
            self._thread.start()
        return self._version

    def close(self) -> None:
        """Stop."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(KEY_SECONDS):
            self._look()

    def _look(self) -> None:
        # While the database cannot be reached, no key can be made or revoked.
        with suppress(RankscopeError):
            self._version = self._store.query(_count_key_changes)


def _count_key_changes(connection: Connection) -> int:
    """Count the keys, those that are revoked, accounts, and how often projects were deleted."""
    keys, meta = schema.keys, schema.meta
    people = select(func.count()).select_from(schema.people).scalar_subquery()
    generation = select(meta.c.value).where(meta.c.name == GENERATION).scalar_subquery()
    counted = func.count() + func.count(keys.c.revoked) + people
    count, deleted = connection.execute(select(counted, generation).select_from(keys)).one()
    return int(count) + (int(deleted) << 32)


def _find_wrong_number(connection: Connection) -> str | None:
    """Return what is wrong with the number of the last event, if anything."""
    last = func.coalesce(func.max(schema.blocks.c.last_seq), 0)
    highest = int(connection.execute(select(last)).scalar_one())
    kept = int(connection.execute(select(schema.meta.c.value).where(LAST_SEQ)).scalar_one())
    return "an event has a number above the last one" if highest > kept else None


def _take_lease(transaction: Transaction) -> bool:
    return isinstance(transaction, PostgresTransaction) and transaction.take_lease()
