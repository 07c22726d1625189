"""A service on a socket, in this process, and what is asked of it."""

from __future__ import annotations

import asyncio
import socket

from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.run.service import make_server
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

NOW = 1_795_284_000_000_000
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Listening:
    def __init__(self, store, settings):
        self.store = store
        key, shown = make_key("music", ["ingest", "read", "admin"], name="test", now=NOW)
        store.add_key(key, "test")
        self.key = shown.reveal()
        self.log = []
        self.late = []
        self.app = make_app(
            store, settings, write_log=self.log.append, now=lambda: NOW, run=self._run
        )
        self.server = make_server(
            self.app,
            store,
            host="127.0.0.1",
            port=0,
            settings=settings,
            report=lambda event, fields: self.log.append(f"{event} {fields}"),
        )
        self.port = 0

    @property
    def connections(self):
        return self.server.server_state.connections

    async def connect(self):
        return await asyncio.open_connection("127.0.0.1", self.port)

    def get(self, path):
        lines = [f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.key}"]
        return "\r\n".join([*lines, "", ""]).encode()

    def _run(self, work):
        return self.late[0](work) if self.late else work(self.store)


def serve(folder, ask, settings=None):
    """Serve a new store while something is asked, and return what that returned."""

    async def run(service):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            service.port = listening.getsockname()[1]
            serving = asyncio.ensure_future(service.server.serve([listening]))
            try:
                return await ask(service)
            finally:
                service.server.should_exit = True
                await serving

    number = len(list(folder.iterdir()))
    with SQLiteStore(folder / f"events{number}.db") as store:
        return asyncio.run(run(Listening(store, settings or Settings())))


def post_head(key, *more):
    lines = ["POST /v1/rankings HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    if key:
        lines.append(f"Authorization: Bearer {key}")
    return "\r\n".join([*lines, *more, "", ""]).encode()


async def read_answer(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    size = next(
        (int(line.partition(":")[2]) for line in head.split("\r\n") if "content-length" in line), 0
    )
    return int(head.split(" ", 2)[1]), await reader.readexactly(size)
