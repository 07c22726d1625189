"""The keys of a store, kept in memory as long as none is made or revoked."""

from __future__ import annotations

from anyio import to_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyio import CapacityLimiter

    from rankscope.monitor.keys import ApiKey
    from rankscope.monitor.store.protocol import Store


class KnownKeys:
    """Reads keys.

    Only the process that has opened the store writes to it, so that it knows when keys change.
    Without this, each request would wait for a thread and a query before it is let in or refused.

    Args:
        store: Where they are.
        threads: How many threads read them at a time.
    """

    def __init__(self, store: Store, threads: CapacityLimiter) -> None:
        self._store = store
        self._threads = threads
        self._version = -1
        self._keys: Mapping[str, ApiKey] = {}

    async def read(self) -> Mapping[str, ApiKey]:
        """Return all keys by their ids, those that were revoked among them."""
        version = self._store.keys_version
        if version != self._version:
            keys = await to_thread.run_sync(self._store.all_keys, limiter=self._threads)
            # A key that changes meanwhile has another version by now, and is read once more.
            self._keys = {key.key_id: key for key in keys}
            self._version = version
        return self._keys
