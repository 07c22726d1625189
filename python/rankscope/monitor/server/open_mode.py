"""Open mode: who asks from this machine needs no key, as long as there never was one."""

from __future__ import annotations

import secrets

from rankscope.monitor.keys import SCOPES
from rankscope.monitor.server.origin import is_own_machine
from rankscope.monitor.server.visitor import Visitor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request

    from rankscope.monitor.server.known_keys import KnownKeys


class OpenMode:
    """Lets this machine in without a key.

    Keys are never deleted: once there is one, or was one that is revoked, this lets nobody in.

    Args:
        keys: All keys.
        project: The project that is opened, or `None` if none is to be.
    """

    def __init__(self, keys: KnownKeys, project: str | None) -> None:
        self._keys = keys
        self._visitor = project and Visitor(project, SCOPES, "local", csrf=secrets.token_hex(32))

    async def find_visitor(self, request: Request) -> Visitor | None:
        """Give who asks, if no key is needed."""
        if not self._visitor or not is_own_machine(request):
            return None
        if await self._keys.read():
            self._visitor = None
        return self._visitor or None
