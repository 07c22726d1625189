"""Serves a store on a free port, on a core of its own: `python -m load.listener STORE CORE`."""

from __future__ import annotations

import socket
import sys

from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.listening import make_server
from rankscope.monitor.store.sqlite import SQLiteStore

from load.cores import stay_on


def main() -> None:
    """Serve until the process is asked to end."""
    path, core = sys.argv[1:]
    stay_on(int(core))
    with SQLiteStore(path) as store, socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        app = make_app(store, write_log=lambda _line: None)
        make_server(app, store, host="127.0.0.1", port=0).run([listening])


if __name__ == "__main__":
    main()
