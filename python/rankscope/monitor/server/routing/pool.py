"""A pool of threads that read and change projects through their monitors."""

from __future__ import annotations

import asyncio
import time
from asyncio import CancelledError, Future
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from anyio import CapacityLimiter, to_thread

from rankscope.errors import DeadlineError, FileError, RankscopeError
from rankscope.monitor.links import Links
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.access.authenticator import Principal
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.deadline import Deadline, check_deadline, limit_reads
from rankscope.monitor.store.store import Store

T = TypeVar("T")
Place: TypeAlias = tuple[Links, tuple[str, ...], str, bytes]

if TYPE_CHECKING:
    from rankscope.monitor.server.routing.endpoint import Call


STATUSES = {
    "not_configured": 409,
    "no_administrator": 409,
    "open_windows": 409,
    "store_evaluated": 409,
    "unknown_ranking": 404,
    "no_channel": 404,
    "no_rule": 404,
    "no_view": 404,
    "no_incident": 404,
    "no_webhook": 404,
}
"""By code of an error, the status of the answer; 422 for all others."""


class MonitorPool:
    """Runs work on monitors in a bounded number of threads.

    Args:
        store: The store of the events.
        settings: Limits on threads, waiting reads and time.
        now: Returns the time, in microseconds since 1970 in UTC.
        deadlines: Limits how long reads take.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        now: Callable[[], int],
        deadlines: Deadlines | None = None,
    ) -> None:
        self._store = store
        self._now = now
        self._most, self._most_traces = settings.waiting_reads, settings.waiting_traces
        # By whether they are traces, how many reads wait or run.
        self._waiting = {False: 0, True: 0}
        # By project, proxy, what the caller may see, path and query, the reads that have not begun.
        self._to_begin: dict[Place, Future[Any]] = {}
        self._threads = CapacityLimiter(settings.readers)
        # Traces have a thread of their own, so that they never hold up pages and metrics.
        self._tracing = CapacityLimiter(1)
        self._seconds, self._trace_seconds = settings.read_seconds, settings.trace_seconds
        self._deadlines = deadlines or Deadlines()

    async def read(self, call: Call, work: Callable[[Monitor], T], *, is_trace: bool = False) -> T:
        """Read with a monitor; callers that wait for the same answer share one read.

        A read that was requested but has not begun is shared with later callers: it sees all that
        was stored when they asked. Many dashboards then cost no more than a few.
        """
        scope = call.request.scope
        # Some answers have addresses, which depend on the proxy that the caller came by; some are
        # about all projects that the caller may see.
        of = call.links, call.principal.readable
        place = (*of, scope["path"], scope["query_string"])
        known = self._to_begin.get(place)
        if known is None:

            def begin(monitor: Monitor) -> T:
                self._to_begin.pop(place, None)
                return work(monitor)

            known = asyncio.ensure_future(self.run(call.principal, begin, is_trace=is_trace))
            self._to_begin[place] = known
            known.add_done_callback(lambda done: self._forget(place, done))
        # A client that hangs up doesn't cancel the read of the others.
        return cast("T", await asyncio.shield(known))

    def _forget(self, place: Place, done: Future[Any]) -> None:
        """Forget a read that was refused before it began, so that it can be tried again."""
        if self._to_begin.get(place) is done:
            del self._to_begin[place]

    async def run(
        self, principal: Principal, work: Callable[[Monitor], T], *, is_trace: bool = False
    ) -> T:
        """Run work on the monitor of the caller's project, in a thread.

        The time it may take includes the time it waits for a thread.
        """
        if self._waiting[is_trace] >= (self._most_traces if is_trace else self._most):
            raise RefusedRequestError(
                503, "expected fewer to ask at a time", code="busy", headers=ask_again(1)
            )
        # One thread of the core for each read, so that logging isn't held up.
        monitor = Monitor(self._store, principal.project, clock=self._now, threads=1)
        seconds = self._trace_seconds if is_trace else self._seconds
        threads = self._tracing if is_trace else self._threads
        self._waiting[is_trace] += 1

        def run() -> T:
            check_deadline()
            return work(monitor)

        try:
            with self._deadlines.limit(seconds):
                return await to_thread.run_sync(
                    partial(self._deadlines.count, run), limiter=threads
                )
        except (FileError, DeadlineError):
            raise
        except RankscopeError as error:
            raise _as_refused(error) from error
        finally:
            self._waiting[is_trace] -= 1


def _as_refused(error: RankscopeError) -> RefusedRequestError:
    # The place isn't told: it could be a path of this machine.
    status = STATUSES.get(error.code, 422)
    return RefusedRequestError(status, error.message, code=error.code, hint=error.hint)


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
