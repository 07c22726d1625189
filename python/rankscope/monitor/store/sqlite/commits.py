"""Commits in groups, and checkpoints beside the thread that writes."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from concurrent.futures import Future

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.connection import driver_of, telling_faults
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from rankscope.monitor.store.tables.transaction import Transaction

    T = TypeVar("T")
    from pathlib import Path

    from sqlalchemy import Connection


@record(frozen=True, slots=True)
class Job:
    """A piece of work that waits to be committed.

    Args:
        work: What it does within a transaction.
        size: How many events it stores.
        future: What is told of it.
        since: When it came, on the monotonic clock.
    """

    work: Callable[[Transaction], Any]
    size: int
    future: Future[Any]
    since: float


class GroupCommitter:
    """Commits jobs in groups, in the order in which they came.

    Args:
        commit: Does all jobs of a group in one transaction and gives what each of them returns,
            once that is on the disk.
        tidy: Does what is to be done now and then, after a group was answered.
        seconds: How long the first job of a group waits for others.
        events: How many events make a group that does not wait.
        queue: How many events may wait.
    """

    def __init__(
        self,
        commit: Callable[[list[Callable[[Transaction], Any]]], list[Any]],
        tidy: Callable[[], None],
        *,
        seconds: float,
        events: int,
        queue: int,
    ) -> None:
        self._commit = commit
        self._tidy = tidy
        self._seconds = seconds
        self._events = events
        self._most = queue
        self._jobs: deque[Job] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._is_closing = False
        self._failure: FileError | None = None
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="rankscope-writer", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> FileError | None:
        """Why nothing more is written, if that is so."""
        return self._failure

    @property
    def waiting(self) -> int:
        """How many events wait."""
        return self._waiting

    def submit(self, work: Callable[[Transaction], T], size: int) -> Future[T]:
        """Let a job wait for its turn.

        Raises:
            FileError: Too many wait already, nothing more is written, or this is a child of the
                process that writes.
        """
        if os.getpid() != self._process:
            raise FileError(
                f"expected process {self._process}, which opened the store, found its child",
                hint="open stores after the process has forked",
                code="store_closed",
            )
        job: Job = Job(work, size, Future(), time.monotonic())
        with self._changed:
            if self._failure is not None:
                raise self._failure
            if self._is_closing:
                raise FileError("expected an open store, found it closed", code="store_closed")
            if self._waiting and self._waiting + size > self._most:
                raise FileError(
                    f"expected at most {self._most} events to wait, found {self._waiting}",
                    hint="send them again later",
                    code="store_overloaded",
                )
            self._jobs.append(job)
            self._waiting += size
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Do what waits, and stop."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        if os.getpid() == self._process:
            self._thread.join()

    def _run(self) -> None:
        while group := self._gather():
            running = [job for job in group if job.future.set_running_or_notify_cancel()]
            self._do(running)
            if self._failure is not None:
                continue
            try:
                self._tidy()
            except FileError as error:
                self._note(error)
            except Exception as error:  # noqa: BLE001 - the thread has to go on, or say why not
                self._failure = FileError(
                    f"expected to tidy up, found {type(error).__name__}: {error}",
                    hint="open the store again",
                    code="store_failed",
                )

    def _gather(self) -> list[Job]:
        """Wait for the jobs of the next group; there are none once this is closed."""
        with self._changed:
            while not self._jobs and not self._is_closing:
                self._changed.wait()
            if not self._jobs:
                return []
            until = self._jobs[0].since + self._seconds
            while self._waiting < self._events and not self._is_closing:
                if not self._changed.wait(until - time.monotonic()):
                    break
            group = [self._jobs.popleft()]
            size = group[0].size
            while self._jobs and size + self._jobs[0].size <= self._events:
                group.append(self._jobs.popleft())
                size += group[-1].size
            self._waiting -= size
            return group

    def _do(self, group: list[Job]) -> None:
        if not group:
            return
        if self._failure is not None:
            _refuse(group, self._failure)
            return
        try:
            answers = self._commit([job.work for job in group])
        except FileError as error:
            self._note(error)
            _refuse(group, error)
        except Exception as error:  # noqa: BLE001 - whatever a job raises is for who sent it
            # One job has failed, and took the others of its transaction with it.
            if len(group) == 1:
                _refuse(group, error)
            else:
                for job in group:
                    self._do([job])
        else:
            for job, answer in zip(group, answers, strict=True):
                job.future.set_result(answer)

    def _note(self, error: FileError) -> None:
        if error.code in STOPPING:
            self._failure = error


STOPPING = frozenset({"store_failed", "store_damaged"})
"""Codes after which nothing more is written: what the disk holds is not known any more."""


def _refuse(group: list[Job], error: Exception) -> None:
    for job in group:
        job.future.set_exception(error)


AFTER_BYTES = 16 << 20


class Checkpointer:
    """Keeps the log short: most of it is copied by a thread, the rest by the one that writes.

    Args:
        path: The store.
        connection: The connection that writes.
    """

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path = path
        self._connection = connection
        self._next = AFTER_BYTES
        self._copying: threading.Thread | None = None
        self._fault: FileError | None = None

    @property
    def log_bytes(self) -> int:
        """The size of the log."""
        log = self._path.with_name(f"{self._path.name}-wal")
        return log.stat().st_size if log.exists() else 0

    def advance(self) -> None:
        """Do what is due, between two transactions of the connection that writes.

        Raises:
            FileError: The disk fails.
        """
        if self._copying is None:
            if self.log_bytes >= self._next:
                self._copying = threading.Thread(target=self._copy, name="rankscope-checkpoint")
                self._copying.start()
        elif not self._copying.is_alive():
            self.close()
            if self._fault is not None:
                raise self._fault
            self._cut()
            # Where a reader keeps the log from being cut, it is not tried again at once.
            self._next = self.log_bytes + AFTER_BYTES

    def close(self) -> None:
        """Wait for the thread."""
        if self._copying is not None:
            self._copying.join()
            self._copying = None

    def _copy(self) -> None:
        """Copy what no reader needs any more, while new transactions are added."""
        try:
            with telling_faults(self._path), self._connection.engine.connect() as connection:
                driver_of(connection).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except FileError as error:
            self._fault = error

    def _cut(self) -> None:
        """Copy the rest, and begin the log anew; readers of an older moment are not waited for."""
        driver = driver_of(self._connection)
        with telling_faults(self._path):
            wait = driver.execute("PRAGMA busy_timeout").fetchone()[0]
            driver.execute("PRAGMA busy_timeout=0")
            try:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                driver.execute(f"PRAGMA busy_timeout={wait}")
