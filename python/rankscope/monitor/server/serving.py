"""Serves a store: takes events, answers, evaluates and notifies, until the process is to end."""

from __future__ import annotations

import gc
import socket
from functools import partial

from rankscope.errors import FileError
from rankscope.monitor.alerts.delivery import Deliverer
from rankscope.monitor.alerts.log_channel import LogChannel
from rankscope.monitor.alerts.posting import Poster
from rankscope.monitor.alerts.scheduler import SECONDS, Scheduler
from rankscope.monitor.round import evaluate_project
from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.deadlines import Deadlines
from rankscope.monitor.server.journal import Journal, write_stderr
from rankscope.monitor.server.listening import is_loopback, make_server
from rankscope.monitor.server.settings import Settings
from rankscope.monitor.times import read_clock
from rankscope.monitor.worker import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope.monitor.store.protocol import Store


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
        write_log: Takes the lines of the log.
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
    journal = Journal(write_log, now)
    poster = poster or Poster()
    worker = Worker(store, is_modest=True)
    scheduler = Scheduler(
        store.projects,
        lambda project: worker.run(
            # One thread, for those who log are not to be held up.
            partial(evaluate_project, project=project, now=now(), threads=1, is_thorough=False)
        ),
        deliverer=Deliverer(store, log=LogChannel(journal.write), poster=poster, now=now),
        seconds=seconds,
        now=now,
        report=journal.write,
    )
    deadlines = Deadlines()
    app = make_app(
        store,
        settings,
        write_log=write_log,
        now=now,
        poster=poster,
        scheduler=scheduler,
        deadlines=deadlines,
    )
    server = make_server(app, store, host=host, port=port, report=journal.write)
    server.deadlines = deadlines
    with _listen(host, port) as listening:
        announce(f"http://{own}:{listening.getsockname()[1]}/")
        scheduler.start()
        # What is there now stays: to look at all of it again and again would hold up whoever logs.
        gc.freeze()
        try:
            server.run([listening])
        finally:
            # The process that evaluates holds nothing that could be lost: it is not waited for.
            scheduler.stop(0)
            worker.close(server.seconds_left)
            scheduler.stop(server.seconds_left)
            server.finish()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise FileError(
            f"expected to listen on {host}, port {port}, found that it cannot be "
            f"({error.strerror or error})",
            hint="name another port; 0 is one that is free",
            code="io",
        ) from error
