"""Runs the service: listens, evaluates on schedule, notifies, and shuts down."""

from __future__ import annotations

import gc
import math
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rankscope.errors import FileError, UsageError
from rankscope.monitor.backups import BackupPlan, BackupSchedule
from rankscope.monitor.deletion import TidySchedule, tidy_project
from rankscope.monitor.evaluate.worker import Worker, Workers
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.notify.alertmanager import AlertSchedule
from rankscope.monitor.notify.channels import Channels
from rankscope.monitor.notify.delivery import Deliverer, write_to_log
from rankscope.monitor.notify.http import Poster
from rankscope.monitor.notify.sending import AppriseSender, Sender, check_services
from rankscope.monitor.round import Round, evaluate_project
from rankscope.monitor.server.access_log import AccessLog, LogWriter, write_stderr
from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.http.provider import Provider
from rankscope.monitor.server.http.proxies import Proxies, read_prefix
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing.pool import Deadlines
from rankscope.monitor.server.run.schedule import SECONDS, Scheduler
from rankscope.monitor.server.run.shutdown import GracefulServer
from rankscope.monitor.server.run.tracing import trace_requests
from rankscope.monitor.server.telemetry import Telemetry
from rankscope.monitor.store.store import Store

if TYPE_CHECKING:
    from starlette.types import ASGIApp


SWITCH_SECONDS = 0.0005
LOG_SECONDS = 0.3
NO_CHANNELS = Channels()


def serve_store(
    store: Store,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    project: str = "default",
    names: tuple[str, ...] = (),
    prefix: str | None = None,
    proxies: Proxies | None = None,
    seconds: float = SECONDS,
    evaluates: bool = True,
    announce: Callable[[str], object] = lambda _address: None,
    write_log: Callable[[str], object] = write_stderr,
    now: Callable[[], int] = read_clock,
    poster: Poster | None = None,
    channels: Channels = NO_CHANNELS,
    sender: Sender | None = None,
    provider: Provider | None = None,
    backups: BackupPlan | None = None,
) -> None:
    """Serve a store until the process receives SIGTERM or SIGINT, and open requests are answered.

    Shutting down takes ten seconds at most. Reads that take longer are stopped, and if one doesn't
    stop, or the store can't be closed, the process ends anyway.
    """
    own = f"[{host}]" if ":" in host else host
    settings = Settings(
        hosts=_list_hosts(own, *names, urlsplit(channels.public_url or "").hostname or own),
        prefix=read_prefix(urlsplit(channels.public_url or "").path) if prefix is None else prefix,
        proxies=proxies or Proxies(),
        open_project=project if is_loopback(host) and provider is None else None,
        notifying=channels,
        provider=provider,
    )
    sender = sender or AppriseSender()
    check_services(settings.notifying, sender)
    with ExitStack() as stack:
        log = stack.enter_context(LogWriter(write_log))
        access_log = AccessLog(log.write, now)
        stack.enter_context(access_log.keep_log_records())
        poster = poster or Poster()
        evaluator = Worker(store, is_modest=True)
        decoders = Workers(store, settings.decoders)
        schedule = TidySchedule()
        telemetry = Telemetry()

        takes = store.take_evaluation if evaluates else lambda: False
        turn = threading.Lock()

        def evaluate(project: str, *, is_thorough: bool) -> Round:
            with turn:
                moment = now()
                # One thread, so that logging isn't held up.
                work = partial(evaluate_project, now=moment, threads=1, is_thorough=is_thorough)
                done = evaluator.run(partial(work, project=project))
                if schedule.is_due(project, moment):
                    evaluator.run(partial(tidy_project, now=moment, project=project))
                return done

        def evaluate_on_request(project: str) -> Round:
            if not takes():
                raise UsageError(
                    "another process evaluates the store",
                    hint="ask that process; one of several services evaluates",
                    code="store_evaluated",
                )
            return evaluate(project, is_thorough=True)

        scheduler = Scheduler(
            store.projects,
            partial(evaluate, is_thorough=False),
            takes=takes,
            delivers=lambda: evaluates and store.is_evaluator,
            deliverer=Deliverer(
                store,
                log=partial(write_to_log, AccessLog(log.deliver, now).write),
                poster=poster,
                now=now,
                channels=settings.notifying,
                sender=sender,
                alerts=AlertSchedule(),
            ),
            seconds=seconds,
            now=now,
            report=access_log.write,
            telemetry=telemetry,
            backups=None if backups is None else BackupSchedule(store, backups, now=now),
        )
        deadlines = Deadlines()
        app = make_app(
            store,
            settings,
            write_log=log.write,
            now=now,
            poster=poster,
            sender=sender,
            is_late=lambda: scheduler.is_late,
            evaluate=evaluate_on_request,
            run=decoders.run,
            deadlines=deadlines,
            telemetry=telemetry,
        )
        app, end_telemetry = trace_requests(app)
        server = make_server(
            app, store, host=host, port=port, settings=settings, report=access_log.write
        )
        server.deadlines = deadlines
        server.flush_log = partial(log.close, LOG_SECONDS)
        listening = stack.enter_context(_listen(host, port))
        announce(f"http://{own}:{listening.getsockname()[1]}/")
        scheduler.start()
        # Everything allocated so far stays: scanning it in each collection would hold up requests.
        gc.freeze()
        # The event loop waits for the interpreter lock several times per request while another
        # thread renders a page, so threads switch more often.
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            server.run([listening])
        finally:
            # The processes that evaluate and decode hold no data that could be lost.
            scheduler.stop(0)
            for workers in (evaluator, decoders):
                workers.close(server.seconds_left)
            scheduler.stop(server.seconds_left)
            # It commits what waits, for as long as the database holds it up.
            store.close()
            end_telemetry()
            server.finish()


def _list_hosts(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*Settings().hosts, *map(str.lower, names))))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, TypeError, ValueError) as error:  # the last two: not a host name
        raise FileError(
            f"can't listen on {host}, port {port} ({getattr(error, 'strerror', None) or error})",
            hint="choose another port; 0 picks a free one",
            code="io",
        ) from error


ACCEPTED_AT_ONCE = 64
"""Connections accepted in one turn of the event loop."""


def make_server(
    app: ASGIApp,
    store: Store,
    *,
    host: str,
    port: int,
    settings: Settings | None = None,
    report: Callable[[str, Mapping[str, object]], object] = lambda _event, _fields: None,
) -> GracefulServer:
    """Make the server; its `run` returns after SIGTERM or SIGINT, once requests are answered."""
    import uvicorn

    from rankscope.monitor.server.run.connections import (
        BoundedProtocol,
        Connections,
    )
    from rankscope.monitor.server.run.shutdown import (
        ANSWERING_SECONDS,
        GracefulServer,
    )

    settings = settings or Settings()
    if not is_loopback(host) and not has_keys(store):
        raise UsageError(
            f"expected people or keys before others can reach {host}, found none",
            hint="add a person first with rankscope monitor people add, or listen on 127.0.0.1",
            code="no_keys",
        )
    return GracefulServer(
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
    """Whether only this machine can reach an address.

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
    """Whether there is an operator, an account, or a key that isn't revoked."""
    if store.has_people() or store.roles(None):
        return True
    return any(key.revoked is None for project in store.projects() for key in store.keys(project))
