"""Counts what was refused whole: a body that nobody could read holds events all the same."""

from __future__ import annotations

from collections import Counter
from functools import partial
from threading import Lock

from rankscope.errors import FileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future

    from rankscope.monitor.store.protocol import Store

PREFIX = "request:"
"""Before the code in the counters of a store, for there the others count single events."""


class Refusals:
    """Counts refused requests in the store, by project and code.

    What the store does not take now, it is given together with the next.

    Args:
        store: Where it is counted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._waiting: dict[str, Counter[str]] = {}

    def count(self, project: str, code: str) -> None:
        """Count a request, without waiting until that is stored."""
        with self._lock:
            counts = self._waiting.pop(project, Counter())
        counts[PREFIX + code] += 1
        try:
            stored = self._store.submit(project, [], counts)
        except FileError:
            self._keep(project, counts)
        else:
            stored.add_done_callback(partial(self._see, project, counts))

    def _see(self, project: str, counts: Counter[str], stored: Future[object]) -> None:
        if stored.cancelled() or stored.exception() is not None:
            self._keep(project, counts)

    def _keep(self, project: str, counts: Counter[str]) -> None:
        with self._lock:
            self._waiting.setdefault(project, Counter()).update(counts)
