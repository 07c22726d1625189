"""Posts to an address that somebody has set: to a public one, once, and never for long.

httpcore speaks HTTP. This module adds what it can't know, where it opens connections: every
address that a name stands for is judged, and the very one that was judged is called, so that a name
which stands for another a moment later changes nothing; and one deadline covers all of it, however
slowly bytes come. Nothing of an answer is kept but its status, and for how long it asks to be left
alone.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpcore

from rankscope.errors import InputError, UsageError
from rankscope.monitor.notify.addresses import (
    Address,
    is_loopback,
    is_metadata_name,
    is_private,
    is_public,
)

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]


SECONDS = 5.0
MOST_BYTES = 64 << 10
PIECE = 8 << 10
MOST_WAIT = 86_400.0
PORTS = {"https": 443, "http": 80}
FIRST_FREE_PORT = 1024
"""Below are services that are not for the web."""

MOST_URL = 2048


@dataclass(frozen=True, slots=True)
class Target:
    """Where is posted to.

    Args:
        scheme: `https` or `http`.
        host: The name, or the address, in lower case.
        port: The port.
        path: The path, with the query.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as the header `Host` has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request.

    Args:
        status: Of HTTP.
        retry_after: For how many seconds it asks to be left alone; 0 where it does not.
    """

    status: int
    retry_after: float = 0.0


class PostError(InputError):
    """Nothing was answered; the message says why, in words that are not of the other side."""


def read_url(url: str, *, allows_http: bool = False) -> Target:
    """Read where is to be posted to.

    Examples:
        >>> read_url("https://example.com/hook?team=search")
        Target(scheme='https', host='example.com', port=443, path='/hook?team=search')
    """
    is_plain = type(url) is str and url.isascii() and url.isprintable() and " " not in url
    if not is_plain or "\\" in url or len(url) > MOST_URL:
        raise _bad("an address in ASCII, of 2048 characters at most", "write names as punycode")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _bad("an address such as https://example.com/hook", "see how it is spelt") from None
    schemes = ("https", "http") if allows_http else ("https",)
    if parts.scheme not in schemes or not parts.hostname:
        raise _bad(f"an address with {' or '.join(schemes)}", "others can read what is in http")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise _bad("an address without user, password and fragment", "notifications are signed")
    if "%" in parts.netloc:
        raise _bad("a host without escapes and zones", "write its name")
    port = PORTS[parts.scheme] if port is None else port
    if port not in PORTS.values() and port < FIRST_FREE_PORT:
        raise _bad("port 443, 80, or one from 1024 on", "others are not for the web")
    path = parts.path or "/"
    return Target(
        parts.scheme, parts.hostname, port, f"{path}?{parts.query}" if parts.query else path
    )


def resolve_name(host: str, port: int) -> list[str]:
    """Resolve a host name as this machine does."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in addresses))


