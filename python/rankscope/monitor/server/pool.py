"""Asks the monitors of projects, in threads, and no more of them at a time than the machine has."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import cast

from anyio import CapacityLimiter, to_thread

from rankscope.errors import DeadlineError, FileError, RankscopeError
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.server.run.deadlines import Deadlines
from rankscope.monitor.store.deadline import check_deadline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable
    from typing import Any, TypeVar

    from rankscope.monitor.server.access.principal import Visitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.settings import Settings
    from rankscope.monitor.store.store import Store

    T = TypeVar("T")

STATUSES = {"not_configured": 409, "unknown_ranking": 404, "no_rule": 404, "no_webhook": 404}
"""By code of an error, the status of the answer; 422 for all others."""


class Desk:
    """Asks the monitor of the project that somebody has opened.

    Args:
        store: Where events are.
        settings: How much is asked at a time.
        now: Gives the time, in microseconds since 1970 in UTC.
        deadlines: Limits how long questions take.
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
        # Whether they are traces, and how many wait or are being answered.
        self._waiting = {False: 0, True: 0}
        # By project, path and query, what is asked and was not begun yet.
        self._to_begin: dict[tuple[str, str, bytes], Future[Any]] = {}
        self._threads = CapacityLimiter(settings.readers)
        # Traces have a thread of their own, so that they never hold up pages and metrics.
        self._tracing = CapacityLimiter(1)
        self._seconds, self._trace_seconds = settings.read_seconds, settings.trace_seconds
        self._deadlines = deadlines or Deadlines()

    async def look(
        self, asked: Asked, work: Callable[[Monitor], T], *, is_trace: bool = False
    ) -> T:
        """Let a monitor look at something, once for all who wait for the same.

        Whoever asks what is asked already, but was not begun, gets the same answer: it sees all
        that was stored when they asked. So many dashboards are no more work than a few.

        Args:
            asked: What is asked; the answer is a function of its project, path and query.
            work: What is done; it changes nothing.
            is_trace: Whether it reads rankings, and not only windows.

        Raises:
            RefusedRequestError: As `ask` does.
            FileError: Likewise.
            DeadlineError: Likewise.
        """
        scope = asked.request.scope
        place = (asked.visitor.project, scope["path"], scope["query_string"])
        known = self._to_begin.get(place)
        if known is None:

            def begin(monitor: Monitor) -> T:
                self._to_begin.pop(place, None)
                return work(monitor)

            known = asyncio.ensure_future(self.ask(asked.visitor, begin, is_trace=is_trace))
            self._to_begin[place] = known
            known.add_done_callback(lambda done: self._forget(place, done))
        # Whoever hangs up leaves the others their answer.
        return cast("T", await asyncio.shield(known))

    def _forget(self, place: tuple[str, str, bytes], done: Future[Any]) -> None:
        """Let what was refused before it was begun be asked again."""
        if self._to_begin.get(place) is done:
            del self._to_begin[place]

    async def ask(
        self, visitor: Visitor, work: Callable[[Monitor], T], *, is_trace: bool = False
    ) -> T:
        """Let a monitor do some work, in a thread.

        The time it may take includes the time it waits for a thread.

        Args:
            visitor: Who asks; only the project of this key is seen.
            work: What is done.
            is_trace: Whether it reads rankings, and not only windows.

        Raises:
            RefusedRequestError: Too many wait already, or what is asked for cannot be.
            FileError: The store does not take it.
            DeadlineError: Reading takes too long, or the service is closing.
        """
        if self._waiting[is_trace] >= (self._most_traces if is_trace else self._most):
            raise RefusedRequestError(
                503, "expected fewer to ask at a time", code="busy", headers=ask_again(1)
            )
        # One thread of the core a question, so that those who log are not held up.
        monitor = Monitor(self._store, visitor.project, clock=self._now, threads=1)
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
    # Where something was found is not told: that could be a path of this machine.
    status = STATUSES.get(error.code, 422)
    return RefusedRequestError(status, error.message, code=error.code, hint=error.hint)
