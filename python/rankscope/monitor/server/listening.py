"""Listens: on this machine only, unless there are keys."""

from __future__ import annotations

import math
from functools import partial
from ipaddress import ip_address

from rankscope.errors import UsageError
from rankscope.monitor.server.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp

    from rankscope.monitor.server.ending import EndingServer
    from rankscope.monitor.store.protocol import Store

ACCEPTED_AT_ONCE = 64
"""Connections that are accepted in one turn of the event loop."""


def make_server(
    app: ASGIApp,
    store: Store,
    *,
    host: str,
    port: int,
    settings: Settings | None = None,
    report: Callable[[str, Mapping[str, object]], object] = lambda _event, _fields: None,
) -> EndingServer:
    """Make what listens; its `run` returns when the process is asked to end, and all is answered.

    Args:
        app: The application.
        store: Where keys are.
        host: The address on which it listens.
        port: The port; 0 for one that is free.
        settings: How many connections there may be.
        report: Takes what went wrong, such as `Journal.write`.

    Raises:
        UsageError: Others could reach it, and no key opens anything.
    """
    import uvicorn  # noqa: PLC0415 - nobody else needs it

    from rankscope.monitor.server.connections import (  # noqa: PLC0415 - likewise
        BoundedProtocol,
        Connections,
    )
    from rankscope.monitor.server.ending import (  # noqa: PLC0415 - likewise
        ANSWERING_SECONDS,
        EndingServer,
    )

    settings = settings or Settings()
    if not is_loopback(host) and not has_keys(store):
        raise UsageError(
            f"expected keys before others can reach {host}, found none",
            hint="make a key first, or listen on 127.0.0.1",
            code="no_keys",
        )
    return EndingServer(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=partial(BoundedProtocol, Connections(settings, report)),  # type: ignore[arg-type]
            ws="none",
            backlog=ACCEPTED_AT_ONCE,
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,  # the application writes its own, with nothing that a client sent
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=math.ceil(settings.wait_seconds),
            timeout_graceful_shutdown=ANSWERING_SECONDS,
        ),
        report,
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    Examples:
        >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "")]
        [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def has_keys(store: Store) -> bool:
    """Whether some key opens something."""
    return any(key.revoked is None for project in store.projects() for key in store.keys(project))
