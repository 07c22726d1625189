"""Open mode: who asks from this machine needs no key, as long as there never was one."""

from __future__ import annotations

import secrets

from anyio import to_thread

from rankscope.monitor.keys import SCOPES
from rankscope.monitor.server.origin import is_own_machine
from rankscope.monitor.server.visitor import Visitor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from starlette.requests import Request

    from rankscope.monitor.store.protocol import Store


class OpenMode:
    """Lets this machine in without a key.

    Keys are never deleted: once there is one, or was one that is revoked, this lets nobody in.

    Args:
        store: Where keys are.
        project: The project that is opened, or `None` if none is to be.
        threads: How many look for keys at a time.
    """

    def __init__(self, store: Store, project: str | None, threads: CapacityLimiter) -> None:
        self._store = store
        self._threads = threads
        self._visitor = project and Visitor(project, SCOPES, "local", csrf=secrets.token_hex(32))

    async def find_visitor(self, request: Request) -> Visitor | None:
        """Give who asks, if no key is needed."""
        if not self._visitor or not is_own_machine(request):
            return None
        if await to_thread.run_sync(self._has_key, limiter=self._threads):
            self._visitor = None
        return self._visitor or None

    def _has_key(self) -> bool:
        return any(self._store.keys(project) for project in self._store.projects())
