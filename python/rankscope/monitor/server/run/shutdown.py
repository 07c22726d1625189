"""Graceful shutdown within a deadline; keeps serving when file descriptors run out."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import uvicorn

from rankscope.monitor.server.routing.pool import Deadlines

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
CLOSING_SECONDS = 10.0
"""The process ends within this time of SIGTERM, whatever requests do."""
STOPPING_SECONDS = 5.0
"""After this time, reads are stopped and answered with 503."""
ANSWERING_SECONDS = 7
"""After this time, requests without an answer are cut off."""
FORCING_SECONDS = 9.0
"""After this time, the process ends without waiting for threads or for the store."""
WAITING_CONNECTIONS = 2048
PAUSE = 60.0
"""Seconds before exhausted file descriptors are reported again."""


class GracefulServer(uvicorn.Server):
    """A server whose `run` returns after SIGTERM or SIGINT, once requests are answered.

    The server of uvicorn raises the signal again, which would end the process before the store is
    closed.

    Args:
        config: The configuration.
        report: Takes problems, such as `AccessLog.write`.

    Attributes:
        deadlines: The reads to stop at shutdown.
        flush_log: Writes the lines of the log that wait, within a moment.
    """

    def __init__(
        self, config: uvicorn.Config, report: Callable[[str, Mapping[str, object]], object]
    ) -> None:
        super().__init__(config)
        self._report = report
        self._told = -math.inf
        self._asked: float | None = None
        self._last_resort = threading.Timer(FORCING_SECONDS, self._force)
        # It doesn't keep the process alive.
        self._last_resort.daemon = True
        self.deadlines = Deadlines()
        self.flush_log: Callable[[], object] = lambda: None

    @property
    def seconds_left(self) -> float:
        """Seconds left for the shutdown."""
        waited = 0.0 if self._asked is None else time.monotonic() - self._asked
        return max(CLOSING_SECONDS - waited, 0.0)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - not needed
        """Begin the shutdown; a second SIGINT doesn't wait for open requests."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        if self._asked is None:
            self._asked = time.monotonic()
            self._last_resort.start()

    def finish(self) -> None:
        """Cancel the forced exit, unless threads that still read would keep the process alive."""
        self.deadlines.stop()
        if not self.deadlines.running:
            self._last_resort.cancel()

    def _force(self) -> None:
        """End the process: everything acknowledged is on the disk."""
        self._report("ending.forced", {"reads": self.deadlines.running})
        self.flush_log()
        os._exit(0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and wait for open requests."""
        stopping = asyncio.get_running_loop().call_later(STOPPING_SECONDS, self.deadlines.stop)
        try:
            await super().shutdown(sockets)
        finally:
            stopping.cancel()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening."""
        asyncio.get_running_loop().set_exception_handler(self._handle)
        await super().startup(sockets)
        for listening in sockets or ():
            # The loop accepts at most `Config.backlog` connections per turn; more may wait.
            listening.listen(WAITING_CONNECTIONS)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report once that no connection can be accepted; the loop would for each that waits."""
        error = context.get("exception")
        if self.should_exit and isinstance(error, ValueError):
            # It tried to accept connections again, but the socket is closed by now.
            return
        if not isinstance(error, OSError) or error.errno not in EXHAUSTED:
            loop.default_exception_handler(context)
        elif loop.time() - self._told > PAUSE:
            self._told = loop.time()
            self._report("connections.waiting", {"problem": errno.errorcode[error.errno]})
