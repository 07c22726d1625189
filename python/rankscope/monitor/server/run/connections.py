"""HTTP connections with bounded work: how many there are, how long they wait, how much one reads.

HTTP is parsed by httptools. This module adds limits: on the bytes parsed in one turn of the event
loop, the size of a request's head, the number of chunks in a body, the time until a request begins,
and the number of connections, in all and from one address.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rankscope.monitor.server.http.problems import BAD_HTTP
from rankscope.monitor.server.http.settings import Settings

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


READ_BYTES = 16 << 10
"""Bytes that one connection parses before the others have their turn."""

DISCARDED_BYTES = 1 << 20
CLOSING_SECONDS = 2.0
"""How much is read, and for how long, of a body that was answered before it was received.

If a connection is closed while bytes still arrive, the client may never see the answer.
"""

CHUNKS = 1000
CHUNK_BYTES = 64
"""Beyond so many chunks, a body's chunks hold that many bytes on average."""

UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
QUIET_SECONDS = 60.0
"""Malformed requests are reported at most once in so many seconds, with their number."""


class Connections:
    """The open connections, and room for the next one.

    When there are too many, the connection that has waited longest for a request is closed: first
    one that never sent a valid key, then one that did. Connections with an open request stay.

    Args:
        settings: Limits on connections.
        report: Takes problems, such as `AccessLog.write`.
    """

    def __init__(
        self,
        settings: Settings,
        report: Callable[[str, Mapping[str, object]], object] = lambda _event, _fields: None,
    ) -> None:
        # One for all connections: bytes are copied from it before the next read.
        self.buffer = bytearray(READ_BYTES)
        self.head_bytes = settings.head_bytes
        self.wait_seconds = settings.wait_seconds
        self._most = settings.connections
        self._proxies = settings.proxies
        self._most_of_one = settings.connections_per_address
        self._report = report
        self._counts: Counter[str] = Counter()
        # Connections that wait for a request, the longest wait first.
        self._strangers: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._known: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._malformed = 0
        self._quiet_until = 0.0

    def add(self, connection: BoundedProtocol) -> bool:
        """Add a connection."""
        self._counts[connection.address] += 1
        is_many = self._counts[connection.address] > self._most_of_one
        if is_many and connection.address not in self._proxies:
            return self._close_one(connection.address)
        return self._counts.total() <= self._most or self._close_one(None)

    def remove(self, connection: BoundedProtocol) -> None:
        """Remove a connection that was closed."""
        self._counts[connection.address] -= 1
        if not self._counts[connection.address]:
            del self._counts[connection.address]
        self.busy(connection)

    def wait(self, connection: BoundedProtocol) -> None:
        """Note that a connection waits for a request."""
        (self._known if connection.is_known else self._strangers)[connection] = None

    def busy(self, connection: BoundedProtocol) -> None:
        """Note that a connection has a request that is being answered."""
        self._strangers.pop(connection, None)
        self._known.pop(connection, None)

    def report_malformed(self, now: float) -> None:
        """Count a request that is not HTTP, and report how many there were, now and then."""
        self._malformed += 1
        if now >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            self._report("request.malformed", {"requests": self._malformed})
            self._malformed = 0

    def _close_one(self, address: str | None) -> bool:
        for waiting in (self._strangers, self._known):
            for connection in waiting:
                if address is None or connection.address == address:
                    self.busy(connection)
                    connection.transport.close()
                    return True
        return False


def ignore_upgrade(data: bytes) -> bytes:
    r"""Rename the header `Upgrade` of a request, so that its body is read.

    Some clients, such as Java's, offer HTTP/2 with every request and accept HTTP/1.1. The parser,
    however, ends such a request after its head.

    Examples:
        >>> ignore_upgrade(b"GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\nUpgrade: ")
        b'GET / HTTP/1.1\r\nIgnored: h2c\r\n\r\nUpgrade: '
    """
    end = data.find(b"\r\n\r\n")
    return UPGRADE.sub(b"\r\nIgnored:", data[:end]) + data[end:] if end > 0 else data


class _CycleTransport:
    """The transport as a request and its answer see it."""

    def __init__(self, protocol: BoundedProtocol, cycle: RequestResponseCycle) -> None:
        self._protocol = protocol
        self._cycle = cycle
        self.write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing

    def close(self) -> None:
        """Close the connection once the answer is written."""
        self._protocol.finish(self._cycle)


