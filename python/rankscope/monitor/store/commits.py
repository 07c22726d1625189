"""Commits in groups: one thread of a process writes, and answers once a group is durable."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict, TypeVar

from rankscope.errors import FileError
from rankscope.monitor.store.transaction import Transaction

T = TypeVar("T")
Work: TypeAlias = Callable[[Transaction], Any]


class Grouping(TypedDict, total=False):
    """The settings of a `GroupCommitter`."""

    group_seconds: float
    group_events: int
    queue_events: int


STOPPING = frozenset({"store_failed", "store_damaged"})
"""Codes of errors after which nothing more is written: the content of the disk is unknown."""
OF_ONE_JOB = frozenset({"store_evaluated"})
"""Codes of errors that concern one job of a group, and not the store."""

LARGEST = 4
LONGEST = 0.05
"""The longest that a group waits for others because the one before took long, in seconds."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some work that waits to be committed.

    Args:
        work: The function that takes the transaction.
        size: The number of events it stores.
        future: Takes the result.
        since: When it came, on the monotonic clock.
    """

    work: Work
    size: int
    future: Future[Any]
    since: float


class GroupCommitter:
    """Commits jobs in groups, in the order in which they came.

    Args:
        commit: Does the work of a group in one transaction, and returns the results once they are
            on the disk.
        tidy: Called after each group.
        group_seconds: How long a job waits for the next one of its group. While more come, the
            first waits as long as the group before took, up to `LONGEST`: a transaction costs as
            much as a hundred events, so that a busy store makes larger ones.
        group_events: A group of this many events does not wait. Of what waits anyway, such as for
            the disk, `LARGEST` times as many are committed together.
        queue_events: The largest number of events that may wait.
    """

    def __init__(
        self,
        commit: Callable[[list[Work]], list[Any]],
        tidy: Callable[[], None],
        *,
        group_seconds: float = 0.005,
        group_events: int = 500,
        queue_events: int = 20_000,
    ) -> None:
        self._commit = commit
        self._tidy = tidy
        self._seconds = group_seconds
        self._took = 0.0
        self._events = group_events
        self._most = queue_events
        self._jobs: deque[Job] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._is_closing = False
        self.failure: FileError | None = None
        """The reason why nothing more is written, if that is so."""
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="rankscope-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The number of events that wait."""
        return self._waiting

    def submit(self, work: Callable[[Transaction], T], size: int) -> Future[T]:
        """Add a job to the queue."""
        if os.getpid() != self._process:
            raise FileError(
                f"the store was opened by process {self._process}, of which this is a child",
                hint="open stores after the process has forked",
                code="store_closed",
            )
        job: Job = Job(work, size, Future(), time.monotonic())
        with self._changed:
            if self.failure is not None:
                raise self.failure
            if self._is_closing:
                raise FileError("the store is closed", code="store_closed")
            if self._waiting and self._waiting + size > self._most:
                raise FileError(
                    f"{self._waiting} events wait to be stored already; the limit is {self._most}",
                    hint="send the events again later",
                    code="store_overloaded",
                )
            self._jobs.append(job)
            self._waiting += size
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Commit the jobs that wait, and stop."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        if os.getpid() == self._process:
            self._thread.join()

    def _run(self) -> None:
        while group := self._gather():
            running = [job for job in group if job.future.set_running_or_notify_cancel()]
            since = time.monotonic()
            self._do(running)
            self._took = time.monotonic() - since
            if self.failure is not None:
                continue
            try:
                self._tidy()
            except FileError as error:
                self._note(error)
            except Exception as error:  # noqa: BLE001 - the thread goes on, or reports why it cannot
                self.failure = FileError(
                    f"the log could not be copied: {type(error).__name__}: {error}",
                    hint="open the store again",
                    code="store_failed",
                )

    def _gather(self) -> list[Job]:
        """Wait for the next group; it is empty once this is closed."""
        with self._changed:
            while not self._jobs and not self._is_closing:
                self._changed.wait()
            if not self._jobs:
                return []
            until = self._jobs[0].since + max(self._seconds, min(self._took, LONGEST))
            while self._waiting < self._events and not self._is_closing:
                # Clients that wait for this very group send nothing more.
                if not self._changed.wait(min(until - time.monotonic(), self._seconds)):
                    break
            group = [self._jobs.popleft()]
            size = group[0].size
            while self._jobs and size + self._jobs[0].size <= LARGEST * self._events:
                group.append(self._jobs.popleft())
                size += group[-1].size
            self._waiting -= size
            return group

    def _do(self, group: list[Job]) -> None:
        if not group:
            return
        if self.failure is not None:
            _refuse(group, self.failure)
            return
        try:
            results = self._commit([job.work for job in group])
        except Exception as error:  # noqa: BLE001 - whatever a job raises is for its sender
            is_of_store = isinstance(error, FileError) and error.code not in OF_ONE_JOB
            if isinstance(error, FileError):
                self._note(error)
            if is_of_store or len(group) == 1:
                _refuse(group, error)
                return
            # One job has failed, which rolled back the others of its transaction.
            for job in group:
                self._do([job])
        else:
            for job, result in zip(group, results, strict=True):
                job.future.set_result(result)

    def _note(self, error: FileError) -> None:
        if error.code in STOPPING:
            self.failure = error


def _refuse(group: list[Job], error: Exception) -> None:
    for job in group:
        job.future.set_exception(error)
