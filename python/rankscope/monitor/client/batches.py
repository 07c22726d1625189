"""The batches that a client sends: collected in memory or in a spool, sent with retries.

Nothing here waits: each step sends at most one batch, and says when the next is due.
"""

from __future__ import annotations

import gzip
import logging
from collections import Counter, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from rankscope.monitor.client.http import Answer, Mismatches
from rankscope.monitor.retry import RetryPolicy, double


class Transport(Protocol):
    """Sends request bodies."""

    def post(self, path: str, body: bytes) -> Answer:
        """Send a gzipped body of JSON lines."""


RETRIES = RetryPolicy(waits=double(0.5, 60.0), least=0.5, spread=0.5)
LONGEST_ASKED = 600.0
# Sending the same bytes again can't help here. All other statuses can change.
HOPELESS = frozenset({400, 413, 415, 422})
TOO_LARGE = 413
LEVEL = 5

logger = logging.getLogger("rankscope.monitor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of batches and of the queue.

    Args:
        spool_bytes: Bytes that may wait; beyond, the oldest events are dropped.
        batch_events: Events in a batch.
        batch_bytes: Bytes in a batch, before it is packed.
        linger_seconds: How long the first event of a batch waits for others.
    """

    spool_bytes: int = 16 << 20
    batch_events: int = 500
    batch_bytes: int = 1 << 20
    linger_seconds: float = 1.0


class Sender:
    """Sends queued events in batches.

    Args:
        transport: What sends bodies.
        sizes: How much is sent at a time.
        lock: Is held while what waits or was counted is touched, never while something is sent.
        chance: Gives a number between 0 and 1, so that not all senders come back at once.

    Attributes:
        counts: How many events became what.
    """

    def __init__(
        self,
        transport: Transport,
        sizes: Sizes,
        lock: AbstractContextManager[Any],
        chance: Callable[[], float],
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._transport = transport
        self._sizes = sizes
        self._lock = lock
        self._chance = chance
        self._spool = Spool(sizes.spool_bytes)
        self._batches: deque[list[Waiting]] = deque()
        self._failures = 0
        self._mismatches = Mismatches()
        self._next = 0.0

    def add(self, event: Waiting) -> bool:
        """Queue an event, and return whether it was queued. The caller holds the lock."""
        dropped = self._spool.add(event)
        self.counts["dropped"] += len(dropped)
        return not dropped or dropped[-1] is not event

    @property
    def waiting(self) -> int:
        """The number of events that are queued or being sent."""
        return len(self._spool) + sum(map(len, self._batches))

    def is_full(self) -> bool:
        """Whether there is a full batch."""
        return self._spool.has(self._sizes.batch_events, self._sizes.batch_bytes)

    def step(self, now: float, *, hurries: bool = False) -> float | None:
        """Send a batch, if one is due."""
        with self._lock:
            if not self._batches:
                since = self._spool.since()
                if since is None:
                    return None
                due = since + self._sizes.linger_seconds
                if now < due and not (hurries or self.is_full()):
                    return due - now
            if now < self._next and not hurries:
                return self._next - now
            if not self._batches:
                taken = self._spool.take(self._sizes.batch_events, self._sizes.batch_bytes)
                self._batches.append(taken)
            batch = self._batches[0]
        answer = self._send(batch)
        with self._lock:
            return self._settle(answer, now)

    def _send(self, batch: list[Waiting]) -> Answer | None:
        body = b"\n".join(event.line for event in batch)
        try:
            return self._transport.post(batch[0].path, gzip.compress(body, LEVEL, mtime=0))
        except Exception:  # noqa: BLE001 - whatever it is, the events are still to be sent
            return None

    def _settle(self, answer: Answer | None, now: float) -> float:
        batch = self._batches[0]
        if answer is None or (answer.status != 200 and answer.status not in HOPELESS):
            self._failures += 1
            self.counts["retries"] += 1
            asked = 0.0 if answer is None else min(answer.retry_after, LONGEST_ASKED)
            # Never sooner than the service asks, and not when all the others come.
            wait = asked + RETRIES.wait(self._failures, self._chance())
            self._next = now + wait
            return wait
        self._failures = 0
        self._next = now
        self._batches.popleft()
        if answer.status == TOO_LARGE and len(batch) > 1:
            half = len(batch) // 2
            self._batches.extendleft([batch[half:], batch[:half]])
            return 0.0
        self._spool.let_go(batch)
        if answer.status != 200:
            self.counts["refused"] += len(batch)
            return 0.0
        for told in self._mismatches.choose_new(answer.mismatches):
            logger.warning("%s", told)
        if sum(answer.counts.values()) == len(batch):
            self.counts.update(answer.counts)
        else:  # it was taken, and it is not said as what
            self.counts["accepted"] += len(batch)
        return 0.0


OVERHEAD = 200
"""Bytes that an event takes besides those of its text."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued event.

    Args:
        path: Where it is sent.
        line: What is sent, made once, so that it is the same whenever it is sent.
        since: When it came, on a clock that only grows.
    """

    path: str
    line: bytes
    since: float

    @property
    def size(self) -> int:
        """The size of the event in bytes."""
        return len(self.line) + OVERHEAD


class Spool:
    """The bounded queue of events. The oldest make room for new ones, except those being sent.

    Args:
        most: How many bytes they may take, those that are being sent among them.

    Examples:
        >>> spool = Spool(2 * OVERHEAD + 4)
        >>> [len(spool.add(Waiting("/", text, 0.0))) for text in (b"a", b"b", b"ccc")]
        [0, 0, 1]
        >>> [one.line for one in spool.take(9, 9)], len(spool)
        ([b'b', b'ccc'], 0)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._queues: dict[str, deque[Waiting]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, event: Waiting) -> list[Waiting]:
        """Queue an event, and return the events dropped for it, possibly itself."""
        self._queues.setdefault(event.path, deque()).append(event)
        self._bytes += event.size
        dropped = []
        while self._bytes > self._most and (oldest := self._oldest()) is not None:
            dropped.append(oldest.popleft())
            self._bytes -= dropped[-1].size
        return dropped

    def since(self) -> float | None:
        """Return when the oldest event was queued, `None` if there is none."""
        oldest = self._oldest()
        return None if oldest is None else oldest[0].since

    def has(self, events: int, size: int) -> bool:
        """Check whether there are enough events for a full batch."""
        return self._bytes >= size or any(len(queue) >= events for queue in self._queues.values())

    def take(self, events: int, size: int) -> list[Waiting]:
        """Take a batch of the oldest events for one route. Their bytes still count."""
        queue = self._oldest()
        batch: list[Waiting] = []
        while queue and len(batch) < events:
            size -= len(queue[0].line)
            if batch and size < 0:
                break
            batch.append(queue.popleft())
        return batch

    def let_go(self, batch: list[Waiting]) -> None:
        """Stop counting the bytes of a batch that was taken."""
        self._bytes -= sum(event.size for event in batch)

    def _oldest(self) -> deque[Waiting] | None:
        waiting = [queue for queue in self._queues.values() if queue]
        return min(waiting, key=lambda queue: queue[0].since, default=None)
