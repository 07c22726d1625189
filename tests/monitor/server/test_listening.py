from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.server.listening import HEALTH, post_head, read_answer, serve
from tests.monitor.server.service import make_ranking

SERVER = Path(__file__).with_name("server.py")


class Listener:
    def __init__(self, path):
        with SQLiteStore(path) as store:
            key, self.shown = make_key("music", ["ingest"], name="test", now=0)
            store.add_key(key, "test")
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), str(path), "1000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rstrip("/\n").rpartition(":")[2])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=300)

    def head(self, *more):
        return post_head(self.shown.reveal(), *more)

    def ask(self, sent, *, ends=True):
        """Send bytes, and give all that comes until the connection is closed."""
        with self.connect() as connection:
            connection.sendall(sent)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()


@pytest.fixture(scope="module")
def listener(tmp_path_factory):
    made = Listener(tmp_path_factory.mktemp("listener") / "events.db")
    yield made
    made.process.kill()
    made.process.communicate()


def status_of(answer):
    return answer.partition("\r\n")[0].split(" ")[1]


def test_an_offer_of_another_protocol_is_ignored(tmp_path):
    async def ask(service):
        reader, writer = await service.connect()
        told = []
        for number in range(2):
            body = json.dumps(make_ranking(number)).encode()
            offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAM")
            writer.write(post_head(service.key, *offer, f"Content-Length: {len(body)}") + body)
            status, said = await read_answer(reader)
            told.append((status, json.loads(said)["accepted"]))
        writer.close()
        return told

    assert serve(tmp_path, ask) == [(200, 1), (200, 1)]


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 2", "Content-Length: 3"],
        ["Content-Length: two"],
        ["Content-Length: -2"],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: chunked", "Content-Length: 2"],
        ["Bad Name: x"],
    ],
)
def test_what_is_no_http_is_refused(listener, lines):
    assert status_of(listener.ask(listener.head(*lines) + b"{}", ends=False)) == "400"


@pytest.mark.parametrize(
    ("target", "statuses"),
    [
        (b"/v1/rankings/" + b"a" * 100_000, {"400", "414"}),
        (b"/v1/rankings/" + b"a" * 20_000, {"414"}),
        (b"/v1/rankings/" + b"a" * 10_000, {"401"}),
        (b"/v1/rankings/%ED%A0%80", {"401"}),
        (b"/v1/rankings/%FF%FE%00", {"401"}),
        (b"/v1/rankings/\xe4", {"400"}),
        (b"/v1/series?measure=%ED%A0%80", {"401"}),
        (b"/%2e%2e%2fetc%2fpasswd", {"404"}),
        (b"/..%252f..%252fetc", {"404"}),
        (b"/static/../../etc/passwd", {"404"}),
        (b"/static/%2e%2e/app.py", {"404"}),
        (b"//etc/passwd", {"404"}),
        (b"http://evil.example/healthz", {"404"}),
        (b"*", {"404"}),
    ],
)
def test_whatever_an_address_is_it_is_answered(listener, target, statuses):
    head = b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert status_of(listener.ask(head, ends=False)) in statuses


def test_a_large_body_is_refused_before_it_is_sent(listener):
    answer = listener.ask(listener.head("Content-Length: 999999999"), ends=False)
    assert status_of(answer) == "413"
    assert "connection: close" in answer.lower()


def test_a_body_without_end_is_refused_while_it_comes(listener):
    piece = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    with listener.connect() as connection:
        connection.sendall(listener.head("Transfer-Encoding: chunked"))
        try:
            for _ in range(40):
                connection.sendall(piece)
        except OSError:
            return  # it was closed
        assert status_of(connection.recv(65_536).decode()) == "413"


def test_a_request_that_is_cut_off_stores_nothing(listener):
    answer = listener.ask(listener.head("Content-Length: 1000") + b'{"ranking_id": "half"')
    assert answer == ""
    body = json.dumps(make_ranking(2, ranking_id="half")).encode()
    head = listener.head(f"Content-Length: {len(body)}", "Connection: close")
    assert '"accepted":1' in listener.ask(head + body, ends=False)


