"""Whether the service would take events now: the store is read, and something is written to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from anyio import to_thread

from rankscope.errors import DeadlineError, FileError
from rankscope.monitor.store.store import Store

if TYPE_CHECKING:
    from anyio import CapacityLimiter


EVERY_SECONDS = 5.0
"""How old the result of a write may be. Anyone may ask, so not every request writes."""
AGAIN_SECONDS = 1.0
"""The same while events are refused, so that the service is soon ready again."""
WAIT_SECONDS = 5.0
LONG_SECONDS = 10.0
"""A busy store refuses events for a moment; after this time, others should get the requests."""
PASSING = frozenset({"store_overloaded", "store_busy"})


class Readiness:
    """Finds out whether a request with events would be refused.

    Args:
        store: The store of the events.
        clock: Returns monotonic seconds.
        threads: Limits how many threads read the store at a time.
    """

    def __init__(self, store: Store, clock: Callable[[], float], threads: CapacityLimiter) -> None:
        self._store = store
        self._clock = clock
        self._threads = threads
        self._next = float("-inf")
        self._busy_since: float | None = None
        self._refuses = False

    async def check(self) -> bool:
        """Return whether the store can be read and written."""
        if self._store.failure is not None:
            return False
        if not await to_thread.run_sync(self._can_read, limiter=self._threads):
            return False
        if self._clock() >= self._next:
            # Set first, so that requests that come meanwhile don't write, too.
            self._next = self._clock() + EVERY_SECONDS
            self._note(await self._write())
        return not self._refuses

    def _can_read(self) -> bool:
        try:
            self._store.find_key("")
        except (FileError, DeadlineError):
            return False
        return True

    async def _write(self) -> str:
        """Write as little as possible, and return the code of the problem, if there is one."""
        try:
            await asyncio.wait_for(asyncio.wrap_future(self._store.probe()), WAIT_SECONDS)
        except TimeoutError:
            return "store_busy"
        except FileError as error:
            return error.code
        return ""

    def _note(self, code: str) -> None:
        now = self._clock()
        if code not in PASSING:
            self._busy_since = None
            self._refuses = bool(code)
        else:
            if self._busy_since is None:
                self._busy_since = now
            self._refuses = self._refuses or now - self._busy_since >= LONG_SECONDS
        if code:
            self._next = now + AGAIN_SECONDS
