"""Runs the service: listens, evaluates on schedule, notifies, and shuts down."""

from __future__ import annotations

import gc
import math
import socket
import sys
from contextlib import ExitStack
from functools import partial
from ipaddress import ip_address

from rankscope.errors import FileError, UsageError
from rankscope.monitor.alerts.notify.delivery import Deliverer, LogChannel
from rankscope.monitor.alerts.notify.http import Poster
from rankscope.monitor.evaluate.worker import Worker, Workers
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.round import evaluate_project
from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.run.access_log import Journal, LogWriter, write_stderr
from rankscope.monitor.server.run.deadlines import Deadlines
from rankscope.monitor.server.run.schedule import SECONDS, Scheduler
from rankscope.monitor.server.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp

    from rankscope.monitor.server.run.shutdown import EndingServer
    from rankscope.monitor.store.store import Store


SWITCH_SECONDS = 0.0005
LOG_SECONDS = 0.3


def serve_store(
    store: Store,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    project: str = "default",
    names: tuple[str, ...] = (),
    seconds: float = SECONDS,
    announce: Callable[[str], object] = lambda _address: None,
    write_log: Callable[[str], object] = write_stderr,
    now: Callable[[], int] = read_clock,
    poster: Poster | None = None,
) -> None:
    """Serve a store until the process is asked to end, and all is answered.

    After SIGTERM or SIGINT this takes ten seconds at most. Reads that are not done by then are
    stopped; should one not stop, the process ends without it.

    Args:
        store: Where events are; whoever opened it closes it.
        host: The address on which it listens.
        port: The port; 0 for one that is free.
        project: The project that this machine may use without a key as long as there never was one.
        names: Other names under which it is asked, such as that of a proxy before it.
        seconds: How long to wait between two evaluations.
        announce: Is told the address, once it listens there.
        write_log: Takes the lines of the log, in a thread of its own.
        now: Gives the time, in microseconds since 1970 in UTC.
        poster: Posts to webhooks; to public addresses alone if left out.

    Raises:
        UsageError: Others could reach it, and no key opens anything.
        FileError: It cannot listen there.
    """
    own = f"[{host}]" if ":" in host else host
    settings = Settings(
        hosts=tuple(dict.fromkeys((*Settings().hosts, own.lower(), *map(str.lower, names)))),
        open_project=project if is_loopback(host) else None,
    )
    with ExitStack() as stack:
        log = stack.enter_context(LogWriter(write_log))
        journal = Journal(log.write, now)
        stack.enter_context(journal.keep_log_records())
        poster = poster or Poster()
        evaluator = Worker(store, is_modest=True)
        decoders = Workers(store, settings.decoders)
        scheduler = Scheduler(
            store.projects,
            lambda project: evaluator.run(
                # One thread, for those who log are not to be held up.
                partial(evaluate_project, project=project, now=now(), threads=1, is_thorough=False)
            ),
            deliverer=Deliverer(
                store, log=LogChannel(Journal(log.deliver, now).write), poster=poster, now=now
            ),
            seconds=seconds,
            now=now,
            report=journal.write,
        )
        deadlines = Deadlines()
        app = make_app(
            store,
            settings,
            write_log=log.write,
            now=now,
            poster=poster,
            scheduler=scheduler,
            run=decoders.run,
            deadlines=deadlines,
        )
        server = make_server(
            app, store, host=host, port=port, settings=settings, report=journal.write
        )
        server.deadlines = deadlines
        server.flush_log = partial(log.close, LOG_SECONDS)
        listening = stack.enter_context(_listen(host, port))
        announce(f"http://{own}:{listening.getsockname()[1]}/")
        scheduler.start()
        # What is there now stays: to look at all of it again and again would hold up whoever logs.
        gc.freeze()
        # A thread that wants to run waits for the one that does: the loop for each page that is
        # made meanwhile, several times a request.
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            server.run([listening])
        finally:
            # The processes that evaluate and decode hold nothing that could be lost.
            scheduler.stop(0)
            for workers in (evaluator, decoders):
                workers.close(server.seconds_left)
            scheduler.stop(server.seconds_left)
            server.finish()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, TypeError, ValueError) as error:  # of the last two: a text that is no name
        raise FileError(
            f"expected to listen on {host}, port {port}, found that it cannot be "
            f"({getattr(error, 'strerror', None) or error})",
            hint="name another port; 0 is one that is free",
            code="io",
        ) from error


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

    from rankscope.monitor.server.run.connections import (  # noqa: PLC0415 - likewise
        BoundedProtocol,
        Connections,
    )
    from rankscope.monitor.server.run.shutdown import (  # noqa: PLC0415 - likewise
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
