"""Where a request comes from: the same origin, this machine, or elsewhere."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from rankscope.monitor.server.http.problems import RefusedRequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request


LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""What proxies say of themselves, where they say something."""


def is_same_origin(request: Request) -> bool | None:
    """Whether a page of ours asks; `None` where no browser says where the request comes from.

    `Sec-Fetch-Site` comes first: browsers send no `Origin` that says something where pages give
    no referrer, as ours do not.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        # Nobody's page: somebody typed the address.
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
    """Refuse what a page of somebody else asks.

    Raises:
        RefusedRequestError: It is.
    """
    if is_same_origin(request) is False:
        raise _other_origin()


def demand_own_page(request: Request) -> None:
    """Refuse what is not surely asked by a page of ours.

    Raises:
        RefusedRequestError: It is not.
    """
    if not is_same_origin(request):
        raise _other_origin()


def is_own_machine(request: Request) -> bool:
    """Whether this machine asks itself, under a name of its own and through nothing else."""
    address = request.client.host if request.client else ""
    try:
        is_near = ip_address(address).is_loopback
    except ValueError:
        return False
    name = host_of(request)
    is_named = name in LOOPBACK or name.rpartition(":")[0] in LOOPBACK
    # Browsers and clients of today say 1.1; some proxies do not, nor anything of themselves.
    is_direct = request.scope.get("http_version") != "1.0" and not any(
        name in request.headers for name in FORWARDED
    )
    return is_near and is_named and is_direct


def host_of(request: Request) -> str:
    """Give the name and the port under which the service is asked."""
    return request.headers.get("host", "").lower()


def _other_origin() -> RefusedRequestError:
    return RefusedRequestError(
        403,
        "expected a page of this service, in a browser that says so: open it by https, or as "
        "localhost",
        code="origin",
    )
