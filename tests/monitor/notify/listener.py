"""A server that answers as a test says, on an address of this machine."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress

from rankscope.monitor.notify.http import Poster

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Listener:
    def __init__(self):
        self.requests = []
        self.port = 0

    @property
    def url(self):
        return f"http://hook.example:{self.port}/in?team=search"


@contextmanager
def listening(answer=OK, *, tls=None, reads=True):
    """Listen, and answer each request, or each connection where requests are not read."""
    found = Listener()

    def serve(server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with suppress(OSError), connection, _secure(connection, tls) as secured:
                if reads:
                    found.requests.append(read_request(secured))
                if callable(answer):
                    answer(secured)
                else:
                    secured.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        found.port = server.getsockname()[1]
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def _secure(connection, tls):
    return connection if tls is None else tls.wrap_socket(connection, server_side=True)


def read_request(connection):
    held = b""
    while b"\r\n\r\n" not in held:
        piece = connection.recv(1 << 16)
        if not piece:
            return held
        held += piece
    head, _, body = held.partition(b"\r\n\r\n")
    size = next(
        (int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0
    )
    while len(body) < size:
        body += connection.recv(1 << 16)
    return head + b"\r\n\r\n" + body


def make_poster(*addresses, **more):
    """A poster for which each name stands for some addresses, by default of this machine."""
    found = addresses or ("127.0.0.1",)
    usual = {"allows_loopback": True, "resolve": lambda *_: found, "seconds": 60.0}
    return Poster(**usual | more)
