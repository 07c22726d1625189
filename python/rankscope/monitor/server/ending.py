"""Ends when it is asked to, and goes on when files run out."""

from __future__ import annotations

import asyncio
import errno
import math
import signal

import uvicorn

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import Any

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
WAITING_CONNECTIONS = 2048
PAUSE = 60.0
"""Seconds for which it is not said again that files have run out."""


class EndingServer(uvicorn.Server):
    """A server whose `run` returns after SIGTERM or SIGINT, once all is answered.

    That of uvicorn raises the signal again, which ends the process before the store is closed.

    Args:
        config: How it serves.
        report: Takes what went wrong, such as `Journal.write`.
    """

    def __init__(
        self, config: uvicorn.Config, report: Callable[[str, Mapping[str, object]], object]
    ) -> None:
        super().__init__(config)
        self._report = report
        self._told = -math.inf

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - not needed
        """Begin to end; a second SIGINT does not wait for what is open."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        asyncio.get_running_loop().set_exception_handler(self._handle)
        await super().startup(sockets)
        for listening in sockets or ():
            # The loop takes at most `Config.backlog` connections in one turn; more may wait.
            listening.listen(WAITING_CONNECTIONS)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Say once that no connection can be taken; the loop would, for each that waits."""
        error = context.get("exception")
        if self.should_exit and isinstance(error, ValueError):
            # It was to take connections again, and what it listens to is closed by now.
            return
        if not isinstance(error, OSError) or error.errno not in EXHAUSTED:
            loop.default_exception_handler(context)
        elif loop.time() - self._told > PAUSE:
            self._told = loop.time()
            self._report("connections.waiting", {"problem": errno.errorcode[error.errno]})