def test_it_ends_when_it_is_asked_to(tmp_path):
    made = Listener(tmp_path / "events.db")
    body = json.dumps(make_ranking(1)).encode()
    head = made.head(f"Content-Length: {len(body)}", "Connection: close")
    answer = made.ask(head + body, ends=False)
    assert status_of(answer) == "200"
    assert "\r\nserver:" not in answer.lower()
    made.process.send_signal(signal.SIGTERM)
    _, log = made.process.communicate(timeout=300)
    assert made.process.returncode == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["status"] for line in lines] == [200]
    assert made.shown.reveal() not in log
    with SQLiteStore(tmp_path / "events.db") as store:
        assert store.last_seq == 1


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: local", b"POST"])
def test_a_head_that_does_not_come_is_not_waited_for(tmp_path, sent):
    async def ask(service):
        reader, writer = await service.connect()
        writer.write(HEALTH)
        head = await reader.readuntil(b"\r\n\r\n")
        told = [head.split(b" ")[1], await reader.readexactly(len(b'{"status":"ok"}'))]
        writer.write(sent)
        with suppress(ConnectionResetError):  # it is closed, and more came
            told.append(await reader.read())
        writer.close()
        return [said for said in told if said]

    settings = Settings(wait_seconds=0.2)
    assert serve(tmp_path, ask, settings) == [b"200", b'{"status":"ok"}']


def test_the_connection_that_has_waited_longest_makes_room(tmp_path):
    async def ask(service):
        opened = []
        for _ in range(3):
            reader, writer = await service.connect()
            opened.append((reader, writer))
            if len(opened) == 1:
                writer.write(HEALTH)
                await reader.readuntil(b"}")
        told = []
        for reader, writer in opened[1:]:
            writer.write(HEALTH)
            told.append((await reader.readuntil(b"\r\n\r\n")).decode())
        told.append((await opened[0][0].read()).decode())
        for _, writer in opened:
            writer.close()
        return told

    *answered, closed = serve(tmp_path, ask, Settings(connections_per_address=2))
    assert [status_of(head) for head in answered] == ["200", "200"]
    assert closed == ""


def test_a_connection_too_many_is_told_when_to_come_back(tmp_path):
    async def ask(service):
        head = post_head(service.key, "Content-Length: 9", "Expect: 100-continue")
        busy = []
        for _ in range(2):
            reader, writer = await service.connect()
            writer.write(head)
            await reader.readuntil(b"100 Continue\r\n\r\n")
            busy.append(writer)
        reader, writer = await service.connect()
        writer.write(HEALTH)
        told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        for one in (*busy, writer):
            one.close()
        return told

    too_many = serve(tmp_path, ask, Settings(connections=2))
    assert status_of(too_many) == "503"
    assert "\r\nretry-after: 1\r\n" in too_many
    assert "\r\nconnection: close\r\n" in too_many


@pytest.mark.slow
def test_a_killed_service_has_kept_what_it_acknowledged(tmp_path):
    path = tmp_path / "events.db"
    acknowledged = []
    sent = 0
    for number in range(2):
        made = Listener(path)
        enough = threading.Event()

        def send(made, first, enough):
            for at in range(first, first + 500, 5):
                body = json.dumps([make_ranking(one) for one in range(at, at + 5)]).encode()
                head = made.head(f"Content-Length: {len(body)}", "Connection: close")
                try:
                    answer = made.ask(head + body, ends=False)
                except OSError:
                    return
                if '"accepted":5' in answer:
                    acknowledged.extend(range(at, at + 5))
                if at >= first + 5 * random.Random(first).randrange(4):
                    enough.set()

        threads = [
            threading.Thread(target=send, args=(made, sent + 500 * thread, enough))
            for thread in range(3)
        ]
        sent += 1500
        for thread in threads:
            thread.start()
        assert enough.wait(300), number
        made.process.kill()
        made.process.communicate()
        for thread in threads:
            thread.join()
    assert acknowledged
    with SQLiteStore(path) as store:
        kept = [seq for chunk in store.read("music") for seq in chunk.seqs]
        assert len(kept) == len(set(kept)) >= len(acknowledged)
        for number in acknowledged:
            assert store.find_ranking("music", f"r{number}") is not None
