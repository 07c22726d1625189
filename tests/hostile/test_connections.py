"""Connections and readers of the log that hold others up, each bounded by a count, not a clock."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from contextlib import suppress
from itertools import pairwise

import pytest
from rankscope.monitor.server.access.rates import ConcurrencyLimiter
from rankscope.monitor.server.access_log import AccessLog, LogWriter
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.run.connections import READ_BYTES, BoundedProtocol

from tests.monitor.server.listening import HEALTH, post_head, read_answer, serve
from tests.monitor.server.service import make_ranking


async def exchange(service, *sent):
    """Send something on a connection of its own, and return the status and body of the answer."""
    reader, writer = await service.connect()
    for part in sent:
        writer.write(part)
    answer = await read_answer(reader)
    writer.transport.abort()
    return answer


def check_refused(answer, status, code):
    assert (answer[0], json.loads(answer[1])["error"]["code"]) == (status, code)


def test_answers_are_sent_without_delay_on_kept_connections(tmp_path):
    async def ask(service):
        reader, writer = await service.connect()
        writer.write(HEALTH)
        await read_answer(reader)
        accepted = [one.transport.get_extra_info("socket") for one in service.connections]
        writer.close()
        return [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in accepted]

    assert serve(tmp_path, ask) == [1]


def test_a_body_in_tiny_chunks_is_not_parsed_once_it_is_refused(tmp_path, monkeypatch):
    parsed = []

    def count(protocol, body):
        parsed.append(len(body))
        on_body(protocol, body)

    on_body = BoundedProtocol.on_body
    monkeypatch.setattr(BoundedProtocol, "on_body", count)
    chunks = 600_000

    async def ask(service):
        head = post_head("", "Transfer-Encoding: chunked")
        return await exchange(service, head, b"1\r\n \r\n" * chunks)

    # The chunks are too small, or the key is missing: what is seen first.
    assert serve(tmp_path, ask)[0] in {400, 401}
    # What came in the few turns of the loop until the answer was written.
    assert len(parsed) < chunks / 6


def test_a_connection_parses_a_few_kilobytes_before_the_others_have_their_turn(
    tmp_path, monkeypatch
):
    sizes = []

    def count(protocol, data):
        sizes.append(len(data))
        receive(protocol, data)

    receive = BoundedProtocol.data_received
    monkeypatch.setattr(BoundedProtocol, "data_received", count)
    body = b" " * 1_000_000

    async def ask(service):
        return await exchange(
            service, post_head(service.key, f"Content-Length: {len(body)}") + body
        )

    assert serve(tmp_path, ask)[0] == 400  # nothing but blanks
    assert max(sizes) <= READ_BYTES
    assert sum(sizes) > len(body)


def test_a_body_of_a_good_key_in_tiny_chunks_is_refused(tmp_path):
    async def ask(service):
        head = post_head(service.key, "Transfer-Encoding: chunked")
        return await exchange(service, head + b"1\r\n \r\n" * 5000 + b"0\r\n\r\n")

    check_refused(serve(tmp_path, ask), 400, "bad_http")


def test_idle_connections_make_room_for_requests(tmp_path):
    most = 20

    async def ask(service):
        held = [await service.connect() for _ in range(3 * most)]
        told = [(await exchange(service, HEALTH))[0] for _ in range(2 * most)]
        for _, writer in held:
            writer.close()
        return told

    for settings in (Settings(connections_per_address=most), Settings(connections=most)):
        assert serve(tmp_path, ask, settings) == [200] * 2 * most


def test_a_connection_with_a_good_key_outlives_idle_ones(tmp_path):
    async def ask(service):
        reader, writer = await service.connect()
        request = post_head(service.key, "Content-Length: 2") + b"{}"
        writer.write(request)
        told = [(await read_answer(reader))[0]]
        held = [await service.connect() for _ in range(50)]
        writer.write(request)
        told.append((await read_answer(reader))[0])
        for one in (writer, *(writer for _, writer in held)):
            one.close()
        return told

    assert serve(tmp_path, ask, Settings(connections_per_address=10)) == [200, 200]


@pytest.mark.parametrize("line", ["X: " + "a" * 1000, "X-{}: a"])
def test_a_head_without_end_is_refused(tmp_path, line):
    lines = [f"{line.format(number)}\r\n".encode() for number in range(5000)]

    async def ask(service):
        return await exchange(service, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", *lines)

    assert serve(tmp_path, ask)[0] == 400


@pytest.mark.parametrize("endless", ["0\r\nX: ", "0\r\nX: a\r\n", "1;x="])
def test_what_surrounds_a_body_without_end_is_refused(tmp_path, endless):
    first, again = endless, "Y: b\r\n" if endless.endswith("\n") else "a" * 10

    async def ask(service):
        reader, writer = await service.connect()
        head = post_head(service.key, "Transfer-Encoding: chunked", "Expect: 100-continue")
        writer.write(head)
        assert (await read_answer(reader))[0] == 100
        writer.write((first + again * 20_000).encode())
        answer = await read_answer(reader)
        writer.transport.abort()
        return answer

    check_refused(serve(tmp_path, ask), 400, "bad_http")


def test_a_head_without_end_behind_a_request_is_not_kept(tmp_path):
    ends = threading.Event()

    async def ask(service):
        def run_late(work):
            ends.wait()
            return work(service.store)

        service.late[:] = [run_late]
        reader, writer = await service.connect()
        writer.write(post(service, [make_ranking(number) for number in range(1000)]))
        writer.write(b"GET / HTTP/1.1\r\nX: " + b"a" * (4 << 20))
        said = b""
        with suppress(ConnectionResetError):
            said = await reader.read()  # it is closed although the first request is not answered
        ends.set()
        writer.transport.abort()
        return said

    assert serve(tmp_path, ask) == b""


def test_an_answer_arrives_although_the_body_still_comes(tmp_path):
    async def ask(service):
        reader, writer = await service.connect()
        writer.write(post_head("", "Content-Length: 500000"))
        writer.write(b" " * 400_000)
        answer = await read_answer(reader)
        assert await reader.read() == b""  # and then the connection ends
        writer.close()
        return answer

    check_refused(serve(tmp_path, ask), 401, "unauthorized")


def test_a_small_request_never_waits_for_a_large_one_to_be_read(tmp_path):
    """A large body is read elsewhere, so that small ones are answered meanwhile."""
    begun, ends = asyncio.Event(), asyncio.Event()

    async def ask(service):
        loop = asyncio.get_running_loop()

        def run_late(work):
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(ends.wait(), loop).result()
            return work(service.store)

        service.late[:] = [run_late]
        large, small = await service.connect(), await service.connect()
        # More than the service reads itself.
        events = [make_ranking(number) | {"query_key": "q" * 1000} for number in range(1000)]
        large[1].write(post(service, events))
        await begun.wait()
        small[1].write(post(service, [make_ranking(-1)]))
        told = [(await read_answer(small[0]))[0]]
        ends.set()
        status, body = await read_answer(large[0])
        assert json.loads(body)["accepted"] == len(events)
        for _, writer in (large, small):
            writer.close()
        return [*told, status]

    assert serve(tmp_path, ask) == [200, 200]


def test_a_large_batch_leaves_room_between_its_transactions(tmp_path, monkeypatch):
    async def ask(service):
        seqs = []
        commit = service.store._commit

        def count(works):
            before = service.store.last_seq
            answers = commit(works)
            seqs.extend([before, service.store.last_seq])
            return answers

        monkeypatch.setattr(service.store._committer, "_commit", count)
        sent = post(service, [make_ranking(number) for number in range(2000)])
        assert (await exchange(service, sent))[0] == 200
        return seqs

    seqs = serve(tmp_path, ask)
    assert seqs[-1] == 2000
    assert max(after - before for before, after in pairwise(seqs)) <= 500


def test_requests_of_one_key_take_turns():
    turns = ConcurrencyLimiter(4)
    running = 0
    seen = []

    async def work(name):
        nonlocal running
        async with turns.take(name):
            running += name == "many"
            seen.append(running)
            for _ in range(10):
                await asyncio.sleep(0)
            running -= name == "many"
            return name

    async def ask():
        done = []
        tasks = [asyncio.ensure_future(work("many")) for _ in range(100)]
        tasks.append(asyncio.ensure_future(work("one")))
        for task in tasks:
            task.add_done_callback(lambda task: done.append(task.result()))
        await asyncio.gather(*tasks)
        return done

    done = asyncio.run(ask())
    assert max(seen) == 4
    assert done.index("one") == 4  # asked last, it is done with the first ones


def post(service, events):
    body = json.dumps(events).encode()
    return post_head(service.key, f"Content-Length: {len(body)}") + body


BAD = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",  # TLS
    b"GET /\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"POST /v1/rankings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n{}",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
)


def test_requests_that_are_no_http_leave_lines_of_json(tmp_path, capfd):
    async def ask(service):
        return [(await exchange(service, sent))[0] for sent in BAD]

    assert serve(tmp_path, ask) == [400] * (len(BAD) - 1) + [303]
    assert capfd.readouterr().err == ""


def test_what_libraries_log_is_written_as_json_without_its_text():
    lines = []
    access_log = AccessLog(lines.append, lambda: 0)
    with access_log.keep_log_records():
        logging.getLogger("uvicorn.error").warning("sent by %s", "somebody")
        error = ValueError("secret")
        logging.getLogger("asyncio").error("secret", exc_info=error)
    warning, failure = map(json.loads, lines)
    said = (warning["event"], warning["logger"], warning["level"])
    assert said == ("library", "uvicorn.error", "warning")
    assert (failure["logger"], failure["raised"]) == ("asyncio", "ValueError")
    assert not any("secret" in line or "somebody" in line for line in lines)


@pytest.fixture
def stalled():
    """What writes once it may, the event that lets it, and what it wrote."""
    may_write, written = threading.Event(), []

    def write(text):
        may_write.wait()
        written.append(text)

    return write, may_write, written


def test_a_reader_of_the_log_that_stalls_holds_up_nobody(stalled):
    write, may_write, written = stalled
    with LogWriter(write, most=10) as log:
        for number in range(100):
            log.write(f'{{"line": {number}}}\n')  # returns although nothing is read
        may_write.set()
    lines = [json.loads(line) for line in "".join(written).splitlines()]
    kept = [line["line"] for line in lines if "line" in line]
    [dropped] = [line["lines"] for line in lines if line.get("event") == "log.dropped"]
    assert kept == list(range(len(kept)))
    assert 10 <= len(kept) == 100 - dropped


def test_a_notification_in_the_log_is_delivered_once_it_is_written(stalled):
    write, may_write, written = stalled

    async def deliver(log):
        delivering = asyncio.ensure_future(asyncio.to_thread(log.deliver, "told\n"))
        await asyncio.sleep(0)
        assert not delivering.done()
        may_write.set()
        await delivering
        return True

    with LogWriter(write) as log:
        assert asyncio.run(deliver(log))
        assert "".join(written) == "told\n"


def test_a_log_that_cannot_be_written_fails_its_notifications():
    def write(_text):
        raise BrokenPipeError

    with LogWriter(write) as log:
        log.write("lost\n")
        with pytest.raises(BrokenPipeError):
            log.deliver("told\n")
