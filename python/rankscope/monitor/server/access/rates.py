"""Rate limits, and limits on how many requests are handled at a time."""

from __future__ import annotations

import math
from asyncio import Semaphore
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MOST_NAMES = 100_000


class RateLimiter:
    """A rate limit for each name: a token bucket.

    Args:
        rate: Tokens added per second.
        burst: Tokens in a full bucket.
        clock: Returns monotonic seconds.

    Examples:
        >>> seconds = 0.0
        >>> rates = RateLimiter(0.5, 2, lambda: seconds)
        >>> [rates.take("a") for _ in range(3)], rates.take("b")
        ([0, 0, 2], 0)
        >>> seconds = 2.0
        >>> [rates.take("a") for _ in range(2)]
        [0, 2]
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        # By name, the tokens, and since when.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> int:
        """Take a token and return 0, or return how many seconds to wait for one."""
        now = self._clock()
        tokens, since = self._buckets.get(name, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - since) * self._rate)
        wait = 0 if tokens >= 1 else math.ceil((1 - tokens) / self._rate)
        self._buckets[name] = (tokens if wait else tokens - 1, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.popitem(last=False)
        return wait

    def give(self, name: str) -> None:
        """Return a token that was not needed."""
        tokens, since = self._buckets.get(name, (float(self._burst), 0.0))
        self._buckets[name] = min(self._burst, tokens + 1), since


class ConcurrencyLimiter:
    """Limits how many requests of one name are handled at a time; the others wait in order.

    However many requests a key sends, each turn of the event loop handles a bounded number of
    them, and requests of other keys come in between.

    Args:
        most: How many requests of one name are handled at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # By name, the semaphore, and how many hold it or wait for it.
        self._open: dict[str, tuple[Semaphore, int]] = {}

    @asynccontextmanager
    async def take(self, name: str) -> AsyncIterator[None]:
        """Wait for a turn, and end it with the context."""
        semaphore = self._count(name, 1)
        try:
            async with semaphore:
                yield
        finally:
            self._count(name, -1)

    def _count(self, name: str, change: int) -> Semaphore:
        semaphore, wanted = self._open.get(name) or (Semaphore(self._most), 0)
        if wanted + change:
            self._open[name] = semaphore, wanted + change
        else:
            del self._open[name]
        return semaphore
