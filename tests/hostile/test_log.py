"""The log stays JSON, and a slow reader of it does not block requests."""

from __future__ import annotations

import asyncio
import json
import logging
import threading

import pytest
from rankscope.monitor.server.run.access_log import Journal, LogWriter

from tests.monitor.server.listening import Listening, read_answer, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

BAD = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",  # TLS
    b"GET /\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"POST /v1/rankings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n{}",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
)


def test_requests_that_are_no_http_leave_lines_of_json(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def ask(service: Listening) -> list[int]:
        told = []
        for sent in BAD:
            reader, writer = await service.connect()
            writer.write(sent)
            told.append((await read_answer(reader))[0])
            writer.close()
        return told

    assert serve(tmp_path, ask) == [400] * (len(BAD) - 1) + [303]
    assert capfd.readouterr().err == ""


def test_what_libraries_log_is_written_as_json_without_its_text() -> None:
    lines: list[str] = []
    journal = Journal(lines.append, lambda: 0)
    with journal.keep_log_records():
        logging.getLogger("uvicorn.error").warning("sent by %s", "somebody")
        error = ValueError("secret")
        logging.getLogger("asyncio").error("secret", exc_info=error)
    warning, failure = map(json.loads, lines)
    assert (warning["event"], warning["logger"], warning["level"]) == (
        "library",
        "uvicorn.error",
        "warning",
    )
    assert (failure["logger"], failure["raised"]) == ("asyncio", "ValueError")
    assert not any("secret" in line or "somebody" in line for line in lines)


def test_a_reader_of_the_log_that_stalls_holds_up_nobody() -> None:
    may_write = threading.Event()
    written: list[str] = []

    def write(text: str) -> None:
        may_write.wait()
        written.append(text)

    with LogWriter(write, most=10) as log:
        for number in range(100):
            log.write(f'{{"line": {number}}}\n')  # returns although nothing is read
        may_write.set()
    lines = [json.loads(line) for line in "".join(written).splitlines()]
    kept = [line["line"] for line in lines if "line" in line]
    [dropped] = [line["lines"] for line in lines if line.get("event") == "log.dropped"]
    assert kept == list(range(len(kept)))
    assert 10 <= len(kept) == 100 - dropped


def test_a_notification_in_the_log_is_delivered_once_it_is_written() -> None:
    may_write = threading.Event()
    written: list[str] = []

    def write(text: str) -> None:
        may_write.wait()
        written.append(text)

    async def deliver(log: LogWriter) -> bool:
        delivering = asyncio.ensure_future(asyncio.to_thread(log.deliver, "told\n"))
        await asyncio.sleep(0)
        assert not delivering.done()
        may_write.set()
        await delivering
        return True

    with LogWriter(write) as log:
        assert asyncio.run(deliver(log))
        assert "".join(written) == "told\n"


def test_a_log_that_cannot_be_written_fails_its_notifications() -> None:
    def write(_text: str) -> None:
        raise BrokenPipeError

    with LogWriter(write) as log:
        log.write("lost\n")
        with pytest.raises(BrokenPipeError):
            log.deliver("told\n")
