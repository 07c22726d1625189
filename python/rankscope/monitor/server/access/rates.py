"""How often somebody may ask, and how many requests of theirs are worked on at a time."""

from __future__ import annotations

import math
from asyncio import Semaphore
from collections import OrderedDict
from contextlib import asynccontextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MOST_NAMES = 100_000


class Rates:
    """A bucket for each name.

    Args:
        rate: Tokens that come in a second.
        burst: Tokens in a full bucket.
        clock: Seconds that only grow.

    Examples:
        >>> seconds = 0.0
        >>> rates = Rates(0.5, 2, lambda: seconds)
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
        """Take a token, and give 0; or give after how many seconds there is one."""
        now = self._clock()
        tokens, since = self._buckets.get(name, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - since) * self._rate)
        wait = 0 if tokens >= 1 else math.ceil((1 - tokens) / self._rate)
        self._buckets[name] = (tokens if wait else tokens - 1, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.popitem(last=False)
        return wait


class Turns:
    """Lets a few requests of each name be worked on at a time; the others wait in order.

    One turn of the event loop then has a bounded number of requests of one key, however many it
    sends, and the requests of other keys come between them.

    Args:
        most: How many of one name are worked on at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # By name, who may work, and how many want to.
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
