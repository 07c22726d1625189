"""Asks the monitors of projects, in threads, and no more of them at a time than the machine has."""

from __future__ import annotations

from anyio import CapacityLimiter, to_thread

from rankscope.errors import FileError, RankscopeError
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.problems import RefusedRequestError, ask_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from rankscope.monitor.server.settings import Settings
    from rankscope.monitor.server.visitor import Visitor
    from rankscope.monitor.store.protocol import Store

    T = TypeVar("T")

STATUSES = {"not_configured": 409, "unknown_ranking": 404, "no_rule": 404, "no_webhook": 404}
"""By code of an error, the status of the answer; 422 for all others."""


class Desk:
    """Asks the monitor of the project that somebody has opened.

    Args:
        store: Where events are.
        settings: How much is asked at a time.
        now: Gives the time, in microseconds since 1970 in UTC.
    """

    def __init__(self, store: Store, settings: Settings, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._most = settings.waiting_reads
        self._waiting = 0
        self._threads = CapacityLimiter(settings.readers)

    async def ask(self, visitor: Visitor, work: Callable[[Monitor], T]) -> T:
        """Let a monitor do some work, in a thread.

        Args:
            visitor: Who asks; only the project of this key is seen.
            work: What is done.

        Raises:
            RefusedRequestError: Too many wait already, or what is asked for cannot be.
            FileError: The store does not take it.
        """
        if self._waiting >= self._most:
            raise RefusedRequestError(
                503, "expected fewer to ask at a time", code="busy", headers=ask_again(1)
            )
        # One thread of the core a question, so that those who log are not held up.
        monitor = Monitor(self._store, visitor.project, now=self._now, threads=1)
        self._waiting += 1
        try:
            return await to_thread.run_sync(work, monitor, limiter=self._threads)
        except FileError:
            raise
        except RankscopeError as error:
            raise _as_refused(error) from error
        finally:
            self._waiting -= 1


def _as_refused(error: RankscopeError) -> RefusedRequestError:
    # Where something was found is not told: that could be a path of this machine.
    status = STATUSES.get(error.code, 422)
    return RefusedRequestError(status, error.message, code=error.code, hint=error.hint)
