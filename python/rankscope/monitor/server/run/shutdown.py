"""Ends when it is asked to, and goes on when files run out."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import signal
import threading
import time

import uvicorn

from rankscope.monitor.server.run.deadlines import Deadlines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import Any

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
CLOSING_SECONDS = 10.0
"""Within this time of SIGTERM the process has ended, whatever requests do."""
STOPPING_SECONDS = 5.0
"""After this time reads are stopped, and answered with 503."""
ANSWERING_SECONDS = 7
"""After this time requests that have no answer yet are cut off."""
FORCING_SECONDS = 9.5
"""After this time the process ends without waiting for the threads that are left."""
WAITING_CONNECTIONS = 2048
PAUSE = 60.0
"""Seconds for which it is not said again that files have run out."""


class EndingServer(uvicorn.Server):
    """A server whose `run` returns after SIGTERM or SIGINT, once all is answered.

    That of uvicorn raises the signal again, which ends the process before the store is closed.

    Args:
        config: How it serves.
        report: Takes what went wrong, such as `Journal.write`.

    Attributes:
        deadlines: The reads that are stopped when it ends.
        flush_log: Writes what waits to be logged, within a moment.
    """

    def __init__(
        self, config: uvicorn.Config, report: Callable[[str, Mapping[str, object]], object]
    ) -> None:
        super().__init__(config)
        self._report = report
        self._told = -math.inf
        self._asked: float | None = None
        self._last_resort = threading.Timer(FORCING_SECONDS, self._force)
        # It keeps no process from ending.
        self._last_resort.daemon = True
        self.deadlines = Deadlines()
        self.flush_log: Callable[[], object] = lambda: None

    @property
    def seconds_left(self) -> float:
        """How long closing may still take."""
        waited = 0.0 if self._asked is None else time.monotonic() - self._asked
        return max(CLOSING_SECONDS - waited, 0.0)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - not needed
        """Begin to end; a second SIGINT does not wait for what is open."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        if self._asked is None:
            self._asked = time.monotonic()
            self._last_resort.start()

    def finish(self) -> None:
        """Let the process end by itself, unless threads that read would keep it from that."""
        self.deadlines.stop()
        if not self.deadlines.running:
            self._last_resort.cancel()

    def _force(self) -> None:
        """End the process: what was acknowledged is on the disk, and nothing else could be lost."""
        self._report("ending.forced", {"reads": self.deadlines.running})
        self.flush_log()
        os._exit(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, and wait for the requests that were begun."""
        stopping = asyncio.get_running_loop().call_later(STOPPING_SECONDS, self.deadlines.stop)
        try:
            await super().shutdown(sockets)
        finally:
            stopping.cancel()

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
