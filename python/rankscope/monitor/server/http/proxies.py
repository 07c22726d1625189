"""What reverse proxies say about a request: believed only from those that are named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from rankscope._names import quote
from rankscope.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+", re.ASCII)
"""The path that a proxy has a service at; `//` would begin the name of another host."""


@dataclass(frozen=True, slots=True)
class Proxies:
    """The reverse proxies whose headers are believed.

    Args:
        networks: Their addresses.

    Examples:
        >>> proxies = read_proxies(["127.0.0.1", "10.0.0.0/8"])
        >>> [address in proxies for address in ("10.1.2.3", "127.0.0.2", "::1", "unix")]
        [True, False, False, False]
    """

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def __contains__(self, address: str) -> bool:
        try:
            known = ip_address(address)
        except ValueError:
            return False
        return any(known in network for network in self.networks)


def read_proxies(names: Sequence[str]) -> Proxies:
    """Read the addresses of proxies."""
    try:
        return Proxies(tuple(ip_network(name) for name in names))
    except ValueError as error:
        raise UsageError(
            f"--proxy must be an IP address or a network such as 10.0.0.0/8 ({error})",
            hint="name the address that the proxy connects from",
            code="usage",
        ) from error


def read_prefix(text: str) -> str:
    """Read the path that a proxy has the service at, such as `/ranking`.

    Examples:
        >>> read_prefix("/ranking/"), read_prefix("/")
        ('/ranking', '')
    """
    prefix = text.rstrip("/")
    if prefix and PREFIX.fullmatch(prefix) is None:
        raise UsageError(
            f"the prefix must be a path such as /ranking, found {quote(text)}",
            hint="use letters, digits, -, ., _ and ~ between slashes",
            code="usage",
        )
    return prefix


class ProxyHeaders:
    """Applies what a named proxy says: the client, the scheme, the host, and its own prefix.

    Of several values of a header, the last one counts: the proxy itself has added it.

    Args:
        app: The application.
        proxies: The proxies that are believed.
    """

    def __init__(self, app: ASGIApp, proxies: Proxies) -> None:
        self._plain = app
        self._proxies = proxies
        self._proxied = ProxyHeadersMiddleware(app, [str(one) for one in proxies.networks])  # type: ignore[arg-type]  # the same, by another name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        client = scope.get("client")
        if scope["type"] != "http" or client is None or client[0] not in self._proxies:
            await self._plain(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["is_proxied"] = True
        headers = Headers(scope=scope)
        if host := _last(headers, "x-forwarded-host"):
            others = [(name, value) for name, value in scope["headers"] if name != b"host"]
            scope["headers"] = [*others, (b"host", host.encode("latin-1"))]
        prefix = _last(headers, "x-forwarded-prefix").rstrip("/")
        if PREFIX.fullmatch(prefix):
            state["prefix"] = prefix
        await self._proxied(scope, receive, send)  # type: ignore[arg-type]  # likewise


def _last(headers: Headers, name: str) -> str:
    values = headers.getlist(name)
    return values[-1].rpartition(",")[2].strip() if values else ""