class Poster:
    """Posts to public addresses.

    Args:
        allows_loopback: Whether this machine may be called, too.
        allows_private: Whether private networks and this machine may be called, too.
        resolve: Finds the addresses of a name.
        seconds: How long all of it may take.
        clock: A clock in seconds that only grows.
        context: How certificates are checked.
    """

    def __init__(
        self,
        *,
        allows_loopback: bool = False,
        allows_private: bool = False,
        resolve: Resolve = resolve_name,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._allows_loopback = allows_loopback
        self._allows_private = allows_private
        self._resolve = resolve
        self._seconds = seconds
        self._clock = clock
        self._context = context

    def with_private(self) -> Poster:
        """Return the same poster, but for private networks, too."""
        poster = copy(self)
        poster._allows_private = True  # noqa: SLF001 - of the same class
        return poster

    def check(self, target: Target) -> list[str]:
        """Resolve a target, and check that each of its addresses may be called."""
        return self._find(target, start_deadline(self._clock, self._seconds))

    def post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post a body."""
        left = start_deadline(self._clock, self._seconds)
        addresses = self._find(target, left)
        said = {
            "Host": target.authority,
            **headers,
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        pool = httpcore.ConnectionPool(
            ssl_context=self._context or ssl.create_default_context(),
            network_backend=Connector(addresses, left),
        )
        url = httpcore.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=target.path.encode(),
        )
        try:
            with pool, pool.stream("POST", url, headers=list(said.items()), content=body) as answer:
                reply = _read_reply(answer)
                _discard(answer)
                return reply
        except ssl.SSLError:
            raise PostError("TLS failed", code="webhook_tls") from None
        except TimeoutError:
            raise _late() from None
        except OSError:
            raise PostError("the connection failed", code="webhook_unreachable") from None
        except httpcore.ProtocolError:
            raise PostError("the answer was none of HTTP", code="webhook_answer") from None

    def _find(self, target: Target, left: Callable[[], float]) -> list[str]:
        """Resolve a target in a thread of its own, so that a slow resolver does not block."""
        if is_metadata_name(target.host):
            raise _not_public()
        answers: SimpleQueue[list[str] | None] = SimpleQueue()

        def ask() -> None:
            try:
                answers.put(list(self._resolve(target.host, target.port)))
            except (OSError, UnicodeError):
                answers.put(None)

        threading.Thread(target=ask, name="rankscope-names", daemon=True).start()
        try:
            addresses = answers.get(timeout=left())
        except Empty:
            raise _late() from None
        if not addresses:
            raise PostError("the name stands for no address", code="webhook_unreachable")
        if not all(self._may_call(address) for address in addresses):
            raise _not_public()
        return addresses

    def _may_call(self, text: str) -> bool:
        try:
            address: Address = ip_address(text)
        except ValueError:
            return False
        return (
            is_public(address)
            or (self._allows_loopback and is_loopback(address))
            or (self._allows_private and is_private(address))
        )


def start_deadline(clock: Callable[[], float], seconds: float) -> Callable[[], float]:
    """Return what says how many seconds are left, and raises an error once none are."""
    until = clock() + seconds

    def left() -> float:
        seconds = until - clock()
        if seconds <= 0:
            raise _late()
        return seconds

    return left


class Connector(httpcore.NetworkBackend):
    """Connects to addresses that were judged, whatever the name stands for by then.

    Args:
        addresses: The addresses; the first one that answers is used.
        left: How many seconds are left for all of it.
    """

    def __init__(self, addresses: Sequence[str], left: Callable[[], float]) -> None:
        self._addresses = addresses
        self._left = left

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - that name was resolved before
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is stricter
        local_address: str | None = None,  # noqa: ARG002 - not needed
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - likewise
    ) -> Stream:
        """Connect."""
        problem = OSError("no address")
        for address in self._addresses:
            try:
                opened = socket.create_connection((address, port), timeout=self._left())
            except TimeoutError:
                raise
            except OSError as error:
                problem = error
            else:
                return Stream(opened, self._left)
        raise problem


class Stream(httpcore.NetworkStream):
    """A connection that ends at the deadline.

    Args:
        opened: The connection.
        left: How many seconds are left for all of it.
    """

    def __init__(self, opened: socket.socket, left: Callable[[], float]) -> None:
        self._socket = opened
        self._left = left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Return what has come, at least a byte unless the other side has ended."""
        self._socket.settimeout(self._left())
        return self._socket.recv(min(max_bytes, PIECE))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Send bytes."""
        self._socket.settimeout(self._left())
        self._socket.sendall(buffer)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> Stream:
        """Secure the connection; the certificate has to be that of the name."""
        try:
            self._socket.settimeout(self._left())
            secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except BaseException:
            self.close()
            raise
        return Stream(secured, self._left)


def _read_reply(answer: httpcore.Response) -> Reply:
    asked = [value for name, value in answer.headers if name.lower() == b"retry-after"]
    return Reply(answer.status, _read_wait(asked[0].decode("ascii", "replace")) if asked else 0.0)


def _discard(answer: httpcore.Response) -> None:
    """Read a little of the body, so that the other side isn't cut off, and throw it away."""
    read = 0
    with suppress(OSError, PostError, httpcore.ProtocolError):
        for piece in answer.iter_stream():
            read += len(piece)
            if read >= MOST_BYTES:
                return


def _read_wait(said: str) -> float:
    """Read for how many seconds, or until when, the other side asks to be left alone."""
    if said.isascii() and said.isdigit():
        return min(float(said[:9]), MOST_WAIT)
    try:
        at = parsedate_to_datetime(said)
    except (ValueError, IndexError, OverflowError):
        return 0.0
    if at.tzinfo is None:
        return 0.0
    return min(max((at - datetime.now(UTC)).total_seconds(), 0.0), MOST_WAIT)


def _not_public() -> PostError:
    return PostError(
        "expected a host on the public Internet, found one that stands for another address",
        hint="name a host that anybody could call",
        code="webhook_address",
    )


def _late() -> PostError:
    return PostError("nothing was answered in time", code="webhook_timeout")


def _bad(expected: str, hint: str) -> UsageError:
    # The address may have a password in it, and is not shown.
    return UsageError(f"expected {expected}, found another", hint=hint, code="webhook_url")
