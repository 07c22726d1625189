"""`rankscope serve`: takes events over HTTP, evaluates them, and shows how good rankings are."""

from __future__ import annotations

from contextlib import closing

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.stores import PROJECT, read_project
from rankscope.errors import UsageError
from rankscope.monitor.server.run.schedule import SECONDS
from rankscope.monitor.server.run.service import serve_store
from rankscope.monitor.store import open_store
from rankscope.monitor.store.sqlite.files import SQLITE
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HOST = "127.0.0.1"
PORT = 8000
PORTS = range(65_536)


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("store", metavar="STORE", help="its file, or sqlite:///FILE; made if new")
    parser.add_argument(
        "--host",
        action=Once,
        default=HOST,
        metavar="ADDRESS",
        help=f"where to listen, {HOST} if left out; others can reach it only once there is a key",
    )
    parser.add_argument(
        "--port",
        action=Once,
        type=int,
        default=PORT,
        metavar="N",
        help=f"the port, {PORT} if left out; 0 is one that is free",
    )
    parser.add_argument(
        "--name",
        dest="names",
        action="append",
        default=[],
        metavar="HOST",
        help="another name under which it is asked, such as that of a proxy before it; may be "
        "given again",
    )
    parser.add_argument(
        "--project",
        action=Once,
        type=read_project,
        default=PROJECT,
        metavar="NAME",
        help=f"the project that this machine may use as long as there is no key, {PROJECT!r} if "
        "left out",
    )
    parser.add_argument(
        "--every",
        action=Once,
        type=float,
        default=SECONDS,
        metavar="SECONDS",
        help=f"how long to wait between two evaluations, {SECONDS:g} if left out",
    )


def run(options: Namespace) -> int:
    """Serve until the process is asked to end."""
    if options.port not in PORTS or not 0 < options.every < 1e6:
        raise UsageError(
            "expected a port from 0 to 65535 and seconds above 0, found "
            f"{options.port} and {options.every:g}",
            hint="leave them out",
            code="usage",
        )
    url = options.store if "://" in options.store else SQLITE + options.store
    with closing(open_store(url)) as store:
        serve_store(
            store,
            host=options.host,
            port=options.port,
            project=options.project,
            names=tuple(options.names),
            seconds=options.every,
            announce=lambda address: print(f"listens on {show(address)}", flush=True),
        )
    return 0
