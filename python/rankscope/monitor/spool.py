"""Events that wait to be sent, bounded in bytes."""

from __future__ import annotations

from collections import deque

from rankscope.records import record

OVERHEAD = 200
"""Bytes that an event takes besides those of its text."""


@record(frozen=True, slots=True)
class Waiting:
    """An event that waits to be sent.

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
        """The bytes that it takes."""
        return len(self.line) + OVERHEAD


class Spool:
    """Events that wait: the oldest make room for new ones, but for those that are being sent.

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
        """Let an event wait, and give those that made room; it may be the last of them itself."""
        self._queues.setdefault(event.path, deque()).append(event)
        self._bytes += event.size
        dropped = []
        while self._bytes > self._most and (oldest := self._oldest()) is not None:
            dropped.append(oldest.popleft())
            self._bytes -= dropped[-1].size
        return dropped

    def since(self) -> float | None:
        """Give when the oldest came, `None` if there is none."""
        oldest = self._oldest()
        return None if oldest is None else oldest[0].since

    def has(self, events: int, size: int) -> bool:
        """Whether a batch would be full."""
        return self._bytes >= size or any(len(queue) >= events for queue in self._queues.values())

    def take(self, events: int, size: int) -> list[Waiting]:
        """Take the oldest, and others that go to where it goes; they stay counted in bytes."""
        queue = self._oldest()
        batch: list[Waiting] = []
        while queue and len(batch) < events:
            size -= len(queue[0].line)
            if batch and size < 0:
                break
            batch.append(queue.popleft())
        return batch

    def let_go(self, batch: list[Waiting]) -> None:
        """Do not count events any more that were taken."""
        self._bytes -= sum(event.size for event in batch)

    def _oldest(self) -> deque[Waiting] | None:
        waiting = [queue for queue in self._queues.values() if queue]
        return min(waiting, key=lambda queue: queue[0].since, default=None)
