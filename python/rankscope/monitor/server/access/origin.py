"""Where a request comes from: the same origin, this machine, or elsewhere."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rankscope.monitor.server.http.problems import RefusedRequestError

if TYPE_CHECKING:
    from starlette.requests import Request


LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
FORWARDED = frozenset({"forwarded", "via", "x-real-ip"})
"""Headers that proxies add, besides those that begin with `x-forwarded-`."""


def is_same_origin(request: Request) -> bool | None:
    """Whether a page of this service sent a request; `None` if the headers don't tell.

    `Sec-Fetch-Site` comes first, because our pages send no referrer, and browsers then send
    `Origin: null`.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        # `none`: the address was typed, or opened from a bookmark.
        return None if site == "none" else site == "same-origin"
    origin = request.headers.get("origin")
    if origin is None:
        return None
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host_of(request)


def refuse_other_origins(request: Request) -> None:
    """Refuse a request that a page of another site sent."""
    if is_same_origin(request) is False:
        raise _other_origin()


def demand_own_page(request: Request) -> None:
    """Refuse a request unless a page of this service surely sent it."""
    if not is_same_origin(request):
        raise _other_origin()


def is_own_machine(request: Request) -> bool:
    """Whether a request came from this machine, under a loopback name, and through no proxy."""
    address = request.client.host if request.client else ""
    try:
        is_near = ip_address(address).is_loopback
    except ValueError:
        return False
    name = host_of(request)
    is_named = name in LOOPBACK or name.rpartition(":")[0] in LOOPBACK
    # Some proxies send HTTP/1.0 and no header of their own; browsers and clients send 1.1.
    is_direct = request.scope.get("http_version") != "1.0" and not any(
        name in FORWARDED or name.startswith("x-forwarded-") for name in request.headers
    )
    is_proxied = getattr(request.state, "is_proxied", False)
    return is_near and is_named and is_direct and not is_proxied


def host_of(request: Request) -> str:
    """Return the host header of a request, in lower case."""
    return request.headers.get("host", "").lower()


def _other_origin() -> RefusedRequestError:
    return RefusedRequestError(
        403,
        "expected a page of this service, in a browser that says so: open it by https, or as "
        "localhost",
        code="origin",
    )
