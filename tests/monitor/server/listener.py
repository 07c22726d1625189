"""Serves the store that is named, on a port that is free, and prints that port."""

from __future__ import annotations

import socket
import sys

from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.run.service import make_server
from rankscope.monitor.store.sqlite.store import SQLiteStore


def serve(path: str) -> None:
    """Serve until the process is asked to end."""
    with SQLiteStore(path) as store, socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)  # noqa: T201 - the parent process reads it
        make_server(make_app(store), store, host="127.0.0.1", port=0).run([listening])


if __name__ == "__main__":
    serve(sys.argv[1])
