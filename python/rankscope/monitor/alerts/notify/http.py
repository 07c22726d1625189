"""Posts to an address that somebody has set: to a public one, once, and never for long.

Every address that a name stands for is judged, and the very one that was judged is called, so that
a name which stands for another a moment later changes nothing. Nothing of an answer is kept but its
status, and for how long it asks to be left alone.
"""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

from rankscope.errors import InputError, UsageError
from rankscope.monitor.alerts.notify.addresses import is_loopback, is_metadata_name, is_public
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from rankscope.monitor.alerts.notify.addresses import Address

    Resolve: TypeAlias = Callable[[str, int], Sequence[str]]

SECONDS = 5.0
MOST_BYTES = 64 << 10
PIECE = 8 << 10
MOST_WAIT = 86_400.0
PORTS = {"https": 443, "http": 80}
FIRST_FREE_PORT = 1024
"""Below are services that are not for the web."""

MOST_URL = 2048
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?![^ \r\n])")
RETRY_AFTER = re.compile(rb"(?im)^retry-after:[ \t]*([^\r\n]*?)[ \t]*\r?$")


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
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

    Args:
        url: The address.
        allows_http: Whether it may be without TLS.

    Raises:
        UsageError: It is no address of the web, or one with a password in it.

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
    """Resolve a host name as this machine does.

    Raises:
        OSError: There are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class Poster:
    """Posts to public addresses.

    Args:
        allows_loopback: Whether this machine may be called, too.
        resolve: Finds the addresses of a name.
        seconds: How long all of it may take.
        clock: A clock in seconds that only grows.
        context: How certificates are checked.
    """

    def __init__(
        self,
        *,
        allows_loopback: bool = False,
        resolve: Resolve = resolve_name,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._allows_loopback = allows_loopback
        self._resolve = resolve
        self._seconds = seconds
        self._clock = clock
        self._context = context

    def check(self, target: Target) -> list[str]:
        """Resolve a target, and check that each of its addresses may be called.

        Raises:
            PostError: There are none, or one that may not be.
        """
        return self._find(target, self._clock() + self._seconds)

    def post(self, target: Target, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post a body.

        Args:
            target: Where.
            headers: The headers, but for the host and the length.
            body: The body.

        Raises:
            PostError: It may not be posted there, or nothing was answered in time.
        """
        until = self._clock() + self._seconds
        request = _write_request(target, headers, body)
        problem = PostError("no address answered", code="webhook_unreachable")
        for address in self._find(target, until):
            try:
                with closing(self._connect(target, address, until)) as connection:
                    connection.settimeout(self._left(until))
                    connection.sendall(request)
                    return self._listen(connection, until)
            except ssl.SSLError:
                problem = PostError("TLS failed", code="webhook_tls")
            except TimeoutError:
                raise _late() from None
            except OSError:
                problem = PostError("the connection failed", code="webhook_unreachable")
        raise problem

    def _find(self, target: Target, until: float) -> list[str]:
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
            found = answers.get(timeout=self._left(until))
        except Empty:
            raise _late() from None
        if not found:
            raise PostError("the name stands for no address", code="webhook_unreachable")
        if not all(self._may_call(address) for address in found):
            raise _not_public()
        return found

    def _may_call(self, text: str) -> bool:
        try:
            address: Address = ip_address(text)
        except ValueError:
            return False
        return is_public(address) or (self._allows_loopback and is_loopback(address))

    def _connect(self, target: Target, address: str, until: float) -> socket.socket:
        plain = socket.create_connection((address, target.port), timeout=self._left(until))
        if target.scheme == "http":
            return plain
        context = self._context or ssl.create_default_context()
        try:
            plain.settimeout(self._left(until))
            return context.wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise

    def _listen(self, connection: socket.socket, until: float) -> Reply:
        """Read the head of an answer; what follows is read a little, and thrown away."""
        held = b""
        reply = None
        while reply is None:
            piece = self._receive(connection, until)
            held += piece
            if not piece or len(held) > MOST_BYTES:
                raise PostError("the answer was none of HTTP", code="webhook_answer")
            reply, held = _read_head(held)
        read = len(held)
        with suppress(OSError, PostError):
            while read < MOST_BYTES and (piece := self._receive(connection, until)):
                read += len(piece)
        return reply

    def _receive(self, connection: socket.socket, until: float) -> bytes:
        connection.settimeout(self._left(until))
        return connection.recv(PIECE)

    def _left(self, until: float) -> float:
        """Return how many seconds are left.

        Raises:
            PostError: None are.
        """
        left = until - self._clock()
        if left <= 0:
            raise _late()
        return left


def _write_request(target: Target, headers: Mapping[str, str], body: bytes) -> bytes:
    said = {
        "Host": target.authority,
        **headers,
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    lines = [f"{name}: {value}" for name, value in said.items()]
    head = "\r\n".join([f"POST {target.path} HTTP/1.1", *lines, "", ""])
    return head.encode("ascii") + body


def _read_head(held: bytes) -> tuple[Reply | None, bytes]:
    """Read the head of an answer, as far as it is there, and give what follows.

    Raises:
        PostError: It is none of HTTP.
    """
    while True:
        head, end, rest = held.partition(b"\r\n\r\n")
        if not end:
            return None, held
        status = STATUS.match(head)
        if status is None:
            raise PostError("the answer was none of HTTP", code="webhook_answer")
        if not status[1].startswith(b"1"):
            asked = RETRY_AFTER.search(head)
            said = asked[1].decode("ascii", "replace") if asked else ""
            return Reply(int(status[1]), _read_wait(said)), rest
        held = rest  # the answer itself is still to come


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
