"""Ends when it is asked to, and returns to whoever has the store open."""

from __future__ import annotations

import signal

import uvicorn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


class EndingServer(uvicorn.Server):
    """A server whose `run` returns after SIGTERM or SIGINT, once all is answered.

    That of uvicorn raises the signal again, which ends the process before the store is closed.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - not needed
        """Begin to end; a second SIGINT does not wait for what is open."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
