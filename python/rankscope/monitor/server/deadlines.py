"""The deadlines of all reads that requests wait for."""

from __future__ import annotations

import time
from asyncio import CancelledError
from contextlib import contextmanager
from threading import Lock

from rankscope.monitor.store.deadline import Deadline, limit_reads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    T = TypeVar("T")


class Deadlines:
    """Limits how long reads take, and stops all of them when the service closes.

    Args:
        clock: Returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: set[Deadline] = set()
        self._lock = Lock()
        self._running = 0
        self._is_stopped = False

    @property
    def running(self) -> int:
        """How many threads are reading."""
        return self._running

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Apply a deadline to the reads of this task, and stop them if the task is cancelled."""
        deadline = Deadline(seconds, self._clock)
        with self._lock:
            self._open.add(deadline)
            if self._is_stopped:
                deadline.stop()
        try:
            with limit_reads(deadline):
                yield
        except CancelledError:
            # A thread may still read for this task, and nobody waits for it any more.
            deadline.stop()
            raise
        finally:
            with self._lock:
                self._open.discard(deadline)

    def count(self, read: Callable[[], T]) -> T:
        """Read something in this thread, counted as `running` meanwhile."""
        with self._lock:
            self._running += 1
        try:
            return read()
        finally:
            with self._lock:
                self._running -= 1

    def stop(self) -> None:
        """End all reads at their next check, and those that begin later at their first one."""
        with self._lock:
            self._is_stopped = True
            for deadline in self._open:
                deadline.stop()