class BoundedProtocol(HttpToolsProtocol, asyncio.BufferedProtocol):
    """HTTP over one connection.

    As a buffered protocol it chooses how much is read at a time. asyncio would read 256 KiB, and
    parsing a body in chunks of one byte would hold up all other connections.

    Args:
        bounds: The limits, shared by all connections.
        given: The arguments of uvicorn.
    """

    def __init__(self, bounds: Connections, **given: Any) -> None:  # noqa: ANN401 - of uvicorn
        super().__init__(**given)
        self._bounds = bounds
        self._timer: asyncio.TimerHandle | None = None
        # Bytes since the last head, piece of a body, or end of a request.
        self._silent_bytes = 0
        self._has_progress = False
        self._chunks = 0
        self._body_bytes = 0
        self._discarded = -1
        self.address = ""
        self.is_known = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request, or answer 503 to the first one if there is no room."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in {socket.AF_INET, socket.AF_INET6}:
            # asyncio sets it for protocol 6 only, and accepted sockets may have 0. Without it, the
            # second part of an answer waits 40 ms until the first is acknowledged.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address = self.client[0] if self.client else ""
        if not self._bounds.add(self):
            self.app_state = self.app_state | {"is_too_many": True}
        self._wait()

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - the size is ours to choose
        """Return the buffer that the next bytes are read into."""
        return self._bounds.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Parse the bytes that were read."""
        self.data_received(bytes(memoryview(self._bounds.buffer)[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Parse the bytes of one turn of the event loop."""
        if self._discarded >= 0:
            self._discarded += len(data)
            if self._discarded > DISCARDED_BYTES:
                self.transport.abort()
            return
        self._unset_keepalive_if_required()
        self._has_progress = False
        if self._is_waiting() and not self._silent_bytes:
            data = ignore_upgrade(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # The client wants another protocol: answer in this one, and close the connection.
            self.cycle.keep_alive = False
        except httptools.HttpParserError:
            self._refuse()
            return
        if not self._is_waiting():
            self._bounds.busy(self)
            self._stop_timer()
        # The parser buffers a head, or the trailer of a chunked body, until it is complete.
        self._silent_bytes = 0 if self._has_progress else self._silent_bytes + len(data)
        if self._silent_bytes > self._bounds.head_bytes:
            self._refuse()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._chunks = self._body_bytes = 0

    def on_headers_complete(self) -> None:
        """Begin to answer a request."""
        self._has_progress = True
        if self.parser.get_http_version() not in {"1.0", "1.1"}:
            raise httptools.HttpParserError("expected HTTP/1.1")
        if not self.url.startswith(b"/"):
            # An absolute address, or `*`: there is no such route.
            self.url = b"/*"
        if self.parser.should_upgrade() and self.parser.get_method() not in {b"GET", b"HEAD"}:
            # The parser would stop here and lose the body.
            raise httptools.HttpParserError("expected a body without an upgrade")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of a body, if the pieces are not too small."""
        self._has_progress = True
        self._chunks += 1
        self._body_bytes += len(body)
        if self._chunks > CHUNKS and self._body_bytes < CHUNK_BYTES * self._chunks:
            raise httptools.HttpParserError("chunks are too small")
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._has_progress = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self._discarded < 0 and self._is_waiting():
            self._wait()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        async def answer(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - of ASGI
            async def send_checked(message: Any) -> None:  # noqa: ANN401 - likewise
                if message["type"] == "http.response.start":
                    self.is_known = self.is_known or "principal" in scope["state"]
                    if cycle.more_body:
                        # The rest of this body, and anything after it, is not read.
                        cycle.keep_alive = False
                await send(message)

            await app(scope, receive, send_checked)

        cycle.transport = cast("asyncio.Transport", _CycleTransport(self, cycle))
        super()._start_asgi_task(cycle, answer)

    def finish(self, cycle: RequestResponseCycle) -> None:
        """Close the connection after an answer; if a body still arrives, discard it first."""
        if cycle.more_body and cycle.response_complete:
            self._discard()
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._bounds.remove(self)
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # `None` at first
        return cycle is None or (cycle.response_complete and not self.pipeline)

    def _wait(self) -> None:
        if not self.transport.is_closing():
            self._bounds.wait(self)
            self._start_timer(self._bounds.wait_seconds)

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self) -> None:
        """Answer bytes that aren't HTTP, and close the connection."""
        self._bounds.report_malformed(self.loop.time())
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if not self._is_waiting():
            if not cycle.more_body:
                # Answer the request before, and nothing after it.
                cycle.keep_alive = False
                self._discarded = 0
                return
            if cycle.response_started:
                self.transport.close()
                return
            # The reader of this body finds the client disconnected.
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.write(BAD_HTTP)
        self._discard()

    def _discard(self) -> None:
        """Discard input for a while, so that the client receives the answer."""
        self._discarded = 0
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._start_timer(CLOSING_SECONDS)
