"""Bodies that are too large, packed to burst, or nothing that can be read."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib

import pytest
from rankscope.monitor.server.http.body import gunzip
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.settings import Settings

from tests.monitor.server.service import Service, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PACKED = {"content-encoding": "gzip"}


@pytest.fixture(scope="module")
def service(shared: Service) -> Service:
    """None of these tests stores events."""
    return shared


def refuse(service: Service, body: object, **headers: str) -> tuple[int, str]:
    """The status and code of a request that is refused, after which nothing is stored."""
    said = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = service.ask("POST", "/v1/rankings", body, headers=said)  # type: ignore[arg-type]
    assert service.store.last_seq == 0
    assert service.last_line()["status"] == answer.status_code
    code = answer.json()["error"]["code"]
    assert service.last_line()["code"] == code
    return answer.status_code, code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty_body"),
        (b" \r\n\t", "empty_body"),
        (b"[]", "empty_body"),
        (b"\xef\xbb\xbf{}", "json_syntax"),
        ("{}".encode("utf-16"), "not_utf8"),
        (b'{"a": "\xff"}', "not_utf8"),
        (b"{} {}", "json_syntax"),
        (b"{}\n{}", "json_syntax"),
        (b"[{},]", "json_syntax"),
        (b"[" * 100_000, "depth"),
        (b'{"a":' * 100_000, "depth"),
        (b"\0", "json_syntax"),
    ],
)
def test_a_body_that_is_no_json(service: Service, body: bytes, code: str) -> None:
    assert refuse(service, body) == (400, code)


@pytest.mark.parametrize(
    "form",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/json, application/json",
        "application/vnd.apache.parquet",
    ],
)
def test_a_body_of_another_type(service: Service, form: str) -> None:
    assert refuse(service, b"{}", content_type=form) == (415, "content_type")


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd", "gzip;q=1"])
def test_a_body_packed_otherwise(service: Service, encoding: str) -> None:
    assert refuse(service, b"{}", content_encoding=encoding) == (415, "content_encoding")


def test_a_length_beyond_the_limit_is_refused_before_the_body_is_read(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(body_bytes=100))

    async def send() -> AsyncIterator[bytes]:
        raise AssertionError("it was read")
        yield b""

    for length in ("101", "9" * 400):
        assert refuse(service, send(), content_length=length) == (413, "body_too_large")
    for length in ("-1", "1e3", "0x10", ""):
        assert refuse(service, b"{}", content_length=length) == (400, "content_length")
    service.store.close()


def test_a_body_without_length_is_read_up_to_the_limit(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(body_bytes=100))
    sent = 0

    async def send() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 30

    assert refuse(service, send()) == (413, "body_too_large")
    assert sent == 4
    service.store.close()


def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(body_seconds=0.01))

    async def send() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    assert refuse(service, send()) == (408, "body_timeout")
    service.store.close()


def test_bodies_that_are_too_many_at_a_time_come_back_later(tmp_path: Path) -> None:
    body = json.dumps([make_ranking(number) for number in range(20)]).encode()
    service = Service(tmp_path, Settings(held_bytes=len(body)))
    requests = [("POST", "/v1/rankings", body, service.headers(""))] * 5
    answers = service.ask_all(requests)
    statuses = sorted(answer.status_code for answer in answers)
    assert (statuses[0], statuses[-1], set(statuses)) == (200, 503, {200, 503})
    assert all("retry-after" in one.headers for one in answers if one.status_code == 503)
    # What was held is let go.
    assert service.ask(*requests[0][:3]).json()["duplicate"] == 20
    service.store.close()


def test_a_batch_has_a_limit(tmp_path: Path) -> None:
    service = Service(tmp_path, Settings(batch=3))
    events = [make_ranking(number) for number in range(4)]
    assert refuse(service, json.dumps(events).encode()) == (413, "batch_too_large")
    lines = "\n".join(map(json.dumps, events)).encode()
    assert refuse(service, lines, content_type="application/x-ndjson") == (413, "batch_too_large")
    assert service.post("/v1/rankings", events[:3]).json()["accepted"] == 3
    service.store.close()


MIB = 1 << 20
EMPTY = gzip.compress(b"", mtime=0)


@pytest.mark.parametrize(
    ("packed", "status", "code"),
    [
        (gzip.compress(b" " * 17 * MIB, mtime=0), 413, "body_too_large"),  # too much
        (gzip.compress(b" " * 2 * MIB, mtime=0), 413, "body_too_large"),  # for how little it was
        (EMPTY * 101, 413, "body_too_large"),
        (EMPTY * 50_000, 413, "body_too_large"),
        (b"", 400, "bad_gzip"),
        (b"{}", 400, "bad_gzip"),
        (gzip.compress(b"{}", mtime=0)[:-1], 400, "bad_gzip"),
        (gzip.compress(b"{}", mtime=0) + b"\0", 400, "bad_gzip"),
        (gzip.compress(b"{}", mtime=0)[:-8] + b"\0" * 8, 400, "bad_gzip"),
        (zlib.compress(b"{}"), 400, "bad_gzip"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), 400, "not_utf8"),
        (EMPTY, 400, "empty_body"),
    ],
)
def test_gzip_that_is_not_to_be_unpacked(
    service: Service, packed: bytes, status: int, code: str
) -> None:
    assert refuse(service, packed, **PACKED) == (status, code)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 1_000_000])
def test_gzip_gives_what_was_packed(size: int) -> None:
    plain = zlib.compress(bytes(range(256)) * 4000)[:size] + bytes(range(256)) * (size // 256)
    half = len(plain) // 2
    packed = gzip.compress(plain[:half]) + gzip.compress(plain[half:])
    assert gunzip(packed, Settings()) == plain
    assert gunzip(packed, Settings(plain_bytes=len(plain))) == plain
    if plain:
        with pytest.raises(RefusedRequestError):
            gunzip(packed, Settings(plain_bytes=len(plain) - 1))


def test_whoever_goes_in_the_middle_of_a_body_has_stored_nothing(service: Service) -> None:
    sent = [
        {"type": "http.request", "body": b'{"ranking_id":', "more_body": True},
        {"type": "http.disconnect"},
    ]
    told: list[object] = []

    async def receive() -> dict[str, object]:
        return sent.pop(0)

    async def send(message: object) -> None:
        told.append(message)

    before = service.counters()
    headers = {"host": "localhost"} | service.headers("")
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/rankings",
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": None,
    }
    asyncio.run(service.app(scope, receive, send))  # type: ignore[arg-type]
    assert (told, service.counters(), service.store.last_seq) == ([], before, 0)
    assert service.last_line()["status"] == 499
