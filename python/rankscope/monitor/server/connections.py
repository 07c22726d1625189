"""Bounds connections: how many there are, and how long one may be there without a request.

A head that comes byte by byte would hold a connection for ever.
"""

from __future__ import annotations

from uvicorn.protocols.http.h11_impl import H11Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio


class BoundedProtocol(H11Protocol):
    """HTTP whose requests have to begin in time, from the start or from the answer before.

    The body of a request has a limit of its own.
    """

    seconds = 30.0
    most = 1000
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; what is asked on a connection too many is told to come back."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self.app_state = self.app_state | {"is_too_many": True}
        self._watch()

    def data_received(self, data: bytes) -> None:
        """See whether a head is whole."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        is_waiting = getattr(self.cycle, "response_complete", True)  # there is no first one yet
        if not is_waiting:
            self._stop()
        elif self._timer is None and not self.transport.is_closing():
            self._timer = self.loop.call_later(self.seconds, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
